"""Documents made up for a class: directions around its keywords, words around each direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import uniform_direction, vonmises_fisher

from hierseed.core.arrays import Floats
from hierseed_bench.competitors.systems.backend import seeded, torch
from hierseed_bench.competitors.systems.text import SPECIAL

LONGEST = 0.999  # mean of keywords that are (nearly) one: keeps the concentration finite


def spread(vectors: Floats) -> tuple[Floats, float]:
    """Direction and concentration of the von Mises-Fisher distribution of unit vectors."""
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    r, d = min(length, LONGEST), vectors.shape[1]
    return mean / max(length, 1e-12), r * (d - r * r) / (1 - r * r)


def draw(components: Sequence[Floats], count: int, rng: np.random.Generator) -> Floats:
    """Directions from a mixture, one part per group of keyword vectors, all of equal weight."""
    which = rng.integers(0, len(components), count)
    drawn = np.empty((count, components[0].shape[1]))
    for part, vectors in enumerate(components):
        rows = np.flatnonzero(which == part)
        if not len(rows):
            continue
        mean, concentration = spread(vectors)
        if concentration < 1e-6:  # keywords that cancel out: any direction
            drawn[rows] = uniform_direction(drawn.shape[1]).rvs(len(rows), random_state=rng)
        else:
            drawn[rows] = vonmises_fisher(mean, concentration).rvs(len(rows), random_state=rng)
    return drawn


@dataclass(frozen=True)
class Writer:
    """Writes bags of words around a direction.

    Parameters
    ----------
    table : unit vectors of the vocabulary, on the device
    unigram : count of each word in the corpus; none for padding and the unknown word
    nearest : words around a direction that are written
    background : share of words drawn from the corpus at large
    """

    table: Any
    unigram: Any
    nearest: int
    background: float
    length: int

    def write(self, directions: Floats, seed: tuple[int, ...]) -> Any:
        """Word numbers, one row per direction."""
        place = self.table.device
        near = torch.as_tensor(directions, dtype=torch.float32, device=place) @ self.table.T
        near[:, : len(SPECIAL)] = -torch.inf
        score, word = near.topk(min(self.nearest, near.shape[1] - len(SPECIAL)), dim=1)
        n = len(directions)
        with seeded(*seed):  # chance on the CPU, so that every device writes the same
            chance = torch.rand(n, self.length).to(place)
            common = torch.multinomial(self.unigram, n * self.length, replacement=True)
            plain = torch.rand(n, self.length).to(place) < self.background
        edges = score.softmax(dim=1).cumsum(dim=1)
        at = torch.searchsorted(edges, chance).clamp(max=word.shape[1] - 1)
        return torch.where(plain, common.view(n, -1).to(place), word.gather(1, at))
