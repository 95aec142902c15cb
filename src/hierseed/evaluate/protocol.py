"""Score predicted levels against gold labels under both protocols.

`all`    every document, every level below the root; None and each Other are clusters.
`paper`  as the published evaluation: documents that are None left out, and the root
         counted as one more level, whose score is 1 by construction.

docs/evaluate.md explains why the second flatters, and why both are always shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree
from hierseed.evaluate.ancestors import Hierarchical, from_counts
from hierseed.evaluate.bcubed import bcubed_of
from hierseed.evaluate.classes import accuracy_of, macro_f1_of
from hierseed.evaluate.crossing import Crossing, Labels, cross
from hierseed.evaluate.levels import gold_levels, predicted_levels
from hierseed.evaluate.vmeasure import v_measure_of
from hierseed.taxonomy import Taxonomy

PROTOCOLS = ("all", "paper")
COUNTED = ("clusters", "topics")  # their mean over levels would say nothing


@dataclass(frozen=True)
class LevelScore:
    """The measures of one level, or their mean over levels."""

    bcubed_precision: float
    bcubed_recall: float
    bcubed_f1: float
    homogeneity: float
    completeness: float
    v_measure: float
    accuracy: float | None
    macro_f1: float | None
    clusters: int | None
    """Distinct predicted clusters, None and "stopped at" clusters included; no mean."""
    topics: int | None
    """Distinct gold clusters; no mean."""
    placed: float | None
    """Share of documents that have a listed topic of this very level."""


@dataclass(frozen=True)
class Score:
    """One protocol: level by level, and the mean over levels."""

    protocol: str
    documents: int
    levels: tuple[LevelScore, ...]
    mean: LevelScore
    hierarchical: Hierarchical | None
    """Precision, recall and F1 over ancestor sets; only where clusters have names."""

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        record = asdict(self)
        record["levels"] = [asdict(level) for level in self.levels]
        record["hierarchical"] = self.hierarchical and self.hierarchical._asdict()
        return record


@dataclass(frozen=True)
class Scores:
    """Both protocols, and the share of documents that are not None."""

    all: Score
    paper: Score
    coverage: float

    def __iter__(self) -> Iterator[Score]:
        return iter((self.all, self.paper))

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        return {"coverage": self.coverage} | {score.protocol: score.to_dict() for score in self}


def score(
    tree: Tree | Taxonomy,
    levels: NDArray[Any],
    gold: Labels,
    *,
    rows: NDArray[Any] | None = None,
    named: bool = True,
) -> Scores:
    """Score predictions at every level, under both protocols.

    Parameters
    ----------
    tree : the taxonomy of the gold labels
    levels : (documents, height) predicted topic per level, -1 below the deepest and for None;
        an id past the end of `tree` is an Other topic that a method has appended
    gold : one topic id a document, or a list of ids a document; -1 or [] is no topic at all
    rows : the document of each row of `levels`, where a document may have several rows; of
        assignments `a`, `a.path` are such levels, and `a.row` their documents
    named : False where predictions are clusters without names (no accuracy then)

    Examples
    --------
    >>> from hierseed.taxonomy import Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["A > B", "A > C"])
    >>> score(taxonomy, [[0, 1], [0, 1]], [1, 2]).all.mean.accuracy
    0.75
    """
    tree = tree.tree if isinstance(tree, Taxonomy) else tree
    wanted = gold_levels(tree, gold)
    n = wanted[0].n if wanted else 0
    given = predicted_levels(np.asarray(levels), tree.height, n, rows, named)
    crossings = [cross(a, b) for a, b in zip(wanted, given)]
    covered = [crossing.without_none() for crossing in crossings]
    share = covered[0].n / n if n else 0.0
    own = _own_level(tree, np.asarray(levels)) if named else None
    full = _score("all", crossings, own, len(tree))
    if share == 1.0:  # nothing to leave out: only the root is added
        paper = Score(
            "paper", full.documents, full.levels, _mean(full.levels, 1), full.hierarchical
        )
    else:
        paper = _score("paper", covered, own, len(tree))
    return Scores(full, paper, share)


def _score(
    protocol: str, crossings: list[Crossing], own: NDArray[Any] | None, listed: int
) -> Score:
    levels = tuple(
        _level(crossing, own, listed, k) for k, crossing in enumerate(crossings, start=1)
    )
    documents = round(crossings[0].n) if crossings else 0
    ancestors = None if own is None else _over_ancestors(crossings, own)
    return Score(protocol, documents, levels, _mean(levels, int(protocol == "paper")), ancestors)


def _level(crossing: Crossing, own: NDArray[Any] | None, listed: int, level: int) -> LevelScore:
    b, v = bcubed_of(crossing), v_measure_of(crossing)
    gold, predicted = crossing.sizes
    placed = None
    if own is not None:
        is_placed = np.flatnonzero((own == level) & (np.arange(len(own)) <= listed))
        placed = _share_with(crossing, is_placed)
    return LevelScore(
        b.precision,
        b.recall,
        b.f1,
        v.homogeneity,
        v.completeness,
        v.v,
        None if own is None else accuracy_of(crossing),
        None if own is None else macro_f1_of(crossing),
        int(np.count_nonzero(predicted)),
        int(np.count_nonzero(gold)),
        placed,
    )


def _share_with(crossing: Crossing, columns: NDArray[Any]) -> float:
    """Share of documents with at least one predicted cluster among the columns."""
    columns = columns[columns < crossing.predicted.shape[1]]
    has = crossing.predicted[:, columns].sum(axis=1) > 0
    return float(crossing.counts.sum(axis=0)[has].sum() / crossing.n) if crossing.n else 0.0


def _mean(levels: tuple[LevelScore, ...], roots: int) -> LevelScore:
    """Equal weight for every level; `roots` more levels count with score 1."""
    means: dict[str, Any] = {}
    for name in LevelScore.__dataclass_fields__:
        values = [getattr(level, name) for level in levels]
        unknown = not values or values[0] is None or name in COUNTED
        means[name] = None if unknown else (sum(values) + roots) / (len(values) + roots)
    return LevelScore(**means)


def _own_level(tree: Tree, levels: NDArray[Any]) -> NDArray[Any]:
    """Level of each column of a crossing (cluster id + 1); 0 for None.

    An Other topic is not in the tree: its level is where it stands in the predictions.
    """
    own = np.zeros(max(len(tree), int(levels.max(initial=-1)) + 1) + 1, dtype=np.int64)
    own[1 : len(tree) + 1] = tree.level
    for k in range(levels.shape[1]):
        extra = levels[:, k][levels[:, k] >= len(tree)]
        own[extra + 1] = k + 1
    return own


def _over_ancestors(crossings: list[Crossing], own: NDArray[Any]) -> Hierarchical:
    """Add up real topics level by level: together they are the ancestor sets."""
    right = given = wanted = 0.0
    for level, crossing in enumerate(crossings, start=1):
        width = len(crossing.hits)
        real = np.flatnonzero(own[:width] == level)
        gold, predicted = crossing.sizes
        right += crossing.hits[real].sum()
        given += predicted[real].sum()
        wanted += gold[real].sum()
    return from_counts(right, given, wanted)
