"""HDLTex, RNN-RNN (Kowsari et al., ICMLA 2017): a recurrent classifier at every inner topic.

Each is trained on the documents of its topic alone, with words of its own. A document goes
down by the best child at each step; an error near the top is final.

Differences from the published code: words that have no vector start around zero (there:
all positive), and there is no recurrent dropout, which the fast GPU kernels lack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierseed_bench.competitors.systems.backend import nn, torch
from hierseed_bench.competitors.systems.gru import GRU
from hierseed_bench.competitors.systems.supervised import (
    Rows,
    Supervised,
    SupervisedConfig,
    collect,
)
from hierseed_bench.competitors.systems.system import Examples, Ints, Labels
from hierseed_bench.competitors.systems.text import keras_words


@dataclass(frozen=True)
class HDLTexConfig(SupervisedConfig):
    """Published sizes; the code has one layer, the paper's text two.

    Epochs are unstated in the paper and 1 in the code, which learns next to nothing.
    """

    length: int = 500
    words: int = 55_000
    hidden: int = 100
    layers: int = 1
    dropout: float = 0.2


class Recurrent(nn.Module):
    """Words -> GRU -> one score per child, from the state after the last word."""

    def __init__(self, embedding: Any, config: HDLTexConfig, children: int) -> None:
        super().__init__()
        self.embedding = embedding
        self.dropout = nn.Dropout(config.dropout)
        self.recurrent = GRU(
            embedding.embedding_dim, config.hidden, config.layers, batch_first=True
        )
        self.output = nn.Linear(config.hidden, children)

    def forward(self, rows: Rows) -> Any:
        """Scores of a batch; padding is never read."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(self.embedding(rows.words)),
            rows.lengths,
            batch_first=True,
            enforce_sorted=False,
        )
        _, state = self.recurrent(packed)
        return self.output(state[-1])


class HDLTex(Supervised):
    """One classifier at every node with a choice of children."""

    name = "hdltex"
    Config = HDLTexConfig
    tokenise = staticmethod(keras_words)
    keep_last = True

    def _learn(self, examples: Examples, held_out: Examples | None) -> None:
        self.models: dict[int, Any] = {}
        rows, gold = self.rows(examples.texts), self.tree.gold(examples.topics)
        if held_out is not None:
            other, other_gold = self.rows(held_out.texts), self.tree.gold(held_out.topics)
        for node in self.tree.choices:
            own, child = self._of(node, gold)
            words, children = self.embedding(rows.take(own)), self.tree.padded.children(node)
            model = Recurrent(words, self.config, len(children))
            self.models[node] = model.to(self.place)
            if not len(own):  # nothing is known here: any child is as good as the other
                continue
            target = torch.as_tensor(child, device=self.place)
            validate = None
            if held_out is not None:
                validate = _accuracy(model, other, *self._of(node, other_gold))
            self.train(
                f"node{node}",
                model,
                torch.optim.RMSprop(model.parameters(), self.config.rate),
                _loss(model, rows, torch.as_tensor(own), target),
                len(own),
                lengths=rows.lengths[torch.as_tensor(own)],
                validate=validate,
            )
        if held_out is not None:
            self.diagnostics_["validation"] = self.judge(held_out.texts, held_out.topics)

    def judge(self, texts: Sequence[str], topics: Labels) -> dict[str, Any]:
        """Accuracy among the children of the true parent, over each level and at each node."""
        gold_ = Examples.of(texts, topics)
        rows, gold = self.rows(gold_.texts), self.tree.gold(gold_.topics)
        hits, sizes = np.zeros(self.tree.height), np.zeros(self.tree.height)
        nodes: dict[str, float] = {}
        for node in self.tree.choices:
            own, child = self._of(node, gold)
            accuracy = _accuracy(self.models[node], rows, own, child)
            if accuracy is not None:
                level = 0 if node < 0 else int(self.tree.padded.level[node])
                nodes[str(node)] = accuracy()
                hits[level] += nodes[str(node)] * len(own)
                sizes[level] += len(own)
        given = [float(h / n) if n else None for h, n in zip(hits, sizes)]
        return {"given_true_parent": given, "at_node": nodes}

    def _of(self, node: int, gold: Ints) -> tuple[Ints, Ints]:
        """Rows of a node's documents with a label below it, and the child of each."""
        level = 0 if node < 0 else int(self.tree.padded.level[node])
        here = np.ones(len(gold), dtype=bool) if node < 0 else gold[:, level - 1] == node
        own = np.flatnonzero(here & (gold[:, level] >= 0))
        return own, np.searchsorted(self.tree.padded.children(node), gold[own, level])

    def _predict(self, texts: list[str]) -> Ints:
        rows = self.rows(texts)
        node = np.full(len(texts), -1, dtype=np.intp)
        for _ in range(self.tree.height):
            following = node.copy()
            for here in np.unique(node):
                own = np.flatnonzero(node == here)
                children = self.tree.padded.children(int(here))
                best: Any = 0
                if len(children) > 1:
                    best = collect(self.models[int(here)], rows.take(own), len(own)).argmax(axis=1)
                following[own] = children[best]
            node = following
        return self.tree.topics(node)


def _loss(model: Any, rows: Rows, own: Any, target: Any) -> Any:
    def loss(some: Any) -> Any:
        wanted = target[some.to(target.device)]
        return nn.functional.cross_entropy(model(rows[own[some]]), wanted)

    return loss


def _accuracy(model: Any, rows: Rows, own: Ints, child: Ints) -> Any:
    """Accuracy among the children of the true parent; None without documents."""
    if not len(own):
        return None
    part = rows.take(own)
    return lambda: float((collect(model, part, len(own)).argmax(axis=1) == child).mean())
