"""Change a data set before it is split: drop rare topics, skew sizes, leave topics out, sample."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hierseed.evaluate.left_out import INSIDE
from hierseed_bench.data.dataset import Dataset, keep_topics, most_specific, subtree_counts


def drop_rare(dataset: Dataset, min_docs: int) -> Dataset:
    """Drop topics with fewer documents (their own and those below); labels move up.

    A document of a dropped topic goes to the nearest ancestor that is kept; one with no
    kept ancestor leaves the data set.
    """
    taxonomy, new_id = keep_topics(
        dataset.taxonomy, subtree_counts(dataset.taxonomy.tree, dataset.labels) >= min_docs
    )
    dropped = len(dataset.taxonomy) - len(taxonomy)
    if not dropped:
        return dataset
    moved = dataset.relabel(taxonomy, new_id)
    rows = np.flatnonzero([len(topics) > 0 for topics in moved.labels])
    lost = len(dataset) - len(rows)
    return moved.take(
        rows,
        f"{dropped} of {len(dataset.taxonomy)} topics had fewer than {min_docs} documents and were "
        f"dropped; their documents moved to the nearest kept ancestor, {lost} had none and left",
    )


def sample(dataset: Dataset, limit: int, seed: int = 0) -> Dataset:
    """Draw at most `limit` documents at random, in their old order."""
    if limit >= len(dataset):
        return dataset
    rows = np.random.default_rng([seed, 1]).permutation(len(dataset))[:limit]
    return dataset.take(np.sort(rows), f"{limit:,} of {len(dataset):,} documents drawn (limit)")


def skew(dataset: Dataset, exponent: float, least: int = 1, seed: int = 0) -> Dataset:
    """Thin out topics until their sizes follow Zipf's law: the r-th keeps max / r^exponent.

    Ranks are drawn at random, so which topics are large does not depend on the source. A
    document counts for its first label; no topic is cut below `least` documents, and what
    a topic lacks is not made up.
    """
    rng = np.random.default_rng([seed, 2])
    first = np.array([topics[0] if topics else -1 for topics in dataset.labels])
    present, sizes = np.unique(first[first >= 0], return_counts=True)
    target = sizes.max() / (1 + rng.permutation(len(present))) ** exponent
    order = rng.permutation(len(dataset))
    rows = [
        order[first[order] == topic][: max(least, round(size))]
        for topic, size in zip(present, target)
    ]
    kept = np.sort(np.concatenate(rows))
    return dataset.take(
        kept,
        f"sizes skewed to 1/rank^{exponent:g}: {len(kept):,} of {len(dataset):,} documents kept",
    )


@dataclass(frozen=True)
class LeftOut:
    """A data set whose taxonomy lacks some topics that its documents have."""

    dataset: Dataset
    home: NDArray[np.intp]
    """Per document the parent its left-out topic had (-1: level 1); INSIDE where none is."""


def leave_out(dataset: Dataset, share: float, seed: int = 0) -> LeftOut:
    """Take leaves out of the taxonomy at random, and one topic of level 1 with all below it.

    Documents stay, with the nearest kept ancestor as their label (none for level 1): they
    belong to the fitting and test sets, and may not serve as seeds. Every inner topic that
    stays keeps at least one child. A document counts as left out where all its topics are.
    """
    rng = np.random.default_rng([seed, 3])
    tree = dataset.taxonomy.tree
    keep = np.ones(len(tree), dtype=bool)
    tops = tree.children(-1)
    if len(tops) > 2:
        keep[rng.choice(tops)] = False
    leaves = rng.permutation(np.flatnonzero(tree.is_leaf & (tree.level > 1)))
    wanted = round(share * len(leaves))
    for leaf in leaves:
        siblings = tree.children(int(tree.parent[leaf]))
        if wanted and keep[siblings].sum() > 1:
            keep[leaf] = False
            wanted -= 1
    taxonomy, new_id = keep_topics(dataset.taxonomy, keep)
    inside = np.array([_is_kept(tree.path(topic), keep) for topic in range(len(tree))])
    labels, home = [], np.full(len(dataset), INSIDE, dtype=np.intp)
    for row, topics in enumerate(dataset.labels):
        stay = [topic for topic in topics if inside[topic]]
        if not stay and topics:
            home[row] = new_id[topics[0]]
        labels.append(most_specific(taxonomy.tree, (int(new_id[t]) for t in stay or topics)))
    note = (
        f"{len(tree) - len(taxonomy)} of {len(tree)} topics left out of the taxonomy, "
        f"{(home != INSIDE).sum():,} documents with them"
    )
    reduced = replace(dataset, taxonomy=taxonomy, labels=labels, notes=(*dataset.notes, note))
    return LeftOut(reduced, home)


def _is_kept(path: list[int], keep: NDArray[np.bool_]) -> bool:
    return bool(keep[path].all())
