"""Steps on the unit sphere: what JoSH moves its words, documents and topics with.

One pair at a time, as the original does it, and compiled: batches of pairs would be products of
matrices, but on a CPU most of the time would go into gathering and scattering their rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree
from hierseed_bench.errors import MissingExtra

try:
    from numba import njit
except ImportError as absent:
    raise MissingExtra("numba", "neural", "JoSH") from absent

Floats = NDArray[np.float32]
ZERO, ONE = np.float32(0), np.float32(1)  # a plain number would turn all into float64
BITS = 31  # of a random number

# sums may be reordered so that they run in lanes: the same on every call, no NaN is looked for
compiled = njit(fastmath=True, error_model="numpy")


def noise_of(weights: NDArray[np.floating]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """What to draw words from in proportion to weights: a word at random stays with its chance,
    else another word, its alias, is taken (Walker 1977)."""
    scaled = weights * len(weights) / weights.sum()
    alias = np.arange(len(weights), dtype=np.int32)
    poor, rich = (list(np.flatnonzero(side)) for side in (scaled < 1, scaled >= 1))
    while poor and rich:
        lacks, gives = poor.pop(), rich[-1]
        alias[lacks] = gives
        scaled[gives] -= 1 - scaled[lacks]
        if scaled[gives] < 1:
            poor.append(rich.pop())
    return np.where(alias == np.arange(len(alias)), 1.0, scaled).astype(np.float32), alias


@compiled
def _random(state: Any) -> Any:
    """The next of a row of pseudo-random numbers (Knuth's constants), below 2 ** BITS."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64(state[0] >> np.uint64(64 - BITS))


@compiled
def _draw(noise: Any, state: Any) -> Any:
    chance, alias = noise
    word = (_random(state) * len(chance)) >> BITS
    return word if _random(state) < chance[word] * np.float32(2**BITS) else alias[word]


@compiled
def _cosine(a: Any, i: int, b: Any, j: int) -> Any:
    """Of a row of one table and a row of another."""
    total = ZERO
    for x in range(a.shape[1]):
        total += a[i, x] * b[j, x]
    return total


@compiled
def _scale(table: Any, row: int, by: Any) -> None:
    for x in range(table.shape[1]):
        table[row, x] *= by


@compiled
def text_step(
    anchors: Any, at: int, words: Any, word: int, other: int, rate: Any, margin: Any, frozen: bool
) -> Any:
    """Draw a word u towards its anchor v, more than a random word w; the hinge before.

    The factors 1 - f, 2 h and 1 - f + h are the original's; for h < 0 they draw w near.
    `frozen` leaves the words where they are, as for documents added later.
    """
    f, h = _cosine(words, word, anchors, at), _cosine(words, other, anchors, at)
    hinge = margin - f + h
    if hinge <= 0:
        return ZERO
    near, far, towards = rate * (ONE - f), rate * (h + h), rate * (ONE - f + h)
    of_v, of_u, of_w = ZERO, ZERO, ZERO
    if frozen:
        for x in range(words.shape[1]):
            v = anchors[at, x]
            v += towards * (words[word, x] - words[other, x] - (f - h) * v)
            of_v += v * v
            anchors[at, x] = v
    else:
        for x in range(words.shape[1]):
            v, u, w = anchors[at, x], words[word, x], words[other, x]
            new_v = v + towards * (u - w - (f - h) * v)
            new_u = u + near * (v - f * u)
            new_w = w - far * (v - h * w)
            of_v += new_v * new_v
            of_u += new_u * new_u
            of_w += new_w * new_w
            anchors[at, x], words[word, x], words[other, x] = new_v, new_u, new_w
        _scale(words, word, ONE / np.sqrt(of_u))
        _scale(words, other, ONE / np.sqrt(of_w))
    _scale(anchors, at, ONE / np.sqrt(of_v))
    return hinge


@compiled
def _pair(
    anchors: Any, at: int, words: Any, word: int, centre: int, source: Any, how: Any, frozen: bool
) -> Any:
    """One anchor and its word against random words; neither of the two words is such a one."""
    noise, state = source
    rate, margin, negatives = how
    total = ZERO
    for _ in range(negatives):
        other = _draw(noise, state)
        if other != word and other != centre:
            total += text_step(anchors, at, words, word, other, rate, margin, frozen)
    return total


@compiled
def text_steps(tables: Any, text: Any, part: Any, window: int, source: Any, how: Any) -> Any:
    """Walk over a part of the text: neighbours within a window of random width, the document.

    Parameters
    ----------
    tables : vectors of words, of words as contexts, and of documents
    text : word and document of every place
    part : first place and the one after the last
    source : what random words are drawn from, and the state of the draw
    how : rate, margin and random words a pair

    Returns
    -------
    sum of the hinges, and how many pairs there were
    """
    words, contexts, documents = tables
    numbers, owner = text
    total, count = 0.0, 0
    for at in range(part[0], part[1]):
        centre, document = numbers[at], owner[at]
        width = 1 + ((_random(source[1]) * window) >> BITS)
        for near in range(max(at - width, 0), min(at + width + 1, len(numbers))):
            if near != at and owner[near] == document:
                word = numbers[near]
                total += _pair(contexts, centre, words, word, centre, source, how, False)
                count += 1
        total += _pair(documents, document, words, centre, centre, source, how, False)
        count += 1
    return total, count


@compiled
def place_document(
    vectors: Any, row: int, words: Any, numbers: Any, source: Any, how: Any, passes: int
) -> None:
    """Find the vector of a document by several passes over it; words stay where they are.

    Parameters
    ----------
    numbers : words of the document, and the probability that each is used in a pass
    """
    rate, margin, negatives = how
    found, keep = numbers
    for number in range(passes):
        now = (rate * np.float32(1 - number / passes), margin, negatives)
        for i in range(len(found)):
            if _random(source[1]) < keep[i] * 2**BITS:
                _pair(vectors, row, words, found[i], found[i], source, now, True)


@compiled
def word_steps(topics: Any, words: Any, chosen: Any, rate: Any, margin: Any) -> None:
    """Draw topics and the words chosen for them to each other, up to a cosine of `margin`.

    Parameters
    ----------
    chosen : topic and word of every pair, and its share of a step
    """
    topic, word, share = chosen
    for i in range(len(topic)):
        k, w = topic[i], word[i]
        f = _cosine(topics, k, words, w)
        if f < margin:
            step, of_c, of_u = rate * share[i], ZERO, ZERO
            for x in range(words.shape[1]):
                c, u = topics[k, x], words[w, x]
                new_c, new_u = c + step * (u - f * c), u + step * (c - f * u)
                of_c += new_c * new_c
                of_u += new_u * new_u
                topics[k, x], words[w, x] = new_c, new_u
            _scale(topics, k, ONE / np.sqrt(of_c))
            _scale(words, w, ONE / np.sqrt(of_u))


class TreeTerm:
    """A topic lies nearer to its parent than to its siblings, by a margin per level.

    The root stands after the topics, as row n.
    """

    def __init__(self, tree: Tree) -> None:
        n = len(tree)
        self.parent = np.where(tree.parent < 0, n, tree.parent)
        same = self.parent[:, None] == self.parent
        np.fill_diagonal(same, False)
        self.topic, self.sibling = np.nonzero(same)  # every ordered pair
        self.share = (1 / same.sum(axis=1)[self.topic]).astype(np.float32)
        self.level = tree.level - 1
        self.top = np.flatnonzero(tree.parent < 0)
        self.margin = np.zeros(tree.height, dtype=np.float32)

    def renew(self, topics: Floats) -> None:
        """Set the root to the mean of its children, and margins to the mean gaps of levels."""
        mean = topics[self.top].sum(axis=0)
        topics[-1] = mean / np.linalg.norm(mean)
        levels, size = self.level[self.topic], len(self.margin)
        total = np.bincount(levels, self._gap(topics), size)
        number = np.bincount(levels, minlength=size)
        self.margin = (total / np.maximum(number, 1)).astype(np.float32)

    def step(self, topics: Floats, rate: Any) -> None:
        """Move topics, their parents and their siblings."""
        pairs = (self.topic, self.sibling, self.share)
        _tree_step(topics, pairs, self.parent, self.margin[self.level], np.float32(rate))

    def loss(self, topics: Floats) -> float:
        """Mean hinge over pairs of siblings."""
        hinge = np.maximum(self.margin[self.level[self.topic]] - self._gap(topics), 0)
        return float(hinge.mean()) if len(hinge) else 0.0

    def _gap(self, topics: Floats) -> Any:
        """Cosine with the parent less cosine with a sibling, for every pair of siblings."""
        away = topics[self.parent[self.topic]] - topics[self.sibling]
        return (topics[self.topic] * away).sum(axis=1)


@compiled
def _tree_step(topics: Any, pairs: Any, parent: Any, margin: Any, rate: Any) -> None:
    """All pairs from the same vectors, then one step of every topic."""
    pull = np.zeros_like(topics)
    topic, sibling, share = pairs
    for i in range(len(topic)):
        k, s, p = topic[i], sibling[i], parent[topic[i]]
        if margin[k] > _cosine(topics, k, topics, p) - _cosine(topics, k, topics, s):
            for x in range(topics.shape[1]):
                pull[k, x] += share[i] * (topics[p, x] - topics[s, x])
                pull[p, x] += share[i] * topics[k, x]
                pull[s, x] -= share[i] * topics[k, x]
    for k in range(len(topics)):
        along, total = _cosine(topics, k, pull, k), ZERO
        for x in range(topics.shape[1]):
            topics[k, x] += rate * (pull[k, x] - along * topics[k, x])
            total += topics[k, x] * topics[k, x]
        _scale(topics, k, ONE / np.sqrt(total))
