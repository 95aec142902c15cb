"""Calibration: of the placements with a score of .8, are 80% right?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree
from hierseed.errors import CorpusError
from hierseed.evaluate.label_sets import Labels, memberships
from hierseed.taxonomy import Taxonomy


@dataclass(frozen=True)
class Calibration:
    """One level: documents by score, and how often each band is right."""

    level: int
    documents: int
    error: float
    """Expected calibration error: mean difference of score and accuracy, weighted by documents."""
    brier: float
    """Brier score: mean squared difference of score and outcome (1 right, 0 wrong)."""
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    score: tuple[float, ...]
    """Mean score in each band, 0 where it is empty."""
    accuracy: tuple[float, ...]
    """Share of right placements in each band, 0 where it is empty."""


def calibration(
    tree: Tree, levels: NDArray[Any], scores: NDArray[Any], gold: Labels, *, bands: int = 10
) -> list[Calibration]:
    """Compare scores with truth at each level; placements without a score are left out.

    Parameters
    ----------
    levels, scores : (documents, height) primary topic and its score in [0, 1] per level
    gold : one id a document, or a list of ids a document
    bands : number of equal intervals from 0 to 1
    """
    found = _scores_and_hits(tree, levels, scores, gold)
    return [
        _calibration(level, score, right, bands)
        for level, (score, right) in enumerate(found, start=1)
    ]


def thresholds(
    tree: Tree | Taxonomy,
    levels: NDArray[Any],
    scores: NDArray[Any],
    gold: Labels,
    precision: float,
) -> NDArray[np.float64]:
    """Lowest score of each level above which this share of hand-coded documents is right.

    Above 1 where there is none. One right and one wrong document are added to the counts (Laplace
    smoothing), so that a few lucky ones do not suffice. `Assignments.confident` takes the result.

    Parameters
    ----------
    levels, scores : (documents, height) primary topic and its score in [0, 1] per level
    gold : codes of the documents: one id a document, or a list of ids a document
    """
    tree = tree.tree if isinstance(tree, Taxonomy) else tree
    found = []
    for score, right in _scores_and_hits(tree, levels, scores, gold):
        order = np.argsort(-score, kind="stable")
        kept = np.arange(1, len(order) + 1)
        fine = (np.cumsum(right[order]) + 1) / (kept + 2) >= precision
        fine &= np.diff(score[order], append=-1.0) < 0  # equal scores are kept or dropped together
        found.append(score[order][fine][-1] if fine.any() else 2.0)
    return np.array(found)


def _scores_and_hits(
    tree: Tree, levels: NDArray[Any], scores: NDArray[Any], gold: Labels
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Score of every placement of a level, and whether it is right."""
    levels, scores = np.asarray(levels), np.asarray(scores, dtype=float)
    labels = memberships(gold)
    if levels.shape != scores.shape or len(levels) != labels.n:
        raise CorpusError(
            f"levels {levels.shape}, scores {scores.shape} and {labels.n:,} gold documents differ. "
            "Give one row per document in each."
        )
    known = scores[np.isfinite(scores)]
    if known.size and (known.min() < 0 or known.max() > 1):
        raise CorpusError(f"scores run from {known.min():.3g} to {known.max():.3g}, outside 0 … 1")
    paths = tree.ancestors[labels.cluster]
    for k in range(tree.height):
        hit = (levels[labels.document, k] == paths[:, k]) & (paths[:, k] >= 0)
        right = np.bincount(labels.document, weights=hit, minlength=labels.n) > 0
        scored = (levels[:, k] >= 0) & np.isfinite(scores[:, k])
        yield scores[scored, k], right[scored].astype(float)


def _calibration(level: int, score: NDArray[Any], right: NDArray[Any], bands: int) -> Calibration:
    band = np.minimum((score * bands).astype(int), bands - 1)
    counts = np.bincount(band, minlength=bands)
    per = np.maximum(counts, 1)
    mean_score = np.bincount(band, weights=score, minlength=bands) / per
    mean_right = np.bincount(band, weights=right, minlength=bands) / per
    n = max(len(score), 1)
    return Calibration(
        level,
        len(score),
        float((counts * np.abs(mean_score - mean_right)).sum() / n),
        float(((score - right) ** 2).sum() / n),
        tuple(np.linspace(0, 1, bands + 1).tolist()),
        tuple(counts.tolist()),
        tuple(mean_score.tolist()),
        tuple(mean_right.tolist()),
    )
