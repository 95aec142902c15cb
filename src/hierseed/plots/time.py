"""Documents of each topic over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from hierseed.assignments import Assignments
from hierseed.errors import CorpusError, name_some
from hierseed.plots.canvas import (
    INK,
    LINE,
    PLAIN,
    Picture,
    bare,
    new_picture,
    short_names,
    topic_colours,
)

PERIODS = {"D": "day", "W": "week", "M": "month", "Q": "quarter", "Y": "year"}
MANY = 36  # periods that a small panel can show
COLUMNS = 4


def count_over_time(
    found: Assignments, dates: Any, level: int = 1, every: str | None = None
) -> tuple[pd.DataFrame, int]:
    """Count documents by period (rows) and topic id (columns, -1 for None).

    Returns
    -------
    the counts, without gaps between the first and the last period, and the number of documents
    without a date, which are left out
    """
    when = _dates(found, dates)
    known = when.notna().to_numpy()
    if not known.any():
        raise CorpusError(
            f"none of {found.n_documents:,} documents has a date. Give a mapping of document id to "
            "date, or one date for each document in their order"
        )
    chosen = every or _period(when)
    periods = when[known].dt.to_period(chosen)
    topics = pd.Series(found.levels[known, level - 1], index=periods.index)
    table = pd.crosstab(periods, topics)
    whole = pd.period_range(periods.min(), periods.max(), freq=periods.dt.freq)
    return table.reindex(whole, fill_value=0), int((~known).sum())


def draw_over_time(
    found: Assignments, table: pd.DataFrame, undated: int, level: int, most: int = 12
) -> Picture:
    """A panel for each of the largest topics, all on the same scale."""
    taxonomy, colours = found.taxonomy, topic_colours(found.taxonomy)
    sizes = (
        table.drop(columns=-1, errors="ignore").sum().sort_values(ascending=False, kind="stable")
    )
    shown = [int(topic) for topic in sizes.index[:most]]
    if not shown:
        raise CorpusError(f"no document with a date has a topic at level {level}")
    panels = list(zip(shown, short_names(taxonomy, shown, 30), [colours[t] for t in shown]))
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    index: Any = table.index
    unit = PERIODS.get(index.freqstr[0], "period")
    about = f"Documents a {unit}, {int(table.to_numpy().sum()):,} in all"
    if -1 in table:
        nowhere = "None" if level == 1 else f"None or in topics that end above level {level}"
        about += f", {int(table[-1].sum()):,} of them in {nowhere}"
    if undated:
        about += f"; {undated:,} without a date left out"
    title = f"Topics over time, level {level}"
    picture = new_picture(2.6 * columns, 1.5 * rows, title, about)
    # the figure has no margin, and the names of the panels are in the gaps
    grid = picture.subplots(rows, columns, sharex=True, sharey=True, squeeze=False,
                            gridspec_kw={"hspace": 0.45, "wspace": 0.14, "left": 0.04, "right": 1,
                                         "bottom": 0.04, "top": 0.93})  # fmt: skip
    x = index.to_timestamp().to_pydatetime()
    for axes, (topic, name, colour) in zip(grid.flat, panels):
        y = table[topic].to_numpy()
        bare(axes, "bottom")
        axes.fill_between(x, y, color=colour, alpha=0.35, lw=0)
        axes.plot(x, y, color=colour, lw=1.6, marker="o" if len(x) < 2 else None, gid=name)
        axes.set_title(f"{name}  {int(y.sum()):,}", loc="left", fontsize=PLAIN, color=INK, pad=3)
        axes.grid(axis="y", color=LINE, lw=0.5)
        axes.margins(x=0.01)
        axes.set_ylim(0, 1.08 * table[shown].to_numpy().max())
        axes.locator_params(axis="y", nbins=3, integer=True)
        axes.xaxis.set_major_locator(_ticks())
        axes.xaxis.set_major_formatter(_tick_texts(axes))
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
        above = grid.flat[list(grid.flat).index(axes) - columns]
        above.tick_params(labelbottom=True)
    return picture


def _ticks() -> Any:
    from matplotlib.dates import AutoDateLocator

    return AutoDateLocator(minticks=2, maxticks=5)


def _tick_texts(axes: Any) -> Any:
    from matplotlib.dates import ConciseDateFormatter

    return ConciseDateFormatter(axes.xaxis.get_major_locator(), show_offset=False)


def _dates(found: Assignments, dates: Any) -> pd.Series:
    """The date of each document; missing where there is none."""
    ids = list(map(str, found.ids)) if found.ids is not None else []
    if isinstance(dates, Mapping | pd.Series):
        given = {str(id): value for id, value in dates.items()}
        values = pd.Series([given.get(id) for id in ids], dtype=object)
    else:
        values = pd.Series(list(dates), dtype=object)
        if len(values) != found.n_documents:
            raise CorpusError(
                f"{len(values):,} dates for {found.n_documents:,} documents. Give one for each "
                "document in their order, or a mapping of document id to date"
            )
    text = values.where(values.isna(), values.map(_spelled))
    read = pd.to_datetime(text, errors="coerce", format="mixed", utc=True).dt.tz_localize(None)
    unread = text[read.isna() & text.notna()]
    if len(unread):
        some = name_some(unread)
        raise CorpusError(
            f"{len(unread):,} dates can't be read: {some}. Write them as 2024-05-31, 2024-05 or "
            "2024, or give datetime objects"
        )
    return read


def _spelled(value: Any) -> str:
    """Years may come as whole numbers, also from a column of floats."""
    if isinstance(value, int | float | np.number) and float(value).is_integer():
        return f"{int(value):04d}"
    return str(value)


def _period(when: pd.Series) -> str:
    """The finest period of which a panel can show all."""
    days = when.dropna()
    if ((days.dt.month == 1) & (days.dt.day == 1)).all():
        return "Y"
    for name in PERIODS:
        periods = days.dt.to_period(name)
        if (periods.max() - periods.min()).n < MANY:
            return name
    return "Y"
