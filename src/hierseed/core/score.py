"""Placements of a block, as every method returns them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Integers

Floats = NDArray[np.floating]


@dataclass
class Scored:
    """Placements of a block; a document without any has one with topic -1."""

    row: Integers  # position in the corpus
    topic: Integers
    path: Integers  # placements x levels, -1 below the topic
    distance: Floats  # placements x levels, NaN below the topic
    score: Floats
    runner_up: Integers
    belongs: Floats  # placements x levels, probability; NaN below the topic
    ranked: Integers  # placements x k, most probable topics of the document; -1 beyond
    chances: Floats  # placements x k, their probabilities

    @classmethod
    def ungraded(
        cls,
        row: Integers,
        topic: Integers,
        path: Integers,
        distance: Floats,
        score: Floats,
        runner_up: Integers,
    ) -> Scored:
        """Placements of a method without degrees of belonging: 1 where placed, 0 for None."""
        belongs = np.where(path >= 0, 1.0, np.nan)
        belongs[path[:, 0] < 0, 0] = 0.0
        last = np.maximum((path >= 0).sum(axis=1) - 1, 0)
        chances = np.stack([score[np.arange(len(row)), last], np.full(len(row), np.nan)], axis=1)
        ranked = np.stack([topic, runner_up], axis=1)
        return cls(row, topic, path, distance, score, runner_up, belongs, ranked, chances)
