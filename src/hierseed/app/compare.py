"""Two fits side by side: which documents moved, from where to where."""

from __future__ import annotations

from typing import Any

import numpy as np

from hierseed.app.placements import Placements
from hierseed.app.store.topics import Topics
from hierseed.app.tree import path_of
from hierseed.core.arrays import Ints

SHOWN = 40


def compare(before: Placements, after: Placements, here: Topics) -> dict[str, Any]:
    """Documents that moved between two fits, grouped by origin and target, largest first."""
    old, new, keys = _both(before, after)
    moved = np.flatnonzero(old != new)
    width = len(keys)
    pairs, counts = np.unique(old[moved] * width + new[moved], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:SHOWN]
    ways = [
        {
            "from": keys[int(pairs[i]) // width],
            "to": keys[int(pairs[i]) % width],
            "from_path": path_of(here, keys[int(pairs[i]) // width]),
            "to_path": path_of(here, keys[int(pairs[i]) % width]),
            "count": int(counts[i]),
        }
        for i in order
    ]
    return {
        "moved": len(moved),
        "same": len(old) - len(moved),
        "added": after.n_documents - len(old),
        "ways": ways,
        "more": max(0, len(pairs) - SHOWN),
        "sizes": _sizes(old, new, keys, here),
    }


def movers(
    before: Placements, after: Placements, origin: str, target: str, offset: int, limit: int
) -> tuple[list[int], int]:
    """Rows that went from one place to another, a page at a time."""
    old, new, keys = _both(before, after)
    if origin not in keys or target not in keys:
        return [], 0
    rows = np.flatnonzero((old == keys.index(origin)) & (new == keys.index(target)))
    return rows[offset : offset + limit].tolist(), len(rows)


def _sizes(old: Ints, new: Ints, keys: list[str], here: Topics) -> list[dict[str, Any]]:
    a, b = np.bincount(old, minlength=len(keys)), np.bincount(new, minlength=len(keys))
    order = np.argsort(-np.abs(b - a), kind="stable")[:12]
    return [
        {"key": keys[i], "path": path_of(here, keys[i]), "before": int(a[i]), "after": int(b[i])}
        for i in order
        if a[i] != b[i]
    ]


def _both(before: Placements, after: Placements) -> tuple[Ints, Ints, list[str]]:
    """For each document its place in both fits, as numbers into one list of keys."""
    n = min(before.n_documents, after.n_documents)
    keys = sorted({*before.keys, *after.keys})
    number = {key: i for i, key in enumerate(keys)}
    old = np.array([number[key] for key in before.keys])[before.labels[:n]]
    new = np.array([number[key] for key in after.keys])[after.labels[:n]]
    return old, new, keys
