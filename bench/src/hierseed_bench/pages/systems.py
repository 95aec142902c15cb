"""Tables of the paper's eight systems: docs/baselines.md and results/tables/systems-*.md."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.repository import RESULTS
from hierseed_bench.runs.plan_systems import (
    ABLATED,
    DATA,
    REDUCED,
    SAMPLE,
    SHORTER,
    SUPERVISED,
    UNLABELLED,
    WORDS,
    draws_of,
)
from hierseed_bench.runs.records import Record, Records
from hierseed_bench.tables.cells import Pick, cell, filter_records, mean_of
from hierseed_bench.tables.markdown import Table

SYSTEMS = (*SUPERVISED, *UNLABELLED)
ABOUT = "Accuracy at level 1 and at the last level; B-cubed F1 and V-measure, mean over levels."


@cache
def _every() -> list[Record]:
    return Records(RESULTS / "runs").find(method=list(SYSTEMS), seeds=4, skew=0, leave_out=0)


def runs(full: bool, **wanted: Any) -> list[Record]:
    """Runs of the comparison: with all labels, or with 4 seeds a topic and nothing changed."""
    tags = ("full",) if full else ("", SHORTER)
    return [r for r in filter_records(_every(), limit=0, **wanted) if r["setting"]["tag"] in tags]


def tagged(data: str, method: str, tag: str) -> list[Record]:
    """Runs with something changed; without a tag the plain ones."""
    if not tag:
        return runs(False, data=data, method=method, draw=0)
    return filter_records(_every(), data=data, method=method, tag=tag)


# ------------------------------------------------------------------ picks


def accuracy(level: int) -> Pick:
    """Accuracy at one level."""
    return lambda record: record["scores"]["all"]["levels"][level]["accuracy"]


def judged(name: str, at: int | None = None) -> Pick:
    """A measure of the system's own, or one of a list of them."""
    return lambda record: _part(record["judged"].get(name), at)


def noted(name: str, at: int | None = None) -> Pick:
    """A figure of the fit, or one of a list of them."""
    return lambda record: _part(record["method_notes"].get(name), at)


def v_at(level: int) -> Pick:
    """V-measure at one level."""
    return lambda record: record["scores"]["all"]["levels"][level]["v_measure"]


def _part(found: Any, at: int | None) -> Any:
    return found if at is None or found is None else found[at]


# ------------------------------------------------------------------ tables


def scores(full: bool, title: str, systems: tuple[str, ...]) -> Table:
    """Every system on every data set, both protocols."""
    rows = []
    for data, method in product(DATA, systems):
        own = runs(full, data=data, method=method)
        if own:
            cells = [cell(own, accuracy(0)), cell(own, accuracy(-1))]
            for protocol in ("all", "paper"):
                cells += [cell(own, mean_of(m, protocol)) for m in ("bcubed_f1", "v_measure")]
            rows.append((data, METHODS[method].title, str(len(own)), *cells))
    about = f"{ABOUT} Mean ± standard deviation over draws. {made_on(full, systems)}"
    head = ("data", "system", "draws", "level 1", "deepest", "B3 all", "V all", "B3 paper")
    return Table(title, about, (*head, "V paper"), tuple(rows))


def gpu_of(record: Record) -> str:
    """Name of the GPU a record was made on, nothing for a CPU."""
    return str(record["method_notes"].get("device", "cpu")).removeprefix("cpu")


def made_on(full: bool, systems: tuple[str, ...]) -> str:
    """Say how many runs of which system were made on a GPU."""
    parts = []
    for method in systems:
        every = runs(full, method=method)
        gpu = [record for record in every if gpu_of(record)]
        if gpu:
            parts.append(f"{METHODS[method].title} {len(gpu)} of {len(every)} ({gpu_of(gpu[0])})")
    return f"Runs on a GPU: {', '.join(parts)}; the others on one core." if parts else ""


def cost() -> Table:
    """Time and memory of every system, by what it ran on."""
    rows = []
    for full, method in (*((True, m) for m in SUPERVISED), *((False, m) for m in SYSTEMS)):
        every = runs(full, method=method)
        for gpu in sorted({gpu_of(record) for record in every}, reverse=True):
            cells = []
            for data in DATA:
                own = [r for r in filter_records(every, data=data) if gpu_of(r) == gpu]
                text = f"{cell(own, _seconds, 0)} s, {cell(own[:1], _memory, 0)} MiB"
                cells.append(text if own else "-")
            setting = "all labels" if full else "4 seeds"
            rows.append((METHODS[method].title, setting, gpu or "one core", *cells))
    about = (
        "Seconds to fit and memory. On a GPU: wall time and peak GPU memory; fifteen runs and more "
        "shared the GPU and 16 cores, so a single run is faster. On one core: processor time, and "
        "the growth of the process."
    )
    return Table("Time and memory", about, ("system", "setting", "on", *DATA), tuple(rows))


def _seconds(record: Record) -> float:
    # a resumed run counts as a whole, in processor time
    trained = record["method_notes"].get("training_processor_seconds", 0.0)
    spent = record["seconds"]["fit" if gpu_of(record) else "fit_processor"]
    return max(float(trained), float(spent))


def _memory(record: Record) -> float:
    if gpu_of(record):
        return float(record["method_notes"]["gpu_peak_mib"])
    return float(record["memory_mib"]["extra"])


def made() -> Table:
    """Runs that were made, of those planned."""
    rows = [
        (METHODS[method].title, setting, *(_count(full, data, method) for data in DATA))
        for full, setting, systems in (
            (False, "4 seeds", SYSTEMS),
            (True, "all labels", SUPERVISED),
        )
        for method in systems
    ]
    about = "Draws that were run, of those planned."
    return Table("Runs made", about, ("system", "setting", *DATA), tuple(rows))


def _count(full: bool, data: str, method: str) -> str:
    planned = 1 if full else draws_of(data)
    return f"{len(runs(full, data=data, method=method))} of {planned}"


def reduced() -> Table:
    """Whole and reduced systems side by side."""
    more: dict[str, dict[str, Pick]] = {
        "hiagm": {"micro-F1": judged("micro_f1"), "macro-F1": judged("macro_f1")},
        "hilap": {
            "exact path": judged("exact_path"),
            "labels a document": judged("labels_per_document"),
            "leaf, STOP forbidden": judged("forced_leaf"),
        },
    }
    flat = "without the tree term"
    changes = [(method, full, "", tag) for method, full, _, tag in REDUCED]
    changes += [
        ("josh", False, whole, f"{whole}, {what}")
        for whole in (WORDS, SAMPLE)
        for what in (flat, "shuffled among the leaves")
    ]
    rows = []
    for data, (method, full, whole_tag, tag) in product(DATA, changes):
        whole = runs(True, data=data, method=method) if full else tagged(data, method, whole_tag)
        part = tagged(data, method, tag)
        picks = {"level 1": accuracy(0), "deepest": accuracy(-1)} | more.get(method, {})
        rows += [
            (data, METHODS[method].title, what, whole_tag, cell(whole, pick), tag, cell(part, pick))
            for what, pick in picks.items()
            if whole and part
        ]
    head = ("data", "system", "measure", "whole", "", "reduced", "")
    about = "One draw, test part; classifiers with all labels, JoSH with the names of topics."
    return Table("With and without its characteristic part", about, head, tuple(rows))


def acceptance() -> Table:
    """Scores that an implementation must reach on 20 Newsgroups, and those that it has."""
    rows = []
    for method, full, tag, what, bound, pick in ACCEPTANCE:
        plain = runs(full, data=ABLATED[0], method=method)
        own = tagged(ABLATED[0], method, tag) if tag else plain
        setting = tag or ("all labels" if full else "4 seeds")
        if own:
            rows.append((METHODS[method].title, setting, what, bound, cell(own, pick)))
    about = (
        "Bounds from calibration runs of independent code (classifiers: GloVe vectors with 50 "
        "dimensions; ours: skip-gram vectors with 100, trained on the training texts)."
    )
    head = ("system", "setting", "measure", "to reach", "seen")
    return Table("Acceptance on 20 Newsgroups", about, head, tuple(rows))


TOP, LEAF = accuracy(0), accuracy(-1)
BEFORE = "before_self_training"
SHUFFLED = "shuffled among the leaves"
ACCEPTANCE: tuple[tuple[str, bool, str, str, str, Pick], ...] = (
    ("hdltex", True, "", "level 1", ">= .83", TOP),
    ("hdltex", True, "", "leaf", ">= .60", LEAF),
    ("hdltex", False, "", "level 1", ".33 - .46", TOP),
    ("hdltex", False, "", "leaf", ".09 - .17", LEAF),
    ("hft", True, "", "level 1", ">= .82", TOP),
    ("hft", True, "", "leaf", ">= .65", LEAF),
    ("hft", False, "", "level 1", ".55 - .68", TOP),
    ("hft", False, "", "leaf", ".20 - .33", LEAF),
    ("hiagm", True, "", "level 1", ">= .85", TOP),
    ("hiagm", True, "", "leaf", ">= .65", LEAF),
    ("hiagm", True, "", "micro-F1 at .5", ">= .75", judged("micro_f1")),
    ("hiagm", True, "", "found without parent", "<= .05", judged("without_parent")),
    ("hiagm", False, "", "leaf", ".15 - .30", LEAF),
    ("hilap", True, "", "leaf, STOP forbidden", ">= .65", judged("forced_leaf")),
    ("hilap", True, "", "leaf, flat head", ">= .70", judged("flat_head_leaf")),
    ("hilap", True, "", "labels a document", "2.0 ± .15", judged("labels_per_document")),
    ("hilap", True, "", "exact path of the walk", ">= .60", judged("exact_path")),
    ("hilap", True, "before RL", "exact path", "4 points less", judged("exact_path")),
    ("hlda", False, "", "clusters at level 1", "10 - 30", noted("clusters", 0)),
    ("hlda", False, "", "clusters at level 2", "30 - 100", noted("clusters", 1)),
    ("hlda", False, "", "V, level 1", ">= .18", v_at(0)),
    ("hlda", False, "", "V, level 2", ">= .38", v_at(1)),
    ("tsntm", False, "", "perplexity, test", "< 1,070", judged("perplexity")),
    ("tsntm", False, "", "leaves used", ">= 6", judged("leaves_used")),
    ("tsntm", False, "", "V, level 1", ">= .20", v_at(0)),
    ("tsntm", False, "", "V, leaf", ">= .17", v_at(1)),
    ("tsntm", False, "", "similarity of siblings", "< .15", noted("diversity_term")),
    ("josh", False, WORDS, "level 1", ">= .68", TOP),
    ("josh", False, WORDS, "leaf", ">= .45", LEAF),
    ("josh", False, WORDS, "leaf, mean of words", "10 points less", judged("mean_of_words_leaf")),
    ("josh", False, f"{WORDS}, {SHUFFLED}", "leaf", "< .15", LEAF),
    ("josh", False, f"{SAMPLE}, {SHUFFLED}", "leaf", "< .15", LEAF),
    ("weshclass", False, "", "level 1, before self-training", ">= .53", judged(BEFORE, 0)),
    ("weshclass", False, "", "leaf, before self-training", ">= .24", judged(BEFORE, 1)),
    ("weshclass", False, "", "leaf, after", "not 2 points less", LEAF),
    ("weshclass", False, "", "seeds that keep their topic", ">= .95", judged("seeds_kept")),
    ("weshclass", False, "", "labels changed at the last update", "< .01", judged("changed_last")),
    ("weshclass", False, "keywords of all labels", "leaf, before", "5 more", judged(BEFORE, 1)),
    ("weshclass", False, "keywords of all labels", "leaf, after", "more than before", LEAF),
)  # fmt: skip
TABLES: dict[str, Callable[[], Table]] = {
    "systems-seeds": lambda: scores(False, "The eight systems, four seeds a topic", SYSTEMS),
    "systems-full": lambda: scores(True, "The classifiers with all labels", SUPERVISED),
    "systems-made": made,
    "systems-acceptance": acceptance,
    "systems-reduced": reduced,
    "systems-cost": cost,
}
