"""Model folders: all of a fitted model in one JSON file, its arrays, and the embedder.

MODEL/
  model.json    estimator, taxonomy, preparation, and what the vectors were made from
  *.npy         arrays, sealed by checksums in model.json
  embedder/     what `load_embedder` needs; absent for a model of vectors

Version 1 kept preparation and embedder in a folder `from_text`; it is still read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hierseed.checksums import Arrays, read_sealed, write_sealed
from hierseed.embed.choose import save_embedder
from hierseed.embed.embedder import Embedder
from hierseed.embed.prepare import Preparation
from hierseed.errors import HierSeedError, ModelError, name_some
from hierseed.estimators.parameters import KINDS
from hierseed.files import atomic_folder
from hierseed.taxonomy import Taxonomy

if TYPE_CHECKING:
    from hierseed.estimators.base import SeededEstimator

FORMAT, VERSION = "hierseed-model", 2
FILE, EMBEDDER, SEED_VECTORS = "model.json", "embedder", "seed_vectors"
REJECTED_VECTORS = "rejected_vectors"
FIRST, FIRST_FILE, FIRST_FORMAT = "from_text", "from_text.json", "hierseed-from-text"  # version 1


@dataclass
class ModelBundle:
    """What a model folder holds.

    Attributes
    ----------
    kind : name of the estimator's class
    header, arrays : what the estimator learned
    taxonomy : with its Other topics
    preparation : of vectors before `fit`; None for none
    text : embedder, fingerprint, seeds, about and dtype; empty for an estimator saved alone
    """

    kind: str
    header: dict[str, Any]
    arrays: Arrays
    taxonomy: Taxonomy
    preparation: Preparation | None = None
    text: dict[str, Any] = field(default_factory=dict)

    def estimator(self, folder: str | PathLike[str]) -> SeededEstimator:
        """Make the estimator; refuse a kind that this version does not have."""
        if self.kind not in KINDS:
            raise ModelError(
                f"{folder} holds a model of kind {self.kind!r}; known here are {name_some(KINDS)}. "
                "A newer hierseed may know it: pip install --upgrade hierseed"
            )
        with rebuilding(folder):
            return KINDS[self.kind].estimator.from_bundle(self)


@contextmanager
def rebuilding(folder: str | PathLike[str]) -> Iterator[None]:
    """Refuse a model with valid checksums that this version can't read."""
    try:
        yield
    except HierSeedError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as fault:
        raise ModelError(
            f"{folder} was written by a version of hierseed that differs from this one "
            f"({type(fault).__name__}: {fault}). Fit again, or use the version that wrote it"
        ) from fault


def write_bundle(
    bundle: ModelBundle, folder: str | PathLike[str], embedder: Embedder | None = None
) -> None:
    """Write a model folder atomically; an older model there is replaced."""
    from hierseed import __version__

    taxonomy, preparation = bundle.taxonomy, bundle.preparation
    content = {
        "hierseed": __version__,
        "kind": bundle.kind,
        "header": bundle.header,
        "taxonomy": {
            "names": taxonomy.names,
            "parent": taxonomy.tree.parent,
            "codes": taxonomy.codes,
            "descriptions": taxonomy.descriptions,
            "is_other": np.asarray(taxonomy.is_other, dtype=bool),
            **({"more_parents": taxonomy.more_parents} if any(taxonomy.more_parents) else {}),
            **({"addresses": taxonomy.addresses} if any(taxonomy.addresses) else {}),
            **({"log": taxonomy.log} if taxonomy.log else {}),
        },
        "preparation": preparation.header if preparation else None,
        "text": bundle.text,
    }
    arrays = bundle.arrays | (preparation.arrays if preparation else {})
    with atomic_folder(folder, marker=FILE) as partial:
        if embedder is not None:
            save_embedder(embedder, partial / EMBEDDER)
        write_sealed(partial / FILE, format=FORMAT, version=VERSION, content=content, arrays=arrays)


def read_bundle(folder: str | PathLike[str]) -> ModelBundle:
    """Read a model folder once; a damaged or newer one is refused."""
    folder = Path(folder)
    content, arrays = read_sealed(folder / FILE, format=FORMAT, version=VERSION)
    with rebuilding(folder):
        header, text = dict(content["header"]), dict(content.get("text", {}))
        options = content.get("preparation") or header.pop("preparation", None)
        if (folder / FIRST).is_dir():
            text, more = read_sealed(folder / FIRST / FIRST_FILE, format=FIRST_FORMAT, version=1)
            options, arrays = text.pop("preparation"), arrays | more
        preparation = Preparation.from_saved(options, arrays) if options else None
        taxonomy = Taxonomy(**content["taxonomy"])
        return ModelBundle(str(content["kind"]), header, arrays, taxonomy, preparation, text)
