"""The workbench on a large corpus: load, fit, clicks, map and memory, measured in real Chromium.

Writes a corpus of generated documents as CSV, loads it with the job that the page starts, gives
the documents vectors around the topics, and fits with the job that the page starts. Then it
clicks through all screens and times each click from the key or mouse event to the moment that
the page shows the answer.

    python bench/scripts/bench_workbench.py --documents 200000 --folder /some/where
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import itertools
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
from workbench_browser import TOKEN, Server, Visit, chromium, missing

from hierseed.app import fits, fitting, jobs
from hierseed.app.pages.session import job_view
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, labels
from hierseed.app.vectors import _write_sketch
from hierseed.embed import VectorStore
from hierseed.embed.choose import get_embedder
from hierseed.embed.store import hash_text
from hierseed.embed.store_writer import StoreWriter
from hierseed.taxonomy import Taxonomy

RESULT = Path(__file__).resolve().parents[2] / "results" / "workbench.json"
CLICKS = Path(__file__).parent / "workbench_clicks.js"
TOPS, LEAVES, WORDS = 40, 24, 24
BATCH = 10_000


def write_files(folder: Path, n: int) -> tuple[Path, Taxonomy, Any]:
    """Write the corpus as CSV; texts of a topic share words."""
    paths = [f"Area {i:02d} > Subject {i:02d}-{j:02d}" for i in range(TOPS) for j in range(LEAVES)]
    draw = np.random.default_rng(0)
    common = np.array([f"common{i}" for i in range(4_000)])
    own = np.array([[f"t{leaf}w{i}" for i in range(60)] for leaf in range(TOPS * LEAVES)])
    sizes = 1 / np.arange(1, TOPS * LEAVES + 1) ** 0.7
    topic = draw.choice(TOPS * LEAVES, size=n, p=sizes / sizes.sum())
    file = folder / "corpus.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["id", "text", "year", "party"])
        for start in range(0, n, BATCH):
            part = topic[start : start + BATCH]
            rare = own[part[:, None], draw.integers(0, 60, (len(part), 8))]
            often = (4_000 * draw.random((len(part), WORDS - 8)) ** 2).astype(int)
            words = np.concatenate([common[often], rare], axis=1).tolist()
            for i, line in enumerate(words, start):
                writer.writerow([f"doc-{i}", " ".join(line), 1950 + i % 70, "ABC"[i % 3]])
    return file, Taxonomy.from_paths(paths), topic


def make_vectors(project: Project, topic: Any) -> None:
    """Write vectors around the topics in place of an embedder's."""
    draw = np.random.default_rng(1)
    embedder = get_embedder("wordllama")
    centres = draw.normal(size=(TOPS * LEAVES, embedder.dimension))
    centres += 1.5 * np.repeat(draw.normal(size=(TOPS, embedder.dimension)), LEAVES, axis=0)
    project.vectors.mkdir(exist_ok=True)
    found = documents.every(project)
    with StoreWriter(project.vectors, embedder, "float16") as store:
        for start in range(0, len(topic), BATCH):
            part = topic[start : start + BATCH]
            batch = list(itertools.islice(found, len(part)))
            rows = centres[part] + 2.0 * draw.normal(size=(len(part), centres.shape[1]))
            hashes = [hash_text(document.text) for document in batch]
            store.append([d.id for d in batch], hashes, rows.astype(np.float32))
        store.finish()
    _write_sketch(project.vectors, VectorStore(project.vectors))


def processor_ms(pid: int) -> float:
    """Milliseconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1e3 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(project: Project, kind: str, **arguments: Any) -> dict[str, float]:
    """Run a job as the page does.

    Returns its seconds on the clock and of processor time, the share of them with the bar at its
    end, and the memory of the worker.
    """
    began = time.perf_counter()
    id = jobs.start(project, kind, **arguments)
    full = 0.0
    worker = jobs._running[project.path, id].pid
    peak = used = 0.0
    while True:
        job = jobs.get(project, id)
        assert job is not None
        if job.state != "running":
            break
        at = time.perf_counter() - began
        if (view := job_view(job)) and view["share"] < 0.985:
            full = at
        peak = max(peak, memory(worker))
        with contextlib.suppress(OSError):  # it may have ended since
            used = processor_ms(worker) / 1e3
        time.sleep(0.1)
    if job.state != "done":
        sys.exit(f"{kind}: {job.message}")
    taken = time.perf_counter() - began
    at_end = round((taken - full) / taken, 3)
    return {
        "seconds": round(taken, 1),
        "processor_seconds": round(used, 1),
        "bar_at_end": at_end,
        "memory_mb": round(peak),
    }


def memory(pid: int, field: str = "VmRSS") -> float:
    """Megabytes that a process holds."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(x.split()[1]) / 1e3 for x in lines if x.startswith(field)), 0.0)


def make_project(path: Path, n: int) -> None:
    """Load, vectors, seeds and two fits; how long each took is kept in the project."""
    project = Project(path)
    file, taxonomy, topic = write_files(path.parent, n)
    facts = {"file_mb": round(file.stat().st_size / 1e6, 1)}
    arguments = {"file": str(file), "id": "id", "text": "text", "name": "corpus.csv"}
    facts["load"] = watch(project, "load", **arguments)
    ids = edits.replace_all(project, taxonomy, "generated")
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    make_vectors(project, topic)
    pairs = [
        (int(row), ids[leaf])
        for number, leaf in enumerate(leaves)
        for row in np.flatnonzero(topic == number)[:5]
    ]
    labels.load(project, pairs, "file")
    facts["first_fit"] = watch(project, "fit", **fitting.Dials().__dict__)
    facts["second_fit"] = watch(project, "fit", **fitting.Dials().__dict__)
    project.put("bench", facts)
    project.close()


def first_paint(browser: Any, address: str) -> tuple[float, float]:
    """Milliseconds until anything is painted, and until the documents are there."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    page = context.new_page()
    page.goto(f"{address}/review?token={TOKEN}")
    page.wait_for_selector("#side .line")
    shown = page.evaluate("performance.now()")
    paint = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now()"
    )
    context.close()
    return paint, shown


class Clicks:
    """Clicks by name: milliseconds on the clock, and of processor time in server and page.

    On a computer that does other work too, the clock says little; processor time stays the same.
    """

    def __init__(self, visit: Visit, server: int) -> None:
        self.page, self.server = visit.page, server
        self.clock: dict[str, list[float]] = {}
        self.work: dict[str, list[float]] = {}
        self.debugger = self.page.context.new_cdp_session(self.page)
        self.debugger.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.page.evaluate(CLICKS.read_text(encoding="utf-8"))

    def used(self) -> float:
        """Processor time of the server and of the page's main thread."""
        found = self.debugger.send("Performance.getMetrics")["metrics"]
        task = next(one["value"] for one in found if one["name"] == "TaskDuration")
        return 1e3 * task + processor_ms(self.server)

    def click(self, name: str, kind: str, argument: Any = None) -> None:
        """Click once."""
        before = self.used()
        taken = self.page.evaluate("([kind, wanted]) => timeClick(kind, wanted)", [kind, argument])
        self.work.setdefault(name, []).append(self.used() - before)
        self.clock.setdefault(name, []).append(taken)
        self.page.wait_for_timeout(120)  # as a person does, before the next click


def click_through(visit: Visit, server: int, rounds: int) -> Clicks:
    """Walk the screens as a reviewer does, and time each click."""
    clicks = Clicks(visit, server)
    click, times = clicks.click, clicks.clock
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
        click("filter by a column", "filter", "party")
        click("filter by a column", "filter", "")
        click("open the map", "map")
        click("colour the map by a column", "colour", "year")
        click("topics over time", "tab", "Over time")
        click("what changed", "tab", "What changed")
        click("open a step", "step", "Seeds")
        click("suggestions for a topic", "topic", subject)
        click("accept a document", "key", ["a", ".stamp.yes"])
        click("reject a document", "key", ["r", ".stamp.no"])
        click("undo", "undo")
        click("search a rare word", "search", f"t{13 * (i % TOPS) + 1}w{i}")
        click("search a common word", "search", f"common{i}")
        click("turn the page of a search", "page")
        click("similar documents", "similar")
        click("suggestions again", "tab", "Suggested")
        click("the queue", "tab", "Queue")
        click("open a step", "step", "Taxonomy")
        click("select a topic to edit", "topic", subject)
        click("add a topic", "add", f"Fresh {i}-{len(times['open a step'])}")
        click("undo", "undo")
        click("open a step", "step", "Fit")
        click("open a step", "step", "Export")
    return clicks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=200_000)
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
        make_project(path, options.documents)
    project = Project(path)
    fit = fits.last(project)
    if fit is None:
        sys.exit(f"the fit failed: {jobs.latest(project)}")
    size = sum(file.stat().st_size for file in options.folder.glob(f"bench{options.documents}*"))
    server = Server(path)
    with chromium() as browser:
        visit = Visit(browser, server.address + "/review")
        pid = server.process.pid
        first = click_through(visit, pid, 1)  # some things are read once
        clicks = click_through(visit, pid, options.rounds)
        paints = [first_paint(browser, server.address) for _ in range(7)]
    own, resident = memory(pid, "RssAnon"), memory(pid)  # resident: with files mapped into memory
    server.close()
    every = [value for values in clicks.clock.values() for value in values]
    work = [value for values in clicks.work.values() for value in values]
    result = {
        "documents": fit.n,
        "topics": len(fit.taxonomy),
        "database_bytes": size,
        **project.get("bench", {}),
        "server_memory_mb": {"own": round(own), "resident": round(resident)},
        "first_paint_ms": round(statistics.median(paint for paint, _ in paints)),
        "tree_and_documents_ms": round(statistics.median(shown for _, shown in paints)),
        "click_ms": {
            name: {
                "median": round(statistics.median(values)),
                "worst": round(max(values)),
                "work_median": round(statistics.median(clicks.work[name])),
                "work_worst": round(max(clicks.work[name])),
                "first_work": round(first.work[name][0]),
                "clicks": len(values),
            }
            for name, values in clicks.clock.items()
        },
        "all_clicks_work_median_ms": round(statistics.median(work)),
        "all_clicks_work_p95_ms": round(float(np.percentile(work, 95))),
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
