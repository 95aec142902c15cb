"""What went wrong with single topics of a fit, in words that say what to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.taxonomy import Taxonomy

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]

SWELLED = 3.0  # times the documents nearest to its seeds
STARVED = 0.2  # of the documents nearest to its seeds
LARGE = 0.02  # share of the corpus: below it nobody notices
MANY = 20  # documents nearest to the seeds of a topic that may starve
ADVICE = {
    "swelled": "has far more documents than lie near its seeds: add seeds to it and its rivals",
    "starved": "has far fewer documents than lie near its seeds: add seeds",
    "left its seeds": "does not find most of its own seeds again: check them",
}


@dataclass(frozen=True)
class Finding:
    """A topic to look at: what is wrong, its documents, and those nearest to its seeds."""

    topic: int
    path: str
    kind: str
    documents: int
    near_seeds: int

    def __str__(self) -> str:
        return (
            f"{self.path} {ADVICE[self.kind]} "
            f"({self.documents:,} documents, {self.near_seeds:,} near its seeds)"
        )


def diagnose(
    taxonomy: Taxonomy, documents: Ints, near_seeds: Floats, recalled: Floats, total: int
) -> list[Finding]:
    """List topics that swelled, starved or left their seeds.

    Parameters
    ----------
    documents : in each topic itself
    near_seeds : whose nearest seed mean is the topic's, about; NaN for topics without seeds
    recalled : share of a topic's seeds that the fit would place in it; NaN with fewer than two
    """
    found = []
    for topic in np.flatnonzero(np.isfinite(near_seeds)).tolist():
        size, near = int(documents[topic]), float(near_seeds[topic])
        if size > max(SWELLED * near, LARGE * total):
            kind = "swelled"
        elif near >= MANY and size < STARVED * near:
            kind = "starved"
        elif recalled[topic] < 0.5 and size > LARGE * total:
            kind = "left its seeds"
        else:
            continue
        found.append(Finding(topic, taxonomy.paths[topic], kind, size, round(near)))
    return found
