"""Text to words as each system wants it, words to numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

Tokeniser = Callable[[str], list[str]]
PADDING, UNKNOWN = 0, 1
SPECIAL = ("<pad>", "<unknown>")

_UNWANTED = re.compile(r"[^A-Za-z0-9(),!?'`]")
_SHORT_FORMS = re.compile(r"('s|'ve|n't|'re|'d|'ll)", re.IGNORECASE)
_POINTS = re.compile(r"([,!()?])")
_QUOTES = re.compile(r"[\\'\"]")
_SEPARATORS = str.maketrans(dict.fromkeys('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n', " "))
_WORDS = re.compile(r"[^\W_]+(?:'[a-z]+)?")


def kim_words(text: str) -> list[str]:
    """Clean as Kim (2014) did: letters, digits and ( ) , ! ? ' `, short forms split off."""
    text = _SHORT_FORMS.sub(r" \1", _UNWANTED.sub(" ", text))
    return _POINTS.sub(r" \1 ", text).lower().split()


def content_words(text: str) -> list[str]:
    """Kim's words without stop words and single letters."""
    return [w for w in kim_words(text) if len(w) > 1 and w not in ENGLISH_STOP_WORDS]


def keras_words(text: str) -> list[str]:
    """Strip backslashes and quotes, split at punctuation as Keras' tokenizer does."""
    return _QUOTES.sub("", text).lower().translate(_SEPARATORS).split()


def plain_words(text: str) -> list[str]:
    """Lower-cased words, punctuation left out."""
    return _WORDS.findall(text.lower())


def is_content(word: str) -> bool:
    """True unless a word is a stop word or holds a digit."""
    return word not in ENGLISH_STOP_WORDS and not any(letter.isdigit() for letter in word)


class Vocabulary:
    """Words by frequency, after one number for padding and one for the unknown word."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = [*SPECIAL, *words]
        self.index = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def build(
        cls,
        documents: Iterable[Sequence[str]],
        *,
        size: int | None = None,
        min_count: int = 1,
        keep: Callable[[str], bool] | None = None,
    ) -> Vocabulary:
        """Count words; the most frequent `size` stay. Ties go by the alphabet."""
        counts: Counter[str] = Counter()
        for words in documents:
            counts.update(words)
        ranked = sorted(
            (w for w, count in counts.items() if count >= min_count and (keep is None or keep(w))),
            key=lambda word: (-counts[word], word),
        )
        return cls(ranked[:size])

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Numbers of a document's words."""
        get = self.index.get
        return np.array([get(word, UNKNOWN) for word in words], dtype=np.int32)

    def matrix(
        self, documents: Sequence[Sequence[str]], length: int, *, keep_last: bool = False
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Numbers of many documents, one row each, padded on the right; and their lengths.

        An empty document counts as one unknown word, so that every row has a length.
        """
        rows = np.full((len(documents), length), PADDING, dtype=np.int32)
        lengths = np.ones(len(documents), dtype=np.int64)
        for row, words in enumerate(documents):
            cut = words[-length:] if keep_last else words[:length]
            numbers = self.encode(cut) if cut else np.array([UNKNOWN], dtype=np.int32)
            rows[row, : len(numbers)] = numbers
            lengths[row] = len(numbers)
        return rows, lengths
