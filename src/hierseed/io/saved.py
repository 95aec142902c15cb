"""A model as the command line saves it: the estimator, and the way from text to its vectors.

MODEL/
  model.json, *.npy           the estimator, by its own `save`
  from_text/from_text.json    preparation, seeds, and what the vectors were made from
  from_text/prepare_mean.npy, seed_vectors.npy
  from_text/embedder/         what `load_embedder` needs
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from hierseed.embed.choose import load_embedder, save_embedder
from hierseed.embed.embedder import Embedder
from hierseed.embed.prepare import ArrayLike, Preparation, Prepared
from hierseed.embed.store import VectorStore
from hierseed.errors import ModelError
from hierseed.io.atomic import atomic_folder
from hierseed.io.models import FILE, FROM_TEXT, FROM_TEXT_FILE, FROM_TEXT_FORMAT, load_model
from hierseed.io.sealed import read_sealed, write_sealed
from hierseed.io.seed_documents import SeedDocuments
from hierseed.taxonomy import Taxonomy

VERSION = 1
EMBEDDER, SEED_VECTORS = "embedder", "seed_vectors"


@dataclass
class SavedModel:
    """A fitted estimator with all that it takes to place new text.

    Parameters
    ----------
    estimator : fitted
    preparation : what was done to the vectors before `fit`; None where nothing was
    embedder_name, fingerprint : what made the vectors; "" where that is not known
    seeds : the documents that were seeds
    about : facts of the fit for the reader: corpus, number of documents, seconds
    dtype : in which vectors were stored; new ones are rounded alike, so that a document embedded
        again is placed with the same bits
    """

    estimator: Any
    preparation: Preparation | None = None
    embedder_name: str = ""
    fingerprint: str = ""
    seeds: SeedDocuments = field(default_factory=SeedDocuments)
    about: dict[str, Any] = field(default_factory=dict)
    dtype: str = "float32"
    folder: Path | None = None

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy with its Other topics."""
        taxonomy: Taxonomy = self.estimator.taxonomy_
        return taxonomy

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of the fit, refused where it would give other vectors now."""
        place = self.folder / FROM_TEXT / EMBEDDER if self.folder else None
        if place is None or not place.is_dir():
            raise ModelError(
                f"the model {self.folder or ''} was fitted on vectors and does not know how they "
                "were made. Give vectors instead of text"
            )
        return load_embedder(place)

    @property
    def inputs(self) -> list[Path]:
        """The files of topics and seeds that the fit read, where it left a word about them."""
        place = self.folder.parent if self.folder else Path()
        return [place / name for name in self.about.get("inputs", [])]

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


def write_saved(
    model: SavedModel, folder: str | PathLike[str], embedder: Embedder | None = None
) -> None:
    """Write the model folder as a whole or not at all."""
    with atomic_folder(folder, marker=FILE) as partial:
        model.estimator.save(partial)
        (partial / FROM_TEXT).mkdir()
        if embedder is not None:
            save_embedder(embedder, partial / FROM_TEXT / EMBEDDER)
        content = {
            "embedder": model.embedder_name,
            "fingerprint": model.fingerprint,
            "preparation": model.preparation.header if model.preparation else None,
            "seeds": model.seeds.topics,
            "about": model.about,
            "dtype": model.dtype,
        }
        write_sealed(
            partial / FROM_TEXT / FROM_TEXT_FILE,
            format=FROM_TEXT_FORMAT,
            version=VERSION,
            content=content,
            arrays={
                **(model.preparation.arrays if model.preparation else {}),
                SEED_VECTORS: model.seeds.vectors,
            },
        )


def read_saved(folder: str | PathLike[str]) -> SavedModel:
    """Read a model folder, of `write_saved` or of an estimator's own `save`."""
    folder = Path(folder)
    estimator = load_model(folder)
    preparation, estimator.preparation_ = estimator.preparation_, None  # `prepare` is called here
    if not (folder / FROM_TEXT).is_dir():
        return SavedModel(estimator, preparation, folder=folder)
    content, arrays = read_sealed(
        folder / FROM_TEXT / FROM_TEXT_FILE, format=FROM_TEXT_FORMAT, version=VERSION
    )
    seeds = SeedDocuments(content["seeds"], arrays.pop(SEED_VECTORS))
    return SavedModel(
        estimator,
        preparation,
        content["embedder"],
        content["fingerprint"],
        seeds,
        content["about"],
        content["dtype"],
        folder,
    )
