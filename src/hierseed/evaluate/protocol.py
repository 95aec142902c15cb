"""Score predicted levels against gold labels under both protocols.

`all`    every document, every level below the root; None and each Other are clusters.
`paper`  as the published evaluation: documents that are None left out, and the root
         counted as one more level, whose score is 1 by construction.

`to_text` prints both as tables. docs/evaluate.md explains why the second is higher.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree
from hierseed.evaluate.label_sets import Labels, LabelSetCounts, count_label_sets
from hierseed.evaluate.levels import gold_levels, predicted_levels
from hierseed.evaluate.measures import (
    FScore,
    accuracy_of,
    bcubed_of,
    from_counts,
    macro_f1_of,
    v_measure_of,
)
from hierseed.taxonomy import Taxonomy

PROTOCOLS = ("all", "paper")
WITHOUT_MEAN = ("clusters", "topics")  # a mean over levels has no meaning
COLUMNS = {
    "bcubed_precision": "B3 P",
    "bcubed_recall": "B3 R",
    "bcubed_f1": "B3 F1",
    "v_measure": "V",
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "placed": "placed",
    "clusters": "clusters",
    "topics": "topics",
}
MEANING = {
    "all": "every document, every level; None and Other are clusters of their own",
    "paper": "as the paper scores: None left out, the root counted as a level of score 1",
}


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
    """Distinct predicted clusters, with None and "stopped at" clusters; None for a mean."""
    topics: int | None
    """Distinct gold clusters; None for a mean."""
    placed: float | None
    """Share of documents with a listed topic of exactly this level."""


@dataclass(frozen=True)
class Score:
    """One protocol: level by level, and the mean over levels."""

    protocol: str
    documents: int
    levels: tuple[LevelScore, ...]
    mean: LevelScore
    hierarchical: FScore | None
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
        ids beyond `tree` are Other topics that a method appended
    gold : one topic id a document, or a list of ids a document; -1 or [] for no topic
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
    expected = gold_levels(tree, gold)
    n = expected[0].n if expected else 0
    predicted = predicted_levels(np.asarray(levels), tree.height, n, rows, named)
    counts_by_level = [count_label_sets(a, b) for a, b in zip(expected, predicted)]
    covered = [counted.without_none() for counted in counts_by_level]
    share = covered[0].n / n if n else 0.0
    level_of = _level_of_columns(tree, np.asarray(levels)) if named else None
    full = _score("all", counts_by_level, level_of, len(tree))
    if share == 1.0:  # only the root is added
        paper = Score(
            "paper", full.documents, full.levels, _mean(full.levels, 1), full.hierarchical
        )
    else:
        paper = _score("paper", covered, level_of, len(tree))
    return Scores(full, paper, share)


def _score(
    protocol: str, counts_by_level: list[LabelSetCounts], level_of: NDArray[Any] | None, listed: int
) -> Score:
    levels = tuple(
        _level(counted, level_of, listed, k) for k, counted in enumerate(counts_by_level, start=1)
    )
    documents = round(counts_by_level[0].n) if counts_by_level else 0
    ancestors = None if level_of is None else _over_ancestors(counts_by_level, level_of)
    return Score(protocol, documents, levels, _mean(levels, int(protocol == "paper")), ancestors)


def _level(
    counted: LabelSetCounts, level_of: NDArray[Any] | None, listed: int, level: int
) -> LevelScore:
    b, v = bcubed_of(counted), v_measure_of(counted)
    gold, predicted = counted.sizes
    placed = None
    if level_of is not None:
        is_placed = np.flatnonzero((level_of == level) & (np.arange(len(level_of)) <= listed))
        placed = _share_with(counted, is_placed)
    return LevelScore(
        b.precision,
        b.recall,
        b.f1,
        v.homogeneity,
        v.completeness,
        v.v,
        None if level_of is None else accuracy_of(counted),
        None if level_of is None else macro_f1_of(counted),
        int(np.count_nonzero(predicted)),
        int(np.count_nonzero(gold)),
        placed,
    )


def _share_with(counted: LabelSetCounts, columns: NDArray[Any]) -> float:
    """Share of documents with at least one predicted cluster among the columns."""
    columns = columns[columns < counted.predicted.shape[1]]
    has = counted.predicted[:, columns].sum(axis=1) > 0
    return float(counted.counts.sum(axis=0)[has].sum() / counted.n) if counted.n else 0.0


def _mean(levels: tuple[LevelScore, ...], roots: int) -> LevelScore:
    """Mean over levels, and over `roots` more with score 1."""
    means: dict[str, Any] = {}
    for name in LevelScore.__dataclass_fields__:
        values = [getattr(level, name) for level in levels]
        unknown = not values or values[0] is None or name in WITHOUT_MEAN
        means[name] = None if unknown else (sum(values) + roots) / (len(values) + roots)
    return LevelScore(**means)


def _level_of_columns(tree: Tree, levels: NDArray[Any]) -> NDArray[Any]:
    """Level of each column (cluster id + 1); 0 for None.

    An Other topic is not in the tree: its level is the column of the predictions that it is in.
    """
    level_of = np.zeros(max(len(tree), int(levels.max(initial=-1)) + 1) + 1, dtype=np.int64)
    level_of[1 : len(tree) + 1] = tree.level
    for k in range(levels.shape[1]):
        extra = levels[:, k][levels[:, k] >= len(tree)]
        level_of[extra + 1] = k + 1
    return level_of


def _over_ancestors(counts_by_level: list[LabelSetCounts], level_of: NDArray[Any]) -> FScore:
    """Sum topics over levels: together they are the ancestor sets."""
    right = predicted_topics = gold_topics = 0.0
    for level, counted in enumerate(counts_by_level, start=1):
        width = len(counted.hits)
        real = np.flatnonzero(level_of[:width] == level)
        gold, predicted = counted.sizes
        right += counted.hits[real].sum()
        predicted_topics += predicted[real].sum()
        gold_topics += gold[real].sum()
    return from_counts(right, predicted_topics, gold_topics)


def to_text(scores: Scores) -> str:
    """Plain text, columns lined up."""
    blocks = [f"coverage  {scores.coverage:.1%} of documents have a topic"]
    for score in scores:
        rows = table(score)
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths)) for row in rows]
        blocks.append("\n".join([title(score), *lines, *_below(score)]))
    return "\n\n".join(blocks) + "\n"


def title(score: Score) -> str:
    """Say which protocol it is, and what that means."""
    return f"Protocol {score.protocol}: {MEANING[score.protocol]} ({score.documents:,} documents)"


def table(score: Score) -> list[tuple[str, ...]]:
    """Header, one row a level, and the mean."""
    rows: list[tuple[str, ...]] = [("level", *COLUMNS.values())]
    rows += [(str(k), *_cells(level)) for k, level in enumerate(score.levels, start=1)]
    return [*rows, ("mean", *_cells(score.mean))]


def _below(score: Score) -> Sequence[str]:
    if score.hierarchical is None:
        return ()
    p, r, f = score.hierarchical
    return ("", f"over ancestor sets: precision {p:.3f}, recall {r:.3f}, F1 {f:.3f}")


def _cells(level: LevelScore) -> list[str]:
    cells = []
    for name in COLUMNS:
        value = getattr(level, name)
        cells.append(
            "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
        )
    return cells
