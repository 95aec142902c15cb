"""The words that distinguish a topic from its siblings.

Log-odds with an informative prior (Monroe, Colaresi and Quinn, "Fightin' Words", 2008), on the
number of documents that contain a word. The prior keeps rare words out, the variance and the
smallest ratio keep words of every text out, so no list of stop words is needed in any language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from hierseed.core.tree import Tree

WORD = re.compile(r"[^\W\d_][\w'’-]*[^\W_]")
UNSPACED = re.compile(r"[぀-ヿ㐀-䶿一-鿿]+")  # kana and Han: words are not set apart by spaces
READ = 20_000  # characters of a text that are read: a book counts as one document all the same
PRIOR = 100.0  # strength of the prior, in words
MIN_SCORE = 1.64  # one-sided 5 %: a word below it is not distinctive
MIN_RATIO = 2.0  # of odds; words of every text can differ significantly, but never by this much


def find_words(text: str) -> set[str]:
    """Return the distinct words in lower case; character pairs in scripts without spaces.

    Examples
    --------
    >>> sorted(find_words("The well-known e-mail of 2024: don't"))
    ["don't", 'e-mail', 'of', 'the', 'well-known']
    """
    text = text[:READ].lower()
    words = set(WORD.findall(UNSPACED.sub(" ", text)))
    for run in UNSPACED.findall(text):
        words.update(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    return words


def distinctive_words(
    tree: Tree, topics: Sequence[int] | NDArray[np.integer], texts: Iterable[str], top: int = 12
) -> list[list[str]]:
    """Return the most distinctive words of each topic, best first.

    `topics[i]` is the deepest topic of text i, -1 for None. A word must set its topic apart from
    the topic's siblings and from the whole of the rest: its score is the lesser of the two.
    """
    counts, words = _count(tree, topics, texts)
    if not words:
        return [[] for _ in range(len(tree))]
    everything = np.asarray(counts.sum(axis=0)).ravel()
    counts = _roll_up(tree, counts)
    prior = PRIOR * everything / everything.sum()
    found: list[list[str]] = []
    for topic in range(len(tree)):
        own = counts[[topic]].toarray().ravel()
        if not own.any():
            found.append([])
            continue
        score = _log_odds(own + prior, everything - own + prior)
        parent = int(tree.parent[topic])
        siblings = counts[[parent]].toarray().ravel() - own if parent >= 0 else np.zeros(1)
        if siblings.any():
            score = np.minimum(score, _log_odds(own + prior, siblings + prior))
        score[own < min(2, own.max())] = 0  # one document is no pattern, unless there is only one
        best = np.argsort(-score, kind="stable")[:top]
        found.append([words[i] for i in best if score[i] > MIN_SCORE])
    return found


def _log_odds(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much more often a word occurs in a than in b, in standard deviations; 0 below 2:1."""
    delta = np.log(a / (a.sum() - a + 1)) - np.log(b / (b.sum() - b + 1))
    score: NDArray[np.float64] = delta / np.sqrt(1 / a + 1 / b)
    score[delta < np.log(MIN_RATIO)] = 0
    return score


def _count(
    tree: Tree, topics: Sequence[int] | NDArray[np.integer], texts: Iterable[str]
) -> tuple[csr_matrix, list[str]]:
    """Documents per (topic, word); None has the last row, so that it counts among the rest."""
    per_topic: dict[int, Counter[str]] = {}
    for topic, text in zip(topics, texts):
        per_topic.setdefault(int(topic), Counter()).update(find_words(text))
    total: Counter[str] = Counter()
    for counter in per_topic.values():
        total.update(counter)
    least = 2 if sum(len(c) for c in per_topic.values()) > 200 else 1
    words = sorted(word for word, count in total.items() if count >= least)
    column = {word: i for i, word in enumerate(words)}
    cells = [
        (topic % (len(tree) + 1), column[word], count)
        for topic, counter in per_topic.items()
        for word, count in counter.items()
        if word in column
    ]
    rows, columns, values = zip(*cells) if cells else ((), (), ())
    shape = (len(tree) + 1, len(words))
    return csr_matrix((np.array(values, dtype=float), (rows, columns)), shape=shape), words


def _roll_up(tree: Tree, counts: csr_matrix) -> csr_matrix:
    """Give each topic the documents of its whole subtree."""
    above = tree.ancestors[np.arange(len(tree))]
    topic, level = np.nonzero(above >= 0)
    ones = np.ones(len(topic))
    shape = (len(tree) + 1, len(tree) + 1)
    return (csr_matrix((ones, (above[topic, level], topic)), shape=shape) @ counts).tocsr()
