"""Which embedders there are, which of them are ready here, and `get_embedder` that makes one."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any, cast

from hierseed.embed import joined, windows
from hierseed.embed.catalogue import AUTO, AUTO_OTHER_LANGUAGE, KINDS, Kind
from hierseed.embed.embedder import Embedder, is_trained
from hierseed.embed.function import FunctionEmbedder
from hierseed.embed.language import foreign_language
from hierseed.errors import EmbeddingError

HEADER = "embedder.json"
WRAPPERS: dict[str, Callable[[Embedder], Embedder]] = {
    windows.SUFFIX: windows.Windowed,
    joined.SUFFIX: joined.Joined,
}


def get_embedder(spec: str | Embedder | Callable[[list[str]], Any] = "auto") -> Embedder:
    """Make the embedder that `spec` names.

    Parameters
    ----------
    spec : `NAME` or `NAME:detail`, such as `"wordllama"`, `"tfidf:200"`, `"glove:vectors.txt"`;
        `"auto"` takes the best one present; `+windows` at the end averages over windows where
        the model would cut a long text, `+lsa` joins what is learned from the corpus
        (`"minilm+windows+lsa"`). An embedder is returned as it is, and any other callable
        (list of texts -> matrix) is wrapped.
    """
    if not isinstance(spec, str):
        if "fingerprint" in dir(spec):
            return cast(Embedder, spec)
        # Models of other libraries have an `encode` of their own.
        return FunctionEmbedder(getattr(spec, "encode", cast(Callable[[list[str]], Any], spec)))
    if spec == "auto":
        return choose_embedder()[0]
    for suffix, wrap in WRAPPERS.items():
        if spec.endswith(suffix):
            return wrap(get_embedder(spec.removesuffix(suffix)))
    kind, detail = split_spec(spec)
    return kind.make(detail)


def choose_embedder(texts: Iterable[str] = ()) -> tuple[Embedder, str]:
    """Return the best embedder that is ready on this machine, and a sentence that says why.

    Parameters
    ----------
    texts : of the corpus; some are read to see whether they are plainly not English
    """
    if language := foreign_language(texts):
        why = f"it learns from the corpus, which looks like {language}"
        return get_embedder(AUTO_OTHER_LANGUAGE), f"{AUTO_OTHER_LANGUAGE}: {why}"
    passed: list[str] = []
    for name in AUTO:
        lacking = KINDS[name].lacking()
        if not lacking:
            why = (
                f"the best of {', '.join(AUTO)} that is here, joined with what is learned from "
                "the corpus"
            )
            chosen = name + joined.SUFFIX
            return get_embedder(chosen), f"{chosen}: {'; '.join([why, *passed])}"
        passed.append(f"{name} would be better, but {lacking}")
    raise EmbeddingError(f"no embedder is ready: {'; '.join(passed)}.")


def split_spec(spec: str) -> tuple[Kind, str]:
    """`"tfidf:200"` -> the kind tfidf and `"200"`; an unknown name is refused with the nearest.

    What wraps the embedder, such as `+lsa`, is left out.
    """
    while suffix := next(filter(spec.endswith, WRAPPERS), ""):
        spec = spec.removesuffix(suffix)
    name, _, detail = spec.partition(":")
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


def save_embedder(embedder: Embedder, folder: str | PathLike[str]) -> None:
    """Write what `load_embedder` needs: the name, the fingerprint, and what was learned."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if is_trained(embedder):
        embedder.save(place)
    header = {"name": embedder.name, "fingerprint": embedder.fingerprint}
    # The header goes last: a folder that has one is whole.
    (place / HEADER).write_text(json.dumps(header, indent=2) + "\n", encoding="utf-8")


def load_embedder(folder: str | PathLike[str]) -> Embedder:
    """Make the embedder that a folder names, and refuse one that gives other vectors now.

    The folder may also be a model of the command line, or a store of vectors.
    """
    inside = (Path(folder) / place / HEADER for place in ("", "embedder", "from_text/embedder"))
    file = next((file for file in inside if file.is_file()), None)
    if file is None:
        raise EmbeddingError(f"no {HEADER} in {str(folder)!r}. Name the embedder instead.")
    folder = file.parent
    header = json.loads(file.read_text(encoding="utf-8"))
    embedder = _make(header["name"], folder)
    if embedder.fingerprint != header["fingerprint"]:
        raise EmbeddingError(
            f"{header['name']} has the fingerprint {embedder.fingerprint} on this machine and had "
            f"{header['fingerprint']} when {str(folder)!r} was written: other weights or another "
            "version. Install the same one, or embed and fit again."
        )
    return embedder


def _make(name: str, folder: Path) -> Embedder:
    """Make an embedder, with what it has learned where it has."""
    if name.endswith(joined.SUFFIX):
        return joined.Joined.load(folder, _make)
    kind, _ = split_spec(name)
    return kind.load(folder) if kind.load else get_embedder(name)
