"""What people decided overrules the fit: rejected topics and "none of these".

A document that was rejected for a topic is not placed there, nor below it. It goes to its next
best topic. A document that belongs to none of the topics is placed nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import Assignments

Distances = Callable[[int], NDArray[np.floating]]  # of a row to every topic


def apply_decisions(
    assignments: Assignments,
    rejected: Mapping[int, Iterable[int]],
    none: Iterable[int],
    distances: Distances,
) -> Assignments:
    """Return the assignments with rejected topics left and "none of these" placed nowhere.

    Parameters
    ----------
    rejected : topics of the taxonomy that each row was rejected for
    none : rows that belong to no topic
    distances : gives the distances of a row to all topics, for rows whose runner-up is
        rejected too
    """
    ancestors = assignments.taxonomy.tree.ancestors
    names = (
        "row", "topic", "path", "distance", "score", "runner_up", "belongs", "ranked", "chances",
    )  # fmt: skip
    arrays: dict[str, Any] = {name: np.array(getattr(assignments, name)) for name in names}
    keep = np.ones(len(assignments), dtype=bool)
    edges = np.append(assignments.primary, len(assignments))
    for row, topics in rejected.items():
        if row >= assignments.n_documents:
            continue
        refused = np.asarray(np.isin(ancestors, list(topics)).any(axis=1))  # with all below
        records = np.arange(edges[row], edges[row + 1])
        hit = records[refused[arrays["topic"][records]] & (arrays["topic"][records] >= 0)]
        if len(hit) < len(records):
            keep[hit] = False  # it has other topics
        elif len(hit):
            keep[hit[1:]] = False
            _place_again(arrays, int(hit[0]), refused, ancestors, assignments, distances)
    for row in none:
        if row < assignments.n_documents:
            first = edges[row]
            keep[first : edges[row + 1]] = False
            keep[first] = True
            _place_nowhere(arrays, int(first))
    kept: dict[str, Any] = {name: values[keep] for name, values in arrays.items()}
    return replace(assignments, **kept)


def _place_again(
    arrays: dict[str, Any],
    record: int,
    refused: NDArray[np.bool_],
    ancestors: NDArray[np.integer],
    assignments: Assignments,
    distances: Distances,
) -> None:
    """Move a record to the next most probable topic, else to the nearest that was not rejected."""
    away = distances(int(arrays["row"][record]))
    order = [*arrays["ranked"][record].tolist(), int(arrays["runner_up"][record])]
    chances = dict(zip(arrays["ranked"][record].tolist(), arrays["chances"][record].tolist()))
    topic = next((topic for topic in order if topic >= 0 and not refused[topic]), -1)
    if topic < 0:
        tree, is_other = assignments.taxonomy.tree, assignments.taxonomy.is_other
        free = np.flatnonzero(tree.is_leaf & ~is_other & ~refused[:-1])
        if not len(free):
            _place_nowhere(arrays, record)
            return
        topic = int(free[np.argmin(away[free])])
    old, new = arrays["path"][record].copy(), ancestors[topic]
    arrays["topic"][record], arrays["path"][record] = topic, new
    arrays["distance"][record] = np.where(new >= 0, away[new], np.nan)
    # Topics above both keep their score; below them the probability of the new topic holds.
    chance = chances.get(topic, np.nan)
    stays = (old == new) & (new >= 0)
    arrays["score"][record] = np.where(
        stays, arrays["score"][record], np.where(new >= 0, chance, np.nan)
    )
    arrays["belongs"][record] = np.where(
        new >= 0,
        np.where(old >= 0, arrays["belongs"][record], arrays["belongs"][record, 0]),
        np.nan,
    )
    left = arrays["ranked"][record]
    keep = (left >= 0) & ~refused[left]
    for name, empty in (("ranked", -1), ("chances", np.nan)):
        values = arrays[name][record]
        arrays[name][record] = np.append(values[keep], np.full(int((~keep).sum()), empty))
    rest = [other for other in arrays["ranked"][record].tolist() if other not in (-1, topic)]
    arrays["runner_up"][record] = rest[0] if rest else -1


def _place_nowhere(arrays: dict[str, Any], record: int) -> None:
    nearest = arrays["distance"][record, 0]
    arrays["topic"][record] = arrays["runner_up"][record] = -1
    arrays["path"][record] = -1
    for name, value in (("distance", nearest), ("score", 0.0), ("belongs", 0.0)):
        arrays[name][record] = np.nan
        arrays[name][record, 0] = value
