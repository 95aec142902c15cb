"""Which kinds of documents the mixture knows, and where each hangs in the tree.

A component is a kind of document with a place in the taxonomy: a leaf; an inner topic that has
seeds of its own (its documents stop there); Other below an inner topic that has none; and None
below the root.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree

Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Components:
    """Components of a mixture over a tree whose Other topics are appended already.

    Attributes
    ----------
    tree : listed topics and Other topics
    nodes : the same, with one node more for each inner topic's own documents and for None
    node : node of each component, a leaf of `nodes`
    topic : topic that documents of the component are placed in, -1 for None
    is_rest : True for Other and None, which have no seeds
    """

    tree: Tree
    nodes: Tree
    node: Ints
    topic: Ints
    is_rest: Bools

    def __len__(self) -> int:
        return len(self.node)

    @property
    def of_topic(self) -> Ints:
        """Component of each topic, -1 where it has none; the last entry answers for None."""
        place = np.full(len(self.tree) + 1, -1, dtype=np.intp)
        place[self.topic] = np.arange(len(self))
        return place


def parents_of_others(tree: Tree, has_seeds: Bools, is_other: Bools) -> list[int]:
    """Inner topics that need an Other: seeds below, none of their own, and no Other yet.

    Of a branch without any seed nothing is known, so it can't have documents that fit none of
    its children.
    """
    seeded = has_seeds.copy()
    for topic in range(len(tree) - 1, -1, -1):
        if seeded[topic] and tree.parent[topic] >= 0:
            seeded[tree.parent[topic]] = True
    return [
        topic
        for topic in np.flatnonzero(~tree.is_leaf & ~has_seeds & seeded).tolist()
        if not is_other[tree.children(topic)].any()
    ]


def make_components(tree: Tree, has_seeds: Bools, is_other: Bools, none: bool) -> Components:
    """List the components of a tree; a listed leaf without seeds has none."""
    leaves = np.flatnonzero(tree.is_leaf & (has_seeds | is_other))
    own = np.flatnonzero(~tree.is_leaf & has_seeds)
    extra = np.concatenate([own, [-1]]) if none else own
    nodes = Tree(np.concatenate([tree.parent, extra]).astype(np.intp))
    topic = np.concatenate([leaves, extra]).astype(np.intp)
    node = np.concatenate([leaves, len(tree) + np.arange(len(extra))]).astype(np.intp)
    return Components(tree, nodes, node, topic, np.append(is_other, True)[topic])


def sum_up(components: Components, own: NDArray[np.float64]) -> NDArray[np.float64]:
    """(topics + 1, …): a value per component, added up over each topic and all below; None last."""
    tree = components.tree
    total = np.zeros((len(tree) + 1, *own.shape[1:]))
    total[components.topic] = own
    for topic in range(len(tree) - 1, -1, -1):
        if tree.parent[topic] >= 0:
            total[tree.parent[topic]] += total[topic]
    return total
