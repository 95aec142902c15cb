"""HiLAP's walk down a taxonomy: candidates as a 0/1 matrix, so that a batch takes one step at once.

Nodes are the topics, then the root, then STOP. A chosen topic leaves the candidates and its
children join them; STOP is always there, and after it nothing else is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hierseed.core.tree import Tree
from hierseed_bench.competitors.systems.backend import torch


class Map(NamedTuple):
    """The tree as tensors."""

    children: Any  # (nodes, nodes): row n has its children
    root: int
    stop: int

    @classmethod
    def of(cls, tree: Tree, place: Any) -> Map:
        """Lay out a tree."""
        n = len(tree)
        children = torch.zeros(n + 2, n + 2, dtype=torch.bool)
        for topic, above in enumerate(tree.parent):
            children[int(above) if above >= 0 else n, topic] = True
        return cls(children.to(place), n, n + 1)


class Walk(NamedTuple):
    """A batch of walks, (documents, steps) each."""

    chosen: Any
    log_probability: Any
    entropy: Any  # sum of p log p over the candidates, divided by their number


def take_walk(map_: Map, score: Any, n: int, steps: int, *, sample: bool) -> Walk:
    """Walk `steps` steps with n documents.

    Parameters
    ----------
    score : current nodes -> (documents, nodes) scores
    sample : choose by chance, else the best
    """
    place = map_.children.device
    current = torch.full((n,), map_.root, device=place)
    open_ = torch.zeros(n, len(map_.children), dtype=torch.bool, device=place)
    open_[:, map_.stop] = True
    only_stop = open_.clone()
    records: list[tuple[Any, Any, Any]] = []
    for _ in range(steps):
        open_ = open_.scatter(1, current[:, None], False) | map_.children[current]
        open_ = torch.where((current == map_.stop)[:, None], only_stop, open_ | only_stop)
        logs = score(current).masked_fill(~open_, -float("inf")).log_softmax(dim=1)
        if sample:
            # the largest of log p plus Gumbel noise is a draw from p
            noise = -torch.empty_like(logs).exponential_().clamp(min=1e-20).log()
            current = (logs.detach() + noise).argmax(dim=1)
        else:
            current = logs.argmax(dim=1)
        safe = logs.masked_fill(~open_, 0.0)
        entropy = (safe.exp() * safe).sum(dim=1) / open_.sum(dim=1)
        records.append((current, logs.gather(1, current[:, None]).squeeze(1), entropy))
    return Walk(*(torch.stack(each, dim=1) for each in zip(*records)))


def f1_gains(chosen: Any, gold: Any, map_: Map, *, count_stop: bool = False) -> Any:
    """Reward of each step: by how much the F1 between chosen and true topics grew.

    Parameters
    ----------
    gold : (documents, topics) 0/1, ancestors included
    count_stop : True counts STOP as a chosen topic, as the published code does; stopping
        then costs precision
    """
    padded = torch.cat([gold, gold.new_zeros(len(gold), 2)], dim=1)
    hit = padded.gather(1, chosen)
    counted = torch.ones_like(hit) if count_stop else (chosen != map_.stop).to(hit.dtype)
    if count_stop:  # once, however long a walk stands still
        again = (chosen == map_.stop).cumsum(dim=1) > 1
        counted = counted.masked_fill(again, 0.0)
    sizes = counted.cumsum(dim=1) + gold.sum(dim=1, keepdim=True)
    f1 = 2 * hit.cumsum(dim=1) / sizes.clamp(min=1)
    return torch.diff(f1, dim=1, prepend=torch.zeros_like(f1[:, :1]))


def returns(rewards: Any, gamma: float) -> Any:
    """Discounted sum of the rewards after each step."""
    total = torch.zeros_like(rewards)
    following = torch.zeros_like(rewards[:, 0])
    for step in range(rewards.shape[1] - 1, -1, -1):
        following = rewards[:, step] + gamma * following
        total[:, step] = following
    return total


def policy_loss(walk: Walk, advantage: Any, beta: Any) -> Any:
    """REINFORCE: make good steps likelier; `beta` keeps the choice open."""
    return -(walk.log_probability * advantage).mean() + beta * walk.entropy.mean()
