"""A student: a slow model reads some documents, and a linear map learns to foresee its vectors.

The features cost next to nothing: wordllama, latent semantic analysis, and the mean of the vectors
that the model itself gave to single words, which it reads quickly. Documents are read in an order
that comes from a hash of their text. The number grows by doubling until the student's fit,
measured on documents held out, gains too little; the learning curve is kept and told.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
from hierseed.embed.home import model_home
from hierseed.embed.joined import unit_length
from hierseed.embed.lsa import IDF_POWER, Lsa
from hierseed.embed.sample import sample_by_content
from hierseed.embed.wordllama import WordLlama
from hierseed.errors import EmbeddingError

SUFFIX = "+student"
HEADER, MAP, WORDS, LEARNED = "student.json", "map.npy", "words.npy", "lsa"
HELD_OUT = 250  # documents, or a fifth where there are few
FIRST = 500  # documents read at first
MOST_WORDS = 20_000  # single words read, the commonest
GAIN = 0.01  # of the fit, from twice as many documents; less is not worth reading them
RIDGES = (0.01, 0.1, 1.0, 10.0)  # penalties tried; features have unit length
BLOCK = 256  # texts read between two savings: what a kill can cost

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
        self.static, self.learned = WordLlama(), Lsa()
        self.curve_: list[tuple[int, float]] = []
        self._words = np.zeros((0, 0), dtype=np.float32)  # the teacher's vectors of single words
        self._map = np.zeros((1, 0), dtype=np.float32)  # the last row is added to every vector

    @property
    def fitted(self) -> bool:
        """True once it has learned."""
        return self._map.shape[1] > 0

    @property
    def max_documents(self) -> int:
        """Documents its features learn from."""
        return self.learned.max_documents

    @property
    def dimension(self) -> int:
        """The teacher's."""
        return int(self._map.shape[1])

    @property
    def fingerprint(self) -> str:
        """Hash of the features and the map."""
        features = self.static.fingerprint, self.learned.fingerprint, self._words
        return fingerprint(SUFFIX, self.name, *features, self._map)

    def describe(self) -> str:
        """Return how many documents were read, and how well held-out vectors are foreseen."""
        points = ", ".join(f"{fit:.2f} after {n:,}" for n, fit in self.curve_)
        return (
            f"{self.name}: the teacher read {len(self._words):,} words, then documents; the "
            f"student explains this share of the variance of its vectors on held-out ones: {points}"
        )

    def fit(self, texts: Iterable[str]) -> Self:
        """Let the teacher read words, then documents until more of them gain too little.

        What is read is kept in the cache folder until the end, so that a fit that was stopped
        goes on there.
        """
        if self.teacher is None:
            raise EmbeddingError(f"{self.name} was loaded, and has no teacher to learn from.")
        sample = sample_by_content(texts, self.max_documents)
        if len(sample) < 10:
            raise EmbeddingError(
                f"{len(sample)} different texts are too few to learn {self.name} from. "
                "Name the embedder without +student."
            )
        self.learned.fit(sample)
        teacher = _Reader(self.teacher)
        self._words = self._weigh(teacher.read(self.learned.words[:MOST_WORDS]))
        n_held = min(HELD_OUT, len(sample) // 5)
        held, rest = sample[:n_held], sample[n_held : n_held + self.max_read]
        target = teacher.read(held).astype(np.float64)
        features = _with_constant(self._features(held))
        seen = np.zeros((0, features.shape[1]))
        read = np.zeros((0, target.shape[1]))
        self.curve_ = []
        while len(read) < len(rest):
            size = min(max(FIRST, 2 * len(read)), len(rest))
            more = rest[len(read) : size]
            seen = np.concatenate([seen, _with_constant(self._features(more))])
            read = np.concatenate([read, teacher.read(more).astype(np.float64)])
            with one_thread():  # the order of a sum depends on the number of threads
                found, fit = _best_map(seen, read, features, target)
            gained = fit - self.curve_[-1][1] if self.curve_ else np.inf
            self.curve_.append((len(read), fit))
            self._map = found.astype(np.float32)
            if gained < GAIN:
                break
        teacher.forget()
        return self

    def _features(self, texts: list[str]) -> Vectors:
        """Three blocks, each of unit length."""
        with ThreadPoolExecutor(1) as other:
            static = other.submit(self.static.encode, texts)
            counts = self.learned.count(texts)
            learned = self.learned.project(counts)
            words = np.asarray(counts[:, : len(self._words)] @ self._words)
            return np.hstack([unit_length(one) for one in (static.result(), learned, words)])

    def _weigh(self, words: Vectors) -> Vectors:
        """Undo the squares in the weights of `lsa`: few words would count in a mean."""
        weights = self.learned.weights[: len(words)].astype(np.float64)
        scale = np.divide(1.0, weights ** (1 - 1 / IDF_POWER), where=weights > 0, out=0 * weights)
        # Rounded to what is saved, so that a student that was loaded has the same bits.
        return (scale[:, None] * words).astype(np.float16).astype(np.float32)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Foresee the teacher's vectors."""
        refuse_unfitted(self.name, self.fitted)
        features = self._features(as_text_list(texts))
        # Row by row in a fixed order, so that no vector depends on its neighbours.
        return np.einsum("ij,jk->ik", features, self._map[:-1], dtype=np.float32) + self._map[-1]

    def save(self, folder: str | PathLike[str]) -> None:
        """Write `student.json`, `map.npy`, `words.npy` and what the analysis has learned."""
        refuse_unfitted(self.name, self.fitted)
        place = Path(folder)
        self.learned.save(place / LEARNED)
        header = {"name": self.name, "max_read": self.max_read, "curve": self.curve_}
        (place / HEADER).write_text(json.dumps(header) + "\n", encoding="utf-8", newline="\n")
        np.save(place / MAP, self._map)
        np.save(place / WORDS, self._words.astype(np.float16))

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read what `save` wrote; the teacher is not needed."""
        place = Path(folder)
        header = json.loads((place / HEADER).read_text(encoding="utf-8"))
        student = cls(None, name=header["name"], max_read=header["max_read"])
        student.learned = Lsa.load(place / LEARNED)
        student.curve_ = [(n, fit) for n, fit in header["curve"]]
        student._map = np.load(place / MAP)
        student._words = np.load(place / WORDS).astype(np.float32)
        return student


class _Reader:
    """Lets the teacher read, and keeps what it has read in the cache folder until it may forget."""

    def __init__(self, teacher: Embedder) -> None:
        self.teacher = teacher
        self.folder = model_home() / "read" / teacher.fingerprint
        self._files: list[Path] = []

    def read(self, texts: list[str]) -> Vectors:
        """Vectors of the texts, in blocks: those found on disk are not read again."""
        parts = [self._block(texts[at : at + BLOCK]) for at in range(0, len(texts), BLOCK)]
        return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)

    def _block(self, texts: list[str]) -> Vectors:
        file = self.folder / f"{fingerprint(*texts)}.npy"
        self._files.append(file)
        with suppress(OSError, ValueError, EOFError):  # absent, or cut off by a full disk
            found: Vectors = np.load(file)
            return found
        vectors = np.asarray(self.teacher.encode(texts), dtype=np.float32)
        with suppress(OSError):  # without a place to keep it, a stopped fit starts again
            self.folder.mkdir(parents=True, exist_ok=True)
            draft = file.with_suffix(f".{os.getpid()}.part")
            with draft.open("wb") as out:
                np.save(out, vectors)
            draft.replace(file)
        return vectors

    def forget(self) -> None:
        """Remove the files of this fit."""
        with suppress(OSError):
            for file in self._files:
                file.unlink(missing_ok=True)
            self.folder.rmdir()


def _with_constant(features: Vectors) -> Floats:
    return np.hstack([features.astype(np.float64), np.ones((len(features), 1))])


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
