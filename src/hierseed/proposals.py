"""Topics that the taxonomy may lack: groups among documents that belong to no listed topic.

1. Documents that probably belong nowhere are cut into more clusters than proposals are wanted, by
   k-means; also the 5% that fit the listed topics least, if fewer are foreign.
2. Directions in which documents of one cluster differ say little about what sets subjects apart.
   Vectors are whitened by the covariance within clusters, and clustered again.
3. Clusters that are large, coherent and unlike listed topics are proposed one after the other, each
   unlike those before it, so that a broad subject does not take all places.
4. Only the more central half of a cluster is shown: at its border subjects mix.

A proposal also says how many of its documents are nearer to its own centre than to any listed
topic.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hierseed.assignments import Assignments
from hierseed.core.arrays import Floats, Ints
from hierseed.core.tree import Tree
from hierseed.embed.embedder import unit_length
from hierseed.report.words import distinctive_words
from hierseed.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

_unit = partial(unit_length, dtype=np.float64)

POOL = 20_000  # foreign documents that are looked at
CLUSTERED = 4_000  # of these, that clusters are learned from
LEAST = 5  # documents in a proposal
SPARE = 4  # clusters for each proposal: most topics fall into several, some mix several
FEWEST = 12  # clusters, however few proposals are wanted
AT_LEAST = 0.05  # share of the corpus that is looked at, even if less is foreign
ROUNDS = 30  # of k-means
RIDGE = 1.0  # mean variances added to the covariance within clusters
UNLIKE = 4.0  # power of a cluster's distance from earlier proposals, relative to its value
CORE = 0.5  # share of a cluster's documents that is shown: the most central
CENTRAL = 5  # documents that become seeds
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
    at_least: float = AT_LEAST,
    earlier: Sequence[Proposal] = (),
) -> Proposals:
    """Group the documents that probably belong to no listed topic.

    Parameters
    ----------
    assignments : of the corpus
    X : its vectors, as the estimator takes them
    topics : vectors of the topics, `vectors_` of the estimator
    n : proposals at most
    share : of the corpus that is foreign, `foreign_share_` of the estimator
    at_least : share of the corpus that is looked at, even if less is foreign
    earlier : proposals of an earlier fit; the same group of documents keeps its id
    """
    first = assignments.primary
    ids = [str(id) for id in assignments.ids or range(assignments.n_documents)]
    belongs = np.where(assignments.is_seed, np.inf, assignments.belongs[first, 0])
    least = np.quantile(belongs, max(share, at_least), method="lower")
    is_other = assignments.is_other[first]
    rows = np.flatnonzero((belongs < max(least, 0.5)) | is_other)
    rows = np.array(sorted(rows.tolist(), key=lambda row: _key(ids[row]))[:POOL], dtype=np.intp)
    wanted = min(max(SPARE * n, FEWEST), min(len(rows), CLUSTERED) // LEAST)
    if wanted < 1:
        return Proposals()
    with one_thread():  # the bits of products depend on the number of threads
        U = _unit(np.asarray(X[np.sort(rows)], dtype=np.float64)[np.argsort(np.argsort(rows))])
        U, listed = _whiten(U, _unit(topics), wanted)
        centres = _unit(_means(U[:CLUSTERED], _cluster(U[:CLUSTERED], wanted), wanted))
        cluster = (U @ centres.T).argmax(axis=1)
        size = np.bincount(cluster, minlength=wanted)
        doubt = 1.0 - np.where(is_other, np.minimum(belongs, 0.5), belongs)[rows]
        foreign = np.bincount(cluster, doubt, wanted)  # expected number
        to_listed = (U @ listed.T).max(axis=1, initial=-1.0)
        unlike = 1.0 - np.bincount(cluster, to_listed, wanted) / np.maximum(size, 1)
        coherence = np.linalg.norm(_means(U, cluster, wanted), axis=1)
        value = np.where(size < LEAST, 0.0, coherence * np.sqrt(foreign) * unlike)
        found: list[Proposal] = []
        for number in _choose(centres, value, n):
            mine = np.flatnonzero(cluster == number)
            near = U[mine] @ centres[number]
            core = np.argsort(-near, kind="stable")[: max(round(CORE * len(mine)), LEAST)]
            order = rows[mine[core]]
            documents = tuple(ids[row] for row in order)
            sure = float((near[core] > to_listed[mine[core]]).mean())
            parent = _parent(assignments, order)
            found.append(Proposal(_name(documents, earlier), order, documents, parent, sure))
        return Proposals(found)


def _cluster(U: Floats, n: int) -> Ints:
    from sklearn.cluster import KMeans  # imported late: a fit does without
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(), one_thread():  # now of scikit-learn's library too
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal documents
        model = KMeans(n, n_init=1, max_iter=ROUNDS, random_state=0)
        return np.asarray(model.fit_predict(U.astype(np.float32)), dtype=np.intp)


def _means(U: Floats, cluster: Ints, n: int) -> Floats:
    size = np.bincount(cluster, minlength=n)
    sums = np.stack([U[cluster == number].sum(axis=0) for number in range(n)])
    return np.asarray(sums / np.maximum(size, 1)[:, None])


def _whiten(U: Floats, topics: Floats, n: int) -> tuple[Floats, Floats]:
    """Documents and topics in directions in which documents of one cluster differ alike."""
    sample = U[:CLUSTERED]
    cluster = _cluster(sample, n)
    within = sample - _means(sample, cluster, n)[cluster]
    value, vector = np.linalg.eigh(within.T @ within)
    usual = max(float(value.mean()), 1e-300)
    scaled = vector / np.sqrt(value.clip(min=0.0) / usual + RIDGE)
    centre = (sample @ scaled).mean(axis=0)
    return _unit(U @ scaled - centre), _unit(topics @ scaled - centre)


def _choose(centres: Floats, value: Floats, n: int) -> list[int]:
    """Choose the best clusters one after the other, each unlike those chosen before."""
    chosen: list[int] = []
    unlike = np.ones(len(centres))
    for _ in range(min(n, int((value > 0).sum()))):
        now = np.where(value > 0, value * unlike**UNLIKE, -1.0)
        now[chosen] = -1.0
        chosen.append(int(now.argmax()))
        unlike = np.minimum(unlike, np.maximum(1.0 - centres @ centres[chosen[-1]], 0.0))
    return chosen


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
