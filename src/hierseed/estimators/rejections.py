"""Rejections: people said that a document does not belong to a topic.

A document that was rejected for a topic is placed neither there nor below it. One that was
rejected for every topic of level 1 is placed nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import Assignments
from hierseed.estimators.inputs import seed_pairs
from hierseed.taxonomy import Taxonomy

Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
Groups = dict[tuple[int, ...], Ints]
RECORDS = (
    "row", "topic", "path", "distance", "score", "runner_up", "belongs", "ranked", "chances",
)  # fmt: skip


def group_rejections(rejected: Any, n: int, taxonomy: Taxonomy, seeds: Ints) -> Groups:
    """Rows by the topics that they were rejected for; seeds keep the topics they were given."""
    rows, topics = seed_pairs(rejected, n, taxonomy, "rejected")
    free = ~np.isin(rows, seeds)
    by_row: dict[int, set[int]] = {}
    for row, topic in zip(rows[free].tolist(), topics[free].tolist()):
        by_row.setdefault(row, set()).add(topic)
    groups: dict[tuple[int, ...], list[int]] = {}
    for row in sorted(by_row):
        groups.setdefault(tuple(sorted(by_row[row])), []).append(row)
    return {topics: np.array(some, dtype=np.intp) for topics, some in groups.items()}


def replace_records(placed: Assignments, rows: Ints, records: Mapping[str, Any]) -> Assignments:
    """Replace all placements of some rows; records have their own rows, in any order."""
    rest = ~np.isin(placed.row, rows)
    order = np.argsort(np.concatenate([placed.row[rest], records["row"]]), kind="stable")
    joined: dict[str, Any] = {}
    for name in RECORDS:
        old = getattr(placed, name)
        new = np.asarray(records[name], dtype=old.dtype)
        joined[name] = np.concatenate([old[rest], new])[order]
    return replace(placed, **joined)


def place_by_distance(
    placed: Assignments, groups: Groups, distances: Callable[[int], NDArray[np.floating]]
) -> Assignments:
    """Place rejected documents in their next topic, for methods without probabilities.

    Parameters
    ----------
    distances : gives the distances of a row to all topics
    """
    ancestors = placed.taxonomy.tree.ancestors
    arrays: dict[str, Any] = {name: np.array(getattr(placed, name)) for name in RECORDS}
    keep = np.ones(len(placed), dtype=bool)
    edges = np.append(placed.primary, len(placed))
    for topics, rows in groups.items():
        refused = np.asarray(np.isin(ancestors, topics).any(axis=1))  # with all below
        for row in rows:
            records = np.arange(edges[row], edges[row + 1])
            topic = arrays["topic"][records]
            hit = records[refused[topic] & (topic >= 0)]
            if len(hit) < len(records):
                keep[hit] = False  # it has other topics
            elif len(hit):
                keep[hit[1:]] = False
                _place_again(arrays, int(hit[0]), refused, placed.taxonomy, distances(int(row)))
    kept: dict[str, Any] = {name: values[keep] for name, values in arrays.items()}
    return replace(placed, **kept)


def _place_again(
    arrays: dict[str, Any],
    record: int,
    refused: Bools,
    taxonomy: Taxonomy,
    away: NDArray[np.floating],
) -> None:
    """Move a record to its runner-up, else to the nearest leaf that was not rejected."""
    tree, topic = taxonomy.tree, int(arrays["runner_up"][record])
    if topic < 0 or refused[topic]:
        free = np.flatnonzero(tree.is_leaf & ~taxonomy.is_other & ~refused[:-1])
        topic = int(free[np.argmin(away[free])]) if len(free) else -1
    old, new = arrays["path"][record].copy(), tree.ancestors[topic]
    stays = (old == new) & (new >= 0)  # topics above both keep their score
    known = arrays["score"][record, stays]
    for name, value in (("distance", away[new]), ("score", np.nan), ("belongs", 1.0)):
        arrays[name][record] = np.where(new >= 0, value, np.nan)
    arrays["score"][record, stays] = known
    arrays["topic"][record], arrays["path"][record] = topic, new
    arrays["runner_up"][record] = arrays["ranked"][record] = -1
    arrays["ranked"][record, 0], arrays["chances"][record] = topic, np.nan
    if topic < 0:
        arrays["distance"][record, 0] = away[tree.children(-1)].min()
        arrays["score"][record, 0] = arrays["belongs"][record, 0] = 0.0
