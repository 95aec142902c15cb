"""Confusion of gold topics and placements."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierseed.assignments import Assignments
from hierseed.errors import ParameterError
from hierseed.plots.canvas import (
    INK,
    PLAIN,
    SMALL,
    SOFT,
    WASH,
    Picture,
    bare,
    new_picture,
    short_names,
)

HIGHER, REST = "above this level", "all others"


def confusion(
    found: Assignments,
    rows: list[int],
    gold: list[list[int]],
    level: int = 1,
    most: int = 20,
) -> pd.DataFrame:
    """Count documents by gold topic (rows) and by where they were placed (columns).

    Of several gold topics the one that was hit counts, else the first. Topics beyond `most`, those
    with the fewest mistakes, are added up as "all others"; every document is counted once.
    """
    taxonomy = found.taxonomy
    if not 1 <= level <= taxonomy.tree.height:
        raise ParameterError(
            f"level is {level}; the taxonomy has levels 1 to {taxonomy.tree.height}"
        )
    above = taxonomy.tree.ancestors[:, level - 1]
    placed = found.levels[rows, level - 1]
    truth = np.array([_matching(above[topics], at) for topics, at in zip(gold, placed)])
    nowhere = found.labels[rows] < 0

    wrong = np.bincount(np.r_[truth, placed][np.r_[truth != placed, truth != placed]] + 1,
                        minlength=len(taxonomy) + 1)[1:]  # fmt: skip
    listed = np.flatnonzero((taxonomy.tree.level == level) & ~taxonomy.is_other)
    listed = listed[np.isin(listed, truth) | np.isin(listed, placed)]
    kept = np.sort(listed[np.argsort(-wrong[listed], kind="stable")[:most]])
    names = np.full(len(taxonomy) + 1, REST, dtype=object)
    names[kept] = short_names(taxonomy, kept.tolist(), 30)
    names[:-1][taxonomy.is_other] = "Other"
    names[-1] = HIGHER
    columns = np.where(nowhere, "None", names[placed])
    order = [*names[kept], REST, "Other", HIGHER, "None"]
    table = pd.crosstab(pd.Series(names[truth], name="gold"), pd.Series(columns, name="placed"))
    return table.reindex(
        index=[name for name in order if name in table.index],
        columns=[name for name in order if name in table.columns or name in names[kept]],
        fill_value=0,
    )


def draw_confusion(table: pd.DataFrame, level: int) -> Picture:
    """Shade each row by share, and write the counts."""
    counts: NDArray[np.int64] = table.to_numpy()
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    about = f"{counts.sum():,} documents with gold labels; rows are shaded by their shares"
    picture = new_picture(
        0.42 * len(table.columns), 0.34 * len(table), f"Gold against placed, level {level}", about
    )
    axes = bare(picture.add_axes((0, 0, 1, 1)))
    axes.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_yticks(range(len(table)), table.index, color=INK, fontsize=PLAIN)
    axes.set_xticks(range(len(table.columns)), table.columns, color=INK, fontsize=PLAIN,
                    rotation=45, ha="right", rotation_mode="anchor")  # fmt: skip
    axes.set_xticks(np.arange(len(table.columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(table) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=WASH, lw=1)
    axes.tick_params(which="minor", length=0)
    axes.set_xlabel("placed", color=SOFT, fontsize=PLAIN)
    axes.set_ylabel("gold", color=SOFT, fontsize=PLAIN)
    for (row, column), count in np.ndenumerate(counts):
        if count:
            ink = "white" if share[row, column] > 0.55 else INK
            axes.text(column, row, f"{count:,}", ha="center", va="center", color=ink,
                      fontsize=SMALL if count < 1_000 else 6)  # fmt: skip
    return picture


def _matching(gold: NDArray[np.intp], placed: int) -> int:
    return int(placed) if placed in gold else int(gold[0])
