"""The local classifiers of WeSHClass, and all of them as one: products along the paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierseed_bench.competitors.systems.backend import F, nn, torch
from hierseed_bench.competitors.systems.paths import PaddedTree
from hierseed_bench.competitors.systems.supervised import Rows, in_batches
from hierseed_bench.competitors.systems.windows import largest_of_table

WIDTHS = (2, 3, 4, 5)
START = 0.01  # of the convolutions' weights


@dataclass(frozen=True)
class PaddedRows(Rows):
    """Rows that end in padding for the widest window, so that no answer depends on a batch."""

    def __getitem__(self, rows: Any) -> Rows:
        lengths = self.lengths[rows]
        longest = min(int(lengths.max()) + WIDTHS[-1], self.words.shape[1])
        return Rows(self.words[rows.to(self.words.device), :longest], lengths)

    @classmethod
    def of(cls, words: Any, lengths: Any) -> PaddedRows:
        """Add the padding."""
        return cls(F.pad(words, (0, WIDTHS[-1])), lengths)

    def __add__(self, other: PaddedRows) -> PaddedRows:
        width = max(self.words.shape[1], other.words.shape[1])
        parts = [F.pad(r.words, (0, width - r.words.shape[1])) for r in (self, other)]
        return PaddedRows(torch.cat(parts), torch.cat([self.lengths, other.lengths]))


class LocalNet(nn.Module):
    """Fixed word vectors -> convolutions, largest over time -> hidden layer -> children."""

    def __init__(self, table: Any, children: int, maps: int, hidden: int) -> None:
        super().__init__()
        self.table = [table]  # in a list: fixed, and no part of what is trained or saved
        self.convolutions = nn.ModuleList(nn.Conv1d(table.shape[1], maps, w) for w in WIDTHS)
        self.hidden = nn.Linear(maps * len(WIDTHS), hidden)
        self.output = nn.Linear(hidden, children)
        for each in self.convolutions:
            nn.init.uniform_(each.weight, -START, START)
            nn.init.zeros_(each.bias)
        for layer in (self.hidden, self.output):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, rows: Rows) -> Any:
        """Log probabilities of the children."""
        table, numbers = self.table[0], rows.words
        found = torch.cat(
            [largest_of_table(table, numbers, c.weight, c.bias) for c in self.convolutions], dim=1
        )
        return self.output(F.relu(self.hidden(found))).log_softmax(dim=1)


class Ensemble(nn.Module):
    """All local classifiers side by side: one convolution for all, one product for each layer.

    Parameters
    ----------
    nodes : with a choice, those of upper levels first
    nets : one each
    """

    def __init__(self, tree: PaddedTree, nodes: Sequence[int], nets: Sequence[LocalNet]) -> None:
        super().__init__()
        self.tree, self.table = tree, nets[0].table
        widest = max(net.output.out_features for net in nets)
        self.filters = nn.ParameterList(
            torch.cat([net.convolutions[i].weight for net in nets]) for i in range(len(WIDTHS))
        )
        self.shifts = nn.ParameterList(
            torch.cat([net.convolutions[i].bias for net in nets]) for i in range(len(WIDTHS))
        )
        self.hidden = nn.Parameter(torch.stack([net.hidden.weight for net in nets]))
        self.hidden_shift = nn.Parameter(torch.stack([net.hidden.bias for net in nets]))
        gaps = [(0, 0, 0, widest - net.output.out_features) for net in nets]
        self.output = nn.Parameter(
            torch.stack([F.pad(net.output.weight, gap) for net, gap in zip(nets, gaps)])
        )
        # a child that is not there can never win
        self.output_shift = nn.Parameter(
            torch.stack([F.pad(n.output.bias, g[2:], value=-1e9) for n, g in zip(nets, gaps)])
        )
        level = np.array([0 if node < 0 else tree.padded.level[node] for node in nodes])
        self.active = [int((level < k).sum()) for k in range(tree.height + 1)]
        self.maps = nets[0].convolutions[0].out_channels
        self._columns = self._place_children(nodes, widest)

    def _place_children(self, nodes: Sequence[int], widest: int) -> list[tuple[Any, Any]]:
        """Per level: each node's parent among those of the level above, and its own column."""
        padded, column = self.tree.padded, {}
        for number, node in enumerate(nodes):
            for at, child in enumerate(padded.children(node)):
                column[int(child)] = number * widest + at
        steps = []
        for level in range(1, self.tree.height + 1):
            here = padded.at_level(level)
            above = [0 if p < 0 else int(self.tree.place[p]) for p in padded.parent[here]]
            steps.append(
                (torch.tensor(above), torch.tensor([column.get(int(n), -1) for n in here]))
            )
        return steps

    def forward(self, rows: Rows, level: int) -> Any:
        """Log probability of every node of a level: the product along its path."""
        n, place = self.active[level], self.hidden.device
        found = []
        for filters, shift in zip(self.filters, self.shifts):
            top = n * self.maps
            each = largest_of_table(self.table[0], rows.words, filters[:top], shift[:top])
            found.append(each.view(len(each), n, self.maps))
        joined = torch.cat(found, dim=2)  # documents x nets x features
        hidden = F.relu(
            torch.einsum("bnf,nhf->bnh", joined, self.hidden[:n]) + self.hidden_shift[:n]
        )
        score = torch.einsum("bnh,nch->bnc", hidden, self.output[:n]) + self.output_shift[:n]
        local = score.log_softmax(dim=2).flatten(1)
        local = torch.cat([local, local.new_zeros(len(local), 1)], dim=1)  # -1: an only child
        logs = local.new_zeros(len(local), 1)
        for above, column in self._columns[:level]:
            logs = logs[:, above.to(place)] + local[:, column.to(place)]
        return logs

    def logs(self, rows: PaddedRows, level: int) -> Any:
        """Answer for many documents, without gradients."""
        with torch.no_grad():
            return torch.cat([self(rows[some], level) for some in in_batches(len(rows.lengths))])
