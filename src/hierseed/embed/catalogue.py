"""The table of embedders: what each one is, costs and needs. `hierseed embedders` prints it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike

from hierseed.embed.embedder import Embedder, TrainedEmbedder
from hierseed.embed.wordllama import WordLlama, find_folder
from hierseed.errors import EmbeddingError

AUTO = ("wordllama",)  # best first


@dataclass(frozen=True)
class Kind:
    """One line of the table."""

    name: str
    detail: str  # what may follow the colon
    about: str
    dimension: str
    speed: str  # documents of 200 words a second on two cores, as measured
    source: str  # how to get it
    make: Callable[[str], Embedder]
    lacking: Callable[[], str] = lambda: ""  # what is missing here; "" where it is ready
    needs_detail: bool = False
    load: Callable[[str | PathLike[str]], TrainedEmbedder] | None = None


def _number(detail: str, default: int, name: str) -> int:
    if not detail:
        return default
    if not detail.isdigit() or int(detail) < 1:
        raise EmbeddingError(
            f"{name}:{detail} names no dimension. Write a whole number, such as {name}:{default}."
        )
    return int(detail)


def _wordllama(detail: str) -> Embedder:
    return WordLlama(_number(detail, 256, "wordllama"))


def _wordllama_lacking() -> str:
    return "" if find_folder() else "the package wordllama is not installed"


def _tfidf(detail: str) -> Embedder:
    from hierseed.embed.tfidf import TfidfSvd

    return TfidfSvd(_number(detail, 300, "tfidf"))


def _load_tfidf(folder: str | PathLike[str]) -> TrainedEmbedder:
    from hierseed.embed.tfidf import TfidfSvd

    return TfidfSvd.load(folder)


def _function(detail: str) -> Embedder:
    from hierseed.embed.function import import_function

    return import_function(detail)


def _precomputed(detail: str) -> Embedder:
    from hierseed.embed.precomputed import Precomputed

    return Precomputed(detail)


def _packages(*names: str) -> Callable[[], str]:
    def lacking() -> str:
        absent = [name for name in names if find_spec(name) is None]
        return f"not installed: {', '.join(absent)}" if absent else ""

    return lacking


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "wordllama",
            "dimension: 64, 128 or 256",
            "static token vectors, weights inside the package",
            "256",
            "1,500",
            "installed with hierseed",
            _wordllama,
            _wordllama_lacking,
        ),
        Kind(
            "tfidf",
            "dimension",
            "TF-IDF and SVD, learned from the corpus",
            "300",
            "1,500",
            "installed with hierseed",
            _tfidf,
            load=_load_tfidf,
        ),
        Kind(
            "function",
            "package.module:function",
            "any Python function from a list of texts to a matrix",
            "its own",
            "its own",
            "your code",
            _function,
            needs_detail=True,
        ),
        Kind(
            "precomputed",
            "a .npy, .parquet or .arrow file",
            "vectors made before, matched by id",
            "its own",
            "reads",
            "your file",
            _precomputed,
            needs_detail=True,
        ),
    )
}
