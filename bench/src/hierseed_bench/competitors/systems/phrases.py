"""Glue words that stand together more often than chance into one (`machine_learning`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise


class Phrases:
    """Pairs found in a corpus by the rule of Mikolov et al. (2013).

    Parameters
    ----------
    min_count : pairs seen less often are none
    threshold : of (pair - min_count) * vocabulary / (first * second)
    """

    def __init__(self, min_count: int = 10, threshold: float = 10.0) -> None:
        self.min_count, self.threshold = min_count, threshold
        self.pairs: set[tuple[str, str]] = set()

    def fit(self, documents: Sequence[Sequence[str]]) -> Phrases:
        """Count words and pairs of neighbours."""
        single: Counter[str] = Counter()
        double: Counter[tuple[str, str]] = Counter()
        for words in documents:
            single.update(words)
            double.update(pairwise(words))
        size = len(single)
        self.pairs = {
            (a, b)
            for (a, b), count in double.items()
            if count >= self.min_count
            and (count - self.min_count) * size > self.threshold * single[a] * single[b]
        }
        return self

    def glue(self, words: Sequence[str]) -> list[str]:
        """Join pairs from left to right; a word is part of one pair at most."""
        joined, at = [], 0
        while at < len(words):
            if at + 1 < len(words) and (words[at], words[at + 1]) in self.pairs:
                joined.append(f"{words[at]}_{words[at + 1]}")
                at += 2
            else:
                joined.append(words[at])
                at += 1
        return joined
