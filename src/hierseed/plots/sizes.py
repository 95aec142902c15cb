"""How many documents each topic has: as a tree, and as bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from hierseed.assignments import Assignments
from hierseed.plots.canvas import (
    INK,
    LINE,
    NONE,
    PLAIN,
    SMALL,
    SOFT,
    Picture,
    bare,
    new_picture,
    short_names,
    topic_colours,
)

ROW = 0.235  # inches of a row
STEP = 2.6  # inches of a level


def draw_tree(found: Assignments, depth: int | None = None) -> Picture:
    """The taxonomy from left to right; the area of a disc is the number of documents."""
    taxonomy, counts = found.taxonomy, found.counts()
    tree, colours = taxonomy.tree, topic_colours(taxonomy)
    deepest = min(depth or tree.height, tree.height)
    shown = [t for t in _in_order(tree) if tree.level[t] <= deepest]
    shown = [t for t in shown if counts[t] or not taxonomy.is_other[t]]
    inner = {int(tree.parent[t]) for t in shown}
    ends = [t for t in shown if t not in inner]
    height = dict(zip(ends, range(len(ends))))
    places: dict[int, float] = {t: float(y) for t, y in height.items()}
    for topic in reversed(shown):
        if topic in inner:
            below = [places[int(c)] for c in tree.children(topic) if int(c) in places]
            places[topic] = (min(below) + max(below)) / 2

    none = int((found.labels < 0).sum())
    picture = new_picture(
        STEP * (deepest + 0.3), ROW * (len(ends) + 1), "Topics", _summary(found, none)
    )
    axes = picture.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.9, deepest - 0.6), ylim=(len(ends), -1))
    axes.axis("off")
    largest = max(1, int(counts.max(initial=1)))
    for topic in shown:
        x, y, parent = int(tree.level[topic]) - 1, places[topic], int(tree.parent[topic])
        if parent >= 0:
            _curve(axes, x - 1, places[parent], x, y, 0.6 + 5 * np.sqrt(counts[topic] / largest))
    names = dict(zip(shown, short_names(taxonomy, shown, 38)))
    for topic in shown:
        x, y = int(tree.level[topic]) - 1, places[topic]
        size = 6 + 380 * counts[topic] / largest
        axes.scatter(x, y, s=size, color=colours[topic], zorder=3, gid=taxonomy.paths[topic])
        gap = (3 + np.sqrt(size) / 2) / 72 / STEP  # in levels
        _label(axes, x, y, gap, f"{names[topic]}  {counts[topic]:,}", topic in inner, x == 0)
    return picture


def _label(
    axes: Any, x: float, y: float, gap: float, text: str, is_inner: bool, is_first: bool
) -> None:
    """Write the name next to a disc: outside at both ends of the tree, above it in between."""
    common = {"fontsize": PLAIN if is_first else SMALL, "color": INK, "zorder": 4}
    if is_inner and is_first:
        axes.text(x - gap, y, text, ha="right", va="center", weight="bold", **common)
    elif is_inner:
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6}
        axes.text(x, y - 0.55, text, ha="center", va="bottom", bbox=box, **common)
    else:
        axes.text(x + gap, y, text, ha="left", va="center", **common)


def draw_sizes(found: Assignments, level: int = 1, most: int = 30) -> Picture:
    """Bars of the largest topics of a level, of what ends above it, and of None."""
    taxonomy = found.taxonomy
    counts, colours = found.counts(), topic_colours(taxonomy)
    topics = taxonomy.tree.at_level(level)
    topics = topics[(counts[topics] > 0) | ~taxonomy.is_other[topics]]
    topics = topics[np.argsort(-counts[topics], kind="stable")]
    shown, left = topics[:most].tolist(), topics[most:]
    bars = [(name, int(counts[t]), colours[t]) for name, t in
            zip(short_names(taxonomy, shown, 40), shown)]  # fmt: skip
    if len(left):
        bars.append((f"{len(left):,} smaller topics", int(counts[left].sum()), LINE))
    none = int((found.labels < 0).sum())
    above = int((found.levels[:, level - 1] < 0).sum()) - none
    if above:
        bars.append((f"topics that end above level {level}", above, LINE))
    if none:
        bars.append(("None", none, NONE))
    names, values, fills = zip(*bars)
    picture = new_picture(
        7.5,
        0.27 * len(bars) + 0.2,
        f"Documents in each topic, level {level}",
        _summary(found, none),
    )
    axes = bare(picture.add_axes((0, 0, 1, 1)))
    axes.barh(range(len(bars)), values, color=fills, height=0.72)
    axes.set_yticks(range(len(bars)), names, color=INK, fontsize=PLAIN)
    axes.set(ylim=(len(bars) - 0.4, -0.6), xlim=(0, 1.16 * max(1, *values)), xticks=[])
    for row, value in enumerate(values):
        share = value / max(1, found.n_documents)
        percent = f"{share:.0%}" if share >= 0.005 or not value else "<1%"
        axes.text(value, row, f"  {value:,}   {percent}", va="center", fontsize=SMALL, color=SOFT)
    return picture


def _in_order(tree: Any, topic: int = -1) -> list[int]:
    """Topics as an outline lists them."""
    below = [t for child in tree.children(topic) for t in _in_order(tree, int(child))]
    return below if topic < 0 else [topic, *below]


def _curve(axes: Any, x0: float, y0: float, x1: float, y1: float, width: float) -> None:
    """A curve from parent to child, horizontal at both ends."""
    t = np.linspace(0, 1, 30)
    bend = t * t * (3 - 2 * t)
    axes.plot(x0 + (x1 - x0) * t, y0 + (y1 - y0) * bend, color=LINE, lw=width, zorder=1,
              solid_capstyle="round")  # fmt: skip


def _summary(found: Assignments, none: int) -> str:
    seeds = int(found.is_seed.sum())
    return f"{found.n_documents:,} documents, {seeds:,} of them seeds, {none:,} in None"
