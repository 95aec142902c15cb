"""Dense groups among many documents: candidates for topics of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from hierseed.app.project import Project
from hierseed.app.store import documents
from hierseed.app.vectors import Space
from hierseed.core.tree import Tree
from hierseed.report.words import distinctive_words

SAMPLE = 4_000  # documents looked at; more would not change what is dense
LEAST = 8  # documents that make a part worth a name
READ = 1_500  # documents whose words are counted


def dense_groups(
    project: Project, space: Space, rows: NDArray[np.integer], most: int = 6
) -> list[dict[str, Any]]:
    """Group documents, drop loose groups, and name each by the words that set it apart."""
    if len(rows) < 2 * LEAST:
        return []
    step = max(1, len(rows) // SAMPLE)
    rows = np.asarray(rows[::step][:SAMPLE])
    X = space.X[rows]
    k = int(np.clip(len(rows) // (2 * LEAST), 2, 2 * most))
    groups = KMeans(k, n_init=2, random_state=0).fit(X)
    centres = groups.cluster_centers_
    lengths = np.linalg.norm(centres, axis=1)  # of unit vectors: 1 when all point the same way
    sizes = np.bincount(groups.labels_, minlength=k)
    worth = np.where(sizes >= LEAST, lengths * np.sqrt(sizes), 0.0)
    chosen = [int(g) for g in np.argsort(-worth, kind="stable") if worth[g] > 0][:most]
    some = np.arange(0, len(rows), max(1, len(rows) // READ))
    texts = (d.text for d in documents.get(project, rows[some].tolist()))
    words = distinctive_words(Tree([-1] * k), groups.labels_[some], texts, 6)
    parts = []
    for group in chosen:
        members = np.flatnonzero(groups.labels_ == group)
        near = X[members] @ (centres[group] / max(lengths[group], 1e-12))
        central = members[np.argsort(-near, kind="stable")[:5]]
        parts.append(
            {
                "words": words[group],
                "name": _name(words[group]),
                "size": int(sizes[group]) * step,
                "tight": float(lengths[group]),
                "documents": [
                    {"row": d.row, "id": d.id, "text": d.text[:280]}
                    for d in documents.get(project, rows[central].tolist())
                ],
            }
        )
    return parts


def _name(words: list[str]) -> str:
    """A first name for a part, to be overwritten: its longer words say more than `up` or `two`."""
    long = [word for word in words if len(word) > 3] or words
    return ", ".join(long[:3]).capitalize() or "A new topic"
