"""Checks of an estimator's inputs, and reading of labels; each error counts all offenders.

A document that was rejected for a topic is placed neither there nor below it. One that was
rejected for every topic of level 1 is placed nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import RECORD, Assignments
from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.arrays import Bools, Floats, Ints
from hierseed.core.blocks import Blocks, check_finite, check_vectors
from hierseed.core.exact import Grid, sum_by_group
from hierseed.errors import CorpusError, SeedError, TaxonomyError, name_some
from hierseed.taxonomy import Taxonomy

SAMPLED = 1024  # rows: enough to find a common offset
FARTHEST = 150  # offset / spread; the rounding error of a square is 2**-24 of it

Groups = dict[tuple[int, ...], Ints]


@dataclass(frozen=True)
class SeedPairs:
    """One entry for each seed and topic it serves; those in the corpus come first.

    Attributes
    ----------
    vectors, topics : of the seed
    seed : its number, the same in all its entries
    rows : of the corpus, of those that lie in it
    longest : length of the longest vector that is not in the corpus
    rejected : rows of documents that were rejected for a topic
    """

    vectors: Floats
    seed: Ints
    topics: Ints
    rows: Ints
    longest: float
    rejected: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    @property
    def decided(self) -> Ints:
        """Rows that people decided about; they do not count as unlabelled documents."""
        return np.union1d(self.rows, self.rejected)

    @property
    def topics_each(self) -> float:
        """Topics that a seed serves, on average; stand-ins do not count."""
        seeds = self.seed[self.seed >= 0]
        return len(seeds) / max(len(np.unique(seeds)), 1)

    def without(self, rejected: Groups) -> SeedPairs:
        """The same, with documents that were rejected for topics."""
        rows = np.concatenate([np.zeros(0, dtype=np.intp), *rejected.values()])
        return replace(self, rejected=rows)


def read_seeds(blocks: Blocks, taxonomy: Taxonomy, y: Any, X_seeds: Any, y_seeds: Any) -> SeedPairs:
    """Read and number the seeds of a fit."""
    rows, topics = seed_pairs(y, blocks.n, taxonomy)
    vectors, seed, longest = blocks.take(rows), rows, 0.0
    if X_seeds is not None:
        more = ArrayBlocks(check_vectors(X_seeds, "X_seeds", blocks.width))
        longest = check_finite(more, "X_seeds")
        outside, own = seed_pairs(y_seeds, more.n, taxonomy, "y_seeds")
        vectors = np.concatenate([vectors, more.take(outside)])
        topics, seed = np.concatenate([topics, own]), np.concatenate([rows, blocks.n + outside])
    return SeedPairs(vectors, seed, topics, rows, longest)


def read_labels(y: Any, n: int, taxonomy: Taxonomy) -> tuple[Ints, list[list[int]]]:
    """Return the rows that have labels, and the topics of each."""
    rows, topics = seed_pairs(y, n, taxonomy)
    labelled, starts = np.unique(rows, return_index=True)
    if not len(labelled):
        raise SeedError("no row of y has a label, so there is nothing to compare with")
    return labelled, [some.tolist() for some in np.split(topics, starts[1:])]


def refuse_common_offset(blocks: Blocks) -> None:
    """Refuse vectors that lie so far from the origin that float32 can't distinguish them.

    Squared lengths are computed in float32. If the common offset is FARTHEST times the spread,
    their rounding error is a thousandth of a squared distance, and labels begin to change.
    """
    rows = blocks.take(np.unique(np.linspace(0, blocks.n - 1, SAMPLED).astype(np.intp)))
    mean = rows.mean(axis=0)
    offset, spread = float(np.linalg.norm(mean)), float(np.sqrt(((rows - mean) ** 2).sum(1).mean()))
    differ = spread > 1e-10 * offset  # equal rows differ from their mean by rounding
    if differ and offset > FARTHEST * spread:
        raise CorpusError(
            f"the vectors lie {offset / spread:,.0f} times as far from the origin as from each "
            f"other (at most {FARTHEST}): rounding would change the result. Subtract their mean in "
            "float64 first: X = X.astype('float64') - X.mean(axis=0, dtype='float64')"
        )


def seed_pairs(y: Any, n: int, taxonomy: Taxonomy, name: str = "y") -> tuple[Ints, Ints]:
    """Turn labels into pairs of row and topic; -1, "" or an empty list means no seed.

    A label is a topic id or a path, or a list of them.
    """
    if y is None:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    if len(y) != n:
        raise SeedError(
            f"{name} has {len(y):,} entries for {n:,} documents. Found input variables with "
            f"inconsistent numbers of samples: [{n}, {len(y)}]. Give one entry per row, -1 for "
            "no seed."
        )
    numeric = isinstance(y, np.ndarray) and y.dtype.kind in "iuf"
    if not numeric and any(isinstance(entry, str) for entry in _flat(y)):
        y = _ids_of_paths(y, taxonomy, name)
    if not numeric and any(isinstance(e, Iterable) and not isinstance(e, str) for e in y):
        pairs = [
            (row, topic)
            for row, entry in enumerate(y)
            for topic in (entry if isinstance(entry, Iterable) else [entry])
        ]
        rows = np.array([row for row, _ in pairs], dtype=np.intp)
        values = np.array([topic for _, topic in pairs])
    elif numeric and y.dtype.kind == "i" and y.ndim == 1:  # of millions of rows few are seeds
        rows = np.flatnonzero(y != -1)
        values = y[rows]
    else:
        rows, values = np.arange(n, dtype=np.intp), np.asarray(y)
    topics = _whole_numbers(values, name)
    wrong = np.unique(topics[(topics < -1) | (topics >= len(taxonomy))])
    if len(wrong):
        raise SeedError(
            f"{name} names {len(wrong):,} unknown topic id(s): {name_some(wrong.tolist())}. "
            f"The taxonomy has ids 0 … {len(taxonomy) - 1}; taxonomy.labels() makes y from paths."
        )
    kept = topics >= 0
    return rows[kept], topics[kept]


def _flat(y: Iterable[Any]) -> Iterator[Any]:
    for entry in y:
        yield from [entry] if isinstance(entry, str) or not isinstance(entry, Iterable) else entry


def _ids_of_paths(y: Iterable[Any], taxonomy: Taxonomy, name: str) -> list[Any]:
    """The labels as ids; an error names all unknown paths."""
    ids: dict[Any, Any] = {None: -1}
    faults = []
    for label in dict.fromkeys(_flat(y)):
        try:
            if isinstance(label, str):
                ids[label] = taxonomy.find(label) if label.strip() else -1
            elif label != label:  # NaN, as pandas marks an empty cell
                ids[label] = -1
        except TaxonomyError as fault:
            faults.append(str(fault))
    if faults:
        raise SeedError(
            f"{name} names {len(faults):,} unknown topics: {'; '.join(faults[:5])}. "
            "Use paths or ids of the taxonomy; taxonomy.paths lists them"
        )
    many = [isinstance(entry, Iterable) and not isinstance(entry, str) for entry in y]
    return [
        [ids.get(label, label) for label in entry] if several else ids.get(entry, entry)
        for entry, several in zip(y, many)
    ]


def _whole_numbers(values: NDArray[Any], name: str) -> Ints:
    try:
        numbers = values.astype(np.float64)
        whole = numbers.astype(np.intp)
    except (TypeError, ValueError):
        numbers, whole = np.array([0.5]), np.array([0])
    if not np.array_equal(numbers, whole):
        raise SeedError(
            f"{name} must hold topic ids (whole numbers). Unknown label type: {values.dtype}. "
            "taxonomy.labels({path: [rows]}, n) makes y from paths."
        )
    return whole


def seed_means(vectors: Floats, topics: Ints, n_topics: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Mean of each topic's seeds, and which topics have any; in any order of the seeds."""
    grid = Grid.holding(len(topics), float(np.abs(vectors).max(initial=0.0)))
    sums = grid.dequantize(sum_by_group(topics, grid.quantize(vectors), n_topics))
    counts = np.bincount(topics, minlength=n_topics)
    return sums / np.maximum(counts, 1)[:, None], counts > 0


def refuse_bare_leaves(taxonomy: Taxonomy, known: NDArray[np.bool_]) -> None:
    """Refuse leaves without seeds, all named."""
    bare = np.flatnonzero(taxonomy.tree.is_leaf & ~known & ~taxonomy.is_other)
    if len(bare):
        listed = "".join(f"\n  - {taxonomy.paths[topic]}" for topic in bare)
        raise SeedError(
            f"{len(bare):,} of {int(taxonomy.tree.is_leaf.sum()):,} leaves have no seed:{listed}\n",
            "Give each at least one, or use names as seeds with {seeds_from_names:True}",
        )


def is_engine(X: Any) -> TypeGuard[Blocks]:
    """Whether X is blocks of an engine (see `hierseed.engines`) and not rows of numbers."""
    return all(hasattr(X, name) for name in ("map", "fold", "take", "n", "width"))


def need_seeds(y: Any, X_seeds: Any, start: Any) -> None:
    """Refuse a fit without any seed."""
    if y is None and X_seeds is None and start is None:
        raise SeedError(
            "no seeds: y gives the topic id of each seed and -1 elsewhere; "
            "taxonomy.labels({path: [rows]}, n) makes it. The fit requires y to be passed, but the "
            "target y is None."
        )


def group_rejections(rejected: Any, n: int, taxonomy: Taxonomy, seeds: Ints) -> Groups:
    """Rows by the topics that they were rejected for; seeds keep the topics they were given."""
    rows, topics = seed_pairs(rejected, n, taxonomy, "rejected")
    free = ~np.isin(rows, seeds)
    by_row: dict[int, set[int]] = {}
    for row, topic in zip(rows[free].tolist(), topics[free].tolist()):
        by_row.setdefault(row, set()).add(topic)
    groups: dict[tuple[int, ...], list[int]] = {}
    for row in sorted(by_row):
        groups.setdefault(tuple(sorted(by_row[row])), []).append(row)
    return {topics: np.array(some, dtype=np.intp) for topics, some in groups.items()}


def replace_records(placed: Assignments, rows: Ints, records: Mapping[str, Any]) -> Assignments:
    """Replace all placements of some rows; records have their own rows, in any order."""
    rest = ~np.isin(placed.row, rows)
    order = np.argsort(np.concatenate([placed.row[rest], records["row"]]), kind="stable")
    joined: dict[str, Any] = {}
    for name in RECORD:
        old = getattr(placed, name)
        new = np.asarray(records[name], dtype=old.dtype)
        joined[name] = np.concatenate([old[rest], new])[order]
    return replace(placed, **joined)


def with_seeds(placed: Assignments, rows: Ints, topics: Ints, distance: Floats) -> Assignments:
    """Put seeds back in their topics, with score 1."""
    k = placed.ranked.shape[1]
    path = placed.taxonomy.tree.ancestors[topics]
    seeds: dict[str, Any] = {
        "row": rows,
        "topic": topics,
        "path": path,
        "distance": distance,
        "score": np.where(path >= 0, 1.0, np.nan),
        "runner_up": np.full(len(rows), -1),
        "belongs": np.where(path >= 0, 1.0, np.nan),
        "ranked": np.pad(topics[:, None], ((0, 0), (0, k - 1)), constant_values=-1),
        "chances": np.pad(np.ones((len(rows), 1)), ((0, 0), (0, k - 1))),
    }
    return replace_records(placed, rows, seeds)


def place_by_distance(
    placed: Assignments, groups: Groups, blocks: Blocks, vectors: Floats
) -> Assignments:
    """Place rejected documents in their next topic, for methods without probabilities."""
    ancestors = placed.taxonomy.tree.ancestors
    arrays: dict[str, Any] = {name: np.array(getattr(placed, name)) for name in RECORD}
    keep = np.ones(len(placed), dtype=bool)
    edges = np.append(placed.primary, len(placed))
    for topics, rows in groups.items():
        refused = np.asarray(np.isin(ancestors, topics).any(axis=1))  # with all below
        for row in rows:
            records = np.arange(edges[row], edges[row + 1])
            topic = arrays["topic"][records]
            hit = records[refused[topic] & (topic >= 0)]
            if len(hit) < len(records):
                keep[hit] = False  # it has other topics
            elif len(hit):
                keep[hit[1:]] = False
                away = np.linalg.norm(vectors - blocks.take(np.array([row]))[0], axis=1)
                _place_again(arrays, int(hit[0]), refused, placed.taxonomy, away)
    kept: dict[str, Any] = {name: values[keep] for name, values in arrays.items()}
    return replace(placed, **kept)


def _place_again(
    arrays: dict[str, Any],
    record: int,
    refused: Bools,
    taxonomy: Taxonomy,
    away: NDArray[np.floating],
) -> None:
    """Move a record to its runner-up, else to the nearest leaf that was not rejected."""
    tree, topic = taxonomy.tree, int(arrays["runner_up"][record])
    if topic < 0 or refused[topic]:
        free = np.flatnonzero(tree.is_leaf & ~taxonomy.is_other & ~refused[:-1])
        topic = int(free[np.argmin(away[free])]) if len(free) else -1
    old, new = arrays["path"][record].copy(), tree.ancestors[topic]
    stays = (old == new) & (new >= 0)  # topics above both keep their score
    known = arrays["score"][record, stays]
    for name, value in (("distance", away[new]), ("score", np.nan), ("belongs", 1.0)):
        arrays[name][record] = np.where(new >= 0, value, np.nan)
    arrays["score"][record, stays] = known
    arrays["topic"][record], arrays["path"][record] = topic, new
    arrays["runner_up"][record] = arrays["ranked"][record] = -1
    arrays["ranked"][record, 0], arrays["chances"][record] = topic, np.nan
    if topic < 0:
        arrays["distance"][record, 0] = away[tree.children(-1)].min()
        arrays["score"][record, 0] = arrays["belongs"][record, 0] = 0.0


def check_taxonomy(taxonomy: Any) -> None:
    """Refuse what is no taxonomy, and one without topics."""
    if not isinstance(taxonomy, Taxonomy):
        raise TaxonomyError(
            f"taxonomy must be a Taxonomy, got {type(taxonomy).__name__}. "
            "Make one with Taxonomy.from_paths or Taxonomy.read."
        )
    if not len(taxonomy):
        raise TaxonomyError(
            "the taxonomy has no topics. Give at least one path, such as 'Health > Hospitals'"
        )


def check_column_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """Remember the names of a data frame's columns, or compare them with those of the fit."""
    named = hasattr(X, "columns") or hasattr(X, "__dataframe__")
    if named or hasattr(estimator, "feature_names_in_"):
        from sklearn.utils.validation import validate_data

        validate_data(estimator, X, skip_check_array=True, reset=reset)


def check_fitted(estimator: Any) -> None:
    """Refuse to use an estimator that is not fitted."""
    if not hasattr(estimator, "taxonomy_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"this {type(estimator).__name__} is not fitted yet: call fit(X, y) first"
        )


def checkpointing(
    estimator: Any, checkpoint: Any, state: type, blocks: Blocks, *seeds: Any
) -> dict[str, Any]:
    """Arguments of the core's loop that save each round and resume from the last."""
    if checkpoint is None:
        return {}
    from hierseed.io.model_bundle import checkpoint_arguments

    return checkpoint_arguments(estimator, checkpoint, state, blocks, *seeds)
