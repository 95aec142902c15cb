"""Latent semantic analysis of words and word pairs, learned from the corpus: any language.

It differs from `tfidf` in four ways: pairs of neighbouring words count too, scripts without
spaces are split into characters, languages that are plainly not English are read by groups of
letters, and the documents it learns from are chosen by their text, so the order of documents
changes no bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from scipy import sparse

from hierseed.embed.embedder import Vectors, as_text_list, fingerprint, refuse_unfitted
from hierseed.embed.language import foreign_language, foreign_script
from hierseed.embed.learned import load_learned, sample_by_content, save_learned
from hierseed.embed.terms import Terms, Vocabulary, learn_terms
from hierseed.errors import EmbeddingError
from hierseed.threads import one_thread

CHUNK = 2048
IDF_POWER = 2.0  # see `tfidf`
ITERATIONS = 3  # of the randomized SVD
EXTRA = 10  # oversampling: more random directions make the last ones more exact


class Lsa:
    """Latent semantic vectors of the corpus it was fitted on.

    Parameters
    ----------
    dimension : singular vectors kept; fewer where the corpus has a lower rank
    max_words, max_pairs : size of the vocabulary, the most frequent first
    max_documents : documents to learn from; of a larger corpus a sample is taken
    """

    def __init__(
        self,
        dimension: int = 200,
        *,
        max_words: int = 50_000,
        max_pairs: int = 50_000,
        max_documents: int = 30_000,
    ) -> None:
        self.requested = dimension
        self.max_words = max_words
        self.max_pairs = max_pairs
        self.max_documents = max_documents
        self.fitted = False
        self._terms = Terms([], np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))
        self._components = np.zeros((0, dimension), dtype=np.float32)
        self.vocabulary = Vocabulary.of([])

    @property
    def name(self) -> str:
        """`lsa:200`."""
        return f"lsa:{self.requested}"

    @property
    def dimension(self) -> int:
        """Singular vectors kept."""
        return int(self._components.shape[1])

    @property
    def fingerprint(self) -> str:
        """Hash of the vocabulary, its weights and the singular vectors."""
        terms = self._terms
        words = "\n".join(terms.words)
        learned = terms.pairs, terms.weights, self._components, self.vocabulary.hashes
        return fingerprint(self.name, int(terms.letters), words, *learned)

    def fit(self, texts: Iterable[str]) -> Self:
        """Learn vocabulary, weights and singular vectors."""
        rows = sample_by_content(texts, self.max_documents)
        sizes = self.max_words, self.max_pairs
        letters = bool(foreign_language(rows)) and not foreign_script(rows)
        if letters:  # neighbouring groups of letters overlap: their pairs say nothing new
            sizes = sum(sizes), 0
        self._terms, counts, seen = learn_terms(rows, *sizes, IDF_POWER, letters)
        self.vocabulary = Vocabulary.of(seen)
        if not counts.nnz:
            raise EmbeddingError(
                f"no words to learn from in {len(rows):,} different texts. "
                "Give a corpus with text in it."
            )
        rank = max(1, min(self.requested, min(counts.shape) - 1))
        self._components = singular_vectors(counts, rank)
        self.fitted = True
        return self

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Project each text; one without a known word gives zeros."""
        refuse_unfitted(self.name, self.fitted)
        rows = as_text_list(texts)
        vectors = np.empty((len(rows), self.dimension), dtype=np.float32)
        for start in range(0, len(rows), CHUNK):
            vectors[start : start + CHUNK] = self.project(self.count(rows[start : start + CHUNK]))
        vectors[self.unknown(rows)] = 0.0
        return vectors

    def unknown(self, texts: Sequence[str]) -> list[int]:
        """Rows of the texts of which the corpus has no word."""
        return [row for row, text in enumerate(texts) if not self.vocabulary.knows(text)]

    def count(self, texts: Sequence[str]) -> sparse.csr_array:
        """Weighted counts of the terms of each text: words, then pairs of words."""
        return self._terms.count(texts)

    def project(self, counts: sparse.csr_array) -> Vectors:
        """Turn weighted counts into vectors."""
        return np.asarray(counts @ self._components)

    @property
    def words(self) -> list[str]:
        """Words that it counts, the commonest first; none where it counts groups of letters."""
        return [] if self._terms.letters else self._terms.words

    @property
    def weights(self) -> Vectors:
        """The weight of each term."""
        return self._terms.weights

    def save(self, folder: str | PathLike[str]) -> None:
        """Write `lsa.json` and four arrays."""
        refuse_unfitted(self.name, self.fitted)
        options = {
            "dimension": self.requested,
            "max_words": self.max_words,
            "max_pairs": self.max_pairs,
            "max_documents": self.max_documents,
        }
        terms = self._terms
        header = {"options": options, "words": terms.words, "letters": terms.letters}
        arrays: dict[str, Any] = {
            "pairs": terms.pairs,
            "weights": terms.weights,
            "components": self._components,
            "vocabulary": self.vocabulary.hashes,
        }
        save_learned(folder, "lsa", header, **arrays)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read what `save` wrote."""
        names = "pairs", "weights", "components", "vocabulary"
        header, arrays = load_learned(folder, "lsa", *names)
        embedder = cls(**header["options"])
        pairs, weights, embedder._components, hashes = arrays
        embedder.vocabulary = Vocabulary(hashes)
        embedder._terms = Terms(header["words"], pairs, weights, header["letters"])
        embedder.fitted = True
        return embedder


def singular_vectors(counts: sparse.csr_array, rank: int) -> Vectors:
    """Right singular vectors of the largest singular values, as columns (randomized SVD).

    The orthonormal basis is kept on the side of documents: there are fewer of them than terms,
    so this is several times faster than the usual form. Each vector has its largest entry
    positive.
    """
    n = counts.shape[0]
    random = np.random.default_rng(0)
    basis = random.standard_normal((n, min(rank + EXTRA, n)), dtype=np.float32)
    transposed = counts.T.tocsr()
    with one_thread():  # the order of a sum depends on the number of threads
        for _ in range(ITERATIONS + 1):
            basis, _ = np.linalg.qr(counts @ (transposed @ basis))
        projected = transposed @ basis
        values, rotation = np.linalg.eigh(projected.T.astype(np.float64) @ projected)
        best = np.argsort(-values)[:rank]
        length = np.sqrt(np.maximum(values[best], np.finfo(np.float32).tiny))
        found = projected @ (rotation[:, best] / length).astype(np.float32)
    largest = np.abs(found).argmax(axis=0)
    found *= np.sign(found[largest, np.arange(found.shape[1])])
    return np.ascontiguousarray(found, dtype=np.float32)
