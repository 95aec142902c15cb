"""TF-IDF and a truncated SVD, fitted on the corpus: nothing to download, any language.

The inverse document frequency is squared. The SVD keeps the directions of most variance, and with
the usual weight frequent words without a topic take the first of them. Nearest centroid of 5 seeds
a class got .47, .22 and .32 of the documents right on 20 Newsgroups, CAP and arXiv, and with the
square .61, .31 and .37. A list of stop words, which has to know the language, gains less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np

from hierseed.embed.embedder import Vectors, as_text_list, fingerprint, refuse_unfitted
from hierseed.embed.learned import load_learned, sample_texts, save_learned
from hierseed.errors import EmbeddingError
from hierseed.threads import one_thread

CHUNK = 4096


class TfidfSvd:
    """Latent semantic vectors of the corpus it was fitted on.

    Parameters
    ----------
    dimension : singular vectors kept; fewer where the corpus has a lower rank
    max_words : size of the vocabulary, the most frequent first
    max_documents : documents to learn from; a larger corpus is sampled evenly
    """

    def __init__(
        self, dimension: int = 200, *, max_words: int = 50_000, max_documents: int = 100_000
    ) -> None:
        self.requested = dimension
        self.max_words = max_words
        self.max_documents = max_documents
        self.fitted = False
        self._words: list[str] = []
        self._idf = np.zeros(0, dtype=np.float32)
        self._components = np.zeros((0, dimension), dtype=np.float32)

    @property
    def name(self) -> str:
        """`tfidf:200`."""
        return f"tfidf:{self.requested}"

    @property
    def dimension(self) -> int:
        """Singular vectors kept."""
        return int(self._components.shape[1])

    @property
    def fingerprint(self) -> str:
        """Hash of the vocabulary, its weights and the singular vectors."""
        words = "\n".join(self._words)
        return fingerprint(self.name, words, self._idf, self._components)

    def fit(self, texts: Iterable[str]) -> Self:
        """Learn vocabulary, word weights and singular vectors."""
        from sklearn.decomposition import TruncatedSVD

        rows = sample_texts(texts, self.max_documents)
        vectorizer = self._learn_words(rows)
        self._words = [str(word) for word in vectorizer.get_feature_names_out()]
        self._idf = (vectorizer.idf_**2).astype(np.float32)
        self._prepare()
        counts = self._vectorizer.transform(rows)
        rank = max(1, min(self.requested, min(counts.shape) - 1))
        with one_thread():
            svd = TruncatedSVD(rank, random_state=0).fit(counts)
        self._components = np.ascontiguousarray(svd.components_.T, dtype=np.float32)
        self.fitted = True
        return self

    def _learn_words(self, rows: list[str]) -> Any:
        """Fit the vocabulary: without words that do not distinguish topics, unless none is left."""
        fault = ""
        for min_df, max_df in ((2, 0.5), (1, 1.0)):
            # A word in more than half of a corpus is of no use, in any language; in a corpus of
            # a few documents every word is rare, so there all of them count.
            if len(rows) < 20 and min_df > 1:
                continue
            vectorizer = _vectorizer(max_features=self.max_words, min_df=min_df, max_df=max_df)
            try:
                return vectorizer.fit(rows)
            except ValueError as found:
                fault = str(found)
        raise EmbeddingError(
            f"no words to learn from in {len(rows):,} documents ({fault}). "
            "Give a corpus with text in it."
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Project each text; one without a known word gives zeros."""
        refuse_unfitted(self.name, self.fitted)
        rows = as_text_list(texts)
        vectors = np.empty((len(rows), self.dimension), dtype=np.float32)
        for start in range(0, len(rows), CHUNK):
            counts = self._vectorizer.transform(rows[start : start + CHUNK])
            vectors[start : start + CHUNK] = counts @ self._components
        return vectors

    def save(self, folder: str | PathLike[str]) -> None:
        """Write `tfidf.json`, `idf.npy` and `components.npy`."""
        refuse_unfitted(self.name, self.fitted)
        options = {
            "dimension": self.requested,
            "max_words": self.max_words,
            "max_documents": self.max_documents,
        }
        header = {**options, "words": self._words}
        save_learned(folder, "tfidf", header, idf=self._idf, components=self._components)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read what `save` wrote."""
        options, arrays = load_learned(folder, "tfidf", "idf", "components")
        words = options.pop("words")
        embedder = cls(**options)
        embedder._words = words
        embedder._idf, embedder._components = arrays
        embedder.fitted = True
        embedder._prepare()
        return embedder

    def _prepare(self) -> None:
        # The same code for fitted and loaded embedders, so that their vectors agree to the bit.
        self._vectorizer = _vectorizer(vocabulary=self._words)
        self._vectorizer.idf_ = self._idf


def _vectorizer(**options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, strip_accents="unicode", dtype=np.float32, **options)
