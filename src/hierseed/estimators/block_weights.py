"""How much each block of a joined representation counts, learned from seeds held out.

The mixture learns one covariance, so the scales of blocks should not matter to it. They do: the
variance that smoothing adds is the same in every direction, so a block of small scale is smoothed
more. That is the right thing for a block that tells topics apart badly, and how much of it is
right depends on the corpus (short texts teach little) and on the topics. So some weights are
tried: the mixture is fitted on a sample without half of every topic's seeds, and the weight is
taken under which those seeds are most likely in their own topics. No gold labels are used.

What was chosen on which data is said in docs/embedders.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.distance import chunks
from hierseed.embed.prepare import ArrayLike, Preparation
from hierseed.estimators.anchored import AnchoredHierSeed
from hierseed.estimators.anchored.seeding import UnseededTopicWarning
from hierseed.estimators.inputs import seed_pairs
from hierseed.taxonomy import Taxonomy

Ints = NDArray[np.intp]

# The second is of what is learned from the corpus.
CANDIDATES = (1.0, 0.0), (1.0, 0.25), (1.0, 0.5), (1.0, 0.75), (1.0, 1.0), (1.0, 1.5), (1.0, 2.5)
USUAL = 1.0, 0.5  # where no seed can be held out
SAMPLE = 4_000  # documents
ROWS = 4_096  # read at a time


@dataclass(frozen=True)
class BlockWeights:
    """A weight for each block, and the loss on held-out seeds that each candidate had."""

    weights: tuple[float, ...]
    losses: dict[tuple[float, ...], float] = field(default_factory=dict)

    def __str__(self) -> str:
        text = " : ".join(f"{weight:g}" for weight in self.weights)
        if not self.losses:
            return f"{text} (no topic has a seed to hold out)"
        least, most = min(self.losses.values()), max(self.losses.values())
        return f"{text} (loss on held-out seeds {least:.2f}; {most:.2f} at the worst weight)"


def learn_block_weights(
    preparation: Preparation,
    X: ArrayLike,
    taxonomy: Taxonomy,
    y: Any = None,
    X_seeds: ArrayLike | None = None,
    y_seeds: Sequence[Any] | None = None,
) -> BlockWeights:
    """Learn the weight of the second block beside the first.

    Parameters
    ----------
    preparation : fitted on `X`, with two blocks
    X, y, X_seeds, y_seeds : as `AnchoredHierSeed.fit` takes them, but not yet prepared
    """
    rows, topics = seed_pairs(y, X.shape[0], taxonomy)
    seeds, labels = _seeds(X, rows, topics, X_seeds, y_seeds)
    documents = sample_rows(X, SAMPLE, np.unique(rows))
    losses: dict[tuple[float, ...], float] = {}
    for weights in CANDIDATES:
        tried = preparation.with_weights(weights)
        model = AnchoredHierSeed(taxonomy, other=False, max_iter=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseededTopicWarning)  # the fit itself will warn
            model.fit(tried.transform(documents), X_seeds=tried.transform(seeds), y_seeds=labels)
        if model.held_out_loss_ is None:
            return BlockWeights(USUAL)
        losses[weights] = model.held_out_loss_
    return BlockWeights(CANDIDATES[best_of(list(losses.values()))], losses)


def best_of(losses: Sequence[float]) -> int:
    """Position of the least loss, after averaging with both neighbours.

    A few dozen seeds make a rough curve; the true one is smooth.
    """
    padded = np.pad(np.asarray(losses), 1, mode="edge")
    return int((padded[:-2] + 2 * padded[1:-1] + padded[2:]).argmin())


def _seeds(
    X: ArrayLike,
    rows: Ints,
    topics: Ints,
    X_seeds: ArrayLike | None,
    y_seeds: Sequence[Any] | None,
) -> tuple[NDArray[np.float32], list[list[int]]]:
    """Vectors and topics of all seeds, those in the corpus first."""
    own, first = np.unique(rows, return_inverse=True)
    labels: list[list[int]] = [[] for _ in own]
    for number, topic in zip(first, topics):
        labels[number].append(int(topic))
    vectors = [np.asarray(X[own], dtype=np.float32)]
    if X_seeds is not None and y_seeds is not None:
        vectors.append(np.asarray(X_seeds, dtype=np.float32))
        labels += [list(one) if np.iterable(one) else [int(one)] for one in y_seeds]
    return np.concatenate(vectors), labels


def sample_rows(X: ArrayLike, size: int, skip: Ints) -> NDArray[np.float32]:
    """Up to `size` rows, chosen and ordered by their content; rows in `skip` are left out."""
    keys = np.empty(X.shape[0], dtype=np.uint64)
    for at in chunks(X.shape[0], 1, ROWS):
        part = np.ascontiguousarray(X[at.start : at.stop])
        hashes = b"".join(blake2b(row.tobytes(), digest_size=8).digest() for row in part)
        keys[at] = np.frombuffer(hashes, dtype="<u8")
    order = np.argsort(keys, kind="stable")
    chosen = order[~np.isin(order, skip)][:size]
    return np.asarray(X[chosen], dtype=np.float32)
