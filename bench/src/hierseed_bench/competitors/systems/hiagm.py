"""HiAGM-TP with the graph-convolutional structure encoder (Zhou et al., ACL 2020).

A text's features are spread over the topics, the topics exchange messages along the edges
of the tree (up from children, down to children by how likely each is), and one linear layer
over all of them scores every topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed_bench.competitors.systems.backend import F, nn, torch
from hierseed_bench.competitors.systems.gru import GRU
from hierseed_bench.competitors.systems.paths import PaddedTree, product_argmax
from hierseed_bench.competitors.systems.structure import RecursivePenalty, Structure, child_shares
from hierseed_bench.competitors.systems.supervised import (
    Rows,
    Supervised,
    SupervisedConfig,
    adam,
    collect,
    micro_macro_f1,
)
from hierseed_bench.competitors.systems.system import Examples, Ints, Labels
from hierseed_bench.competitors.systems.text import content_words
from hierseed_bench.competitors.systems.windows import largest_over_time


@dataclass(frozen=True)
class HiAGMConfig(SupervisedConfig):
    """Published sizes, RCV1's configuration.

    Parameters
    ----------
    node : numbers per topic after the text's features are spread
    structure : False leaves the messages along the tree out
    recursive : weight of the pull between a topic's classifier and its parent's
    """

    epochs: int = 250
    patience: int | None = 50
    seed_epochs: int = 200
    rate: float = 1e-4
    min_count: int = 5
    hidden: int = 64
    maps: int = 100
    widths: tuple[int, ...] = (2, 3, 4)
    node: int = 300
    structure: bool = True
    recursive: float = 1e-6
    word_dropout: float = 0.5
    text_dropout: float = 0.1
    node_dropout: float = 0.5
    logit_dropout: float = 0.5


class TextEncoder(nn.Module):
    """Words -> GRU in both directions -> convolutions, largest over time."""

    def __init__(self, embedding: Any, config: HiAGMConfig) -> None:
        super().__init__()
        self.embedding = embedding
        self.word_dropout = nn.Dropout(config.word_dropout)
        self.recurrent = GRU(
            embedding.embedding_dim, config.hidden, batch_first=True, bidirectional=True
        )
        self.dropout = nn.Dropout(config.text_dropout)
        self.widths = config.widths
        self.convolutions = nn.ModuleList(
            nn.Conv1d(2 * config.hidden, config.maps, width) for width in config.widths
        )

    def forward(self, rows: Rows) -> Any:
        """Features of a batch. Padding takes no part in the largest over time."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.word_dropout(self.embedding(rows.words)),
            rows.lengths,
            batch_first=True,
            enforce_sorted=False,
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(self.recurrent(packed)[0], batch_first=True)
        states = self.dropout(states)
        found = []
        for width, layer in zip(self.widths, self.convolutions):
            around = F.pad(states, (0, 0, width // 2, width // 2))
            found.append(largest_over_time(around, layer.weight, layer.bias, rows.lengths))
        return torch.cat(found, dim=1)


class Network(nn.Module):
    """Text features -> topics -> messages along the tree -> one score per topic."""

    def __init__(
        self, embedding: Any, config: HiAGMConfig, tree: PaddedTree, shares: NDArray[np.float32]
    ) -> None:
        super().__init__()
        n, self.shape = len(tree), (len(tree), config.node)
        self.text = TextEncoder(embedding, config)
        self.spread = nn.Linear(config.maps * len(config.widths), n * config.node)
        self.node_dropout = nn.Dropout(config.node_dropout)
        self.structure = Structure(tree, shares, config.node) if config.structure else None
        self.output = nn.Linear(n * config.node, n)
        self.logit_dropout = nn.Dropout(config.logit_dropout)

    def forward(self, rows: Rows) -> Any:
        """Scores before the sigmoid; in training some are dropped, as published."""
        nodes = self.node_dropout(self.spread(self.text(rows))).unflatten(1, self.shape)
        if self.structure is not None:
            nodes = self.structure(nodes)
        return self.logit_dropout(self.output(nodes.flatten(1)))


class HiAGM(Supervised):
    """All topics scored at once; the best path is the one of the largest product."""

    name = "hiagm"
    Config = HiAGMConfig
    tokenise = staticmethod(content_words)

    def _learn(self, examples: Examples, held_out: Examples | None) -> None:
        rows, gold = self.rows(examples.texts), self.tree.sets(examples.topics)
        target = torch.as_tensor(gold).to(self.place)
        parent = torch.as_tensor(self.tree.padded.parent).to(self.place)
        shares = child_shares(self.tree, gold)
        self.model = Network(self.embedding(rows), self.config, self.tree, shares)
        self.model.to(self.place)

        def loss(some: Any) -> Any:
            fit = F.binary_cross_entropy_with_logits(
                self.model(rows[some]), target[some.to(self.place)]
            )
            return fit + self.config.recursive * RecursivePenalty.apply(
                self.model.output.weight, parent
            )

        validate = None
        if held_out is not None:
            validate = self._validation(held_out)
        optimiser = adam(self.model, self.config.rate)
        options = {"lengths": rows.lengths, "validate": validate}
        self.train("network", self.model, optimiser, loss, len(examples), **options)
        if validate is not None:
            validate()
            self.diagnostics_["validation"] = self._seen

    def _validation(self, held_out: Examples) -> Any:
        """Mean of micro- and macro-F1 at one half: the original watches both."""
        rows, gold = self.rows(held_out.texts), self.tree.sets(held_out.topics)

        def validate() -> float:
            self._seen = self._compare(collect(self.model, rows, len(gold)), gold)
            return (self._seen["micro_f1"] + self._seen["macro_f1"]) / 2

        return validate

    def judge(self, texts: Sequence[str], topics: Labels) -> dict[str, Any]:
        """Topics above one half, as the original decides."""
        gold = Examples.of(texts, topics)
        return self._compare(self.logits(gold.texts), self.tree.sets(gold.topics))

    def _compare(self, logits: NDArray[np.float32], gold: NDArray[np.float32]) -> dict[str, float]:
        micro, macro = micro_macro_f1(gold, logits)
        orphans = self._without_parent(logits > 0)
        return {"micro_f1": micro, "macro_f1": macro, "without_parent": orphans}

    def _without_parent(self, found: NDArray[np.bool_]) -> float:
        """Share of the topics found whose parent was not."""
        child = np.flatnonzero(self.tree.padded.parent >= 0)
        below = found[:, child]
        orphans = below & ~found[:, self.tree.padded.parent[child]]
        return float(orphans.sum() / max(below.sum(), 1))

    def logits(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Score of every node of the padded tree."""
        return collect(self.model, self.rows(texts), len(texts))

    def _predict(self, texts: list[str]) -> Ints:
        logs = F.logsigmoid(torch.as_tensor(self.logits(texts))).numpy()
        levels = range(1, self.tree.height + 1)
        by_level = [logs[:, self.tree.padded.at_level(level)] for level in levels]
        return self.tree.topics(product_argmax(self.tree, by_level))
