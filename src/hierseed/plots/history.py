"""The rounds of a fit."""

from __future__ import annotations

from typing import Any

from hierseed.errors import ModelError
from hierseed.plots.canvas import INK, LINE, PLAIN, SOFT, Picture, bare, new_picture

PANELS = {
    "objective": "objective (lower is better)",
    "moved": "documents that moved",
    "coverage": "share of documents used",
}


def draw_history(history: list[dict[str, Any]], method: str) -> Picture:
    """A panel for each of objective, moved and coverage that the method records."""
    known = [name for name in PANELS if any(event.get(name) is not None for event in history)]
    if not known:
        raise ModelError(f"{method} has no rounds to draw: it does not learn from a corpus")
    rounds = f"{len(history)} rounds" if len(history) > 1 else "one round"
    title, about = f"The fit of {method}", f"{rounds} over the corpus"
    picture = new_picture(3.2 * len(known), 2.0, title, about)
    for i, name in enumerate(known):
        axes = bare(picture.add_axes((i / len(known), 0, 0.8 / len(known), 0.86)), "bottom")
        points = [(n, event[name]) for n, event in enumerate(history, start=1)
                  if event.get(name) is not None]  # fmt: skip
        axes.plot(*zip(*points), color="#3d7fb5", lw=1.8, marker="o", ms=4, gid=name)
        axes.set_title(PANELS[name], loc="left", fontsize=PLAIN, color=INK)
        axes.set_xticks(range(1, len(history) + 1, max(1, len(history) // 8)))
        axes.set_xlabel("round", fontsize=PLAIN, color=SOFT)
        axes.grid(axis="y", color=LINE, lw=0.5)
        axes.margins(x=0.08, y=0.15)
        axes.locator_params(axis="y", nbins=4)
        axes.ticklabel_format(axis="y", useOffset=False)
        if name == "coverage":
            axes.set_ylim(0, 1.05)
    return picture
