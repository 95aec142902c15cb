"""Terms of a text as columns of a count matrix: words and pairs of neighbours, or letter groups.

Scripts that put no spaces between words are split into characters. Pairs of characters are then
what pairs of words are elsewhere, so Chinese needs no word list. Groups of letters suit languages
that inflect and compound more than English: parts of a word are known where the word is not.

A text with no word of the corpus says nothing that could be compared with it. To a pretrained
embedder letters typed at random look like some text or other; the vocabulary knows better.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

# Chinese, Japanese, Thai, Lao, Tibetan, Burmese, Khmer; their vowel signs are no letters to `\w`
UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
INDIC = "\u0900-\u0dff"  # vowel signs, which `\w` would split words at
TERM = re.compile(f"[{UNSPACED}]|(?:[^\\W{UNSPACED}]|[{INDIC}]){{2,}}")
MANY = 0.5  # of all documents: more frequent terms do not distinguish topics
FEW_DOCUMENTS = 20  # in so small a corpus every term is rare, so all of them count
UNKNOWN = -1
LETTERS = 4, 5  # in a group
CACHED = 1 << 16  # words whose groups are kept
Hashes = NDArray[np.uint64]


def split_terms(text: str) -> list[str]:
    """Words in lower case without accents; single characters in scripts without spaces."""
    return TERM.findall(_plain(text))


def find_terms(text: str) -> Iterator[str]:
    """The same one after the other, for those who need only the first ones."""
    return (found[0] for found in TERM.finditer(_plain(text)))


def _plain(text: str) -> str:
    text = text.lower()
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(one for one in decomposed if not unicodedata.combining(one))


def split_letters(text: str) -> list[str]:
    """Groups of letters of each word, with a space for its beginning and its end."""
    return letter_groups(split_terms(text))


def letter_groups(words: Iterable[str]) -> list[str]:
    """Groups of letters of these words."""
    return [group for word in words for group in _letter_groups(word)]


@lru_cache(CACHED)
def _letter_groups(word: str) -> list[str]:
    marked = f" {word} "
    if len(marked) <= min(LETTERS):
        return [marked]
    return [
        marked[start : start + size] for size in LETTERS for start in range(len(marked) - size + 1)
    ]


@dataclass(frozen=True)
class Terms:
    """Words and pairs with a weight each; columns are the words, then the pairs.

    Attributes
    ----------
    words : the vocabulary; groups of letters where `letters` is set
    pairs : sorted; first word x number of words + second word
    weights : of words and pairs; zero for a word that is in most documents, which still
        makes pairs
    """

    words: list[str]
    pairs: Ints
    weights: Floats
    letters: bool = False

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.weights)

    def count(self, texts: Sequence[str]) -> sparse.csr_array:
        """Weighted counts, (texts, terms); each row has unit length, or no known term."""
        index, ids, ends = self._index, [], [0]
        split = split_letters if self.letters else split_terms
        for text in texts:
            ids += [index.get(word, UNKNOWN) for word in split(text)]
            ends.append(len(ids))
        return self.weigh(np.array(ids, dtype=np.int64), np.array(ends))

    def weigh(self, ids: Ints, ends: Ints) -> sparse.csr_array:
        """Weighted counts of texts whose words are given by number, one text after the other."""
        document = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        known = np.flatnonzero(ids >= 0)
        at, key = find_pairs(ids, document, len(self.words))
        place = np.searchsorted(self.pairs, key)
        found = np.zeros(len(key), dtype=bool)
        inside = place < len(self.pairs)
        found[inside] = self.pairs[place[inside]] == key[inside]
        row = np.concatenate([document[known], at[found]])
        column = np.concatenate([ids[known], len(self.words) + place[found]])
        shape = len(ends) - 1, len(self)
        counts = sparse.csr_array((np.ones(len(row), np.float32), (row, column)), shape=shape)
        counts.sum_duplicates()
        # A word that occurs ten times says more than one that occurs once, but not ten times more.
        counts.data = (1 + np.log(counts.data)) * self.weights[counts.indices]
        length = np.sqrt(np.add.reduceat(np.append(counts.data**2, 0), counts.indptr[:-1]))
        length[np.diff(counts.indptr) == 0] = 0
        length = np.repeat(np.where(length > 0, length, 1), np.diff(counts.indptr))
        counts.data = (counts.data / length).astype(np.float32)
        return counts


def find_pairs(ids: Ints, document: Ints, n_words: int) -> tuple[Ints, Ints]:
    """Document and key of each pair of neighbouring known words."""
    both = (ids[:-1] >= 0) & (ids[1:] >= 0) & (document[:-1] == document[1:])
    first = np.flatnonzero(both)
    return document[first], ids[first] * n_words + ids[first + 1]


def learn_terms(
    texts: Iterable[str], max_words: int, max_pairs: int, power: float, letters: bool = False
) -> tuple[Terms, sparse.csr_array, set[str]]:
    """Choose the terms that are in most documents, and weigh them by their rarity.

    The weight is a power of the inverse document frequency. Also the weighted counts of `texts`,
    and all of their words.
    """
    index: dict[str, int] = {}
    every: list[Ints] = []
    seen: set[str] = set()
    for text in texts:
        words = split_terms(text)
        seen.update(words)
        own = letter_groups(words) if letters else words
        every.append(np.array([index.setdefault(one, len(index)) for one in own], dtype=np.int64))
    n = len(every)
    least, most = (2, MANY * n) if n >= FEW_DOCUMENTS else (1, n)
    ends = np.cumsum([0, *map(len, every)])
    ids = np.concatenate([*every, np.zeros(0, dtype=np.int64)])
    document = np.repeat(np.arange(n), np.diff(ends))
    names = np.array(list(index), dtype=object)

    frequency = document_frequency(document, ids, len(names))
    order = sorted(np.flatnonzero(frequency >= least), key=lambda i: (-frequency[i], names[i]))
    kept = np.array(order[:max_words], dtype=np.int64)
    new_id = np.full(len(names), UNKNOWN)
    new_id[kept] = np.arange(len(kept))
    ids = new_id[ids]

    at, key = find_pairs(ids, document, len(kept))
    keys, number = np.unique(key, return_inverse=True)
    together = document_frequency(at, number, len(keys))
    usable = np.flatnonzero((together >= least) & (together <= most))
    usable = np.sort(usable[np.argsort(-together[usable], kind="stable")[:max_pairs]])

    frequencies = np.concatenate([frequency[kept], together[usable]])
    weights = (np.log((1 + n) / (1 + frequencies)) + 1) ** power
    weights[frequencies > most] = 0
    terms = Terms(names[kept].tolist(), keys[usable], weights.astype(np.float32), letters)
    return terms, terms.weigh(ids, ends), seen


def document_frequency(document: Ints, column: Ints, n: int) -> Ints:
    """Number of documents that have each column."""
    both = np.unique(document * max(n, 1) + column)
    return np.bincount(both % max(n, 1), minlength=n)


class Vocabulary:
    """Words of a corpus.

    Parameters
    ----------
    hashes : of the words, sorted
    """

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = hashes

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """A vocabulary of these words."""
        return cls(np.unique(np.array([_hash(word) for word in words], dtype=np.uint64)))

    @cached_property
    def _known(self) -> set[int]:
        return set(self.hashes.tolist())

    def knows(self, text: str) -> bool:
        """Whether some word of the text is known; most texts begin with one."""
        return any(_hash(word) in self._known for word in find_terms(text))


def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
