"""A student: a slow model reads some documents, and a regression learns to predict its vectors.

The features cost next to nothing: wordllama, latent semantic analysis, and the mean of the vectors
that the model itself gave to single words, which it reads quickly. Documents are read in an order
that comes from a hash of their text. The number grows by doubling until the share of the variance
that the student explains, measured on held-out documents, hardly grows; the learning curve is kept
and shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Self

import numpy as np

from hierseed.embed.embedder import (
    Embedder,
    Vectors,
    as_text_list,
    fingerprint,
    refuse_unfitted,
    unit_length,
)
from hierseed.embed.kernel_ridge import KernelRidge, fit_kernel_ridge
from hierseed.embed.learned import load_learned, sample_by_content, save_learned
from hierseed.embed.lsa import IDF_POWER, Lsa
from hierseed.embed.wordllama import WordLlama
from hierseed.errors import EmbeddingError
from hierseed.files import model_home

SUFFIX = "+student"
LEARNED = "lsa"  # folder
ARRAYS = "words", "centre", "landmarks", "coefficients"
HELD_OUT = 250  # documents, or a fifth where there are few
FIRST = 500  # documents read at first
MOST_WORDS = 20_000  # single words read, the commonest
GAIN = 0.01  # of the share explained, from twice as many documents; less is not worth the time
BLOCK = 256  # texts read between two savings: what a kill can cost


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
        self._regression: KernelRidge | None = None

    @property
    def fitted(self) -> bool:
        """True once it has learned."""
        return self._regression is not None

    @property
    def max_documents(self) -> int:
        """Documents its features learn from."""
        return self.learned.max_documents

    @property
    def dimension(self) -> int:
        """Dimension of the teacher's vectors."""
        return int(self._regression.coefficients.shape[1]) if self._regression else 0

    @property
    def fingerprint(self) -> str:
        """Hash of the features and the regression."""
        features = self.static.fingerprint, self.learned.fingerprint, self._words
        return fingerprint(SUFFIX, self.name, *features, *self._arrays.values())

    @property
    def _arrays(self) -> dict[str, Vectors]:
        found = self._regression
        if found is None:
            return {}
        return {
            "centre": found.centre,
            "landmarks": found.landmarks,
            "coefficients": found.coefficients,
        }

    def describe(self) -> str:
        """Return how many documents were read, and how well held-out vectors are predicted."""
        points = ", ".join(f"{fit:.2f} after {n:,}" for n, fit in self.curve_)
        return (
            f"{self.name}: the teacher read {len(self._words):,} words, then documents. Share of "
            f"the variance of its vectors that the student explains on held-out ones: {points}"
        )

    def fit(self, texts: Iterable[str]) -> Self:
        """Let the teacher read words, then documents until more of them gain too little.

        What was read is kept in the cache folder until the end, so that a stopped fit resumes.
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
        target, features = teacher.read(held), self._features(held)
        seen, read = features[:0], target[:0]
        self.curve_ = []
        while len(read) < len(rest):
            size = min(max(FIRST, 2 * len(read)), len(rest))
            more = rest[len(read) : size]
            seen = np.concatenate([seen, self._features(more)])
            read = np.concatenate([read, teacher.read(more)])
            self._regression = fit_kernel_ridge(seen, read, features, target)
            self.curve_.append((len(read), self._regression.explained))
            if len(self.curve_) > 1 and self.curve_[-1][1] - self.curve_[-2][1] < GAIN:
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
        """Predict the teacher's vectors."""
        refuse_unfitted(self.name, self.fitted)
        assert self._regression is not None
        return self._regression.predict(self._features(as_text_list(texts)))

    def save(self, folder: str | PathLike[str]) -> None:
        """Write `student.json`, its arrays and what the analysis has learned."""
        refuse_unfitted(self.name, self.fitted)
        self.learned.save(Path(folder) / LEARNED)
        header = {"name": self.name, "max_read": self.max_read, "curve": self.curve_}
        words = self._words.astype(np.float16)
        save_learned(folder, "student", header, words=words, **self._arrays)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read what `save` wrote; the teacher is not needed."""
        header, arrays = load_learned(folder, "student", *ARRAYS)
        words, centre, landmarks, coefficients = arrays
        student = cls(None, name=header["name"], max_read=header["max_read"])
        student.learned = Lsa.load(Path(folder) / LEARNED)
        student.curve_ = [(n, explained) for n, explained in header["curve"]]
        student._words = words.astype(np.float32)
        student._regression = KernelRidge(centre, landmarks, coefficients)
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
