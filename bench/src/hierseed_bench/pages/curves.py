"""Figures of docs/baselines.md: how the eight systems learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.pages.systems import runs
from hierseed_bench.runs.plan_systems import SUPERVISED, UNLABELLED

LOSSES = {
    "hlda": ("minus log likelihood a word", "sweep"),
    "tsntm": ("minus the bound a text", "epoch"),
    "josh": ("mean hinge of the texts", "epoch"),
    "weshclass": ("loss of each stage", "epoch"),
}


def draw_curves(file: Path) -> None:
    """Training loss and validation of the classifiers on 20 Newsgroups, all labels."""
    pyplot = _pyplot()
    figure, grid = pyplot.subplots(2, 4, figsize=(12, 5), sharex="col")
    for column, method in enumerate(sorted(SUPERVISED)):
        for record in runs(True, data="20newsgroups", method=method)[:1]:
            start = 0
            for stage, curve in record["method_notes"]["curves"].items():
                shift = start if method == "hilap" else 0
                for row, what in enumerate(("loss", "validation")):
                    x = [shift + 1 + k * curve["every"] for k in range(len(curve[what]))]
                    grid[row, column].plot(x, curve[what], marker=".", label=_stage(stage))
                start += curve["epochs"]
        grid[0, column].set_title(METHODS[method].title)
        grid[0, column].legend(fontsize=7)
        grid[1, column].set_xlabel("epoch")
        grid[1, column].xaxis.get_major_locator().set_params(integer=True)
    grid[0, 0].set_ylabel("training loss")
    grid[1, 0].set_ylabel("validation score")
    _save(figure, grid.flat, file)


def draw_unlabelled(file: Path) -> None:
    """Training loss on 20 Newsgroups, a line a draw; WeSHClass: a line a stage, draw 0."""
    figure, panels = _pyplot().subplots(1, 4, figsize=(12, 2.8))
    for panel, method in zip(panels, ("hlda", "tsntm", "josh", "weshclass")):
        found = runs(False, data="20newsgroups", method=method)
        found.sort(key=lambda record: record["setting"]["draw"])
        for record in found[:1] if method == "weshclass" else found:
            for curve in record["method_notes"]["curves"].values():
                step = curve["every"] * (20 if method == "hlda" else 1)
                x = [step * (k + 1) for k in range(len(curve["loss"]))]
                panel.plot(x, curve["loss"], marker=".", markersize=3, linewidth=1)
        what, unit = LOSSES[method]
        panel.set_title(f"{METHODS[method].title}: {what}", fontsize=9)
        panel.set_xlabel(unit)
    assert set(LOSSES) == set(UNLABELLED)
    _save(figure, panels, file)


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "hierseed"  # the same records give the same bytes
    return pyplot


def _save(figure: Any, panels: Any, file: Path) -> None:
    for panel in panels:
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def _stage(name: str) -> str:
    """`node-1` is the root's classifier, `node4` that of topic 4."""
    return name.replace("node-1", "root").replace("node", "topic ").replace("level", "level ")


FIGURES = {"systems_curves": draw_curves, "systems_unlabelled": draw_unlabelled}
