"""Which kinds of documents the mixture knows, and where each hangs in the tree.

A component is a kind of document with a place in the taxonomy: a leaf; an inner topic that has
seeds of its own (its documents stop there); and, without seeds, groups of documents that belong
to Other below an inner topic or, below the root, to None.
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
    """Components of a mixture over a tree; those with seeds come first.

    Attributes
    ----------
    tree : listed topics, and Other topics where they are known yet
    nodes : the same, with one node more for each inner topic's own documents and for each
        component without seeds
    node : node of each component, a leaf of `nodes`
    topic : topic that documents of the component are placed in, -1 for None; several components
        may share an Other
    is_unlisted : True for Other and None, which have no seeds
    """

    tree: Tree
    nodes: Tree
    node: Ints
    topic: Ints
    is_unlisted: Bools

    def __len__(self) -> int:
        return len(self.node)

    @property
    def of_topic(self) -> Ints:
        """A component of each topic, -1 where it has none; the last entry answers for None."""
        place = np.full(len(self.tree) + 1, -1, dtype=np.intp)
        place[self.topic] = np.arange(len(self))
        return place

    @property
    def parent(self) -> Ints:
        """Inner topic that each component hangs below, -1 for the root."""
        return self.nodes.parent[self.node]

    def with_unlisted(self, parents: Ints, places: Ints | None = None) -> Components:
        """The same with seeds, and one component without below each of these topics.

        `places` are the Other topics of the parents; while they are not known, all are None.
        """
        places = np.full(len(parents), -1) if places is None else places
        listed, tree = ~self.is_unlisted, self.tree
        own = self.topic[listed & (self.node >= len(tree))]
        nodes = Tree(np.concatenate([tree.parent, own, parents]).astype(np.intp))
        node = np.concatenate([self.node[listed], len(tree) + len(own) + np.arange(len(parents))])
        topic = np.concatenate([self.topic[listed], places])
        is_unlisted = np.arange(len(node)) >= listed.sum()
        return Components(tree, nodes, node.astype(np.intp), topic.astype(np.intp), is_unlisted)


def make_components(
    tree: Tree, has_seeds: Bools, rest: Ints, places: Ints | None = None
) -> Components:
    """List the components of a tree.

    Parameters
    ----------
    has_seeds : a listed leaf without seeds has no component
    rest : inner topic, -1 for the root, that each component without seeds hangs below
    places : its Other topic, -1 for None
    """
    leaves = np.flatnonzero(tree.is_leaf & has_seeds)
    own = np.flatnonzero(~tree.is_leaf & has_seeds)
    nodes = Tree(np.concatenate([tree.parent, own]).astype(np.intp))
    node = np.concatenate([leaves, len(tree) + np.arange(len(own))]).astype(np.intp)
    seeded = np.zeros(len(node), dtype=bool)
    topic = np.concatenate([leaves, own]).astype(np.intp)
    return Components(tree, nodes, node, topic, seeded).with_unlisted(rest, places)


def gather(components: Components, own: Floats, total: Floats) -> Floats:
    """Put a value per component into that of its topic, zero so far; the last is None's."""
    listed = int((~components.is_unlisted).sum())
    total[components.topic[:listed]] = own[:listed]
    for component in range(listed, len(components)):
        total[components.topic[component]] += own[component]
    return total


def sum_up(components: Components, own: Floats) -> Floats:
    """(topics + 1, …): a value per component, added up over each topic and all below."""
    total = np.zeros((len(components.tree) + 1, *own.shape[1:]))
    return add_up(components.tree, gather(components, own, total))


def add_up(tree: Tree, total: Floats) -> Floats:
    """Add to each topic what lies below it, in place."""
    for topic in np.flatnonzero(~tree.is_leaf)[::-1]:
        total[topic] += total[tree.children(topic)].sum(axis=0)
    return total
