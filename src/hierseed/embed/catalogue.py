"""The table of embedders: what each one is, costs and needs. `hierseed embedders` prints it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from typing import Any

from hierseed.embed.embedder import Embedder, TrainedEmbedder
from hierseed.embed.fetch import RECIPES, is_fetched
from hierseed.embed.wordllama import WordLlama, find_folder
from hierseed.errors import EmbeddingError
from hierseed.files import model_folder

# What `auto` takes, best first, joined with `lsa`. mpnet is better still, but ten times slower
# without a GPU: it has to be named.
AUTO = ("minilm", "wordllama")
AUTO_OTHER_SCRIPT = "lsa"  # where the texts are in a script that those hardly know
GLOVE = "glove.840B.300d.33860.txt"


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


def _learned(name: str, kind: str, default: int) -> dict[str, Any]:
    """How to make an embedder that learns from the corpus, and to load what it has learned."""

    def cls() -> Any:
        return getattr(import_module(f"hierseed.embed.{name}"), kind)

    return {
        "make": lambda detail: cls()(_number(detail, default, name)),
        "load": lambda folder: cls().load(folder),
    }


def _minilm(detail: str) -> Embedder:
    from hierseed.embed.onnx import OnnxMean

    _refuse_unfetched("minilm")
    return OnnxMean(model_folder("minilm"), name="minilm")


def _onnx(detail: str) -> Embedder:
    from hierseed.embed.onnx import OnnxMean

    return OnnxMean(detail)


def _mpnet(detail: str) -> Embedder:
    from hierseed.embed.mean_pooling import MeanPooling

    _refuse_unfetched("mpnet")
    return MeanPooling(str(model_folder("mpnet")), name="mpnet", max_tokens=384)


def _transformers(detail: str, **options: Any) -> Embedder:
    from hierseed.embed.mean_pooling import MeanPooling

    return MeanPooling(detail, **options)


def _sentence_transformers(detail: str, **options: Any) -> Embedder:
    from hierseed.embed.sentence_transformers import SentenceTransformers

    return SentenceTransformers(detail, **options)


def _glove(detail: str) -> Embedder:
    from hierseed.embed.glove import Glove

    if detail:
        return Glove(detail)
    _refuse_unfetched("glove")
    return Glove(model_folder("glove") / GLOVE, name="glove")


def _function(detail: str) -> Embedder:
    from hierseed.embed.function import import_function

    return import_function(detail)


def _precomputed(detail: str) -> Embedder:
    from hierseed.embed.precomputed import Precomputed

    return Precomputed(detail)


def _refuse_unfetched(name: str) -> None:
    if not is_fetched(name):
        lacks = any(find_spec(package) is None for package in RECIPES[name].packages)
        install = f"pip install 'hierseed[{name}]', then " if lacks else ""
        raise EmbeddingError(
            f"{name} is not on this machine (looked in {str(model_folder(name))!r}). "
            f"Get it once with: {install}hierseed embedders get {name}"
        )


def _needs(*packages: str, model: str = "") -> Callable[[], str]:
    def lacking() -> str:
        absent = [name for name in packages if find_spec(name) is None]
        if absent:
            return f"not installed: {', '.join(absent)}"
        return "" if not model or is_fetched(model) else "not fetched yet"

    return lacking


_TORCH = "torch", "transformers"

# fmt: off
_OWN, _TRANSFORMERS = "its own", "pip install 'hierseed[transformers]'"
_HERE, _FETCHED = "installed with hierseed", "a local folder, or a name fetched before"

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("minilm", "", "all-MiniLM-L6-v2, int8, up to 256 tokens", "384", "40",
             "pip install 'hierseed[minilm]', hierseed embedders get minilm (83 MB)",
             _minilm, _needs("onnxruntime", model="minilm")),
        Kind("wordllama", "dimension: 64, 128 or 256",
             "static token vectors, weights inside the package", "256", "1,500", _HERE, _wordllama,
             lambda: "" if find_folder() else "not installed: wordllama"),
        Kind("tfidf", "dimension", "TF-IDF and SVD, learned from the corpus", "200", "4,500", _HERE,
             **_learned("tfidf", "TfidfSvd", 200)),
        Kind("lsa", "dimension",
             "words and pairs, or letter groups, and SVD, learned from the corpus", "200", "5,000",
             _HERE, **_learned("lsa", "Lsa", 200)),
        Kind("mpnet", "", "all-mpnet-base-v2, up to 384 tokens", "768", "2",
             f"{_TRANSFORMERS}, hierseed embedders get mpnet (404 MB)",
             _mpnet, _needs(*_TORCH, model="mpnet")),
        Kind("sentence-transformers", _FETCHED, "any model of the library, with its own pooling",
             _OWN, _OWN, "pip install 'hierseed[sentence-transformers]'",
             _sentence_transformers, _needs("torch", "sentence_transformers"), True),
        Kind("transformers", _FETCHED,
             "any encoder, mean over all tokens, up to 256 (as in the paper)", _OWN, _OWN,
             _TRANSFORMERS, _transformers, _needs(*_TORCH), True),
        Kind("onnx", "a folder with model.onnx and tokenizer.json",
             "any ONNX encoder, mean over all tokens, up to 256", _OWN, _OWN,
             "pip install 'hierseed[minilm]'", _onnx, _needs("onnxruntime"), True),
        Kind("glove", "a GloVe text file; none for the fetched one",
             "mean of word vectors from a file", "the file's", "3,300",
             "your file, or hierseed embedders get glove (34 MB, 33,860 words)",
             _glove, _needs(model="glove")),
        Kind("fasttext", "dimension", "skip-gram with subwords, learned from the corpus", "300",
             "650", "pip install 'hierseed[fasttext]'", lacking=_needs("fasttext"),
             **_learned("fasttext", "FastText", 300)),
        Kind("function", "package.module:function",
             "any Python function from a list of texts to a matrix", _OWN, _OWN, "your code",
             _function, needs_detail=True),
        Kind("precomputed", "a .npy, .parquet or .arrow file",
             "vectors made before, matched by id", _OWN, "reads", "your file", _precomputed,
             needs_detail=True),
    )
}
# fmt: on
