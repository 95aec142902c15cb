"""A model as the command line saves it: the estimator, and the way from text to its vectors.

MODEL/
  model.json, *.npy           the estimator, by its own `save`
  from_text/from_text.json    preparation, seeds, and what the vectors were made from
  from_text/prepare_mean.npy
  from_text/embedder/         what `load_embedder` needs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.choose import load_embedder, save_embedder
from hierseed.embed.embedder import Embedder
from hierseed.embed.prepare import ArrayLike, Preparation, Prepared
from hierseed.embed.store import VectorStore
from hierseed.errors import ModelError
from hierseed.io.atomic import atomic_folder
from hierseed.io.models import FILE, load_model
from hierseed.io.sealed import read_sealed, write_sealed
from hierseed.taxonomy import Taxonomy

FORMAT, VERSION = "hierseed-from-text", 1
FOLDER, HEADER, EMBEDDER = "from_text", "from_text.json", "embedder"


@dataclass
class SavedModel:
    """A fitted estimator with all that it takes to place new text.

    Parameters
    ----------
    estimator : fitted
    preparation : what was done to the vectors before `fit`; None where nothing was
    embedder_name, fingerprint : what made the vectors; "" where that is not known
    seeds : topic ids of the seed documents, by document id
    about : facts of the fit for the reader: corpus, number of documents, seconds
    """

    estimator: Any
    preparation: Preparation | None = None
    embedder_name: str = ""
    fingerprint: str = ""
    seeds: dict[str, list[int]] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy with its Other topics."""
        taxonomy: Taxonomy = self.estimator.taxonomy_
        return taxonomy

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of the fit, refused where it would give other vectors now."""
        place = self.folder / FOLDER / EMBEDDER if self.folder else None
        if place is None or not place.is_dir():
            raise ModelError(
                f"the model {self.folder or ''} was fitted on vectors and does not know how they "
                "were made. Give vectors instead of text"
            )
        return load_embedder(place)

    def prepare(self, X: ArrayLike) -> ArrayLike:
        """See vectors as the estimator saw them."""
        return X if self.preparation is None else Prepared(X, self.preparation)

    def check_store(self, store: VectorStore | None) -> None:
        """Refuse vectors of another embedder; a plain .npy file can't be checked."""
        if store is None or not self.fingerprint or store.fingerprint == self.fingerprint:
            return
        raise ModelError(
            f"the vectors in {store.folder} are of {store.embedder_name} ({store.fingerprint}), "
            f"the model was fitted on those of {self.embedder_name} ({self.fingerprint}). "
            f"Embed the documents with: hierseed embed CORPUS --embedder {self.embedder_name}"
        )

    def seed_labels(self, ids: Sequence[str]) -> NDArray[np.intp]:
        """Topic of each document that was a seed, -1 elsewhere: the `y` of `assign`."""
        topics = (self.seeds.get(id) for id in ids)
        return np.array([found[0] if found else -1 for found in topics], dtype=np.intp)


def write_saved(
    model: SavedModel, folder: str | PathLike[str], embedder: Embedder | None = None
) -> None:
    """Write the model folder as a whole or not at all."""
    with atomic_folder(folder, marker=FILE) as partial:
        model.estimator.save(partial)
        (partial / FOLDER).mkdir()
        if embedder is not None:
            save_embedder(embedder, partial / FOLDER / EMBEDDER)
        content = {
            "embedder": model.embedder_name,
            "fingerprint": model.fingerprint,
            "preparation": model.preparation.header if model.preparation else None,
            "seeds": model.seeds,
            "about": model.about,
        }
        write_sealed(
            partial / FOLDER / HEADER,
            format=FORMAT,
            version=VERSION,
            content=content,
            arrays=model.preparation.arrays if model.preparation else {},
        )


def read_saved(folder: str | PathLike[str]) -> SavedModel:
    """Read a model folder, of `write_saved` or of an estimator's own `save`."""
    folder = Path(folder)
    estimator = load_model(folder)
    if not (folder / FOLDER).is_dir():
        return SavedModel(estimator, folder=folder)
    content, arrays = read_sealed(folder / FOLDER / HEADER, format=FORMAT, version=VERSION)
    preparation = content["preparation"]
    return SavedModel(
        estimator,
        Preparation.from_saved(preparation, arrays) if preparation else None,
        content["embedder"],
        content["fingerprint"],
        content["seeds"],
        content["about"],
        folder,
    )
