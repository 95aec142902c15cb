"""SetFit (Tunstall et al. 2022): a sentence encoder tuned on pairs of seeds, then a classifier.

The encoder is the MiniLM that the other rows have their vectors from, or a sentence-transformers
folder of the user's. No hub is asked.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from hierseed.embed.mean_pooling import without_bars
from hierseed_bench.competitors.encoder import local_minilm
from hierseed_bench.competitors.task import Documents, Ints, Task
from hierseed_bench.errors import MissingExtra


class FewShot:
    """SetFit with its own defaults: one epoch over all pairs, 16 a step, then its head.

    Parameters
    ----------
    model : a sentence-transformers folder; none for MiniLM
    max_steps : -1 for no limit. All pairs are 380 steps with 20 topics
        of 4 seeds, hours without a GPU, and grow with the square of the topics
    max_tokens : texts are cut here, in training and in use
    """

    named = True

    def __init__(self, model: str = "", max_steps: int = -1, max_tokens: int = 128) -> None:
        self.name, self.max_steps, self.max_tokens = model, max_steps, max_tokens

    def fit(self, task: Task) -> Self:
        """Tune the encoder on pairs of seeds, then fit its head, a logistic regression."""
        try:
            from datasets import Dataset
            from setfit import SetFitModel, Trainer, TrainingArguments
        except ImportError as fault:
            raise MissingExtra("setfit", "setfit", "the method setfit") from fault
        self.tree = task.taxonomy.tree
        rows, topics = task.seed_pairs()
        with warnings.catch_warnings(), _quiet(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")  # what its libraries are about to change
            self.model = SetFitModel.from_pretrained(self.name or str(local_minilm()))
            self.model.model_body.max_seq_length = self.max_tokens
            arguments = TrainingArguments(
                output_dir=folder,
                max_steps=self.max_steps,
                seed=task.random_state,
                show_progress_bar=False,
                report_to="none",
                logging_strategy="no",
                save_strategy="no",
            )
            examples = {"text": [task.seeds.texts[row] for row in rows], "label": topics.tolist()}
            trainer = Trainer(
                model=self.model, args=arguments, train_dataset=Dataset.from_dict(examples)
            )
            trainer.train()
        self.steps = int(trainer.st_trainer.state.global_step)
        self.batch = int(arguments.embedding_batch_size)
        return self

    def predict(self, documents: Documents) -> Ints:
        """Predict the deepest topic; those above it follow from the tree."""
        found = self.model.predict(list(documents.texts), show_progress_bar=False)
        return self.tree.ancestors[np.asarray(found).astype(np.intp)]

    @property
    def notes(self) -> dict[str, Any]:
        """Facts of the training, for the record of a run."""
        from hierseed_bench.competitors.systems.backend import on_device

        seen = {"steps": self.steps, "pairs_a_step": self.batch, "max_tokens": self.max_tokens}
        return seen | on_device(self.model.model_body.device)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the bars and log lines of four libraries."""
    import datasets

    loggers = [logging.getLogger(name) for name in ("setfit", "transformers", "datasets")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    datasets.disable_progress_bars()
    try:
        with without_bars():
            yield
    finally:
        datasets.enable_progress_bars()
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)
