"""Placements: which document is in which topic, and the same in the current taxonomy.

A fit is written with the taxonomy of its day. Everything that is shown or exported reads it
through `in_tree`, so that renamed, moved, merged and deleted topics look the same everywhere.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.app.store.topics import Topics
from hierseed.assignments import RECORD, Assignments
from hierseed.core.arrays import Bools
from hierseed.core.mixture.components import add_up
from hierseed.core.tree import Tree
from hierseed.taxonomy import Taxonomy
from hierseed.topics import free_name

NONE = "none"

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]


class Grouped:
    """Records by topic, sorted once, so that those of a few topics are found without a search."""

    def __init__(self, topic: NDArray[np.integer], topics: int) -> None:
        self.order = np.argsort(topic, kind="stable").astype(np.int32)
        self.edges = np.searchsorted(topic[self.order], np.arange(-1, topics + 1))

    def take(self, within: Bools) -> Ints:
        """Records of the topics marked; the last mark is that of None (-1)."""
        chosen = np.flatnonzero(within)
        start = np.where(chosen == len(within) - 1, 0, chosen + 1)  # None is sorted first
        parts = [self.order[self.edges[i] : self.edges[i + 1]] for i in start]
        return np.sort(np.concatenate([np.zeros(0, dtype=np.int32), *parts]))


@dataclass(frozen=True, eq=False)
class Placements(Assignments):
    """Assignments with the names of topics on a page.

    Attributes
    ----------
    taxonomy : the listed topics, then the Others
    topic_ids : the id for life of each listed topic
    """

    topic_ids: tuple[int, ...] = ()

    __hash__ = object.__hash__  # a page of documents is kept for each object
    __eq__ = object.__eq__

    @cached_property
    def keys(self) -> list[str]:
        """The name of each topic on a page: its id for life, or `other-` and its parent's id."""
        keys = [str(id) for id in self.topic_ids]
        for topic in range(len(keys), len(self.taxonomy)):
            above = int(self.taxonomy.tree.parent[topic])
            keys.append(f"other-{self.topic_ids[above] if above >= 0 else 0}")
        return [*keys, NONE]  # the last belongs to topic -1

    @cached_property
    def number(self) -> dict[str, int]:
        """From a key to the topic; None is -1."""
        return {**{key: i for i, key in enumerate(self.keys)}, NONE: -1}

    @cached_property
    def own_counts(self) -> dict[str, int]:
        """Records that end at each topic, by key; topics without any are left out."""
        counts = np.bincount(self.topic + 1, minlength=len(self.taxonomy) + 1)
        return {key: int(n) for key, n in zip(self.keys, np.roll(counts, -1)) if n}

    @cached_property
    def counts_below(self) -> dict[str, int]:
        """Records at each topic or below it, by key."""
        own = np.bincount(self.topic[self.topic >= 0], minlength=len(self.taxonomy))
        total = add_up(self.taxonomy.tree, own)
        return {key: int(n) for key, n in zip(self.keys, total)}

    def level(self, topic: int) -> int:
        """Level of a topic, 1 for None."""
        return int(self.taxonomy.tree.level[topic]) if topic >= 0 else 1

    def records(self, row: int) -> range:
        """The records of one document."""
        start = int(self.primary[row])
        stop = int(self.primary[row + 1]) if row + 1 < self.n_documents else len(self)
        return range(start, stop)

    @cached_property
    def final_score(self) -> NDArray[np.floating]:
        """For each record the score of its deepest topic."""
        return self.at(self.score)

    @cached_property
    def _first(self) -> Grouped:
        return Grouped(self.topic, len(self.taxonomy))

    @cached_property
    def _second(self) -> Grouped:
        return Grouped(self.runner_up, len(self.taxonomy))

    def warm(self) -> None:
        """Compute now what the first look at a topic would wait for."""
        _ = self._first, self._second, self.final_score, self.own_counts

    def inside(self, key: str) -> Bools:
        """Mark the topics that a line of the tree covers, itself and all below; None is last."""
        marks = np.zeros(len(self.taxonomy) + 1, dtype=bool)
        topic = self.number.get(key)
        if topic is not None:
            marks[topic] = True
            if topic >= 0:
                marks[:-1] |= (self.taxonomy.tree.ancestors[:-1] == topic).any(axis=1)
        return marks

    def members(self, within: Bools) -> Ints:
        """Records in any of these topics (None last), in order."""
        return self._first.take(within)

    def nearly(self, within: Bools) -> Ints:
        """Records for which any of these topics came second, in order."""
        return self._second.take(np.append(within[:-1], False))

    def assignments(self, start: int = 0, stop: int | None = None) -> Assignments:
        """The placements of consecutive documents as the library knows them."""
        stop = self.n_documents if stop is None else min(stop, self.n_documents)
        part = slice(self.records(start).start, self.records(stop - 1).stop)
        arrays: dict[str, Any] = {name: getattr(self, name)[part] for name in RECORD}
        arrays |= {"row": arrays["row"] - start, "is_seed": self.is_seed[start:stop]}
        return Assignments(self.taxonomy, stop - start, **arrays)


def renamed(placed: Placements, fitted: Placements, here: Topics) -> Placements:
    """The same placements where topics only changed their texts since they were read."""
    again = copy.copy(placed)  # what was computed from them stays
    vars(again)["taxonomy"] = _renumbered(fitted, here)[0]
    return again


def in_tree(fitted: Placements, here: Topics) -> tuple[Placements, Ints]:
    """Read placements in the current taxonomy.

    Topics that were moved, merged or renamed take their documents along. Documents of a deleted
    topic are counted at the nearest topic above it that is left; without one they are None.
    Also returns the new number of each old topic, the last entry for None.
    """
    taxonomy, number = _renumbered(fitted, here)
    today: dict[str, Any] = {"taxonomy": taxonomy, "topic_ids": here.ids}
    if _only_renumbered(taxonomy.tree, fitted.taxonomy.tree, number):
        if not np.array_equal(number[:-1], np.arange(len(number) - 1)):
            named = ("topic", "path", "runner_up", "ranked")  # the other arrays are shared
            today |= {name: number[getattr(fitted, name)] for name in named}
        return replace(fitted, **today), number
    found = _moved(fitted, taxonomy.tree, number)
    # Of two topics of a document that were merged, the first record stays.
    pair = fitted.row.astype(np.int64) * (len(taxonomy) + 1) + found["topic"]
    kept = np.sort(np.unique(pair, return_index=True)[1])
    today |= {name: found[name][kept] for name in RECORD}
    return replace(fitted, **today), number


def _moved(fitted: Placements, tree: Tree, number: Ints) -> dict[str, NDArray[Any]]:
    """The records of a fit with the topics of another tree."""
    height, topic = max(tree.height, 1), number[fitted.topic]
    path = np.full((len(topic), height), -1, dtype=np.int32)
    path[:, : tree.ancestors.shape[1]] = tree.ancestors[topic]
    source = np.full((len(number), height), -1, dtype=np.int32)
    for old in range(len(number) - 1):
        new = tree.path(int(number[old]))
        source[old] = _score_levels(fitted.taxonomy.tree.path(old), new, number, height)
    where = source[fitted.topic]
    at = np.arange(len(topic))[:, None], np.maximum(where, 0)
    none = topic < 0

    def moved(values: NDArray[np.floating]) -> Floats:
        """Values of the old levels at the new ones; those of None are at level 1."""
        found = np.where(where >= 0, values[at], np.nan).astype(np.float32)
        found[none, 0] = values[none, 0]
        return found

    levels = {name: moved(getattr(fitted, name)) for name in ("distance", "score", "belongs")}
    levels["score"][none & (fitted.topic >= 0), 0] = 0.0  # its topic was deleted
    second = number[fitted.runner_up]
    second = np.where((path == second[:, None]).any(axis=1), -1, second).astype(np.int32)
    ranked, chances = _joined(number[fitted.ranked], fitted.chances)
    own = {"row": fitted.row, "topic": topic, "path": path, "runner_up": second}
    return own | levels | {"ranked": ranked, "chances": chances}


def _only_renumbered(tree: Tree, old: Tree, number: Ints) -> bool:
    """True where no topic of a fit was deleted, merged or moved."""
    kept = number[:-1]
    if tree.ancestors.shape[1] != old.ancestors.shape[1]:
        return False
    if (kept < 0).any() or len(np.unique(kept)) < len(kept):
        return False
    return bool((tree.ancestors[kept] == number[old.ancestors[:-1]]).all())


def _joined(ranked: Ints, chances: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
    """Most probable topics, those that are one topic now with their probabilities added up."""
    ranked, chances = ranked.copy(), chances.copy()
    for late in range(1, ranked.shape[1]):
        for early in range(late):
            same = (ranked[:, late] == ranked[:, early]) & (ranked[:, late] >= 0)
            chances[same, early] += chances[same, late]
            ranked[same, late], chances[same, late] = -1, np.nan
    return ranked, chances


def _renumbered(fitted: Placements, here: Topics) -> tuple[Taxonomy, Ints]:
    """Today's topics followed by the Others, and the new number of each old topic."""
    names, parent = list(here.taxonomy.names), here.taxonomy.tree.parent.tolist()
    others: dict[int, int] = {}
    number = np.full(len(fitted.taxonomy) + 1, -1, dtype=np.int32)
    old_parent = fitted.taxonomy.tree.parent
    for old in range(len(fitted.taxonomy)):
        above = int(old_parent[old])
        number[old] = number[above] if above >= 0 else -1  # where the topic is gone
        if old < len(fitted.topic_ids):
            number[old] = here.place.get(fitted.topic_ids[old], number[old])
        elif above < 0 or fitted.topic_ids[above] in here.place:
            home = int(number[above]) if above >= 0 else -1
            if home not in others:
                others[home] = len(names)
                siblings = {names[i] for i, up in enumerate(parent) if up == home}
                names.append(free_name(siblings))
                parent.append(home)
            number[old] = others[home]
    added = len(names) - len(here.ids)
    taxonomy = Taxonomy(
        names,
        parent,
        codes=[*here.taxonomy.codes, *[""] * added],
        descriptions=[*here.taxonomy.descriptions, *[""] * added],
        is_other=[False] * len(here.ids) + [True] * added,
    )
    return taxonomy, number


def _score_levels(old: list[int], new: list[int], number: Ints, height: int) -> list[int]:
    """For each level of the new path, the level of the old path whose score holds for it."""
    levels = [-1] * height
    known = -1
    for level in range(len(new) - 1, -1, -1):
        same = [i for i, topic in enumerate(old) if number[topic] == new[level]]
        known = same[0] if same else known  # a topic set above the others: as sure as the next
        levels[level] = known
    return levels
