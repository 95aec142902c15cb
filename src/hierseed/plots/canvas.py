"""A figure in the colours of the report, without pyplot and its global state."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from textwrap import shorten
from typing import Any

from hierseed.errors import MissingDependency
from hierseed.taxonomy import Taxonomy

try:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import to_hex
    from matplotlib.figure import Figure
except ImportError as fault:
    raise MissingDependency("matplotlib", "plots", "drawing a picture") from fault

INK, SOFT, LINE, WASH, NONE = "#23211e", "#6f6a62", "#dcd7cc", "#f5f2ec", "#b5b0a6"
SMALL, PLAIN, TITLE = 7.5, 9.0, 12.0  # points
RESOLUTION = 160


class Picture(Figure):
    """A matplotlib figure that notebooks show by itself; `savefig` writes PNG, SVG and PDF."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the picture, cut to what is drawn, with its title at the left edge."""
        left = self.get_tightbbox().x0 / self.get_figwidth()
        for text in self.texts:
            text.set_x(left)
        chosen: dict[str, Any] = {"dpi": RESOLUTION, "bbox_inches": "tight"} | options
        super().savefig(fname, **chosen)


def new_picture(width: float, height: float, title: str, subtitle: str = "") -> Picture:
    """Return an empty figure of this size in inches, with a title above it."""
    figure = Picture(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)  # measures texts
    points = 72 * height
    figure.text(0.01, 1 + 24 / points, title, fontsize=TITLE, color=INK, weight="bold", va="bottom")
    if subtitle:
        figure.text(0, 1 + 10 / points, subtitle, fontsize=PLAIN, color=SOFT, va="bottom")
    return figure


def bare(axes: Any, *keep: str) -> Any:
    """Remove the frame of axes, but for the sides named; soften what is left."""
    for side, spine in axes.spines.items():
        spine.set_visible(side in keep)
        spine.set_color(LINE)
    axes.tick_params(length=0, labelsize=SMALL, labelcolor=SOFT)
    return axes


def topic_colours(taxonomy: Taxonomy) -> list[str]:
    """One hue for each topic of level 1, as in the report: by the golden angle, deeper lighter."""
    tree = taxonomy.tree
    rank = {int(topic): i for i, topic in enumerate(tree.children(-1))}
    found = []
    for topic in range(len(taxonomy)):
        deeper = min(int(tree.level[topic]) - 1, 4)
        vivid = 0.03 if taxonomy.is_other[topic] else 0.125 - 0.012 * deeper
        hue = 235 + rank[int(tree.ancestors[topic, 0])] * 137.508
        found.append(_hex_of_oklch(0.62 + 0.045 * deeper, vivid, math.radians(hue)))
    return found


def short_names(taxonomy: Taxonomy, topics: Sequence[int], width: int = 34) -> list[str]:
    """Last names; with the parent's where two of the topics share one."""
    names = [taxonomy.names[topic] for topic in topics]
    found = []
    for topic, name in zip(topics, names):
        parent = int(taxonomy.tree.parent[topic])
        shared = names.count(name) > 1 and parent >= 0
        full = f"{taxonomy.names[parent]} › {name}" if shared else name
        found.append(shorten(full, width, placeholder="…") if " " in full else full[:width])
    return found


def _hex_of_oklch(light: float, vivid: float, hue: float) -> str:
    """The colour in sRGB, after Björn Ottosson's definition of Oklab."""
    a, b = vivid * math.cos(hue), vivid * math.sin(hue)
    long = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (light - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    curved = (12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in linear)
    return str(to_hex([min(max(c, 0.0), 1.0) for c in curved]))
