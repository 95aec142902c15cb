"""The shape of a taxonomy as one parent array.

`parent[i] < i`, and -1 is the implicit root: top-down is `range(n)`,
bottom-up its reverse. Level 1 is the first below the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Ints


class Tree:
    """Topics 0 … n-1 under an implicit root -1."""

    def __init__(self, parent: Ints | list[int]) -> None:
        self.parent: Ints = np.asarray(parent, dtype=np.intp)
        ids = np.arange(len(self.parent))
        if not ((self.parent < ids) & (self.parent >= -1)).all():
            raise ValueError("a parent must come before its children: parent[i] < i")

    def __reduce__(self) -> tuple[type[Tree], tuple[Ints]]:
        return Tree, (self.parent,)  # without the cached properties

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def level(self) -> Ints:
        """Level of each topic, 1 below the root."""
        level = np.ones(len(self), dtype=np.intp)
        for topic, parent in enumerate(self.parent):
            if parent >= 0:
                level[topic] = level[parent] + 1
        return level

    @property
    def height(self) -> int:
        """The deepest level, 0 for an empty tree."""
        return int(self.level.max(initial=0))

    @cached_property
    def _children(self) -> list[Ints]:
        """Children of topic t at position t, the root's at the end (index -1)."""
        order = np.argsort(self.parent, kind="stable")
        edges = np.searchsorted(self.parent[order], np.arange(-1, len(self) + 1))
        groups = [order[a:b] for a, b in pairwise(edges)]
        return groups[1:] + groups[:1]

    def children(self, topic: int) -> Ints:
        """Children in order of id; `children(-1)` is level 1."""
        return self._children[topic]

    @cached_property
    def child_lists(self) -> tuple[Ints, Ints]:
        """All children, and where those of each topic begin; the root's come last."""
        sizes = [len(some) for some in self._children]
        return np.concatenate(self._children), np.cumsum([0, *sizes])

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """True where a topic has no children."""
        leaf = np.ones(len(self), dtype=bool)
        leaf[self.parent[self.parent >= 0]] = False
        return leaf

    def at_level(self, level: int) -> Ints:
        """All topics of one level, in order of id."""
        return np.flatnonzero(self.level == level)

    @cached_property
    def families(self) -> list[tuple[Ints, Ints, Ints]]:
        """For each level: topics grouped by parent, the parents, where each group begins."""
        found = []
        for level in range(1, self.height + 1):
            here = self.at_level(level)
            here = here[np.argsort(self.parent[here], kind="stable")]
            parents, first = np.unique(self.parent[here], return_index=True)
            found.append((here, parents, first))
        return found

    @cached_property
    def family(self) -> Ints:
        """Position of each inner topic among the parents of its children's level.

        -1 for a leaf, and for None at the end: `family[labels]` works with labels of -1.
        """
        family = np.full(len(self) + 1, -1, dtype=np.intp)
        for _, parents, _ in self.families[1:]:
            family[parents] = np.arange(len(parents))
        return family

    @cached_property
    def position(self) -> Ints:
        """Position of each topic in its level of `families`; -1 for None, at the end."""
        position = np.full(len(self) + 1, -1, dtype=np.intp)
        for here, _, _ in self.families:
            position[here] = np.arange(len(here))
        return position

    def path(self, topic: int) -> list[int]:
        """Ids from level 1 down to the topic itself."""
        path = []
        while topic >= 0:
            path.append(int(topic))
            topic = int(self.parent[topic])
        return path[::-1]

    @cached_property
    def ancestors(self) -> Ints:
        """Row t: the topic above t (or t itself) at level 1, 2, …; -1 below t's own level.

        A last row of -1 answers for None, so `ancestors[labels]` works with labels of -1.
        """
        table = np.full((len(self) + 1, self.height), -1, dtype=np.intp)
        for topic, parent in enumerate(self.parent):
            table[topic] = table[parent]
            table[topic, self.level[topic] - 1] = topic
        return table


def parents_first(parent: Sequence[int]) -> list[int]:
    """Order topics with parents before children; topics on a cycle are left out."""
    if all(p < i for i, p in enumerate(parent)):
        return list(range(len(parent)))
    below: dict[int, list[int]] = {}
    for topic, above in enumerate(parent):
        below.setdefault(above, []).append(topic)
    order: list[int] = []
    stack = below.get(-1, [])[::-1]
    while stack:
        topic = stack.pop()
        order.append(topic)
        stack.extend(below.get(topic, [])[::-1])
    return order


def cycles(parent: Sequence[int]) -> list[int]:
    """One topic of each cycle: the smallest id."""
    state = [0] * len(parent)  # 0 not visited, 1 on the current walk, 2 done
    heads = []
    for start in range(len(parent)):
        walk = []
        topic = start
        while topic >= 0 and state[topic] == 0:
            state[topic] = 1
            walk.append(topic)
            topic = parent[topic]
        if topic >= 0 and state[topic] == 1:
            heads.append(min(walk[walk.index(topic) :]))
        for topic in walk:
            state[topic] = 2
    return heads


def chains_of_cycles(above: Sequence[Sequence[int]]) -> list[list[int]]:
    """Find one chain per cycle met on a walk up from each topic, without recursion."""
    state = [0] * len(above)  # 0 not visited, 1 on the walk, 2 done
    cycles = []
    for start in range(len(above)):
        if state[start]:
            continue
        state[start] = 1
        walk, waiting = [start], [iter(above[start])]
        while walk:
            higher = next(waiting[-1], None)
            if higher is None:
                state[walk.pop()] = 2
                waiting.pop()
            elif state[higher] == 1:
                cycles.append(walk[walk.index(higher) :])
            elif state[higher] == 0:
                state[higher] = 1
                walk.append(higher)
                waiting.append(iter(above[higher]))
    return cycles
