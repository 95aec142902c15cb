"""The vector of an Other child (paper: Extend taxonomy, appendix A).

It lies opposite to the listed children, as far from the topic as their mean. It represents what
the experts did not list, and balances the children around their topic.
"""

from __future__ import annotations

import numpy as np

from hierseed.core.arrays import Floats
from hierseed.core.tree import Tree

SPELLINGS = ("text", "printed")
BALANCED = 1e-9  # share of a vector's length that counts as rounding


def other_vector(topic: Floats, children: Floats, spelling: str = "text") -> Floats | None:
    """Vector of the Other child; None if the children are balanced.

    A topic at the mean of its children has its Other at its own position. `text` is what the paper
    says and its code does; `printed` is the equation as printed, which is longer by the number of
    children times their imbalance.
    """
    offsets = children - topic
    lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
    apart = lengths > same_place(topic, children)
    units = np.divide(offsets, lengths, out=np.zeros_like(offsets), where=apart)
    eta = units.mean(axis=0)
    imbalance = float(np.linalg.norm(eta))
    length = float(np.linalg.norm(offsets.mean(axis=0)))
    if imbalance < BALANCED:
        return None
    if spelling == "printed":
        length *= len(children) * imbalance
    return topic - length * eta / imbalance


def same_place(topic: Floats, children: Floats) -> float:
    """Distance below which a child is at the position of its topic, up to rounding."""
    return BALANCED * float(np.abs(topic).max() + np.abs(children).max(initial=0.0))


def parents_for_other(tree: Tree, pivot_level: int, *, at_pivot: bool) -> list[int]:
    """Topics that get an Other child: inner ones from the pivot down, and those just above it."""
    inner = [int(t) for t in np.flatnonzero(~tree.is_leaf & (tree.level >= pivot_level))]
    if not at_pivot:
        return inner
    above = [-1] if pivot_level == 1 else tree.at_level(pivot_level - 1)
    return [int(t) for t in above if len(tree.children(int(t)))] + inner
