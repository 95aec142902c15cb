"""Figures from records: F1 per level as in the paper, seeds, and ranks of methods."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hierseed.errors import CorpusError
from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.errors import MissingExtra
from hierseed_bench.runs.plan import FEW, FLAT_SETS, OPEN_SETS, SEEDS
from hierseed_bench.runs.records import Record, Records
from hierseed_bench.tables.cells import PLAIN, filter_records, one_topic_runs
from hierseed_bench.tables.statistics import rank, scores

SHOWN = (
    "hierseed",
    "unfit",
    "anchored",
    "nearest-leaf",
    "logreg",
    "seeded-kmeans",
    "weshclass",
    "hft",
)
YARDSTICK = "ridge-all-labels"
COLOURS = (
    "#0072b2",
    "#56b4e9",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#999933",
    "#882255",
    "#555555",
)
MARKS = "os^DvPXh*"


def draw_levels(records: Records, file: Path) -> None:
    """B-cubed F1 at each level, one panel per data set: the paper's figure."""
    plain = one_topic_runs(records)
    sets = [data for data in OPEN_SETS if filter_records(plain, data=data)]
    figure, panels = _panels(len(sets))
    for panel, data in zip(panels, sets):
        for style, method in _styles((*SHOWN, YARDSTICK)):
            runs = filter_records(plain, data=data, method=method)
            if runs:
                table = np.array([_levels(run) for run in runs])
                levels = np.arange(1, table.shape[1] + 1)
                panel.errorbar(levels, table.mean(0), table.std(0), **style)
        panel.set_title(data)
        panel.set_xlabel("level")
        panel.set_xticks(levels)
    _finish(figure, panels, file, "B-cubed F1, protocol all")


def draw_seeds(records: Records, file: Path) -> None:
    """Mean B-cubed F1 by seeds a topic."""
    plain = records.find(parameters=(), **PLAIN)
    sets = [
        data
        for data in FLAT_SETS
        if len({k for k in SEEDS if filter_records(plain, data=data, seeds=k)}) > 1
    ]
    figure, panels = _panels(len(sets))
    for panel, data in zip(panels, sets):
        for style, method in _styles(FEW):
            runs = {k: filter_records(plain, data=data, method=method, seeds=k) for k in SEEDS}
            points = {k: [_mean(run) for run in own] for k, own in runs.items() if own}
            if points:
                middle = [np.mean(values) for values in points.values()]
                spread = [np.std(values) for values in points.values()]
                panel.errorbar(list(points), middle, spread, **style)
        panel.set_title(data)
        panel.set_xlabel("seeds a topic")
        panel.set_xticks(SEEDS)
    _finish(figure, panels, file, "mean B-cubed F1, protocol all")


def draw_ranks(records: Records, file: Path) -> None:
    """Mean ranks of methods over data sets; a bar joins ranks that do not differ (Nemenyi)."""
    found = rank(scores(records)) if records.find(parameters=(), seeds=4, **PLAIN) else None
    figure, (panel,) = _panels(1 if found else 0)
    assert found is not None
    order = np.argsort(-found.mean)
    names = [METHODS[found.methods[i]].title for i in order]
    panel.plot(found.mean[order], range(len(order)), "o", color=COLOURS[0])
    best = found.mean.min()
    panel.axvspan(best, best + found.critical, color="#dddddd", zorder=0)
    panel.set_yticks(range(len(order)), names, fontsize=7)
    panel.set_xlabel("mean rank, 1 is best")
    _finish(figure, [panel], file, "")


FIGURES: dict[str, Callable[[Records, Path], None]] = {
    "levels": draw_levels,
    "seeds": draw_seeds,
    "ranks": draw_ranks,
}


def _panels(count: int) -> tuple[Any, list[Any]]:
    if not count:
        raise CorpusError("no records to draw. Make some with `hierseed bench run` first.")
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as fault:
        raise MissingExtra("matplotlib", "figures", "drawing figures") from fault
    columns = min(count, 3)
    rows = -(-count // columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(3.4 * columns, 2.9 * rows), sharey=True, squeeze=False
    )
    for spare in grid.flat[count:]:
        spare.axis("off")
    return figure, list(grid.flat[:count])


def _finish(figure: Any, panels: list[Any], file: Path, label: str) -> None:
    from matplotlib import pyplot

    for panel in panels:
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    for panel in figure.axes[:: min(len(panels), 3)]:
        panel.set_ylabel(label, fontsize=8)
    known: dict[str, Any] = {}
    for panel in panels:
        handles, labels = panel.get_legend_handles_labels()
        known |= dict(zip(labels, handles))
    lines = -(-len(known) // 4)
    if known:
        figure.legend(
            known.values(), known.keys(), loc="lower center", ncols=4, fontsize=8, frameon=False
        )
    tall = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, (0.1 + 0.17 * lines) / tall, 1, 1))
    # without a date and with fixed ids, so that the same records give the same bytes
    with pyplot.rc_context({"svg.hashsalt": "hierseed"}):
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None, dpi=150)
    pyplot.close(figure)


def _styles(methods: tuple[str, ...]) -> list[tuple[dict[str, Any], str]]:
    every = (*SHOWN, YARDSTICK)
    styles = []
    for method in methods:
        place = every.index(method)
        style = {"color": COLOURS[place], "marker": MARKS[place], "label": METHODS[method].title}
        line = "--" if method == YARDSTICK else "-"
        styles.append((style | {"linestyle": line, "markersize": 4, "capsize": 2}, method))
    return styles


def _levels(record: Record) -> list[float]:
    return [level["bcubed_f1"] for level in record["scores"]["all"]["levels"]]


def _mean(record: Record) -> float:
    return float(record["scores"]["all"]["mean"]["bcubed_f1"])
