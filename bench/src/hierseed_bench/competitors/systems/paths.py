"""A tree whose leaves all lie at one depth, and the best path through it.

The systems assume that every leaf is at the last level. A leaf that lies higher gets a
chain of single stand-ins below it; they go again when a path is turned into topic ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Ints
from hierseed.core.tree import Tree


class PaddedTree:
    """A taxonomy's tree with stand-ins appended: the ids of its topics stay.

    Attributes
    ----------
    padded : the tree with stand-ins
    paths : a row per leaf of the padded tree, its node at each level
    topic : per node the topic it stands for, itself unless it is a stand-in
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.height = tree.height
        parent = [int(p) for p in tree.parent]
        topic = list(range(len(tree)))
        for leaf in np.flatnonzero(tree.is_leaf):
            node = int(leaf)
            for _ in range(self.height - int(tree.level[leaf])):
                parent.append(node)
                topic.append(int(leaf))
                node = len(parent) - 1
        self.padded = Tree(parent)
        self.topic: Ints = np.array(topic, dtype=np.intp)
        self.leaves: Ints = np.flatnonzero(self.padded.is_leaf)
        self.paths: Ints = self.padded.ancestors[self.leaves]

    def __len__(self) -> int:
        return len(self.padded)

    @cached_property
    def place(self) -> Ints:
        """Position of each node among those of its level."""
        place = np.zeros(len(self), dtype=np.intp)
        for level in range(1, self.height + 1):
            nodes = self.padded.at_level(level)
            place[nodes] = np.arange(len(nodes))
        return place

    @cached_property
    def choices(self) -> list[int]:
        """Nodes with at least two children, the root (-1) first: where there is a choice."""
        nodes = range(-1, len(self))
        return [node for node in nodes if len(self.padded.children(node)) > 1]

    def gold(self, topics: Ints) -> Ints:
        """Nodes per level for labels; -1 below a label that is an inner topic."""
        deepest = np.arange(len(self.tree))
        deepest[self.topic[self.leaves]] = self.leaves
        return self.padded.ancestors[deepest[topics]]

    def topics(self, leaves: Ints) -> Ints:
        """Topic ids per level for leaves of the padded tree, -1 at the stand-ins."""
        return self.tree.ancestors[self.topic[leaves]]

    def sets(self, topics: Ints) -> NDArray[np.float32]:
        """Return each label as a 0/1 row over all nodes: the node, its ancestors and stand-ins."""
        gold = self.gold(topics)
        rows = np.zeros((len(topics), len(self) + 1), dtype=np.float32)
        np.put_along_axis(rows, gold, 1.0, axis=1)  # -1 falls on the spare last column
        return rows[:, :-1]


def product_argmax(tree: PaddedTree, logs: Sequence[NDArray[Any]]) -> Ints:
    """Find the leaf with the largest product of its own and its ancestors' probabilities.

    Parameters
    ----------
    logs : log probabilities, one matrix per level, a column per node of that level
    """
    total = np.zeros((len(logs[0]), len(tree.leaves)))
    for level, matrix in enumerate(logs):
        total += np.asarray(matrix, dtype=np.float64)[:, tree.place[tree.paths[:, level]]]
    return tree.leaves[total.argmax(axis=1)]
