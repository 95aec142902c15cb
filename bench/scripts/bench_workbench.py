"""The workbench on a million documents: first paint and clicks, measured in real Chromium.

Makes a project of generated documents (texts from a small vocabulary, vectors around the topics),
fits it through the same worker as the page, then clicks through the screens and times each click
from the key or mouse event to the moment that the page shows the answer.

    python bench/scripts/bench_workbench.py --documents 1000000 --folder /some/where
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "app"))
from workbench_browser import Server, Visit, chromium, missing

from hierseed.app import fits, fitting, jobs
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, labels
from hierseed.app.vectors import _write_sketch
from hierseed.embed import VectorStore
from hierseed.embed.choose import get_embedder
from hierseed.embed.corpus import hash_text
from hierseed.embed.store_writer import StoreWriter
from hierseed.taxonomy import Taxonomy

RESULT = Path(__file__).resolve().parents[2] / "results" / "workbench.json"
CLICKS = Path(__file__).parent / "workbench_clicks.js"
TOPS, LEAVES, WORDS = 12, 12, 30


def make_project(path: Path, n: int) -> tuple[Project, dict[str, float]]:
    """Documents, vectors and seeds; texts of a topic share words and a direction."""
    project = Project(path)
    taxonomy = Taxonomy.from_paths(
        [f"Area {i:02d} > Subject {i:02d}-{j:02d}" for i in range(TOPS) for j in range(LEAVES)]
    )
    ids = edits.replace_all(project, taxonomy, "generated")
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    draw = np.random.default_rng(0)
    common = np.array([f"common{i}" for i in range(4_000)])
    own = np.array([[f"t{leaf}w{i}" for i in range(60)] for leaf in leaves])
    sizes = 1 / np.arange(1, len(leaves) + 1) ** 0.7
    embedder = get_embedder("wordllama")
    centres = draw.normal(size=(len(leaves), embedder.dimension))
    centres += 1.5 * np.repeat(draw.normal(size=(TOPS, embedder.dimension)), LEAVES, axis=0)
    seconds = {"load": 0.0, "vectors": 0.0}
    topic = draw.choice(len(leaves), size=n, p=sizes / sizes.sum())
    project.vectors.mkdir(exist_ok=True)
    with StoreWriter(project.vectors, embedder, "float16") as store:
        for start in range(0, n, 10_000):
            part = topic[start : start + 10_000]
            words = np.concatenate(
                [
                    common[(4_000 * draw.random((len(part), WORDS - 8)) ** 2).astype(int)],
                    own[part[:, None], draw.integers(0, 60, (len(part), 8))],
                ],
                axis=1,
            )
            texts = [" ".join(line) for line in words.tolist()]
            names = [f"doc-{start + i}" for i in range(len(part))]
            began = time.perf_counter()
            documents.add(project, zip(names, texts))
            seconds["load"] += time.perf_counter() - began
            began = time.perf_counter()
            rows = centres[part] + 2.0 * draw.normal(size=(len(part), centres.shape[1]))
            store.append(names, [hash_text(text) for text in texts], rows.astype(np.float32))
            seconds["vectors"] += time.perf_counter() - began
        store.finish()
    _write_sketch(project.vectors, VectorStore(project.vectors))
    for number, leaf in enumerate(leaves):
        rows = np.flatnonzero(topic == number)[:5]
        labels.load(project, [(int(row), ids[leaf]) for row in rows], "file")
    return project, seconds


def first_paint(browser: Any, address: str) -> tuple[float, float]:
    """Milliseconds until anything is painted, and until the documents are there."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    page = context.new_page()
    page.goto(address + "/review")
    page.wait_for_selector("#side .line")
    shown = page.evaluate("performance.now()")
    paint = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now()"
    )
    context.close()
    return paint, shown


def click_through(visit: Visit, rounds: int) -> dict[str, list[float]]:
    """Walk the screens as a reviewer does; milliseconds of each click, by what it was."""
    page = visit.page
    page.evaluate(CLICKS.read_text(encoding="utf-8"))
    times: dict[str, list[float]] = {}

    def click(name: str, kind: str, argument: Any = None) -> None:
        taken = page.evaluate("([kind, argument]) => timeClick(kind, argument)", [kind, argument])
        times.setdefault(name, []).append(taken)
        page.wait_for_timeout(120)  # as a person does, before the next click

    for i in range(rounds):
        subject = f"Subject {i % TOPS:02d}-{(5 * i) % LEAVES:02d}"
        click("open a step", "step", "Review")
        click("select a topic in review", "topic", subject)
        click("borderline documents", "tab", "Borderline")
        click("turn the page", "page")
        click("odd documents", "tab", "Odd")
        click("why here", "key", ["w", ".why .rung"])
        click("select a top-level topic", "topic", f"Area {i % TOPS:02d}")
        click("central documents", "tab", "Central")
        click("open a step", "step", "Seeds")
        click("suggestions for a topic", "topic", subject)
        click("accept a document", "key", ["a", ".stamp.yes"])
        click("search a rare word", "search", f"t{13 * (i % TOPS) + 1}w{i}")
        click("search a common word", "search", f"common{i}")
        click("turn the page of a search", "page")
        click("similar documents", "similar")
        click("suggestions again", "tab", "Suggested")
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--folder", type=Path, default=Path("build/bench_workbench"))
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    if missing():
        print(f"not run: {missing()}")
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / f"bench{options.documents}.hierseed"
    if not path.exists():
        project, seconds = make_project(path, options.documents)
        began = time.perf_counter()
        jobs.wait(project, jobs.start(project, "fit", **fitting.Dials().__dict__), 3_600)
        seconds["fit"] = time.perf_counter() - began
        project.put("seconds", seconds)
        project.close()
    project = Project(path)
    seconds: dict[str, float] = project.get("seconds", {})
    fit = fits.last(project)
    if fit is None:
        sys.exit(f"the fit failed: {jobs.latest(project)}")
    size = sum(file.stat().st_size for file in options.folder.glob(f"bench{options.documents}*"))
    server = Server(path)
    with chromium() as browser:
        first_paint(browser, server.address)  # the server reads the fit, the disk warms up
        paints = [first_paint(browser, server.address) for _ in range(7)]
        visit = Visit(browser, server.address + "/review")
        click_through(visit, 1)  # indexes are read once
        times = click_through(visit, options.rounds)
    server.close()
    every = [value for values in times.values() for value in values]
    result = {
        "documents": fit.n,
        "topics": len(fit.taxonomy),
        "database_bytes": size,
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "first_paint_ms": round(statistics.median(paint for paint, _ in paints)),
        "tree_and_documents_ms": round(statistics.median(shown for _, shown in paints)),
        "click_ms": {
            name: {"median": round(statistics.median(v)), "worst": round(max(v)), "clicks": len(v)}
            for name, v in times.items()
        },
        "all_clicks_median_ms": round(statistics.median(every)),
        "all_clicks_p95_ms": round(float(np.percentile(every, 95))),
        "machine": {
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "load": [round(value, 1) for value in os.getloadavg()],
            "python": platform.python_version(),
            "browser": "Chromium, headless",
        },
    }
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
