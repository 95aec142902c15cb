"""Checks of the parts that a Taxonomy is made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree
from hierseed.errors import TaxonomyError


def checked_texts(what: str, values: Sequence[str]) -> tuple[str, ...]:
    """Refuse what is no sequence of texts."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TaxonomyError(f"{what} is {values!r:.60}, not a sequence of texts")
    texts = tuple(values)
    wrong = [i for i, text in enumerate(texts) if not isinstance(text, str)]
    if wrong:
        raise TaxonomyError(
            f"{what} of {len(wrong):,} topics are no texts: topic {wrong[0]} has "
            f"{texts[wrong[0]]!r:.60}. Give one text per topic."
        )
    return texts


def checked_parents(given: Any, n: int) -> tuple[tuple[int, ...], ...]:
    """Refuse further parents that are no topics."""
    if given is None:
        return ((),) * n
    try:
        found = tuple(tuple(int(parent) for parent in some) for some in given)
    except (TypeError, ValueError) as fault:
        raise TaxonomyError(f"more_parents can't be used: {fault}. Give a list each.") from None
    if wrong := [p for some in found for p in some if not 0 <= p < n]:
        raise TaxonomyError(f"more_parents names the topic {wrong[0]}, outside 0 … {n - 1}")
    return found


def checked_tree(parent: Sequence[int] | NDArray[np.intp]) -> Tree:
    """Refuse parents that make no tree."""
    try:
        given = np.asarray(parent)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise ValueError("it is no list of whole numbers")
        return Tree(given.astype(np.intp))
    except (ValueError, TypeError, OverflowError) as fault:
        raise TaxonomyError(
            f"parent can't be used: {fault}. Give the id of each topic's parent, -1 at level 1; "
            "Taxonomy.from_parents takes parents in any order."
        ) from None
