"""HiAGM's structure encoder: messages along the edges of the tree, each through a gate.

Bottom-up weights start at 1, top-down ones at the share of a parent's documents that go to
the child. Both are trained, and stay zero off the tree. There is no weight matrix: topics
exchange whole feature vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed_bench.competitors.systems.backend import F, nn, torch
from hierseed_bench.competitors.systems.paths import PaddedTree

DROPOUT = 0.05


def child_shares(tree: PaddedTree, sets: NDArray[np.float32]) -> NDArray[np.float32]:
    """Share of its parent's documents that each node has; equal shares without any."""
    counts = sets.sum(axis=0)
    parent = tree.padded.parent
    shares = np.ones(len(tree), dtype=np.float32)
    for node, above in enumerate(parent):
        if above >= 0:
            children = tree.padded.children(int(above))
            total = counts[children].sum()
            shares[node] = counts[node] / total if total else 1 / len(children)
    return shares


class Structure(nn.Module):
    """One layer of graph convolution over the topics."""

    def __init__(self, tree: PaddedTree, shares: NDArray[np.float32], size: int) -> None:
        super().__init__()
        n = len(tree)
        child = np.flatnonzero(tree.padded.parent >= 0)
        parent = tree.padded.parent[child]
        edges = torch.zeros(n, n)
        edges[parent, child] = 1.0
        self.register_buffer("edges", edges)
        self.up = nn.Parameter(edges.clone())
        down = torch.zeros(n, n)
        down[child, parent] = torch.as_tensor(shares[child])
        self.down = nn.Parameter(down)
        self.up_bias, self.down_bias = (nn.Parameter(torch.zeros(n, size)) for _ in range(2))
        self.up_gate_bias, self.down_gate_bias = (nn.Parameter(torch.zeros(n, 1)) for _ in range(2))
        self.gates = nn.Parameter(torch.empty(size, 3))  # up, down, self
        for column in range(3):
            nn.init.xavier_uniform_(self.gates.data[:, column : column + 1])
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, nodes: Any) -> Any:
        """Features of (batch, topics, size) after one exchange."""
        up_gate, down_gate, own_gate = (nodes @ self.gates).split(1, dim=2)
        up = (self.up * self.edges) @ nodes + self.up_bias
        down = (self.down * self.edges.T) @ nodes + self.down_bias
        return F.relu(
            self.dropout(up * torch.sigmoid(up_gate + self.up_gate_bias))
            + self.dropout(down * torch.sigmoid(down_gate + self.down_gate_bias))
            + self.dropout(nodes * torch.sigmoid(own_gate))
        )


class RecursivePenalty(torch.autograd.Function):
    """Half the squared distance between each topic's weights and its parent's, summed.

    The gradient is the sum of the distances. Computed directly it takes a third of the time, which
    matters because the weights of the classifier are the largest part of the model.
    """

    @staticmethod
    def forward(ctx: Any, weight: Any, parent: Any) -> Any:
        """Distances of all topics that have a parent."""
        child = torch.nonzero(parent >= 0).squeeze(1)
        apart = weight[child] - weight[parent[child]]
        ctx.save_for_backward(apart, child, parent[child])
        ctx.topics = len(weight)
        return 0.5 * apart.flatten().dot(apart.flatten())

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, None]:
        """A child is drawn to its parent and the parent to the child."""
        apart, child, above = ctx.saved_tensors
        apart = apart * gradient
        answer = apart.new_zeros(ctx.topics, apart.shape[1])
        answer[child] = apart
        return answer.index_add_(0, above, apart, alpha=-1), None
