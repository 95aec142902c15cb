"""Words that a corpus has: a text with none of them says nothing that could be compared with it.

Letters typed at random look to a pretrained embedder like some text or other. The corpus knows
better: none of these words occurs in it. Words are kept as hashes, eight bytes each.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.terms import find_terms

Hashes = NDArray[np.uint64]


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
