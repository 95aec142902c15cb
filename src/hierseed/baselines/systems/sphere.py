"""Steps on the unit sphere: what JoSH moves its words, documents and topics with.

The original takes one pair at a time; here a batch of pairs is computed from the same vectors,
the steps of a vector add up, and it is brought back to unit length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hierseed.baselines.systems.backend import F, torch
from hierseed.core.tree import Tree


def unit(vectors: Any) -> Any:
    """Vectors of length one."""
    return F.normalize(vectors, dim=1)


def move(table: Any, rows: Any, steps: Any) -> None:
    """Add steps to rows (several may fall on one) and bring those rows back to the sphere."""
    table.index_add_(0, rows, steps)
    table[rows] = unit(table[rows])


def text_step(
    anchors: Any,
    words: Any,
    pairs: tuple[Any, Any, Any],
    rate: float,
    margin: float,
    frozen: bool = False,
) -> Any:
    """Draw a word towards the anchor it belongs to, more than words drawn at random.

    Parameters
    ----------
    anchors : vectors of words as contexts, and of documents
    words : vectors of words
    pairs : row of the anchor, row of its word, and rows of random words (-1: none), per pair
    frozen : leave the words where they are, as for documents that come later

    Returns
    -------
    mean hinge before the step
    """
    at, word, other = pairs
    real = other >= 0
    other = other.clamp(min=0)
    v, u, w = anchors[at], words[word], words[other]
    f = (u * v).sum(dim=1, keepdim=True)
    h = torch.bmm(w, v.unsqueeze(2)).squeeze(2)
    hinge = (margin - f + h).clamp(min=0) * real
    # the factors 1 - f, 2 h and 1 - f + h are the original's; for h < 0 a negative is drawn near
    active = (hinge > 0) * rate
    pull = active * (1 - f + h)
    towards, along = pull.sum(dim=1, keepdim=True), (pull * (f - h)).sum(dim=1, keepdim=True)
    anchor_step = towards * u - along * v - torch.bmm(pull.unsqueeze(1), w).squeeze(1)
    if not frozen:
        near, far = active.sum(dim=1, keepdim=True) * (1 - f), (2 * active * h).unsqueeze(2)
        other_step = w.mul_(far * h.unsqueeze(2)).sub_(far * v.unsqueeze(1)).flatten(0, 1)
        move(words, word, near * v - near * f * u)
        move(words, other.flatten(), other_step)
    move(anchors, at, anchor_step)
    return hinge.sum() / real.sum().clamp(min=1)


class TreeTerm:
    """A topic lies nearer to its parent than to its siblings, by a margin per level.

    The root stands after the topics, as row n.
    """

    def __init__(self, tree: Tree, place: Any) -> None:
        n = len(tree)
        parent = np.where(tree.parent < 0, n, tree.parent)
        same = parent[:, None] == parent
        np.fill_diagonal(same, False)
        self.parent = torch.as_tensor(parent, device=place)
        self.siblings = torch.as_tensor(same, dtype=torch.float32, device=place)
        self.count = self.siblings.sum(dim=1).clamp(min=1)
        self.level = torch.as_tensor(tree.level - 1, device=place)
        self.top = torch.as_tensor(tree.parent < 0, device=place)
        self.margin = torch.zeros(tree.height, device=place)

    def renew(self, topics: Any) -> None:
        """Put the root amid its children, and take each level's mean gap as its margin."""
        topics[-1] = unit(topics[:-1][self.top].sum(dim=0, keepdim=True))[0]
        gap, size = self._gap(topics) * self.siblings, self.siblings.sum(dim=1)
        total = torch.zeros_like(self.margin).index_add_(0, self.level, gap.sum(dim=1))
        number = torch.zeros_like(self.margin).index_add_(0, self.level, size)
        self.margin = total / number.clamp(min=1)

    def step(self, topics: Any, rate: float) -> None:
        """Move topics, their parents and their siblings."""
        own = topics[:-1]
        hinge = self.margin[self.level][:, None] - self._gap(topics)
        weight = (hinge > 0) * self.siblings / self.count[:, None]
        total = weight.sum(dim=1, keepdim=True)
        pull = torch.zeros_like(topics)
        pull[:-1] = total * topics[self.parent] - weight @ own - weight.T @ own
        pull.index_add_(0, self.parent, total * own)
        topics += rate * (pull - (pull * topics).sum(dim=1, keepdim=True) * topics)
        topics.copy_(unit(topics))

    def loss(self, topics: Any) -> float:
        """Mean hinge over pairs of siblings."""
        hinge = (self.margin[self.level][:, None] - self._gap(topics)).clamp(min=0)
        return float((hinge * self.siblings).sum() / self.siblings.sum().clamp(min=1))

    def _gap(self, topics: Any) -> Any:
        """Cosine with the parent less cosine with each sibling."""
        own = topics[:-1]
        return (own * topics[self.parent]).sum(dim=1, keepdim=True) - own @ own.T


def word_step(topics: Any, words: Any, chosen: tuple[Any, Any], rate: float, margin: float) -> None:
    """Draw topics and the words chosen for them to each other, up to a cosine of `margin`."""
    topic, word = chosen
    c, u = topics[topic], words[word]
    cosine = (c * u).sum(dim=1, keepdim=True)
    share = torch.bincount(topic, minlength=len(topics))[topic].unsqueeze(1)
    active = (cosine < margin) * rate / share
    move(topics, topic, active * (u - cosine * c))
    move(words, word, active * (c - cosine * u))
