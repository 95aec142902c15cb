"""Diagnosis of single topics of a fit, with what to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.block import chunks
from hierseed.core.mixture.gaussian_mixture import pieces
from hierseed.core.mixture.placement import Placer
from hierseed.estimators.anchored.fitting import Outcome
from hierseed.estimators.inputs import SeedPairs
from hierseed.taxonomy import Taxonomy

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]

SWELLED = 3.0  # times the documents nearest to its seeds
STARVED = 0.2  # of the documents nearest to its seeds
LARGE = 0.02  # share of the corpus; smaller topics are not reported as too large
MANY = 20  # documents nearest to its seeds that a topic needs to be reported as too small
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
    """List topics much larger or smaller than expected from their seeds, or far from these.

    Parameters
    ----------
    documents : number of documents in each topic itself
    near_seeds : estimated number of documents nearest to the mean of the topic's seeds; NaN for
        topics without seeds
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


def diagnose_fit(
    taxonomy: Taxonomy,
    placer: Placer,
    found: Outcome,
    given: SeedPairs,
    labels: NDArray[np.integer],
) -> list[Finding]:
    """Compare topics with the documents that lie near their seeds, and with these seeds."""
    n = len(taxonomy)
    if found.sample_scores is None:
        return []
    topics, near = placer.components.topic, np.full(n, np.nan)
    nearest = np.bincount(found.sample_scores.nearest, minlength=len(topics))
    near[topics] = nearest * found.sample.copies
    seeds = np.bincount(given.topics, minlength=n)
    asked = np.flatnonzero(seeds[given.topics] > 1)  # a single seed says nothing
    rows, own = placer.grid.quantize(given.vectors[asked]), given.topics[asked]
    placed = np.empty_like(own)
    for at in pieces(len(rows), components=len(topics)):
        L = placer.mixture.log_joint(rows[at], 2.0**-placer.grid.bits)
        placed[at] = topics[L.argmax(axis=0)]
    hits = np.bincount(own, placed == own, minlength=n)
    recalled = np.where(seeds > 1, hits / np.maximum(seeds, 1), np.nan)
    documents = count_documents(labels, n)
    return diagnose(taxonomy, documents, near, recalled, len(labels))


def count_documents(labels: NDArray[np.integer], n: int) -> Ints:
    """Documents in each of n topics itself; some labels at a time, while they are in the cache."""
    found = np.zeros(n + 1, dtype=np.intp)
    for at in chunks(len(labels), 1):
        found += np.bincount(labels[at] + 1, minlength=n + 1)
    return found[1:]
