"""fastText skip-gram with subwords, trained on the corpus; vectors need no package afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.embedder import Vectors, as_text_list, fingerprint, refuse_unfitted, unit_length
from hierseed.embed.learned import load_learned, sample_texts, save_learned
from hierseed.embed.words import mean_of_words, split_words
from hierseed.errors import EmbeddingError, MissingDependency

BUCKETS = 50_000  # rows for subwords; two million by default, which would be 2.4 GB
SHORTEST, LONGEST = 3, 6  # letters in a subword


class FastText:
    """Word vectors learned from the corpus; a word never seen is the mean of its subwords.

    Parameters
    ----------
    dimension : the paper has 300
    epochs : passes over the corpus
    min_count : rarer words are left to their subwords
    max_documents : documents to learn from; a larger corpus is sampled evenly
    threads : more than one is faster, and never gives the same vectors twice
    """

    def __init__(
        self,
        dimension: int = 300,
        *,
        epochs: int = 5,
        min_count: int = 5,
        max_documents: int = 100_000,
        threads: int = 1,
    ) -> None:
        self.dimension = dimension
        self.epochs = epochs
        self.min_count = min_count
        self.max_documents = max_documents
        self.threads = threads
        self.name = f"fasttext:{dimension}"
        self.fitted = False
        self._row_of: dict[str, int] = {}
        self._words = np.zeros((0, dimension), dtype=np.float16)
        self._subwords = np.zeros((0, dimension), dtype=np.float16)

    @property
    def fingerprint(self) -> str:
        """Hash of the vocabulary and all learned vectors."""
        return fingerprint(self.name, "\n".join(self._row_of), self._words, self._subwords)

    def fit(self, texts: Iterable[str]) -> Self:
        """Train skip-gram vectors on the corpus' words in lower case."""
        try:
            import fasttext
        except ImportError:
            raise MissingDependency("fasttext", "fasttext", "training fastText") from None
        rows = sample_texts(texts, self.max_documents)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "corpus.txt"
            with file.open("w", encoding="utf-8", newline="\n") as lines:
                lines.writelines(" ".join(split_words(text.lower())) + "\n" for text in rows)
            try:
                model = fasttext.train_unsupervised(
                    str(file),
                    model="skipgram",
                    dim=self.dimension,
                    epoch=self.epochs,
                    minCount=self.min_count,
                    minn=SHORTEST,
                    maxn=LONGEST,
                    bucket=BUCKETS,
                    thread=self.threads,
                    verbose=0,
                )
            except ValueError as fault:
                raise EmbeddingError(
                    f"fastText found nothing to learn in {len(rows):,} documents ({fault}). Give a "
                    f"larger corpus, or a min_count below {self.min_count}."
                ) from None
        rows_of = model.get_input_matrix()
        # The end-of-line mark is a word to fastText, and none to a reader.
        words = [word for word in model.words if word != "</s>"]
        means = [rows_of[model.get_subwords(word)[1]].mean(axis=0) for word in words]
        self._row_of = {word: row for row, word in enumerate(words)}
        self._words = unit_length(np.array(means)).astype(np.float16)
        self._subwords = rows_of[len(model.words) :].astype(np.float16)
        self.fitted = True
        return self

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Average the unit-length word vectors of each text, as fastText does for sentences."""
        refuse_unfitted(self.name, self.fitted)
        lowered = [text.lower() for text in as_text_list(texts)]
        return mean_of_words(lowered, self.dimension, self._lookup)

    def _lookup(self, words: list[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        table = np.zeros((len(words), self.dimension), dtype=np.float32)
        known = np.ones(len(words), dtype=bool)
        for place, word in enumerate(words):
            row = self._row_of.get(word)
            if row is not None:
                table[place] = self._words[row]
            elif pieces := subwords(word, len(self._subwords)):
                table[place] = unit_length(self._subwords[pieces].astype(np.float32).mean(axis=0))
            else:
                known[place] = False
        return table, known

    def save(self, folder: str | PathLike[str]) -> None:
        """Write `fasttext.json`, `words.npy` and `subwords.npy`."""
        refuse_unfitted(self.name, self.fitted)
        options = {
            "dimension": self.dimension,
            "epochs": self.epochs,
            "min_count": self.min_count,
            "max_documents": self.max_documents,
            "threads": self.threads,
        }
        header = {"options": options, "words": list(self._row_of)}
        save_learned(folder, "fasttext", header, words=self._words, subwords=self._subwords)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read what `save` wrote."""
        header, arrays = load_learned(folder, "fasttext", "words", "subwords")
        embedder = cls(**header["options"])
        embedder._row_of = {word: row for row, word in enumerate(header["words"])}
        embedder._words, embedder._subwords = arrays
        embedder.fitted = True
        return embedder


def subwords(word: str, buckets: int) -> list[int]:
    """Rows of a word's letter groups, as fastText numbers them (FNV-1a over signed bytes)."""
    marked = f"<{word}>"
    pieces = [
        marked[start : start + size]
        for start in range(len(marked))
        for size in range(SHORTEST, LONGEST + 1)
        if start + size <= len(marked)
    ]
    return [_fnv(piece.encode()) % buckets for piece in pieces]


def _fnv(content: bytes) -> int:
    value = 2166136261
    for byte in content:
        # fastText widens a byte with its sign, so those above 127 set the upper bits too.
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = value * 16777619 & 0xFFFFFFFF
    return value
