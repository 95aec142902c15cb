"""A student: a slow model reads some documents, and a linear map learns to foresee its vectors.

The features are `wordllama+lsa`, which cost next to nothing. Documents are read in an order that
comes from a hash of their text. The number grows by doubling until the student's fit, measured on
documents held out, gains too little; the learning curve is kept and told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hierseed.core.mixture.covariance import one_thread
from hierseed.embed.embedder import (
    Embedder,
    Vectors,
    as_text_list,
    fingerprint,
    refuse_unfitted,
)
from hierseed.embed.joined import Joined
from hierseed.embed.lsa import Lsa
from hierseed.embed.sample import sample_by_content
from hierseed.embed.wordllama import WordLlama
from hierseed.errors import EmbeddingError

SUFFIX = "+student"
HEADER, MAP, FEATURES = "student.json", "map.npy", "features"
HELD_OUT = 250  # documents, or a fifth where there are few
FIRST = 500  # documents read at first
GAIN = 0.01  # of the fit, from twice as many documents; less is not worth reading them
RIDGES = (0.01, 0.1, 1.0, 10.0)  # penalties tried; features have unit length

Floats = NDArray[np.float64]


class Student:
    """Vectors like a teacher's, from cheap features.

    Parameters
    ----------
    teacher : the embedder to imitate; None for a student that was loaded
    max_read : documents that the teacher reads at most
    """

    def __init__(
        self, teacher: Embedder | None, *, name: str | None = None, max_read: int = 8_000
    ) -> None:
        if teacher is None and name is None:
            raise EmbeddingError("a student needs a teacher, or the name it was saved under.")
        self.teacher = teacher
        self.name = name or f"{teacher.name if teacher else ''}{SUFFIX}"
        self.max_read = max_read
        self.features = Joined(WordLlama(), Lsa())
        self.curve_: list[tuple[int, float]] = []
        self._map = np.zeros((1, 0), dtype=np.float32)  # the last row is added to every vector

    @property
    def fitted(self) -> bool:
        """True once it has learned."""
        return self._map.shape[1] > 0

    @property
    def max_documents(self) -> int:
        """Documents its features learn from."""
        return self.features.max_documents

    @property
    def dimension(self) -> int:
        """The teacher's."""
        return int(self._map.shape[1])

    @property
    def fingerprint(self) -> str:
        """Hash of the features and the map."""
        return fingerprint(SUFFIX, self.name, self.features.fingerprint, self._map)

    def describe(self) -> str:
        """Return how many documents were read, and how well held-out vectors are foreseen."""
        points = ", ".join(f"{fit:.2f} after {n:,}" for n, fit in self.curve_)
        return (
            f"{self.name}: the student explains this share of the variance of the teacher's "
            f"vectors on held-out documents: {points}"
        )

    def fit(self, texts: Iterable[str]) -> Self:
        """Let the teacher read documents until more of them gain too little."""
        if self.teacher is None:
            raise EmbeddingError(f"{self.name} was loaded, and has no teacher to learn from.")
        sample = sample_by_content(texts, self.max_documents)
        if len(sample) < 10:
            raise EmbeddingError(
                f"{len(sample)} different texts are too few to learn {self.name} from. "
                "Name the embedder without +student."
            )
        self.features.fit(sample)
        n_held = min(HELD_OUT, len(sample) // 5)
        held, rest = sample[:n_held], sample[n_held : n_held + self.max_read]
        features, target = self._features(held), self.teacher.encode(held)
        seen = np.zeros((0, features.shape[1]))
        read = np.zeros((0, target.shape[1]))
        self.curve_ = []
        while len(read) < len(rest):
            size = min(max(FIRST, 2 * len(read)), len(rest))
            more = rest[len(read) : size]
            seen = np.concatenate([seen, self._features(more)])
            read = np.concatenate([read, self.teacher.encode(more).astype(np.float64)])
            with one_thread():  # the order of a sum depends on the number of threads
                found, fit = _best_map(seen, read, features, target.astype(np.float64))
            gained = fit - self.curve_[-1][1] if self.curve_ else np.inf
            self.curve_.append((len(read), fit))
            self._map = found.astype(np.float32)
            if gained < GAIN:
                break
        return self

    def _features(self, texts: list[str]) -> Floats:
        vectors = self.features.encode(texts).astype(np.float64)
        return np.hstack([vectors, np.ones((len(vectors), 1))])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Foresee the teacher's vectors."""
        refuse_unfitted(self.name, self.fitted)
        features = self.features.encode(as_text_list(texts))
        # Row by row in a fixed order, so that no vector depends on its neighbours.
        return np.einsum("ij,jk->ik", features, self._map[:-1], dtype=np.float32) + self._map[-1]

    def save(self, folder: str | PathLike[str]) -> None:
        """Write `student.json`, `map.npy` and what the features have learned."""
        refuse_unfitted(self.name, self.fitted)
        place = Path(folder)
        self.features.save(place / FEATURES)
        header = {"name": self.name, "max_read": self.max_read, "curve": self.curve_}
        (place / HEADER).write_text(json.dumps(header) + "\n", encoding="utf-8", newline="\n")
        np.save(place / MAP, self._map)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read what `save` wrote; the teacher is not needed."""
        place = Path(folder)
        header = json.loads((place / HEADER).read_text(encoding="utf-8"))
        student = cls(None, name=header["name"], max_read=header["max_read"])
        student.features = Joined.load(place / FEATURES, WordLlama())
        student.curve_ = [(n, fit) for n, fit in header["curve"]]
        student._map = np.load(place / MAP)
        return student


def _best_map(
    features: Floats, target: Floats, held: Floats, held_target: Floats
) -> tuple[Floats, float]:
    """The ridge regression that explains most of the variance of held-out vectors."""
    products, sums = features.T @ features, features.T @ target
    spread = ((held_target - held_target.mean(axis=0)) ** 2).sum()
    best: Floats = np.zeros((features.shape[1], target.shape[1]))
    most = -np.inf
    for ridge in RIDGES:
        penalty = np.full(len(products), ridge)
        penalty[-1] = 1e-9  # the constant is free
        found = np.asarray(np.linalg.solve(products + np.diag(penalty), sums), dtype=np.float64)
        explained = 1 - ((held @ found - held_target) ** 2).sum() / max(spread, 1e-12)
        if float(explained) > most:
            best, most = found, float(explained)
    return best, most
