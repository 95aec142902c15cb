"""Run the demo: embed, fit, place, score, and write the files that a user's own job would write."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

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
    """What came out, and the seconds each step took."""

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
