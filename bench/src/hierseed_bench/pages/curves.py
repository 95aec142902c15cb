"""The figure of baselines.md: how the four classifiers learn."""

from pathlib import Path

from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.pages.baselines import SYSTEMS, runs


def draw_curves(file: Path) -> None:
    """Training loss and validation of every system on 20 Newsgroups, all labels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "hierseed"
    figure, grid = pyplot.subplots(2, 4, figsize=(12, 5), sharex="col")
    for column, method in enumerate(SYSTEMS):
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
    for panel in grid.flat:
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    grid[0, 0].set_ylabel("training loss")
    grid[1, 0].set_ylabel("validation score")
    figure.tight_layout()
    file.parent.mkdir(exist_ok=True)
    figure.savefig(file, metadata={"Date": None})


def _stage(name: str) -> str:
    """`node-1` is the root's classifier, `node4` that of topic 4."""
    return name.replace("node-1", "root").replace("node", "topic ").replace("level", "level ")
