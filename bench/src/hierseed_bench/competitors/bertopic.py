"""BERTopic, semi-supervised (Grootendorst 2022): UMAP bent by the seeds' labels, then HDBSCAN.

Its topics are not ours: each is sent to the leaf with the nearest mean of seeds. Documents
that it calls outliers go to the nearest of its topics first.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hierseed_bench.competitors.nearest import nearest, unit
from hierseed_bench.competitors.task import Documents, Ints, Task, means
from hierseed_bench.errors import MissingExtra


class SemiSupervised:
    """BERTopic with the seeds' leaves as partial labels."""

    named = True

    def __init__(self, min_cluster_size: int = 15, n_neighbors: int = 15) -> None:
        self.min_cluster_size, self.n_neighbors = min_cluster_size, n_neighbors

    def fit(self, task: Task) -> Self:
        """Cluster seeds and fitting set, then name the clusters by the seeds."""
        tree = self.tree = task.taxonomy.tree
        rows, topics = task.seed_pairs()
        of_leaf = tree.is_leaf[topics]
        leaves, centres = means(task.seeds.vectors, rows[of_leaf], topics[of_leaf])
        y = np.full(len(task.seeds) + len(task.fitting), -1)
        y[rows[of_leaf]] = topics[of_leaf]
        X = np.asarray(task.with_seeds(), dtype=np.float32)
        texts = [*task.seeds.texts, *task.fitting.texts]
        self.model = self._make(task.random_state)
        found, _ = self.model.fit_transform(texts, embeddings=X, y=y)
        cluster = np.asarray(found)
        kept = np.flatnonzero(cluster >= 0)
        self.clusters, self.centres = means(X, kept, cluster[kept])
        self.topics = leaves[nearest(self.centres, unit(centres))]
        return self

    def predict(self, documents: Documents) -> Ints:
        """BERTopic's own inference; an outlier goes to the nearest cluster's mean."""
        vectors: NDArray[Any] = np.asarray(documents.vectors, dtype=np.float32)
        found, _ = self.model.transform(list(documents.texts), embeddings=vectors)
        position = np.searchsorted(self.clusters, np.asarray(found))
        position = np.where(np.asarray(found) < 0, nearest(vectors, self.centres), position)
        return self.tree.ancestors[self.topics[position]]

    def _make(self, random_state: int) -> Any:
        try:
            from bertopic import BERTopic
            from hdbscan import HDBSCAN
            from umap import UMAP
        except ImportError as fault:
            raise MissingExtra("bertopic", "bertopic", "the method bertopic") from fault
        return BERTopic(
            umap_model=UMAP(
                n_neighbors=self.n_neighbors,
                n_components=5,
                min_dist=0.0,
                metric="cosine",
                random_state=random_state,
            ),
            hdbscan_model=HDBSCAN(min_cluster_size=self.min_cluster_size, prediction_data=True),
        )
