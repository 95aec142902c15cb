"""Objects that each process loads for itself: only the load function and its arguments travel."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any


class LazyObject:
    """Stands in for `load(*args)`, which each process calls once, on the first attribute access.

    Parameters
    ----------
    load : function of a module; other processes import it
    *args : hashable, such as the absolute path of a folder
    """

    def __init__(self, load: Callable[..., Any], *args: Any) -> None:
        self._source = load, args

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") or attribute == "_source":  # looked up by pickle
            raise AttributeError(attribute)
        load, args = self._source
        return getattr(_loaded(load, *args), attribute)


@lru_cache(maxsize=4)
def _loaded(load: Callable[..., Any], *args: Any) -> Any:
    return load(*args)
