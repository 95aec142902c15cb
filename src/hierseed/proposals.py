"""Topics that the taxonomy may lack: groups among documents that belong to no listed topic.

Foreign documents are cut into more clusters than proposals are wanted (k-means on unit vectors).
Clusters that are large and coherent are proposed, each unlike those before it, so that a broad
subject does not take all places. Nothing is known of them but their documents, so a proposal says
how many of these are nearer to its own centre than to any listed topic.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import Assignments
from hierseed.core.tree import Tree
from hierseed.report.words import distinctive_words

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

POOL = 4_000  # foreign documents that are clustered
LEAST = 5  # documents in a proposal
SPARE = 4  # clusters for each proposal: most of them mix several subjects
UNLIKE = 2.0  # power of a cluster's distance from earlier proposals, relative to how clear it is
CENTRAL = 5  # documents that are shown, and that become seeds
SAME = 0.5  # share of documents in common that makes an earlier proposal the same


@dataclass(frozen=True)
class Proposal:
    """A topic that may be missing.

    Attributes
    ----------
    id : stays the same after another fit while most of the documents do
    rows : its documents, the most central first
    documents : ids of these
    parent : path of the topic it would hang below; empty for level 1
    sure : share of its documents that are nearer to its centre than to any listed topic
    words : that set it apart from the rest of the corpus
    """

    id: str
    rows: Ints
    documents: tuple[str, ...]
    parent: str
    sure: float
    words: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of documents."""
        return len(self.rows)

    @property
    def central(self) -> tuple[str, ...]:
        """Ids of its most central documents: they can serve as seeds."""
        return self.documents[:CENTRAL]


class Proposals(tuple[Proposal, ...]):
    """Proposed topics, coherent and unlike each other, the best first."""

    def to_frame(self) -> pd.DataFrame:
        """Return the table: id, documents, sure, parent, words, central."""
        import pandas as pd  # slow to import, and not needed by a fit

        return pd.DataFrame(
            {
                "id": [one.id for one in self],
                "documents": [one.size for one in self],
                "sure": [round(one.sure, 3) for one in self],
                "parent": [one.parent for one in self],
                "words": [", ".join(one.words) for one in self],
                "central": [", ".join(one.central) for one in self],
            }
        )

    def with_words(self, texts: Iterable[str], n: int) -> Proposals:
        """Add the words that set each proposal apart from the other documents."""
        topic = np.full(n, -1, dtype=np.intp)
        for number, one in enumerate(self):
            topic[one.rows] = number
        found = distinctive_words(Tree([-1] * len(self)), topic, texts)
        return Proposals(replace(one, words=tuple(words)) for one, words in zip(self, found))


def propose_topics(
    assignments: Assignments,
    X: Any,
    topics: Floats,
    n: int = 10,
    *,
    share: float = 0.0,
    earlier: Sequence[Proposal] = (),
) -> Proposals:
    """Group the documents that belong to no listed topic.

    Parameters
    ----------
    assignments : of the corpus
    X : its vectors, as the estimator takes them
    topics : vectors of the topics, `vectors_` of the estimator
    n : proposals at most
    share : of the corpus that is foreign, `foreign_share_` of the estimator
    earlier : proposals of an earlier fit; the same group of documents keeps its id
    """
    from sklearn.cluster import KMeans  # imported late: a fit does without
    from sklearn.exceptions import ConvergenceWarning

    first = assignments.primary
    ids = [str(id) for id in assignments.ids or range(assignments.n_documents)]
    belongs = np.where(assignments.is_seed, np.inf, assignments.belongs[first, 0])
    least = np.quantile(belongs, share, method="lower")  # as many as the fit says are foreign
    rows = np.flatnonzero((belongs < max(least, 0.5)) | assignments.is_other[first])
    rows = np.array(sorted(rows.tolist(), key=lambda row: _key(ids[row]))[:POOL], dtype=np.intp)
    wanted = min(SPARE * n, len(rows) // LEAST)
    if wanted < 1:
        return Proposals()
    U = _unit(np.asarray(X[np.sort(rows)], dtype=np.float64)[np.argsort(np.argsort(rows))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal documents
        cluster = KMeans(wanted, n_init=4, random_state=0).fit_predict(U)
    sums = np.stack([U[cluster == number].sum(axis=0) for number in range(wanted)])
    size = np.bincount(cluster, minlength=wanted)
    coherence = np.linalg.norm(sums, axis=1) / np.maximum(size, 1)
    centres, listed = _unit(sums), _unit(topics)
    clear = coherence * np.sqrt(size)  # as in Rayleigh's test that directions are not random
    chosen = _unlike(centres, np.where(size < LEAST, 0.0, clear), n)
    part_of = _join(centres, coherence, chosen)[cluster]
    found: list[Proposal] = []
    for number in chosen:
        mine = np.flatnonzero(part_of == number)
        near = U[mine] @ centres[number]
        sure = float((near > (U[mine] @ listed.T).max(axis=1, initial=-1.0)).mean())
        order = rows[mine[np.argsort(-near, kind="stable")]]
        documents = tuple(ids[row] for row in order)
        found.append(
            Proposal(_name(documents, earlier), order, documents, _parent(assignments, order), sure)
        )
    return Proposals(found)


def _unlike(centres: Floats, clear: Floats, n: int) -> list[int]:
    """Choose the clearest clusters one after the other, each unlike those chosen before."""
    chosen: list[int] = []
    unlike = np.ones(len(centres))
    for _ in range(min(n, int((clear > 0).sum()))):
        value = np.where(clear > 0, clear * unlike**UNLIKE, -1.0)
        value[chosen] = -1.0
        chosen.append(int(value.argmax()))
        unlike = np.minimum(unlike, np.maximum(1.0 - centres @ centres[chosen[-1]], 0.0))
    return chosen


def _join(centres: Floats, coherence: Floats, chosen: list[int]) -> Ints:
    """Proposal that each cluster is part of: one that is as near to it as its own documents are.

    k-means cuts a large group into parts; they are found again so. -1: of none.
    """
    near = centres @ centres[chosen].T
    found = np.where(near.max(axis=1) > coherence, np.array(chosen)[near.argmax(axis=1)], -1)
    found[chosen] = chosen
    return found


def _parent(assignments: Assignments, rows: Ints) -> str:
    """The inner topic below which most of the documents are Other; empty for level 1."""
    topic = assignments.labels[rows]
    taxonomy = assignments.taxonomy
    above = np.where(topic >= 0, taxonomy.tree.parent[topic], -1)
    above = np.where((topic >= 0) & taxonomy.is_other[topic], above, -1)
    best = np.bincount(above + 1).argmax() - 1
    return taxonomy.paths[best] if best >= 0 else ""


def _name(documents: tuple[str, ...], earlier: Sequence[Proposal]) -> str:
    """The id of an earlier proposal with mostly the same documents, or one made of the central."""
    mine = set(documents)
    for one in earlier:
        both = len(mine & set(one.documents))
        if both > SAME * min(len(mine), len(one.documents)):
            return one.id
    return hashlib.sha256("\0".join(documents[:CENTRAL]).encode()).hexdigest()[:8]


def _key(id: str) -> bytes:
    return hashlib.sha256(id.encode()).digest()


def _unit(X: Floats) -> Floats:
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.asarray(X / np.where(length > 0, length, 1.0))
