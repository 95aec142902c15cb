"""SetFit (Tunstall et al. 2022): a sentence encoder tuned on pairs of seeds, leaves as classes.

The encoder is not bundled: name a local folder or a hub name in `model`, or in the
environment variable HIERSEED_SETFIT_MODEL.
"""

from __future__ import annotations

import os
from typing import Self

import numpy as np

from hierseed.baselines.task import Documents, Ints, Task
from hierseed.errors import EmbeddingError, MissingDependency

VARIABLE = "HIERSEED_SETFIT_MODEL"


class FewShot:
    """SetFit's defaults, with a cap on the steps.

    Parameters
    ----------
    max_steps : pairs grow with the square of the classes (134 x 4 seeds make 140,000), so
        training stops here
    """

    named = True

    def __init__(self, model: str = "", max_steps: int = 500) -> None:
        self.name = model or os.environ.get(VARIABLE, "")
        self.max_steps = max_steps
        if not self.name:
            raise EmbeddingError(
                "the method setfit needs a sentence encoder: give `model` or set "
                f"{VARIABLE} to a local folder or a hub name"
            )

    def fit(self, task: Task) -> Self:
        """Tune the encoder and its head on the seeds' texts."""
        try:
            from datasets import Dataset
            from setfit import SetFitModel, Trainer, TrainingArguments
        except ImportError as fault:
            raise MissingDependency("setfit", "setfit", "the method setfit") from fault
        self.tree = task.taxonomy.tree
        rows, topics = task.seed_pairs()
        self.model = SetFitModel.from_pretrained(self.name)
        arguments = TrainingArguments(
            batch_size=(16, 2),
            num_epochs=(1, 16),
            max_steps=self.max_steps,
            seed=task.random_state,
            report_to="none",
        )
        examples = {"text": [task.seeds.texts[row] for row in rows], "label": topics.tolist()}
        Trainer(model=self.model, args=arguments, train_dataset=Dataset.from_dict(examples)).train()
        return self

    def predict(self, documents: Documents) -> Ints:
        """Predict the deepest topic; those above it follow from the tree."""
        topic = np.asarray(self.model.predict(list(documents.texts))).astype(np.intp)
        return self.tree.ancestors[topic]
