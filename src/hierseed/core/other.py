"""Where an Other child sits (paper: Extend taxonomy, appendix A).

It lies opposite to the listed children, as far from the topic as their mean: it stands for what
the experts did not list, and makes the children even around their topic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree

Floats = NDArray[np.float64]
SPELLINGS = ("text", "printed")
BALANCED = 1e-9  # mean unit vector below which children are even around their topic


def other_vector(topic: Floats, children: Floats, spelling: str = "text") -> Floats | None:
    """Vector of the Other child, None where the children are balanced already.

    `text` is what the paper says and its code does; `printed` is its equation to the letter,
    which is longer by the number of children times their imbalance.
    """
    offsets = children - topic
    lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
    units = np.divide(offsets, lengths, out=np.zeros_like(offsets), where=lengths > 0)
    eta = units.mean(axis=0)
    imbalance = float(np.linalg.norm(eta))
    length = float(np.linalg.norm(offsets.mean(axis=0)))
    if imbalance < BALANCED or length == 0:
        return None
    if spelling == "printed":
        length *= len(children) * imbalance
    return topic - length * eta / imbalance


def parents_for_other(tree: Tree, pivot_level: int, *, at_pivot: bool) -> list[int]:
    """Topics that get an Other child: inner ones from the pivot down, and those just above it."""
    inner = [int(t) for t in np.flatnonzero(~tree.is_leaf & (tree.level >= pivot_level))]
    if not at_pivot:
        return inner
    above = [-1] if pivot_level == 1 else tree.at_level(pivot_level - 1)
    return [int(t) for t in above if len(tree.children(int(t)))] + inner
