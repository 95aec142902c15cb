"""Fill the tables and draw the figures of baselines.md from the records.

python -m hierseed_bench.pages.baselines
"""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.repository import DOCS, RESULTS
from hierseed_bench.runs.records import Record, Records
from hierseed_bench.tables.cells import SHORTER, Table, cell, mean_of

SYSTEMS = ("hdltex", "hft", "hiagm", "hilap")
EIGHT = (*SYSTEMS, "weshclass", "josh", "tsntm", "hlda")
DRAWS = 3
DATA = ("20newsgroups", "arxiv", "cap", "us_code")
Pick = Callable[[Record], float | None]


def runs(full: bool, **wanted: Any) -> list[Record]:
    """Runs of the comparison: with all labels, or with 4 seeds a topic and nothing changed."""
    found = Records(RESULTS / "runs").find(seeds=4, limit=0, skew=0, leave_out=0, **wanted)
    if full:
        return [record for record in found if record["setting"]["parameters"].get("full")]
    return [
        record
        for record in found
        if not record["setting"]["parameters"] or record["setting"]["tag"] == SHORTER
    ]


def ablation(data: str, tag: str) -> list[Record]:
    """Runs with one part taken out."""
    return Records(RESULTS / "systems").find(data=data, tag=tag)


def accuracy(level: int) -> Pick:
    """Accuracy at one level."""
    return lambda record: record["scores"]["all"]["levels"][level]["accuracy"]


def judged(name: str) -> Pick:
    """A measure of the system's own."""
    return lambda record: record["judged"].get(name)


def scores(full: bool, title: str, about: str, systems: tuple[str, ...] = SYSTEMS) -> Table:
    """Every system on every data set, both protocols."""
    rows = []
    for data in DATA:
        for method in systems:
            own = runs(full, data=data, method=method)
            if not own:
                continue
            cells = [cell(own, accuracy(0)), cell(own, accuracy(-1))]
            for protocol in ("all", "paper"):
                cells += [cell(own, mean_of(m, protocol)) for m in ("bcubed_f1", "v_measure")]
            rows.append((data, METHODS[method].title, str(len(own)), *cells))
    header = (
        "data",
        "system",
        "draws",
        "level 1",
        "deepest",
        "B3 all",
        "V all",
        "B3 paper",
        "V paper",
    )
    return Table(title, about, header, tuple(rows))


def gpu_of(record: Record) -> str:
    """Name of the GPU a record was made on, nothing for a CPU."""
    return str(record["method_notes"].get("device", "cpu")).removeprefix("cpu")


def made_on(full: bool) -> str:
    """Say how many runs were made on what."""
    found = [record for method in SYSTEMS for record in runs(full, method=method)]
    gpu = [record for record in found if gpu_of(record)]
    told = f"Made on one {gpu_of(gpu[0])}, fifteen runs at a time" if gpu else "Made"
    rest = [record for record in found if not gpu_of(record)]
    if not rest:
        return f"{told}."
    names = [
        f"{METHODS[method].title} on {data}"
        + ("" if full else f" draw {' and '.join(map(str, sorted(draws)))}")
        for method in SYSTEMS
        for data in DATA
        if (draws := {r["setting"]["draw"] for r in rest if _is(r, method, data)})
    ]
    return f"{told}; on one core of a CPU: {', '.join(names)}."


def _is(record: Record, method: str, data: str) -> bool:
    setting = record["setting"]
    return bool(setting["method"] == method and setting["data"] == data)


def cost() -> Table:
    """Time and memory of every system, by what it ran on."""
    rows = []
    for full, setting in ((True, "all labels"), (False, "4 seeds")):
        for method in SYSTEMS:
            every = runs(full, method=method)
            for gpu in sorted({gpu_of(record) for record in every}, reverse=True):
                on = [record for record in every if gpu_of(record) == gpu]
                own = [[r for r in on if r["setting"]["data"] == data] for data in DATA]
                cells = [f"{cell(o, _spent, 0)} s, {cell(o[:1], _held, 0)} MiB" for o in own]
                cells = [text if o else "-" for text, o in zip(cells, own)]
                rows.append((METHODS[method].title, setting, gpu or "one core", *cells))
    about = (
        "Seconds to fit and memory. On the GPU the time on the wall and the most of the GPU's "
        "memory; fifteen runs shared it and 16 cores, so a run alone is faster than this. On a "
        "core the processor's time, and what the process grew by."
    )
    return Table("Time and memory", about, ("system", "setting", "on", *DATA), tuple(rows))


def _spent(record: Record) -> float:
    # a run that was stopped and went on counts as a whole, by the processor's time
    trained = record["method_notes"].get("training_processor_seconds", 0.0)
    return max(
        float(trained), float(record["seconds"]["fit" if gpu_of(record) else "fit_processor"])
    )


def _held(record: Record) -> float:
    if gpu_of(record):
        return float(record["method_notes"]["gpu_peak_mib"])
    return float(record["memory_mib"]["extra"])


def missing() -> Table:
    """Cells of the comparison that have fewer draws than the others."""
    rows = []
    for method, data in product(EIGHT, DATA):
        seen = {record["setting"]["draw"] for record in runs(False, data=data, method=method)}
        left = [str(draw) for draw in range(DRAWS) if draw not in seen]
        if left:
            rows.append((METHODS[method].title, "4 seeds", data, ", ".join(left)))
        if method in SYSTEMS and not runs(True, data=data, method=method):
            rows.append((METHODS[method].title, "all labels", data, "0"))
    about = f"Of {DRAWS} draws with four seeds a topic and one with all labels" + (
        "." if rows else ", none."
    )
    header = ("system", "setting", "data", "draws")
    return Table("Runs that are missing", about, header, tuple(rows))


def ablations() -> Table:
    """Whole and reduced systems side by side."""
    rows = []
    for data in ("20newsgroups", "arxiv"):
        for method, tag, picks in (
            (
                "hiagm",
                "without GCN",
                {
                    "leaf accuracy": accuracy(-1),
                    "micro-F1": judged("micro_f1"),
                    "macro-F1": judged("macro_f1"),
                },
            ),
            ("hft", "without fine-tuning", {"leaf accuracy": accuracy(-1)}),
            (
                "hilap",
                "before RL",
                {
                    "leaf accuracy": accuracy(-1),
                    "exact path": judged("exact_path"),
                    "labels a document": judged("labels_per_document"),
                    "leaf, STOP forbidden": judged("forced_leaf"),
                },
            ),
        ):
            whole, part = runs(True, data=data, method=method), ablation(data, tag)
            rows += [
                (data, METHODS[method].title, what, cell(whole, pick), tag, cell(part, pick))
                for what, pick in picks.items()
                if whole or part
            ]
    header = ("data", "system", "measure", "whole", "", "reduced")
    return Table(
        "With and without its characteristic part", "All labels, test part.", header, tuple(rows)
    )


def acceptance() -> Table:
    """What a real implementation must reach on 20 Newsgroups, and what was seen."""
    rows = []
    for method, full, what, bound, pick in ACCEPTANCE:
        own = runs(full, data="20newsgroups", method=method)
        setting = "all labels" if full else "4 seeds"
        rows.append((METHODS[method].title, setting, what, bound, cell(own, pick)))
    before = cell(ablation("20newsgroups", "before RL"), judged("exact_path"))
    rows.append(("HiLAP-RL", "all labels", "exact path before RL", "4 points less", before))
    return Table(
        "Acceptance on 20 Newsgroups",
        "Bounds from calibration runs of independent code with GloVe vectors of 50 numbers; ours "
        "are skip-gram vectors of 100 trained on the training texts.",
        ("system", "setting", "measure", "to reach", "seen"),
        tuple(rows),
    )


TOP, LEAF = accuracy(0), accuracy(-1)
ACCEPTANCE: tuple[tuple[str, bool, str, str, Pick], ...] = (
    ("hdltex", True, "level 1", ">= .83", TOP),
    ("hdltex", True, "leaf", ">= .60", LEAF),
    ("hdltex", False, "level 1", ".33 - .46", TOP),
    ("hdltex", False, "leaf", ".09 - .17", LEAF),
    ("hft", True, "level 1", ">= .82", TOP),
    ("hft", True, "leaf", ">= .65", LEAF),
    ("hft", False, "level 1", ".55 - .68", TOP),
    ("hft", False, "leaf", ".20 - .33", LEAF),
    ("hiagm", True, "level 1", ">= .85", TOP),
    ("hiagm", True, "leaf", ">= .65", LEAF),
    ("hiagm", True, "micro-F1 at .5", ">= .75", judged("micro_f1")),
    ("hiagm", True, "found without parent", "<= .05", judged("without_parent")),
    ("hiagm", False, "leaf", ".15 - .30", LEAF),
    ("hilap", True, "leaf, STOP forbidden", ">= .65", judged("forced_leaf")),
    ("hilap", True, "leaf, flat head", ">= .70", judged("flat_head_leaf")),
    ("hilap", True, "labels a document", "2.0 ± .15", judged("labels_per_document")),
    ("hilap", True, "exact path of the walk", ">= .60", judged("exact_path")),
)
FULL = "Accuracy at level 1 and at the last level; B-cubed F1 and V-measure, mean over levels."
TABLES: dict[str, Callable[[], Table]] = {
    "acceptance": acceptance,
    "full": lambda: scores(
        True, "All labels", f"{FULL} One run each, one label in five held out. {made_on(True)}"
    ),
    "seeds": lambda: scores(
        False,
        "Four seeds a topic",
        f"{FULL} Mean ± standard deviation over draws. {made_on(False)}",
    ),
    "ablations": ablations,
    "cost": cost,
    "missing": missing,
}


def fill(text: str, tables: dict[str, Callable[[], Table]]) -> str:
    """Replace what stands between `<!-- system table NAME -->` and `<!-- end -->`."""
    block = re.compile(r"(<!-- system table (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)

    def fresh(found: re.Match[str]) -> str:
        if found[2] not in tables:
            return found[0]
        return f"{found[1]}\n{tables[found[2]]().markdown()}\n{found[3]}"

    return block.sub(fresh, text)


if __name__ == "__main__":
    from hierseed_bench.pages.curves import draw_curves
    from hierseed_bench.pages.unlabelled import UNLABELLED_TABLES, draw_unlabelled

    draw_curves(DOCS / "figures" / "systems_curves.svg")
    draw_unlabelled(DOCS / "figures" / "systems_unlabelled.svg")
    page = DOCS / "baselines.md"
    every = TABLES | UNLABELLED_TABLES
    page.write_text(fill(page.read_text(encoding="utf-8"), every), encoding="utf-8")
