"""HFT-CNN with multiplicative scores, HFT(M) (Shimura, Li, Fukumoto, EMNLP 2018).

One convolutional network a level. Each starts from the words and convolutions that the
level above has learned, and all of it trains on. A leaf's score is the product of its own
and its ancestors' probabilities, which are never scaled to sum to one among siblings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed_bench.competitors.systems.backend import F, nn, torch
from hierseed_bench.competitors.systems.paths import product_argmax
from hierseed_bench.competitors.systems.supervised import (
    Rows,
    Supervised,
    SupervisedConfig,
    adam,
    collect,
)
from hierseed_bench.competitors.systems.system import Examples, Ints, Labels
from hierseed_bench.competitors.systems.text import kim_words
from hierseed_bench.competitors.systems.windows import largest_over_time

SHORTEST = 4  # the widest window must fit


@dataclass(frozen=True)
class HFTConfig(SupervisedConfig):
    """Published sizes; texts of 256 words (the original's task had 13).

    Parameters
    ----------
    fine_tune : False trains every level from the word vectors instead
    """

    epochs: int = 40
    batch: int = 100
    seed_epochs: int = 30
    maps: int = 128
    widths: tuple[int, ...] = (2, 3, 4)
    hidden: int = 1024
    word_dropout: float = 0.25
    dropout: float = 0.5
    fine_tune: bool = True


class Convolutional(nn.Module):
    """Words -> convolutions, largest over time -> hidden layer -> one score per topic."""

    def __init__(self, embedding: Any, config: HFTConfig, topics: int) -> None:
        super().__init__()
        self.embedding = embedding
        self.word_dropout = nn.Dropout(config.word_dropout)
        size = embedding.embedding_dim
        self.convolutions = nn.ModuleList(nn.Conv1d(size, config.maps, w) for w in config.widths)
        self.hidden = nn.Linear(config.maps * len(config.widths), config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.hidden, topics)
        for layer in (*self.convolutions, self.hidden, self.output):
            nn.init.kaiming_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, rows: Rows) -> Any:
        """Scores before the sigmoid."""
        words = self.word_dropout(self.embedding(rows.words))
        found = [largest_over_time(words, each.weight, each.bias) for each in self.convolutions]
        return self.output(self.dropout(F.relu(self.hidden(torch.cat(found, dim=1)))))

    def take_over(self, above: Convolutional) -> None:
        """Start from the words and convolutions of the level above."""
        self.embedding.load_state_dict(above.embedding.state_dict())
        self.convolutions.load_state_dict(above.convolutions.state_dict())


class FixedRows(Rows):
    """Rows padded far enough past the longest that every document sees the same padding.

    A window that lies in the padding gives its bias, so a score must not depend on whether
    a longer document happens to be in the batch.
    """

    def __getitem__(self, rows: Any) -> Rows:
        lengths = self.lengths[rows]
        longest = min(int(lengths.max()) + SHORTEST, self.words.shape[1])
        return Rows(self.words[rows.to(self.words.device), :longest], lengths)


class HFT(Supervised):
    """A network a level, each fine-tuned from the one above."""

    name = "hft"
    Config = HFTConfig
    tokenise = staticmethod(kim_words)

    def rows(self, texts: Sequence[str]) -> Rows:
        """Documents as rows of word numbers, at least as long as the widest window."""
        found = super().rows(texts)
        words = F.pad(found.words, (0, max(0, SHORTEST - found.words.shape[1])))
        return FixedRows(words, found.lengths)

    def _learn(self, examples: Examples, held_out: Examples | None) -> None:
        self.models: list[Any] = []
        rows, gold = self.rows(examples.texts), self.tree.gold(examples.topics)
        if held_out is not None:
            other, other_gold = self.rows(held_out.texts), self.tree.gold(held_out.topics)
        for level in range(self.tree.height):
            own, target = self._targets(level, gold)
            width = len(self.tree.padded.at_level(level + 1))
            model = Convolutional(self.embedding(rows), self.config, width).to(self.place)
            if level and self.config.fine_tune:
                model.take_over(self.models[-1])
            self.models.append(model)
            validate = None
            if held_out is not None:
                validate = self._validation(level, model, other, other_gold)
            self.train(
                f"level{level + 1}",
                model,
                adam(model, self.config.rate),
                self._loss(model, rows, own, target),
                len(own),
                validate=validate,
            )
        if held_out is not None:
            self.diagnostics_["validation"] = self.judge(held_out.texts, held_out.topics)

    def judge(self, texts: Sequence[str], topics: Labels) -> dict[str, Any]:
        """Leaf accuracy by the product and by the last level alone; leaves above one half."""
        gold = Examples.of(texts, topics)
        logs = self.logs(gold.texts)
        leaf = self.tree.gold(gold.topics)[:, -1]
        alone = [*(np.zeros_like(matrix) for matrix in logs[:-1]), logs[-1]]
        by_product, by_last = product_argmax(self.tree, logs), product_argmax(self.tree, alone)
        columns = [self.tree.place[self.tree.paths[:, level]] for level in range(len(logs))]
        product = np.exp(sum(matrix[:, at] for matrix, at in zip(logs, columns)))
        return {
            "product_leaf": float((by_product == leaf).mean()),
            "last_level_alone_leaf": float((by_last == leaf).mean()),
            "changed_by_product": float((by_product != by_last).mean()),
            "above_half": float((product.max(axis=1) >= 0.5).mean()),
        }

    def _targets(self, level: int, gold: Ints) -> tuple[Any, Any]:
        """Documents with a label at this level or the one above, as 0/1 rows over the level."""
        own = np.flatnonzero(gold[:, max(level - 1, 0)] >= 0)
        target = np.zeros((len(own), len(self.tree.padded.at_level(level + 1))), dtype=np.float32)
        here = gold[own, level]
        target[here >= 0, self.tree.place[here[here >= 0]]] = 1.0
        return torch.as_tensor(own), torch.as_tensor(target).to(self.place)

    @staticmethod
    def _loss(model: Any, rows: Rows, own: Any, target: Any) -> Any:
        def loss(some: Any) -> Any:
            wanted = target[some.to(target.device)]
            return F.binary_cross_entropy_with_logits(model(rows[own[some]]), wanted)

        return loss

    def _validation(self, level: int, model: Any, rows: Rows, gold: Ints) -> Any:
        """Less loss is a better score."""
        own, target = self._targets(level, gold)
        if not len(own):
            return None
        loss = self._loss(model, rows, own, target)
        parts = torch.arange(len(own)).split(512)
        return lambda: -float(sum(loss(some) * len(some) for some in parts)) / len(own)

    def logs(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Log probability of every node, level by level."""
        rows = self.rows(texts)
        scores = [torch.as_tensor(collect(model, rows, len(texts))) for model in self.models]
        return [F.logsigmoid(score).numpy() for score in scores]

    def _predict(self, texts: list[str]) -> Ints:
        return self.tree.topics(product_argmax(self.tree, self.logs(texts)))
