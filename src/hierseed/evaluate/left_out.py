"""Score how documents of topics that the taxonomy lacks are handled.

Topics are left out of the taxonomy on purpose. A document of a left-out topic is handled correctly
if it is in the Other of the topic's parent, stops at that parent, or, for a topic of level 1, is
None or in the Other of level 1. That parent is the document's home.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import CorpusError
from hierseed.taxonomy import Taxonomy

INSIDE = -2  # home of a document whose topic is in the taxonomy


@dataclass(frozen=True)
class LeftOutScore:
    """Placements of documents of left-out topics, as shares, and the cost for the others."""

    left_out: int
    home_other: float
    """In the Other topic of the right parent."""
    home_stopped: float
    """Stopped at the right parent."""
    none: float
    """None: right only for topics left out at level 1."""
    elsewhere_other: float
    """In an Other topic, but of a wrong parent."""
    listed: float
    """In a listed topic, or stopped at a wrong one."""
    home: float
    """The three correct outcomes together."""
    kept: int
    false_alarm: float
    """Share of documents of listed topics that went to an Other or to None."""

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        return asdict(self)


def score_left_out(taxonomy: Taxonomy, predicted: NDArray[Any], home: NDArray[Any]) -> LeftOutScore:
    """Count where documents of left-out topics were placed.

    Parameters
    ----------
    taxonomy : as fitted (`taxonomy_`), its Other topics marked `is_other`
    predicted : deepest topic per document, -1 for None
    home : per document the parent of its left-out topic (-1: level 1);
        `INSIDE` (-2) where the document's topic was not left out
    """
    predicted, home = np.asarray(predicted), np.asarray(home)
    if predicted.shape != home.shape:
        raise CorpusError(
            f"{predicted.shape} predictions for {home.shape} homes; give one each per document"
        )
    is_other = np.append(taxonomy.is_other, False)[predicted]  # the last entry is for None
    parent = np.append(taxonomy.tree.parent, INSIDE)[predicted]
    is_none = predicted < 0
    out = home != INSIDE
    right_other = out & is_other & (parent == home)
    right_stop = out & (predicted == home) & ~is_none
    none = out & is_none
    wrong_other = out & is_other & (parent != home)
    is_home = right_other | right_stop | (none & (home == -1))
    n, kept = int(out.sum()), int((~out).sum())

    def share(mask: NDArray[Any], of: int) -> float:
        return float(mask.sum() / of) if of else 0.0

    return LeftOutScore(
        left_out=n,
        home_other=share(right_other, n),
        home_stopped=share(right_stop, n),
        none=share(none, n),
        elsewhere_other=share(wrong_other, n),
        listed=share(out & ~is_other & ~is_none & ~right_stop, n),
        home=share(is_home, n),
        kept=kept,
        false_alarm=share(~out & (is_other | is_none), kept),
    )
