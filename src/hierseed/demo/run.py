"""Run the demo: fit, place, score, write the files of a user's own job; show topics and scores."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Group
from rich.table import Table
from rich.text import Text

from hierseed.assignments import Assignments
from hierseed.demo.corpus import DemoCorpus
from hierseed.evaluate import Scores, score
from hierseed.files import atomic_file
from hierseed.io.tables import write_table
from hierseed.pipeline import fit
from hierseed.progress import Listener
from hierseed.report.page import render
from hierseed.text_model import TextModel

EMBEDDER = "wordllama"  # its weights are inside its wheel: nothing to download
TITLE = "Docstrings of Python's library"


@dataclass(frozen=True)
class DemoResult:
    """Results, and the seconds of each step."""

    model: TextModel
    assignments: Assignments
    scores: Scores
    seconds: dict[str, float]


def run_demo(
    corpus: DemoCorpus, method: str, folder: Path, *, progress: Listener | None = None
) -> DemoResult:
    """Do the whole job and write it into a folder.

    The scores leave the seeds out: their topics were given.
    """
    clock = _Clock()
    texts = dict(zip(corpus.ids, corpus.texts))
    paths = corpus.taxonomy.paths
    seeds = {
        paths[topic]: [corpus.ids[row] for row in np.flatnonzero(corpus.y == topic)]
        for topic in np.unique(corpus.y[corpus.y >= 0])
    }
    model = fit(texts, corpus.taxonomy, seeds, embedder=EMBEDDER, method=method, progress=progress)
    model.about["corpus"] = TITLE
    clock.done("fit")
    placed = model.place(texts, progress=progress)
    unseen = corpus.y < 0
    levels = placed.assignments.levels[unseen]
    scores = score(corpus.taxonomy, levels, corpus.gold[unseen])
    clock.done("score")

    folder.mkdir(parents=True, exist_ok=True)
    _write_inputs(corpus, folder)
    write_table(placed.assignments.to_frame(), folder / "placed.csv")
    model.save(folder / "model")
    clock.done("write")
    with atomic_file(folder / "report.html") as partial:
        partial.write_text(render(placed.report(TITLE, progress)), encoding="utf-8", newline="\n")
    clock.done("report")
    return DemoResult(model, placed.assignments, scores, clock.seconds)


def _write_inputs(corpus: DemoCorpus, folder: Path) -> None:
    """Write the files a user would bring, so that every command can be tried on them."""
    paths = np.array(corpus.taxonomy.paths, dtype=object)
    corpus.taxonomy.write(folder / "taxonomy.txt")
    write_table(pd.DataFrame({"id": corpus.ids, "text": corpus.texts}), folder / "docs.csv")
    drawn = np.flatnonzero(corpus.y >= 0)
    seeds = {"id": [corpus.ids[i] for i in drawn], "topic": paths[corpus.y[drawn]]}
    write_table(pd.DataFrame(seeds), folder / "seeds.csv")
    write_table(pd.DataFrame({"id": corpus.ids, "topic": paths[corpus.gold]}), folder / "gold.csv")


class _Clock:
    """Seconds between one step and the next."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.last = time.perf_counter()

    def done(self, step: str) -> float:
        now = time.perf_counter()
        self.seconds[step], self.last = now - self.last, now
        return self.seconds[step]


# ------------------------------------------------------------------ the printed topics


def show_tree(corpus: DemoCorpus, assignments: Assignments, most: int = 4) -> Table:
    """Return the topics of level 1 with their largest children and one document of each.

    `right` is the share of a topic's documents, seeds aside, that truly belong there.
    """
    taxonomy = assignments.taxonomy
    counts = assignments.counts()
    right = _right(corpus, assignments)
    example = _examples(assignments)
    table = Table(box=None, padding=(0, 2, 0, 0), expand=True, header_style="dim")
    table.add_column("topic", ratio=4, no_wrap=True, overflow="ellipsis")
    table.add_column("documents", justify="right")
    table.add_column("right", justify="right")
    table.add_column("for example", ratio=5, no_wrap=True, overflow="ellipsis")
    for top in taxonomy.tree.children(-1):
        if not counts[top]:
            continue
        table.add_row(Text(taxonomy.names[top], "bold"), f"{counts[top]:,}", right[top], "")
        children = [c for c in taxonomy.tree.children(int(top)) if counts[c]]
        children.sort(key=lambda c: -counts[c])
        for child in children[:most]:
            style = "italic dim" if taxonomy.is_other[child] else "cyan"
            name = Text.assemble(("  " + taxonomy.names[child], style))
            text = " ".join(corpus.texts[example[child]].split()) if child in example else ""
            table.add_row(name, f"{counts[child]:,}", right[child], Text(text, "dim"))
        if len(children) > most:
            rest = int(sum(counts[c] for c in children[most:]))
            table.add_row(Text(f"  {len(children) - most} more", "dim"), f"{rest:,}", "", "")
    none = int((assignments.labels < 0).sum())
    if none:
        table.add_row(Text("None", "bold"), f"{none:,}", "", Text("in no listed topic", "dim"))
    return table


def show_scores(scores: Scores) -> Group:
    """Return both protocols, level by level."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    for title in ("B-cubed F1", "V-measure", "accuracy"):
        table.add_column(title, justify="right")
    names = {"all": "all documents", "paper": "as the paper counts"}
    for one in scores:
        if one.protocol == "all":
            for number, level in enumerate(one.levels, start=1):
                _score_row(table, f"level {number}", level, "")
        _score_row(table, f"mean, {names[one.protocol]}", one.mean, "bold")
    note = Text(
        "The paper counts the root as a level of score 1 and leaves out documents in no topic.",
        "dim",
    )
    return Group(table, note)


def _score_row(table: Table, name: str, level: object, style: str) -> None:
    values = (getattr(level, key) for key in ("bcubed_f1", "v_measure", "accuracy"))
    cells = ("" if value is None else f"{value:.3f}" for value in values)
    table.add_row(Text(name, style), *(Text(cell, style) for cell in cells))


def _right(corpus: DemoCorpus, assignments: Assignments) -> list[str]:
    """Share of right placements per topic as text; empty for Other, which has no truth."""
    taxonomy = assignments.taxonomy
    unseen = ~assignments.is_seed
    given, truth = assignments.levels[unseen], corpus.taxonomy.tree.ancestors[corpus.gold[unseen]]
    n = len(taxonomy)
    all_given = np.bincount(given[given >= 0], minlength=n)
    hits = np.bincount(given[(given >= 0) & (given == truth)], minlength=n)
    return [
        f"{hits[t] / all_given[t]:.0%}" if all_given[t] and not taxonomy.is_other[t] else ""
        for t in range(n)
    ]


def _examples(assignments: Assignments) -> dict[int, int]:
    """Find the most central document of each topic that is no seed."""
    first = assignments.primary
    distance: NDArray[np.floating] = assignments.at(assignments.distance)[first]
    found: dict[int, int] = {}
    for row in np.argsort(distance, kind="stable"):
        topic = int(assignments.labels[row])
        if topic >= 0 and topic not in found and not assignments.is_seed[row]:
            found[topic] = int(row)
    return found
