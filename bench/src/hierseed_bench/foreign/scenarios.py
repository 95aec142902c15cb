"""Three worlds made from a labelled corpus: few topics listed, some left out, nothing missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.embed import Preparation
from hierseed.errors import CorpusError
from hierseed.evaluate.left_out import INSIDE
from hierseed.taxonomy import Taxonomy
from hierseed_bench.data.dataset import Dataset, keep_topics
from hierseed_bench.data.reshape import LeftOut, leave_out
from hierseed_bench.data.splits import draw_seeds

LISTED = 3  # topics of level 1 that the taxonomy of `few` has
LEFT_OUT = 0.2  # share of leaves that the taxonomy of `leftout` lacks


@dataclass(frozen=True)
class Scenario:
    """What a detector may look at, and the truth that it may not.

    Attributes
    ----------
    X : centred vectors of unit length, one row per document of the corpus
    seeds, seed_topics : rows of the seeds, and the topic of each
    home : per document the parent of its missing topic (-1: none), INSIDE where none is missing
    gold : the listed topic of each document, -1 for foreign documents
    missing : number of the topic of level 1 that each document misses, -1 where it is listed
    """

    taxonomy: Taxonomy
    X: NDArray[np.float32]
    seeds: NDArray[np.intp]
    seed_topics: NDArray[np.intp]
    home: NDArray[np.intp]
    gold: NDArray[np.intp]
    missing: NDArray[np.intp]
    draw: int

    @property
    def y(self) -> NDArray[np.intp]:
        """Topic of each seed, -1 for all other documents."""
        labels = np.full(len(self.X), -1, dtype=np.intp)
        labels[self.seeds] = self.seed_topics
        return labels

    @property
    def foreign(self) -> NDArray[np.bool_]:
        """True for documents of topics that the taxonomy lacks."""
        return self.home != INSIDE

    @property
    def judged(self) -> NDArray[np.intp]:
        """Rows of the documents to judge: all but the seeds."""
        return np.setdiff1d(np.arange(len(self.X)), self.seeds)


def few(dataset: Dataset, draw: int) -> LeftOut:
    """List three topics of level 1, drawn at random, with all below them."""
    tree = dataset.taxonomy.tree
    tops = tree.children(-1)
    listed = np.random.default_rng([draw, 5]).choice(tops, LISTED, replace=False)
    keep = np.isin(tree.ancestors[:, 0], listed)
    taxonomy, new_id = keep_topics(dataset.taxonomy, keep)
    moved = dataset.relabel(taxonomy, new_id)
    home = np.array([INSIDE if topics else -1 for topics in moved.labels], dtype=np.intp)
    return LeftOut(moved, home)


def left_out(dataset: Dataset, draw: int) -> LeftOut:
    """Leave out 20% of the leaves, and one topic of level 1."""
    return leave_out(dataset, LEFT_OUT, seed=draw)


def closed(dataset: Dataset, draw: int) -> LeftOut:
    """Leave the taxonomy whole: no document is foreign."""
    return LeftOut(dataset, np.full(len(dataset), INSIDE, dtype=np.intp))


SCENARIOS: dict[str, Callable[[Dataset, int], LeftOut]] = {
    "few": few,
    "leftout": left_out,
    "closed": closed,
}


def make_scenario(dataset: Dataset, name: str, draw: int, seeds: int) -> Scenario:
    """Change the taxonomy, draw seeds among the documents of listed topics, prepare vectors."""
    if dataset.vectors is None or not dataset.is_single_label:
        raise CorpusError(f"{dataset.name!r} needs vectors and one topic a document for this")
    changed = SCENARIOS[name](dataset, draw)
    foreign = changed.home != INSIDE
    split = draw_seeds(changed.dataset, seeds, draw, barred=foreign)
    labels = changed.dataset.labels
    gold = [-1 if out or not topics else topics[0] for out, topics in zip(foreign, labels)]
    vectors: Any = dataset.vectors
    X = Preparation(centre=True, unit=True).fit(vectors).transform(vectors[:])
    topics = np.array([each[0] for each in split.seed_topics], dtype=np.intp)
    taxonomy, tree = changed.dataset.taxonomy, dataset.taxonomy.tree
    first = np.array([tree.ancestors[topics[0], 0] for topics in dataset.labels], dtype=np.intp)
    absent = [dataset.taxonomy.paths[topic] not in taxonomy.paths for topic in range(len(tree))]
    missing = np.where(np.array(absent)[first], first, -1)
    return Scenario(taxonomy, X, split.seeds, topics, changed.home, np.array(gold), missing, draw)
