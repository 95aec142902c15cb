"""Check vectors and seeds. One clear error each, all offenders counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Blocks
from hierseed.core.exact import Grid, sum_by_group
from hierseed.errors import CorpusError, ModelError, SeedError, TaxonomyError, name_some
from hierseed.taxonomy import Taxonomy

SAMPLED = 1024  # rows: enough to find a common offset
FARTHEST = 150  # offset / spread; the rounding error of a square is 2**-24 of it

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


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
        raise SeedError(f"{name} names {len(faults):,} unknown topics: {'; '.join(faults[:5])}")
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
    """Mean of each topic's seeds, and which topics have any; the order of seeds is no matter."""
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


def check_start(earlier: Any, width: int) -> None:
    """Refuse to continue from a model that is not fitted, or was fitted on other vectors."""
    if not hasattr(earlier, "taxonomy_"):
        raise ModelError("start is not fitted yet: fit it, or leave start out")
    if earlier.n_features_in_ != width:
        raise ModelError(
            f"start was fitted on {earlier.n_features_in_} dimensions, X has {width}. "
            "Use vectors of the same embedder."
        )


def need_seeds(y: Any, X_seeds: Any, start: Any) -> None:
    """Refuse a fit without any seed."""
    if y is None and X_seeds is None and start is None:
        raise SeedError(
            "requires y to be passed, but the target y is None: y gives the topic id of each "
            "seed and -1 elsewhere; taxonomy.labels({path: [rows]}, n) makes it."
        )
