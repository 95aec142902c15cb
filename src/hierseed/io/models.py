"""Model folders: `model.json`, its arrays, and (from the command line) how text becomes vectors."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hierseed.embed.prepare import Preparation
from hierseed.errors import ModelError, name_some
from hierseed.estimators.registry import KINDS
from hierseed.io.atomic import atomic_folder
from hierseed.io.sealed import Arrays, read_sealed, write_sealed
from hierseed.taxonomy import Taxonomy

FORMAT, VERSION = "hierseed-model", 1
FILE = "model.json"
FROM_TEXT, FROM_TEXT_FILE, FROM_TEXT_FORMAT = "from_text", "from_text.json", "hierseed-from-text"


def write_model(
    folder: str | PathLike[str],
    *,
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
    taxonomy: Taxonomy,
) -> None:
    """Write a model folder as a whole or not at all; an older model there is replaced."""
    from hierseed import __version__

    content = {
        "hierseed": __version__,
        "kind": kind,
        "header": dict(header),
        "taxonomy": {
            "names": taxonomy.names,
            "parent": taxonomy.tree.parent,
            "codes": taxonomy.codes,
            "descriptions": taxonomy.descriptions,
            "is_other": np.asarray(taxonomy.is_other, dtype=bool),
        },
    }
    with atomic_folder(folder, marker=FILE) as partial:
        write_sealed(partial / FILE, format=FORMAT, version=VERSION, content=content, arrays=arrays)


def read_model(folder: str | PathLike[str]) -> tuple[str, dict[str, Any], Arrays, Taxonomy]:
    """Read kind, header, arrays and taxonomy; a damaged or newer folder is refused."""
    content, arrays = read_sealed(Path(folder) / FILE, format=FORMAT, version=VERSION)
    return content["kind"], content["header"], arrays, Taxonomy(**content["taxonomy"])


def read_preparation(
    folder: str | PathLike[str], header: Mapping[str, Any], arrays: Arrays
) -> Preparation | None:
    """What was done to vectors before `fit`; the command line keeps it with the way from text."""
    beside = Path(folder) / FROM_TEXT / FROM_TEXT_FILE
    if "preparation" not in header and beside.is_file():
        header, arrays = read_sealed(beside, format=FROM_TEXT_FORMAT, version=VERSION)
    options = header.get("preparation")
    return Preparation.from_saved(options, arrays) if options else None


def load_model(folder: str | PathLike[str]) -> Any:
    """Load the fitted estimator that was saved in `folder`, whatever its class.

    Where the folder knows how vectors were prepared (a model of the command line does), `predict`
    and `assign` take them as the embedder gives them, and prepare them alike.
    """
    kind = read_model(folder)[0]
    if kind not in KINDS:
        raise ModelError(
            f"{folder} holds a model of kind {kind!r}; known here are {name_some(KINDS)}. "
            "A newer hierseed may know it: pip install --upgrade hierseed"
        )
    try:
        return KINDS[kind].estimator.load(folder)
    except (KeyError, TypeError) as fault:  # a part that this version's class does not know
        raise ModelError(
            f"{folder} was written by a version of hierseed whose {kind} differs from this one's "
            f"({type(fault).__name__}: {fault}). Fit again, or use the version that wrote it"
        ) from fault
