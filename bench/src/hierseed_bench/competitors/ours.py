"""This package's own estimators behind the interface that all rows share."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hierseed.estimators.parameters import METHODS
from hierseed.estimators.topic_names import learn_names
from hierseed.taxonomy import Taxonomy
from hierseed_bench.competitors.task import Documents, Ints, Task


class Ours:
    """HierSeed, Unfit-HierSeed or Anchored HierSeed with the parameters given."""

    named = True

    def __init__(self, kind: str, names: bool = False, **parameters: Any) -> None:
        self.make = METHODS[kind].estimator
        self.names = names
        self.parameters = parameters

    def fit(self, task: Task) -> Self:
        """Fit on the fitting set, with separate seeds as in the paper."""
        self.model = self.make(task.taxonomy, **self.parameters)
        seeds, topics = task.seeds.vectors, [list(every) for every in task.seed_topics]
        if self.names:
            added, served = names_as_seeds(task)
            seeds, topics = np.vstack([seeds, added]), topics + [[topic] for topic in served]
        with warnings.catch_warnings():  # empty topics are counted in `notes` instead
            warnings.simplefilter("ignore", UserWarning)
            self.model.fit(
                task.fitting.vectors,
                X_seeds=seeds,
                y_seeds=topics,
            )
        return self

    def predict(self, documents: Documents) -> Ints:
        """Primary topic per level; ids past the taxonomy's end are Other topics."""
        topic = self.model.predict(documents.vectors)
        return self.model.taxonomy_.tree.ancestors[topic]

    def place(self, documents: Documents) -> tuple[Ints, Ints]:
        """Every placement: several a document with `several` or an `eccentricity`."""
        placed = self.model.assign(documents.vectors)
        return placed.row.astype(np.intp), placed.path.astype(np.intp)

    def scores(self, documents: Documents) -> tuple[Ints, NDArray[Any]]:
        """Return the primary topic and its score per level, to see whether scores are honest."""
        placed = self.model.assign(documents.vectors)
        return placed.levels.astype(np.intp), placed.score[placed.primary]

    @property
    def taxonomy_(self) -> Taxonomy:
        """The taxonomy with the Other topics that were added."""
        fitted: Taxonomy = self.model.taxonomy_
        return fitted

    @property
    def notes(self) -> dict[str, Any]:
        """Return statistics of the fit, for the record of a run."""
        return {
            "rounds": int(self.model.n_iter_),
            "objective": float(self.model.objective_),
            "fitting_coverage": float(self.model.coverage_),
            "empty_topics": len(getattr(self.model, "empty_", ())),
        }


def names_as_seeds(task: Task) -> tuple[NDArray[Any], list[int]]:
    """Vectors and topics of names, for topics with seeds and for leaves."""
    assert task.names is not None
    seeded = np.zeros(len(task.taxonomy), dtype=bool)
    seeded[task.seed_pairs()[1]] = True
    topics = np.flatnonzero(seeded | task.taxonomy.tree.is_leaf).tolist()
    found = learn_names(task.names[topics], topics, task.seeds.vectors, task.seed_topics)
    return found.seeds(topics, seeded)
