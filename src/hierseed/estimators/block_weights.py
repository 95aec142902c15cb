"""How much each block of a joined representation counts, learned from seeds held out.

The mixture learns one covariance, so the scales of blocks should not matter to it. They do: the
variance that smoothing adds is the same in every direction, so a block of small scale is smoothed
more. That is right for a block that distinguishes topics badly, and how much of it is
right depends on the corpus (short texts teach little) and on the topics. So some weights are
tried: the mixture is fitted to a sample without half of every topic's seeds, then without the
other half, and these seeds say how likely they are in their own topics. Every weight is judged by
the same halves. No gold labels are used.

What was chosen on which data is said in docs/embedders.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.arrays import Floats, Ints
from hierseed.core.blocks import chunks
from hierseed.core.exact import Quantization
from hierseed.core.mixture.belonging import Membership
from hierseed.core.mixture.calibration import halves, held_out_losses, hold_out
from hierseed.core.mixture.components import Pairs, Seeds, make_components, sum_seeds
from hierseed.core.mixture.em import Settings, initialise
from hierseed.core.mixture.sample import draw
from hierseed.embed.prepare import ArrayLike, Preparation
from hierseed.estimators.inputs import seed_pairs
from hierseed.taxonomy import Taxonomy
from hierseed.threads import one_thread

# The second is of what is learned from the corpus.
CANDIDATES: tuple[tuple[float, ...], ...] = (
    (1.0, 0.0),
    (1.0, 0.25),
    (1.0, 0.5),
    (1.0, 0.75),
    (1.0, 1.0),
    (1.0, 1.5),
    (1.0, 2.5),
)
USUAL = 1.0, 0.5  # where no seed can be held out, and to choose the halves
SAMPLE = 4_000  # documents
ROWS = 4_096  # read at a time


@dataclass(frozen=True)
class BlockWeights:
    """A weight for each block, and the mean loss on held-out seeds that each candidate had."""

    weights: tuple[float, ...]
    losses: dict[tuple[float, ...], float] = field(default_factory=dict)

    def __str__(self) -> str:
        text = " : ".join(f"{weight:g}" for weight in self.weights)
        if not self.losses:
            return f"{text} (no topic has a seed to hold out)"
        alone = self.losses[CANDIDATES[0]]
        return (
            f"{text} (loss on held-out seeds {self.losses[self.weights]:.2f}; "
            f"{alone:.2f} without what is learned from the corpus)"
        )


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
    if not labels:
        return BlockWeights(USUAL)
    documents = sample_rows(X, SAMPLE, np.unique(rows))
    losses = _losses(preparation, documents, seeds, labels, taxonomy)
    if losses is None:
        return BlockWeights(USUAL)
    means = {one: math.fsum(loss) / len(loss) for one, loss in zip(CANDIDATES, losses)}
    return BlockWeights(CANDIDATES[least_of(losses)], means)


def least_of(losses: Sequence[Floats]) -> int:
    """First candidate that is no worse than the best one by more than a standard error.

    Breiman's rule: candidates come in order, and a later one is taken only where the seeds show
    the difference. `losses` holds one number per seed, for the same seeds in the same order. Sums
    are exact, so the order of seeds makes no difference.
    """
    best = int(np.argmin([math.fsum(loss) for loss in losses]))
    n = len(losses[best])
    for number in range(best):
        extra = losses[number] - losses[best]
        mean = math.fsum(extra) / n
        error = math.sqrt(math.fsum((extra - mean) ** 2) / max(n - 1, 1) / n)
        if mean <= error:
            return number
    return best


def _losses(
    preparation: Preparation,
    documents: NDArray[np.float32],
    seeds: NDArray[np.float32],
    labels: list[list[int]],
    taxonomy: Taxonomy,
) -> list[Floats] | None:
    """For each candidate the loss of every held-out seed; None where none can be held out."""
    number = np.repeat(np.arange(len(labels)), [len(each) for each in labels])
    topics = np.concatenate([np.zeros(0, np.intp), *labels]).astype(np.intp)
    has_seeds = np.bincount(topics, minlength=len(taxonomy)) > 0
    components, none = make_components(taxonomy.tree, has_seeds), np.zeros(0, dtype=np.intp)
    certain = Membership.certain(taxonomy.tree.height)
    n = len(documents) + len(topics)
    longest = max(math.hypot(*weights) for weights in CANDIDATES)  # blocks have unit length
    quantization = Quantization.holding(n, longest)

    def weigh(weights: Sequence[float]) -> tuple[Preparation, Pairs, Seeds]:
        tried = preparation.with_weights(weights)
        vectors = tried.transform(seeds)[number].astype(np.float64)
        pairs = Pairs(vectors, number, components.of_topic[topics])
        return tried, pairs, sum_seeds(pairs, components, quantization, none)

    half = halves(*weigh(USUAL)[1:])
    if (half < 0).all():
        return None
    losses = []
    for weights in CANDIDATES:
        tried, pairs, sums = weigh(weights)
        blocks = ArrayBlocks(tried.transform(documents))
        drawn = draw(blocks, quantization, none)
        with one_thread():  # the bits of float32 sums depend on the number of threads
            sample = drawn.weigh(certain, blocks, none)
            initial = initialise(sample, components, sums, Settings(), drawn.centre)
            held = hold_out(sample, pairs, initial, half)
        assert held is not None  # one of the halves has a seed
        losses.append(held_out_losses(held))
    return losses


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
