"""The error for an optional package of the benchmark; all other errors are hierseed's."""

from hierseed.errors import MissingDependency


class MissingExtra(MissingDependency):
    """An optional package of hierseed-bench is absent."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(package, extra, purpose, distribution="hierseed-bench")
