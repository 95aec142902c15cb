"""The tree of a topic model that grows and shrinks: shape alone, no weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class TopicTree:
    """Nodes 0 … n-1, node 0 the root, a parent before its children, every leaf at one depth.

    Parameters
    ----------
    parent : of each node, -1 for the root; siblings are ordered as they stand
    """

    def __init__(self, parent: Sequence[int]) -> None:
        self.parent = [int(p) for p in parent]
        self.depth = [0] * len(self.parent)
        self.children: list[list[int]] = [[] for _ in self.parent]
        for node, above in enumerate(self.parent[1:], 1):
            self.depth[node] = self.depth[above] + 1
            self.children[above].append(node)
        self.levels = max(self.depth) + 1

    @classmethod
    def start(cls, branches: Sequence[int], levels: int) -> TopicTree:
        """Begin with this number of children at the first levels and single ones below."""
        parent, front = [-1], [0]
        for level in range(levels - 1):
            width = branches[level] if level < len(branches) else 1
            added = [node for node in front for _ in range(width)]
            front = list(range(len(parent), len(parent) + len(added)))
            parent += added
        return cls(parent)

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def leaves(self) -> list[int]:
        """Nodes without children."""
        return [node for node, below in enumerate(self.children) if not below]

    def path(self, node: int) -> list[int]:
        """Nodes from the root down to this one."""
        path = []
        while node >= 0:
            path.append(node)
            node = self.parent[node]
        return path[::-1]

    @cached_property
    def waves(self) -> list[list[int]]:
        """Nodes below the root in groups whose parents and elder siblings come earlier."""
        place = {node: i for below in self.children for i, node in enumerate(below)}
        groups: dict[tuple[int, int], list[int]] = {}
        for node in range(1, len(self)):
            groups.setdefault((self.depth[node], place[node]), []).append(node)
        return [groups[key] for key in sorted(groups)]

    def elder(self, node: int) -> int | None:
        """The sibling before this one."""
        siblings = self.children[self.parent[node]]
        at = siblings.index(node)
        return siblings[at - 1] if at else None

    @cached_property
    def sticks(self) -> tuple[Floats, Floats]:
        """Which pieces of stick a node's share is the product of.

        Column k of the first: nodes whose v enters; of the second: nodes whose 1 - v does.
        A node's share is its parent's, times what elder siblings left, times its own v; the
        last sibling takes the rest.
        """
        taken = np.zeros((len(self), len(self)), dtype=np.float32)
        left = np.zeros_like(taken)
        for node in range(1, len(self)):
            above, siblings = self.parent[node], self.children[self.parent[node]]
            taken[:, node], left[:, node] = taken[:, above], left[:, above]
            left[siblings[: siblings.index(node)], node] = 1
            if node != siblings[-1]:
                taken[node, node] = 1
        return taken, left

    @cached_property
    def siblings(self) -> Floats:
        """1 for every ordered pair of children of one parent, a node and itself included."""
        parent = np.array(self.parent)
        same = parent[:, None] == parent
        same[0] = same[:, 0] = False
        return same.astype(np.float32)

    def total(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weight of each node with all below it."""
        total = own.copy()
        for node in range(len(self) - 1, 0, -1):
            total[self.parent[node]] += total[node]
        return total

    def updated(self, own: NDArray[np.float64], add: float, remove: float) -> TopicTree:
        """Grow a child where an inner node holds much itself, drop subtrees that hold little.

        Parameters
        ----------
        own : share of all words that each node explains
        add, remove : thresholds of a node's own share, and of its share with all below it
        """
        total = self.total(own)
        keep = [True] * len(self)
        for node in range(1, len(self)):
            keep[node] = keep[self.parent[node]] and total[node] >= remove
        grows = [bool(self.children[n]) and own[n] > add and keep[n] for n in range(len(self))]
        for node in range(len(self) - 1, 0, -1):  # a parent left childless goes too
            if self.children[node] and not grows[node]:
                keep[node] = keep[node] and any(keep[child] for child in self.children[node])
        if not grows[0] and not any(keep[child] for child in self.children[0]):
            return self  # nothing would be left
        number: dict[int, int] = {}
        parent: list[int] = []
        for node in range(len(self)):
            if keep[node]:
                number[node] = len(parent)
                parent.append(number[self.parent[node]] if node else -1)
        for node in range(len(self)):
            if grows[node] and keep[node]:
                above = number[node]
                for _ in range(self.depth[node] + 1, self.levels):
                    parent.append(above)
                    above = len(parent) - 1
        return TopicTree(parent)
