"""Two fits side by side: which documents moved, from where to where."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.app.fits import Fit
from hierseed.app.store.topics import Topics
from hierseed.app.tree import key_today, path_of

SHOWN = 40


def compare(before: Fit, after: Fit, here: Topics) -> dict[str, Any]:
    """Documents that moved between two fits, grouped by the way they went, largest first."""
    n = min(before.n, after.n)
    old, new, keys = _keys(before, after, here, n)
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
        "same": n - len(moved),
        "added": after.n - n,
        "ways": ways,
        "more": max(0, len(pairs) - SHOWN),
        "sizes": _sizes(old, new, keys, here),
    }


def movers(
    before: Fit, after: Fit, here: Topics, origin: str, target: str, offset: int, limit: int
) -> tuple[list[int], int]:
    """Rows that went from one place to another, a page at a time."""
    n = min(before.n, after.n)
    old, new, keys = _keys(before, after, here, n)
    if origin not in keys or target not in keys:
        return [], 0
    rows = np.flatnonzero((old == keys.index(origin)) & (new == keys.index(target)))
    return rows[offset : offset + limit].tolist(), len(rows)


def _sizes(
    old: NDArray[np.intp], new: NDArray[np.intp], keys: list[str], here: Topics
) -> list[dict[str, Any]]:
    a, b = np.bincount(old, minlength=len(keys)), np.bincount(new, minlength=len(keys))
    order = np.argsort(-np.abs(b - a), kind="stable")[:12]
    return [
        {"key": keys[i], "path": path_of(here, keys[i]), "before": int(a[i]), "after": int(b[i])}
        for i in order
        if a[i] != b[i]
    ]


@lru_cache(maxsize=4)
def _cached(
    before: Fit, after: Fit, ours: tuple[str, ...], theirs: tuple[str, ...], n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], list[str]]:
    keys = sorted({*ours, *theirs})
    place = {key: i for i, key in enumerate(keys)}
    old = np.array([place[key] for key in ours])[before.labels[:n]]
    new = np.array([place[key] for key in theirs])[after.labels[:n]]
    return old, new, keys


def _keys(
    before: Fit, after: Fit, here: Topics, n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], list[str]]:
    """For each document the place in both fits, as numbers into one list of keys.

    A topic that is deleted today keeps the key it had, so that it still counts as a place.
    """

    def today(fit: Fit) -> tuple[str, ...]:
        return tuple(
            key_today(fit, here, topic) or fit.keys[topic] for topic in range(len(fit.keys))
        )

    return _cached(before, after, today(before), today(after), n)
