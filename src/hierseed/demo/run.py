"""Run the demo: embed, fit, place, score, and write what a user's own job would leave behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hierseed.assignments import Assignments
from hierseed.demo.corpus import DemoCorpus
from hierseed.embed.choose import get_embedder
from hierseed.embed.prepare import Preparation
from hierseed.evaluate import Scores, score
from hierseed.io.atomic import atomic_file
from hierseed.io.saved import SavedModel, write_saved
from hierseed.io.seed_documents import SeedDocuments
from hierseed.io.tables import write_table
from hierseed.report.gather import gather
from hierseed.report.page import render

EMBEDDER = "wordllama"  # its weights are inside its wheel: nothing to download
TITLE = "Docstrings of Python's library"


@dataclass(frozen=True)
class DemoResult:
    """What came out, and the seconds each step took."""

    estimator: Any
    assignments: Assignments
    scores: Scores
    seconds: dict[str, float]


def run_demo(
    corpus: DemoCorpus,
    estimator: Any,
    folder: Path,
    *,
    say: Callable[[str, str], None] = lambda label, text: None,
) -> DemoResult:
    """Do the whole job and write it into a folder; `say` is told each step when it is done.

    The scores leave the seeds out: their topics were given.
    """
    seconds: dict[str, float] = {}
    clock = _Clock(seconds)
    embedder = get_embedder(EMBEDDER)
    vectors = embedder.encode(corpus.texts)
    preparation = Preparation().fit(vectors)
    X = preparation.transform(vectors)
    taken = clock.done("embed")
    rate = len(X) / max(taken, 1e-9)
    say("Embedded", f"by {EMBEDDER}, {X.shape[1]} numbers each ({rate:,.0f} documents a second)")

    estimator.fit(X, corpus.y)
    assignments = estimator.assign(X, corpus.y)
    taken = clock.done("fit")
    say("Fitted", f"{type(estimator).__name__}, {estimator.n_iter_} rounds ({taken:.1f} s)")

    unseen = corpus.y < 0
    levels = assignments.levels[unseen]
    scores = score(corpus.taxonomy, levels, corpus.gold[unseen])
    clock.done("score")

    folder.mkdir(parents=True, exist_ok=True)
    _write_inputs(corpus, folder)
    write_table(assignments.to_frame(corpus.ids), folder / "placed.csv")
    topics = {corpus.ids[i]: [int(corpus.y[i])] for i in np.flatnonzero(~unseen)}
    seeds = SeedDocuments.among(topics, corpus.ids, vectors)
    about = {"corpus": TITLE, "documents": len(X), "seconds": round(seconds["fit"], 3)}
    fingerprint = embedder.fingerprint
    saved = SavedModel(estimator, preparation, embedder.name, fingerprint, seeds, about)
    write_saved(saved, folder / "model", embedder)
    clock.done("write")

    found = gather(
        estimator, X, zip(corpus.ids, corpus.texts), title=TITLE, assignments=assignments
    )
    with atomic_file(folder / "report.html") as partial:
        partial.write_text(render(found), encoding="utf-8")
    clock.done("report")
    return DemoResult(estimator, assignments, scores, seconds)


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

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds
        self.last = time.perf_counter()

    def done(self, step: str) -> float:
        now = time.perf_counter()
        self.seconds[step], self.last = now - self.last, now
        return self.seconds[step]
