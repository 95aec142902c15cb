"""The components of the mixture, and the node of each in the tree.

A component is a kind of document with a place in the taxonomy: a leaf with seeds, or an inner
topic that has seeds of its own (its documents stop there).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Components:
    """Components of a mixture over a tree.

    Attributes
    ----------
    tree : listed topics and Other topics
    nodes : the same, with one node more for each inner topic's own documents
    node : node of each component, a leaf of `nodes`
    topic : topic that documents of the component are placed in
    """

    tree: Tree
    nodes: Tree
    node: Ints
    topic: Ints

    def __len__(self) -> int:
        return len(self.node)

    @property
    def of_topic(self) -> Ints:
        """The component of each topic, -1 where it has none; the last entry is for None."""
        place = np.full(len(self.tree) + 1, -1, dtype=np.intp)
        place[self.topic] = np.arange(len(self))
        return place


def make_components(tree: Tree, has_seeds: Bools) -> Components:
    """List the components of a tree: topics with seeds, leaves first."""
    leaves = np.flatnonzero(tree.is_leaf & has_seeds)
    own = np.flatnonzero(~tree.is_leaf & has_seeds)
    nodes = Tree(np.concatenate([tree.parent, own]).astype(np.intp))
    node = np.concatenate([leaves, len(tree) + np.arange(len(own))]).astype(np.intp)
    return Components(tree, nodes, node, np.concatenate([leaves, own]).astype(np.intp))


def sum_up(components: Components, own: Floats) -> Floats:
    """(topics, …): a value per component, added up over each topic and all below."""
    total = np.zeros((len(components.tree), *own.shape[1:]))
    total[components.topic] = own
    return add_up(components.tree, total)


def add_up(tree: Tree, total: Floats) -> Floats:
    """Add to each topic what lies below it, in place."""
    for topic in np.flatnonzero(~tree.is_leaf)[::-1]:
        total[topic] += total[tree.children(topic)].sum(axis=0)
    return total
