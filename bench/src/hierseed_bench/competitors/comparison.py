"""The eight systems of the paper's comparison behind the interface that all rows share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from hierseed.errors import SeedError
from hierseed_bench.competitors.systems import make_system
from hierseed_bench.competitors.systems.system import Progress
from hierseed_bench.competitors.task import Documents, Ints, Task

UNNAMED = ("hlda", "tsntm")  # they find clusters without names


class Comparison:
    """A system that reads texts.

    Parameters
    ----------
    system : its name in `hierseed_bench.competitors.systems`
    full : give it the whole training part with its labels (the paper's Table 3)
    options : settings of the system

    Attributes
    ----------
    checkpoint, progress : the system's own; set before `fit`, and no part of what is run
    """

    def __init__(self, system: str, full: bool = False, **options: Any) -> None:
        self.name, self.full, self.options = system, full, options
        self.named = system not in UNNAMED
        self.checkpoint: Path | None = None
        self.progress: Progress | None = None

    def fit(self, task: Task) -> Self:
        """Hand over the texts of the task."""
        labelled = None
        if self.full:
            if task.labelled is None:
                raise SeedError(f"{self.name} with full labels needs them; the task has none")
            labelled = (task.labelled.texts, task.labelled_topics)
        how = {"seed": task.random_state, "checkpoint": self.checkpoint, "progress": self.progress}
        self.system = make_system(self.name, **how | self.options)
        self.system.fit(
            task.taxonomy, (task.seeds.texts, task.seed_topics), task.fitting.texts, labelled
        )
        return self

    def predict(self, documents: Documents) -> Ints:
        """Predict one topic or cluster per level."""
        return self.system.predict(documents.texts)

    def judge(self, documents: Documents, topics: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Further measures of the system, against true topics."""
        return self.system.judge(documents.texts, topics)

    @property
    def notes(self) -> dict[str, Any]:
        """Settings of the system, for the record of a run."""
        return self.system.describe()
