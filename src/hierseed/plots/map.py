"""The map of the report: topics as islands, documents around them."""

from __future__ import annotations

import numpy as np

from hierseed.assignments import Assignments
from hierseed.plots.canvas import INK, NONE, Picture, new_picture, short_names, topic_colours
from hierseed.report.map import Map

WIDTH = 9.0  # inches
LABELLED = 60  # islands with a name


def draw_map(found: Assignments, drawn: Map) -> Picture:
    """Draw documents as points, coloured by their topic, and the names of the largest topics."""
    taxonomy = found.taxonomy
    colours = np.array([*topic_colours(taxonomy), NONE])
    shown = f"{len(drawn.rows):,} of {found.n_documents:,} documents"
    if (found.labels[drawn.rows] < 0).any():
        shown += ", grey for None"
    about = f"{shown}; the nearer to the middle of an island, the more typical"
    low = (drawn.positions - drawn.radii[:, None]).min(axis=0) - 0.02
    high = (drawn.positions + drawn.radii[:, None]).max(axis=0) + 0.02
    inches = WIDTH / (high - low)[0]
    picture = new_picture(WIDTH, inches * (high - low)[1], "Map of the topics", about)
    axes = picture.add_axes((0, 0, 1, 1))
    axes.axis("off")
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    for topic, (x, y), radius in zip(drawn.topics, drawn.positions, drawn.radii):
        turn = np.linspace(0, 2 * np.pi, 60)
        axes.fill(x + radius * np.cos(turn), y + radius * np.sin(turn), color=colours[topic],
                  alpha=0.13, lw=0, zorder=1)  # fmt: skip
    size = 14 if len(drawn.rows) < 1_500 else 6
    fills = list(colours[found.labels[drawn.rows]])
    axes.scatter(drawn.points[:, 0], drawn.points[:, 1], s=size, c=fills, lw=0, alpha=0.8, zorder=2)
    largest = np.argsort(-drawn.radii, kind="stable")[:LABELLED]
    names = short_names(taxonomy, drawn.topics[largest].tolist(), 26)
    for place, name in zip(largest, names):
        x, y = drawn.positions[place]
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.72, "pad": 0.8}
        room = 2.4 * 72 * inches * float(drawn.radii[place]) / (0.6 * len(name))
        small = max(5.0, min(9.5, room))
        axes.text(x, y, name, ha="center", va="center", fontsize=small, color=INK, bbox=box,
                  zorder=4)  # fmt: skip
    return picture
