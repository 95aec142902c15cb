"""hiclass: one local classifier per parent topic, top down."""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np

from hierseed_bench.competitors.linear import logistic
from hierseed_bench.competitors.task import Documents, Ints, Task
from hierseed_bench.errors import MissingExtra


class PerParent:
    """hiclass `LocalClassifierPerParentNode` with logistic regression, on the seeds."""

    named = True

    def __init__(self, C: float = 10.0) -> None:
        try:
            from hiclass import LocalClassifierPerParentNode
        except ImportError as fault:
            raise MissingExtra("hiclass", "hiclass", "the method hiclass") from fault
        self.model = LocalClassifierPerParentNode(local_classifier=logistic(C))

    def fit(self, task: Task) -> Self:
        """Learn from the seeds. Topics go by their ids: hiclass compares bare names."""
        tree = self.tree = task.taxonomy.tree
        rows, topics = task.seed_pairs()
        paths = tree.ancestors[topics]
        names = np.where(paths < 0, "", paths.astype(str)).astype(object)
        with warnings.catch_warnings():  # sparse_output and the like, from inside hiclass
            warnings.simplefilter("ignore")
            self.model.fit(np.asarray(task.seeds.vectors[rows], dtype=np.float64), names)
        return self

    def predict(self, documents: Documents) -> Ints:
        """Predict one topic per level; the path may stop at an inner topic."""
        names = self.model.predict(np.asarray(documents.vectors, dtype=np.float64))
        levels = np.array([[int(name) if name else -1 for name in row] for row in names])
        missing = self.tree.height - levels.shape[1]  # hiclass has no column no seed reaches
        return np.pad(levels, ((0, 0), (0, missing)), constant_values=-1)
