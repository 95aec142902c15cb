"""Accuracy to expect, without gold labels: calibrated scores, and seeds that were held out.

A score is the probability that a placement is right, so the mean score of some documents is the
share of them to expect right. Scores are calibrated on a limited number of held-out seeds; the
interval is that of a share seen on so many (Wilson).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from hierseed.assignments import Assignments
from hierseed.core.share import Share


def expected_accuracy(placed: Assignments, held_out: int, seeds: int) -> pd.DataFrame:
    """Accuracy to expect at each level and in each topic.

    Seeds and documents that are Other or None are left out.

    Parameters
    ----------
    held_out : seeds on which scores were calibrated
    seeds : all seeds; a topic has its share of those that were held out

    Returns
    -------
    DataFrame with the columns level, topic, documents, expected, low and high; topic is empty for a
    whole level
    """
    first = placed.primary
    first = first[~placed.is_seed[placed.row[first]] & ~placed.is_other[first]]
    each = held_out / max(seeds, 1)
    own = np.bincount(placed.path[placed.is_seed[placed.row]].ravel() + 1,
                      minlength=len(placed.taxonomy) + 1)[1:]  # fmt: skip
    records = []
    for level in range(placed.path.shape[1]):
        topic, score = placed.path[first, level], placed.score[first, level]
        at = topic >= 0
        if not at.any():
            continue
        whole = Share.seen_on(float(score[at].mean()), held_out)
        records.append((level + 1, "", int(at.sum()), *vars(whole).values()))
        count = np.bincount(topic[at], minlength=len(placed.taxonomy))
        total = np.bincount(topic[at], score[at], minlength=len(placed.taxonomy))
        for number in np.flatnonzero(count).tolist():
            value = Share.seen_on(total[number] / count[number], each * own[number])
            path = placed.taxonomy.paths[number]
            records.append((level + 1, path, int(count[number]), *vars(value).values()))
    return pd.DataFrame(records, columns=["level", "topic", "documents", "expected", "low", "high"])
