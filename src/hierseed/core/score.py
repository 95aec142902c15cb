"""What every method says of its placements, level by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]


@dataclass
class Scored:
    """Placements of a block; a document without any has one with topic -1."""

    row: Ints  # place in the corpus
    topic: Ints
    path: Ints  # placements x levels, -1 below the topic
    distance: Floats  # placements x levels, NaN below the topic
    score: Floats
    runner_up: Ints
