"""The table of embedders, which of them are ready here, and `get_embedder` that makes one.

`hierseed embedders` prints the table `KINDS`.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from os import PathLike
from pathlib import Path
from socket import gethostname
from typing import Any, cast

from hierseed.embed import joined, student, windows
from hierseed.embed.embedder import Embedder, TrainedEmbedder, is_trained
from hierseed.embed.fetch import RECIPES, is_fetched
from hierseed.embed.function import FunctionEmbedder, allow_functions, refuse_unnamed
from hierseed.embed.language import SAMPLE, foreign_language, foreign_script
from hierseed.embed.wordllama import WordLlama, find_folder
from hierseed.errors import EmbeddingError, name_some
from hierseed.files import checked_object, file_sha256, model_folder, with_checksum
from hierseed.lazy_object import LazyObject

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


HEADER = "embedder.json"
MANY_DOCUMENTS = 100_000  # MiniLM reads them in 40 minutes on two cores
WRAPPERS: dict[str, Callable[[Embedder], Embedder]] = {
    windows.SUFFIX: windows.Windowed,
    student.SUFFIX: student.Student,
    joined.SUFFIX: joined.Joined,
}
# what version 0.1 wrote, which had no checksums
FIRST_VERSION = re.compile(rb'\{\s*"name": "([^"\\]*)",\s*"fingerprint": "(\w+)"\s*\}\s*')


def get_embedder(spec: str | Embedder | Callable[[list[str]], Any] = "auto") -> Embedder:
    """Make the embedder that `spec` names.

    Parameters
    ----------
    spec : `NAME` or `NAME:detail`, such as `"wordllama"`, `"tfidf:200"`, `"glove:vectors.txt"`;
        `"auto"` takes the best one present that needs no corpus. Endings: `+windows` averages
        over windows where the model would cut a long text, `+student` lets the model read some
        documents and imitates it on the others, `+lsa` joins what is learned from the corpus
        (`"minilm+windows+lsa"`). An embedder is returned as it is, and any other
        callable (list of texts -> matrix) is wrapped.

    Examples
    --------
    >>> embedder = get_embedder("wordllama:64")
    >>> embedder.encode(["a text", "another one"]).shape
    (2, 64)
    """
    if not isinstance(spec, str):
        if "fingerprint" in dir(spec):
            return cast(Embedder, spec)
        # Models of other libraries have an `encode` of their own.
        return FunctionEmbedder(getattr(spec, "encode", cast(Callable[[list[str]], Any], spec)))
    if spec == "auto":
        return choose_embedder()[0]
    kind, detail = split_spec(spec)
    embedder = kind.make(detail)
    _, asked = split_wrappers(spec)
    for suffix, wrap in WRAPPERS.items():  # always in this order
        embedder = wrap(embedder) if suffix in asked else embedder
    return embedder


def choose_embedder(
    texts: Iterable[str] | None = None, *, read_whole: bool = False, n_documents: int = 0
) -> tuple[Embedder, str]:
    """Return the best embedder that is ready on this machine, and a sentence that says why.

    Parameters
    ----------
    texts : of the corpus, which the embedder will learn from; some are read to see whether they
        are plainly not English. None: there is no corpus to learn from
    read_whole : read long texts window by window, where the model would cut them
    n_documents : of the corpus; a transformer does not read all of them where they are many
    """
    sample = list(islice(texts, SAMPLE)) if texts is not None else []
    if script := foreign_script(sample):
        why = f"it learns from the corpus, which looks like {script}"
        return get_embedder(AUTO_OTHER_SCRIPT), f"{AUTO_OTHER_SCRIPT}: {why}"
    language = foreign_language(sample)
    passed: list[str] = []
    for name in AUTO:
        lacking = KINDS[name].lacking()
        if not lacking:
            is_transformer = hasattr(get_embedder(name), "token_spans")
            if read_whole and is_transformer:
                name += windows.SUFFIX
            why = f"the best of {', '.join(AUTO)} that is installed"
            pretrained = name
            if is_transformer and n_documents > MANY_DOCUMENTS:
                name += student.SUFFIX
                why += (
                    f", imitated by a student, since there are {n_documents:,} documents"
                    f" ({pretrained}{joined.SUFFIX} reads all of them)"
                )
            if texts is not None:
                name += joined.SUFFIX
                why += ", joined with what is learned from the corpus"
            if language:
                why += f", which looks like {language}: seeds say how much of {pretrained} counts"
            return get_embedder(name), f"{name}: {'; '.join([why, *passed])}"
        passed.append(f"{name} would be better, but it is {lacking}: see `hierseed embedders`")
    raise EmbeddingError(f"no embedder is ready: {'; '.join(passed)}.")


def split_spec(spec: str) -> tuple[Kind, str]:
    """`"tfidf:200"` -> the kind tfidf and `"200"`; an unknown name is refused with the nearest.

    What wraps the embedder, such as `+lsa`, is left out.
    """
    name, _, detail = split_wrappers(spec)[0].partition(":")
    if name not in KINDS:
        near = difflib.get_close_matches(name, [*KINDS, "auto"], n=1)
        raise EmbeddingError(
            f"no embedder {name!r}{f'; did you mean {near[0]!r}?' if near else '.'} "
            f"There are auto, {', '.join(KINDS)}; `hierseed embedders` says what each one needs."
        )
    kind = KINDS[name]
    if kind.needs_detail and not detail:
        raise EmbeddingError(f"the embedder {name!r} needs {kind.detail}. Write {name}:DETAIL.")
    if detail and not kind.detail:
        raise EmbeddingError(f"the embedder {name!r} takes no detail. Write {name} alone.")
    return kind, detail


def split_wrappers(spec: str) -> tuple[str, set[str]]:
    """`"minilm+windows+lsa"` -> `"minilm"` and both endings."""
    asked = set()
    while suffix := next(filter(spec.endswith, WRAPPERS), ""):
        spec = spec.removesuffix(suffix)
        asked.add(suffix)
    return spec, asked


def kept_embedder(folder: str | PathLike[str], spec: str) -> Embedder | None:
    """Load what an embedder learned for the store in `folder`, where `spec` asks for the same.

    A store keeps using it: an embedder fitted on a longer corpus would give other vectors.
    """
    if not (Path(folder) / "embedder" / HEADER).is_file():
        return None
    kept = load_embedder(folder)
    if not is_trained(kept):
        return None
    (base, asked), (name, has) = split_wrappers(spec), split_wrappers(kept.name)
    if base == "auto":
        automatic = name in AUTO if joined.SUFFIX in has else name.startswith(AUTO_OTHER_SCRIPT)
        return kept if automatic and asked <= has else None
    return kept if kept.name == get_embedder(spec).name else None


def save_embedder(embedder: Embedder, folder: str | PathLike[str]) -> None:
    """Write what `load_embedder` needs: name, fingerprint, what was learned, and checksums."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if is_trained(embedder):
        embedder.save(place)
    files = {
        file.relative_to(place).as_posix(): file_sha256(file)
        for file in sorted(place.rglob("*"))
        if file.is_file() and file != place / HEADER
    }
    header = {"name": embedder.name, "fingerprint": embedder.fingerprint, "files": files}
    # The header is written last: a folder that has one is complete.
    text = json.dumps(with_checksum(header), indent=2)
    (place / HEADER).write_text(text + "\n", encoding="utf-8", newline="\n")


def load_embedder(
    folder: str | PathLike[str], embedder: str | Embedder | Callable[[list[str]], Any] | None = None
) -> Embedder:
    """Load the embedder of a saved folder; one that gives other vectors now is refused.

    Parameters
    ----------
    folder : what `save_embedder` wrote, a model folder, or a store of vectors
    embedder : the same embedder, named again. Needed for a Python function that has not been used
        in this process: a file must not choose which code runs.
    """
    inside = (Path(folder) / place / HEADER for place in ("", "embedder", "from_text/embedder"))
    file = next((file for file in inside if file.is_file()), None)
    if file is None:
        raise EmbeddingError(f"no {HEADER} in {str(folder)!r}. Name the embedder instead.")
    name, expected = _read_saved(file)
    if embedder is not None:
        found = get_embedder(embedder)
    else:
        refuse_unnamed(name, str(folder))
        found = _make(name, file.parent)
    if found.fingerprint != expected:
        raise EmbeddingError(
            f"{found.name} has the fingerprint {found.fingerprint} on this machine and "
            f"{str(folder)!r} was written with {name} ({expected}): other weights or another "
            "version. Install the same one, or embed and fit again."
        )
    return found


def saved_embedder(folder: str | PathLike[str], name: str) -> Embedder:
    """The embedder of a saved folder, as another process loads it.

    `name` is that of the embedder, which the user of this process has chosen. On a cluster every
    machine must see the folder.
    """
    return cast(Embedder, LazyObject(_load_elsewhere, Path(folder).absolute(), name))


def _load_elsewhere(folder: Path, name: str) -> Embedder:
    if not folder.is_dir():
        raise EmbeddingError(
            f"the worker on {gethostname()} can't see the folder {str(folder)!r}. Name a folder "
            "that all workers and this machine see, such as one on a shared file system."
        )
    allow_functions(name)
    return load_embedder(folder)


def _make(name: str, folder: Path) -> Embedder:
    """Make an embedder, with what it has learned where it has."""
    kind, _ = split_spec(name)
    try:
        if name.endswith(joined.SUFFIX):
            inner = _make(name.removesuffix(joined.SUFFIX), folder / joined.INNER)
            return joined.Joined.load(folder, inner)
        if name.endswith(student.SUFFIX):
            return student.Student.load(folder)
        return kind.load(folder) if kind.load else get_embedder(name)
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OSError,
        EOFError,
    ) as fault:
        # The checksums were right, so another version wrote this.
        raise EmbeddingError(
            f"the embedder {name!r} in {str(folder)!r} can't be read "
            f"({type(fault).__name__}: {fault}). Fit again, or use the hierseed that wrote it."
        ) from None


def _read_saved(file: Path) -> tuple[str, str]:
    """Name and fingerprint, once every file beside the header has its checksum."""
    try:
        content = file.read_bytes()
        if first := FIRST_VERSION.fullmatch(content):
            return first[1].decode(), first[2].decode()
        header = checked_object(content)
        name, fingerprint, files = (header[key] for key in ("name", "fingerprint", "files"))
        if not (isinstance(name, str) and isinstance(fingerprint, str) and isinstance(files, dict)):
            raise ValueError("it has values that no hierseed writes")
        faults = [one for one, digest in files.items() if not _is_same(file.parent, one, digest)]
    except (ValueError, KeyError, OSError) as fault:
        raise EmbeddingError(
            f"{str(file)!r} was changed or cut off after it was saved ({fault}). "
            "Restore the folder from a copy, or embed and fit again."
        ) from None
    if faults:
        raise EmbeddingError(
            f"{len(faults)} of the files in {str(file.parent)!r} were changed, cut off or lost "
            f"after they were saved: {name_some(faults)}. Restore the folder from a copy, or embed "
            "and fit again."
        )
    return name, fingerprint


def _is_same(folder: Path, name: str, digest: object) -> bool:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        return False
    return path.is_file() and file_sha256(path) == digest
