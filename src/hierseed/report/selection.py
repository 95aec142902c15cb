"""Which documents and which rival topics a page shows for each topic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import RECORD, Assignments
from hierseed.core.arrays import Integers

Floats = NDArray[np.floating]


def first_placements(assignments: Assignments) -> Assignments:
    """Keep the primary record of each document."""
    first = assignments.primary
    records: dict[str, Any] = {name: getattr(assignments, name)[first] for name in RECORD}
    return replace(assignments, **records)


def runner_ups(placements: Assignments) -> Integers:
    """Topic of the runner-up at each level, -1 where it is the document's own."""
    path, rival = placements.path, placements.taxonomy.tree.ancestors[placements.runner_up]
    return np.where(rival == path, -1, rival)


def count_documents(placements: Assignments) -> tuple[Integers, Integers]:
    """Documents in each topic's whole subtree, and those that stopped at the topic itself."""
    n = len(placements.taxonomy)
    labels, path = placements.labels, placements.path
    own = np.bincount(labels[labels >= 0], minlength=n)
    return np.bincount(path[path >= 0], minlength=n), own


def central_documents(placements: Assignments, k: int) -> list[list[int]]:
    """Find the k documents nearest to each topic's vector."""
    chosen: list[list[int]] = [[] for _ in range(len(placements.taxonomy))]
    for level in range(placements.path.shape[1]):
        topic, distance = placements.path[:, level], placements.distance[:, level]
        _take(chosen, topic, distance, topic >= 0, k)
    return chosen


def borderline_documents(
    placements: Assignments, k: int, central: list[list[int]]
) -> list[list[int]]:
    """Find the k documents of each topic that were placed there with the lowest score."""
    chosen: list[list[int]] = [[] for _ in range(len(placements.taxonomy))]
    free = np.ones(len(placements.labels), dtype=bool)
    for documents in central:
        free[documents] = False
    for level in range(placements.path.shape[1]):
        score = placements.score[:, level]
        uncertain = free & (placements.path[:, level] >= 0) & (score < 1)
        _take(chosen, placements.path[:, level], score, uncertain, k)
    return chosen


def _take(
    chosen: list[list[int]], topic: Integers, key: Floats, usable: NDArray[np.bool_], k: int
) -> None:
    """Append to each topic its k usable documents of least key."""
    rows = np.flatnonzero(usable)
    rows = rows[np.lexsort((rows, key[rows], topic[rows]))]
    starts = np.flatnonzero(np.r_[True, topic[rows][1:] != topic[rows][:-1]])[: len(rows)]
    for start, stop in zip(starts, np.r_[starts[1:], len(rows)]):
        best = rows[start : min(stop, start + k)]
        chosen[int(topic[best[0]])] = best.tolist()


def second_choices(placements: Assignments, rows: Integers, X: Floats, vectors: Floats) -> Integers:
    """Complete the rivals of the given rows, whose vectors are X.

    The runner-up concerns the last choice only; at the levels above, the second choice is
    the nearest other topic of that level.
    """
    rival = runner_ups(placements)
    tree = placements.taxonomy.tree
    for level in range(rival.shape[1]):
        topics = tree.at_level(level + 1)
        unknown = (rival[rows, level] < 0) & (placements.path[rows, level] >= 0)
        if len(topics) < 2 or not unknown.any():
            continue
        away = (vectors[topics] ** 2).sum(axis=1) - 2 * X[unknown] @ vectors[topics].T
        away[topics == placements.path[rows[unknown], level][:, None]] = np.inf
        rival[rows[unknown], level] = topics[away.argmin(axis=1)]
    return rival


def rival_topics(
    placements: Assignments, rival: Integers, vectors: Floats, k: int
) -> list[list[tuple[int, float]]]:
    """Find (topic, share of documents whose second choice it was); then the nearest siblings."""
    taxonomy = placements.taxonomy
    n = len(taxonomy)
    rivals: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for level in range(placements.path.shape[1]):
        both = (placements.path[:, level] >= 0) & (rival[:, level] >= 0)
        homes = placements.path[both, level].astype(np.intp)
        others = rival[both, level]
        known = np.bincount(homes, minlength=n)
        pairs, counts = np.unique(homes * n + others, return_counts=True)
        for pair in np.argsort(-counts, kind="stable"):
            home, other = divmod(int(pairs[pair]), n)
            if len(rivals[home]) < k:
                rivals[home].append((other, round(int(counts[pair]) / int(known[home]), 4)))
    for topic in range(n):
        siblings = taxonomy.tree.children(int(taxonomy.tree.parent[topic]))
        listed = {other for other, _ in rivals[topic]} | {topic}
        left = np.array([s for s in siblings if int(s) not in listed], dtype=np.intp)
        away = ((vectors[left] - vectors[topic]) ** 2).sum(axis=1)
        nearest = left[np.argsort(away, kind="stable")]
        rivals[topic] += [(int(s), 0.0) for s in nearest[: max(0, k - len(rivals[topic]))]]
    return rivals


def sample_documents(labels: Integers, most: int, random_state: int = 0) -> Integers:
    """Sample documents from every topic, with shares between equal and proportional."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    random = np.random.default_rng(random_state)
    _, group, counts = np.unique(labels, return_inverse=True, return_counts=True)
    share = np.sqrt(counts)
    wanted = np.minimum(counts, np.ceil(share / share.sum() * most))
    key = random.random(n)
    order = np.lexsort((key, group))
    starts = np.r_[0, np.cumsum(counts)[:-1]]
    place_in_group = np.arange(n) - starts[group[order]]
    turn = np.argsort(place_in_group, kind="stable")  # the first of every topic, then the second
    turn = turn[(place_in_group < wanted[group[order]])[turn]]
    return np.sort(order[turn[:most]])
