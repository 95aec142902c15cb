"""The base class of four classifiers: words to rows on a device, schedules, word vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed_bench.competitors.systems.backend import choose_device, on_device, seeded, torch
from hierseed_bench.competitors.systems.checkpoint import Checkpoint
from hierseed_bench.competitors.systems.checkpoint_key import fingerprint
from hierseed_bench.competitors.systems.embedding import Words
from hierseed_bench.competitors.systems.paths import PaddedTree
from hierseed_bench.competitors.systems.system import Config, Examples, System, Task
from hierseed_bench.competitors.systems.text import Tokeniser, Vocabulary
from hierseed_bench.competitors.systems.training import Schedule, train
from hierseed_bench.competitors.systems.wordvectors import initial_vectors, vector_source

PREDICTED = 512  # documents per batch of a prediction


@dataclass(frozen=True)
class SupervisedConfig(Config):
    """Settings that all four have.

    Parameters
    ----------
    epochs, batch, patience : with all labels; stops after `patience` epochs without a gain
    seed_epochs, seed_batch : with seeds alone, which leave nothing to validate on
    rate : of the optimiser
    length : words of a document that are read
    words : size of the vocabulary
    save_every : seconds between checkpoints
    """

    epochs: int = 20
    batch: int = 64
    patience: int | None = 3
    seed_epochs: int = 60
    seed_batch: int = 16
    rate: float = 1e-3
    length: int = 256
    words: int = 50_000
    min_count: int = 1
    save_every: float = 30.0

    def schedule(self, full: bool, epochs: int | None = None) -> Schedule:
        """How long to train in either setting."""
        if full:
            return Schedule(epochs or self.epochs, self.batch, self.patience, None, self.save_every)
        wanted = epochs or self.seed_epochs
        return Schedule(wanted, self.seed_batch, save_every=self.save_every)


@dataclass(frozen=True)
class Rows:
    """Documents as numbers on the device; lengths stay on the CPU, where packing wants them."""

    words: Any
    lengths: Any

    def __getitem__(self, rows: Any) -> Rows:
        lengths = self.lengths[rows]
        longest = int(lengths.max())
        place = self.words.device
        return Rows(self.words[rows.to(place, non_blocking=True), :longest], lengths)

    def take(self, rows: NDArray[Any]) -> Rows:
        """Some of the documents, padded as far as all of them."""
        numbers = torch.as_tensor(rows)
        return type(self)(self.words[numbers.to(self.words.device)], self.lengths[numbers])


class Supervised(System):
    """A classifier trained on labelled texts."""

    config: Any
    tokenise: Tokeniser
    keep_last = False

    def _fit(self, task: Task) -> None:
        self.place = choose_device(self.device)
        on_device(self.place, reset=True)
        self.tree: PaddedTree = task.tree
        examples, held_out = task.supervision(self.seed)
        self.full = held_out is not None
        self._read_words(task)
        self._kept = Checkpoint.of(self, task)
        with seeded(self.seed, 0):
            self._learn(examples, held_out)
        self.diagnostics_ |= on_device(self.place)

    def _read_words(self, task: Task) -> None:
        """Build the vocabulary from the training texts, and find vectors for it."""
        self.vectors = vector_source(self.vectors)
        cut = type(self).tokenise
        self.vocabulary = Vocabulary.build(
            map(cut, task.corpus), size=self.config.words, min_count=self.config.min_count
        )
        self.initial, known = initial_vectors(
            self.vocabulary, self.vectors, task.corpus, self.seed, self.device
        )
        self.diagnostics_ |= {"vocabulary": len(self.vocabulary), "known_words": round(known, 4)}

    def rows(self, texts: Sequence[str]) -> Rows:
        """Documents as rows of word numbers."""
        cut = type(self).tokenise
        words, lengths = self.vocabulary.matrix(
            [cut(text) for text in texts], self.config.length, keep_last=self.keep_last
        )
        return Rows(torch.as_tensor(words).to(self.place), torch.as_tensor(lengths))

    def embedding(self, rows: Rows) -> Words:
        """Return a table that starts from the word vectors and is trained on these documents."""
        return Words(self.initial, rows.words.unique().cpu().numpy())

    def train(
        self, stage: str, model: Any, optimiser: Any, loss: Any, n: int, **options: Any
    ) -> None:
        """Run the common loop with this system's seed, checkpoint and reports."""
        schedule = options.pop("schedule", None) or self.config.schedule(self.full)
        number = int(fingerprint({"stage": stage})[:6], 16)
        train(
            stage,
            model,
            optimiser,
            loss,
            n,
            schedule,
            seed=self.seed * 1_000_003 + number,
            checkpoint=self._kept,
            report=self.report,
            **options,
        )

    @abstractmethod
    def _learn(self, examples: Examples, held_out: Examples | None) -> None: ...


def in_batches(n: int, size: int = PREDICTED) -> Iterator[Any]:
    """Row numbers, some at a time."""
    for start in range(0, n, size):
        yield torch.arange(start, min(start + size, n))


def collect(model: Any, rows: Any, n: int, size: int = PREDICTED) -> NDArray[np.float32]:
    """Answers of a model for many documents, in evaluation mode and without gradients.

    The short ones first: a batch takes as many steps as its longest document has words.
    """
    model.eval()
    order = rows.lengths[:n].argsort(stable=True)
    with torch.no_grad():
        parts = [model(rows[order[some]]).float().cpu() for some in in_batches(n, size)]
    answer: NDArray[np.float32] = torch.cat(parts)[order.argsort()].numpy()
    return answer


def adam(model: Any, rate: float, **options: Any) -> Any:
    """Adam in one pass over the parameters a step."""
    return torch.optim.Adam(model.parameters(), rate, fused=True, **options)


def micro_macro_f1(gold: NDArray[Any], logits: NDArray[Any]) -> tuple[float, float]:
    """F1 of the labels whose probability is above one half: over all, and the mean of labels'."""
    found = logits > 0
    hits = (found & (gold > 0)).sum(axis=0).astype(float)
    sizes = found.sum(axis=0) + (gold > 0).sum(axis=0)
    each = np.divide(2 * hits, sizes, out=np.zeros_like(hits), where=sizes > 0)
    return float(2 * hits.sum() / max(sizes.sum(), 1)), float(each[sizes > 0].mean())
