"""The paper's split: train and test; seeds of at most k documents a topic from train; the rest
of train is the fitting set, without labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import SeedError, name_some
from hierseed_bench.data.dataset import TEST, TRAIN, Dataset

TEST_SHARE = 0.2  # the paper: 9,397 of 46,985 (WOS), 7,292 of 36,471 (NYT)


@dataclass(frozen=True)
class Split:
    """Rows of a data set: seeds with the topics they serve, fitting set, test set."""

    seeds: NDArray[np.intp]
    seed_topics: tuple[tuple[int, ...], ...]
    fitting: NDArray[np.intp]
    test: NDArray[np.intp]

    @property
    def train(self) -> NDArray[np.intp]:
        """Seeds and fitting set, in order of row."""
        return np.sort(np.concatenate([self.seeds, self.fitting]))


def train_test(dataset: Dataset, seed: int = 0) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of train and of test: the source's own split, or one in five at random for test."""
    if dataset.part is not None:
        return np.flatnonzero(dataset.part == TRAIN), np.flatnonzero(dataset.part == TEST)
    order = np.random.default_rng([seed, 0]).permutation(len(dataset))
    size = round(TEST_SHARE * len(dataset))
    return np.sort(order[size:]), np.sort(order[:size])


def draw_seeds(
    dataset: Dataset,
    k: int,
    draw: int,
    *,
    split_seed: int = 0,
    barred: NDArray[Any] | None = None,
) -> Split:
    """Draw at most `k` seeds for every topic that has documents of its own; 0 draws none.

    A leaf's documents are those labelled with it; an inner topic's are those that end
    there. A document may be drawn for several of its topics. One order of documents per
    draw: the seeds for k = 2 are among those for k = 4 of the same draw.

    Parameters
    ----------
    draw : number of the draw; the train/test split depends on `split_seed` alone
    barred : True for documents that may not be seeds (their topic was left out)
    """
    train, test = train_test(dataset, split_seed)
    order = np.random.default_rng([draw, 4]).permutation(train)
    if barred is not None:
        order = order[~np.asarray(barred)[order]]
    drawn = np.zeros(len(dataset.taxonomy), dtype=np.intp)
    serves: dict[int, list[int]] = {}
    for row in order:
        for topic in dataset.labels[row]:
            if drawn[topic] < k:
                drawn[topic] += 1
                serves.setdefault(int(row), []).append(topic)
    bare = np.flatnonzero((drawn == 0) & dataset.taxonomy.tree.is_leaf)
    if len(bare) and k:
        raise SeedError(
            f"{len(bare)} leaves of {dataset.name!r} have no document in the training part: "
            f"{name_some(dataset.taxonomy.paths[i] for i in bare)}. Raise --min-docs or --limit."
        )
    rows = np.array(sorted(serves), dtype=np.intp)
    topics = tuple(tuple(sorted(serves[int(row)])) for row in rows)
    return Split(rows, topics, np.setdiff1d(train, rows), test)
