"""The tables of baselines.md on the systems that learn from unlabelled texts."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.pages.baselines import (
    DATA,
    FULL,
    Pick,
    ablation,
    accuracy,
    judged,
    runs,
    scores,
)
from hierseed_bench.runs.records import Record
from hierseed_bench.tables.cells import Table, cell

UNLABELLED = ("hlda", "tsntm", "josh", "weshclass")
TOP, LEAF = accuracy(0), accuracy(-1)
WORDS = "a word a topic"
SAMPLE = f"{WORDS}, 3,000 documents"
FLAT = "without the tree term"
LOSSES = {
    "hlda": ("minus log likelihood a word", "sweep"),
    "tsntm": ("minus the bound a text", "epoch"),
    "josh": ("mean hinge of the texts", "epoch"),
    "weshclass": ("loss of each stage", "epoch"),
}


def unlabelled_cost() -> Table:
    """Time and memory of the systems that learn from unlabelled texts, by what they ran on."""
    rows = []
    for method in UNLABELLED:
        every = runs(False, method=method)
        for gpu in sorted({on_gpu(record) for record in every}):
            cells = []
            for data in DATA:
                own = [
                    record
                    for record in every
                    if record["setting"]["data"] == data and on_gpu(record) == gpu
                ]
                fit, place = (cell(own, _spent(what), 0) for what in ("fit", "predict"))
                cells.append(f"{fit} s + {place} s, {cell(own, _memory, 0)} MiB" if own else "-")
            rows.append((METHODS[method].title, gpu or "one core", *cells))
    about = (
        "Seconds to fit + to place the test part, and the memory it took. On a core: the "
        "processor's time, and what the process grew by. On a GPU: the time on the wall, with up "
        "to eighteen runs beside it, and the GPU's memory."
    )
    return Table("Time and memory", about, ("system", "on", *DATA), tuple(rows))


def on_gpu(record: Record) -> str:
    """Name of the GPU a record was made on, nothing for a CPU."""
    device = str(record["method_notes"].get("device", "cpu"))
    return "" if device == "cpu" else device


def _spent(what: str) -> Pick:
    def pick(record: Record) -> float | None:
        taken = float(record["seconds"][what if on_gpu(record) else f"{what}_processor"])
        if what == "fit":  # a run that was stopped and went on counts as a whole
            taken = max(taken, record["method_notes"].get("training_processor_seconds", 0.0))
        return taken

    return pick


def _memory(record: Record) -> float | None:
    if on_gpu(record):
        return float(record["method_notes"]["gpu_peak_mib"])
    return float(record["memory_mib"]["extra"])


def made_on() -> str:
    """Say which draws of which system were made on a GPU."""
    told = []
    for method in UNLABELLED:
        every = runs(False, method=method)
        gpu = [record for record in every if on_gpu(record)]
        if gpu and len(gpu) == len(every):
            told.append(f"{METHODS[method].title} on an {on_gpu(gpu[0])}")
        elif gpu:
            told.append(
                f"{METHODS[method].title} {len(gpu)} of {len(every)} on an {on_gpu(gpu[0])}"
            )
    return f"Runs: {', '.join(told)}; all others on a CPU." if told else "All on a CPU."


def draw_unlabelled(file: Path) -> None:
    """Training loss on 20 Newsgroups, a line a draw; WeSHClass: a line a stage, draw 0."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "hierseed"
    figure, panels = pyplot.subplots(1, 4, figsize=(12, 2.8))
    for panel, method in zip(panels, UNLABELLED):
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
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def unlabelled_acceptance() -> Table:
    """What each must reach on 20 Newsgroups, and what was seen."""
    rows = []
    for method, tag, what, bound, pick in UNLABELLED_ACCEPTANCE:
        own = (
            ablation("20newsgroups", tag)
            if tag
            else runs(False, data="20newsgroups", method=method)
        )
        own = [record for record in own if record["setting"]["method"] == method]
        if own:
            rows.append((METHODS[method].title, tag, what, bound, cell(own, pick)))
    return Table(
        "Acceptance on 20 Newsgroups",
        "Bounds from calibration runs of independent code. Mean ± standard deviation over draws.",
        ("system", "setting", "measure", "to reach", "seen"),
        tuple(rows),
    )


def unlabelled_ablations() -> Table:
    """Whole and reduced systems side by side, draw 0."""
    rows = []
    for data, (method, whole_tag, tag) in product(DATA, ABLATIONS):
        whole = (
            ablation(data, whole_tag)
            if whole_tag
            else runs(False, data=data, method=method, draw=0)
        )
        whole, part = (
            [r for r in found if r["setting"]["method"] == method]
            for found in (whole, ablation(data, tag))
        )
        rows += [
            (data, METHODS[method].title, what, whole_tag, cell(whole, pick), tag, cell(part, pick))
            for what, pick in (("level 1", TOP), ("deepest", LEAF))
            if whole and part
        ]
    header = ("data", "system", "accuracy", "whole", "", "reduced", "")
    about = "One draw, test part. JoSH by the topics' names where nothing else is said."
    return Table("With and without its characteristic part", about, header, tuple(rows))


def measure(name: str, level: int) -> Pick:
    """A measure at one level under the protocol `all`."""
    return lambda record: record["scores"]["all"]["levels"][level][name]


def noted(name: str, at: int | None = None) -> Pick:
    """A figure of the fit, or one of a list of them."""

    def pick(record: Record) -> float | None:
        found = record["method_notes"].get(name)
        return found if at is None or found is None else found[at]

    return pick


def judged_at(name: str, at: int) -> Pick:
    """One of a list of measures of the system's own."""
    return lambda record: record["judged"][name][at]


ABLATIONS = (
    ("josh", "", FLAT),
    ("josh", WORDS, f"{WORDS}, {FLAT}"),
    ("josh", WORDS, f"{WORDS}, shuffled among the leaves"),
    ("josh", SAMPLE, f"{SAMPLE}, {FLAT}"),
    ("josh", SAMPLE, f"{SAMPLE}, shuffled among the leaves"),
    ("weshclass", "", "without self-training"),
    ("weshclass", "", "keywords alone"),
    ("weshclass", "language model, without self-training", "without self-training"),
)
V1, V2 = measure("v_measure", 0), measure("v_measure", 1)
BEFORE = "before_self_training"
UNLABELLED_ACCEPTANCE: tuple[tuple[str, str, str, str, Pick], ...] = (
    ("hlda", "", "clusters at level 1", "10 - 30", noted("clusters", 0)),
    ("hlda", "", "clusters at level 2", "30 - 100", noted("clusters", 1)),
    ("hlda", "", "V, level 1", ">= .18", V1),
    ("hlda", "", "V, level 2", ">= .38", V2),
    ("tsntm", "", "perplexity, test", "< 1,070", judged("perplexity")),
    ("tsntm", "", "leaves used", ">= 6", judged("leaves_used")),
    ("tsntm", "", "V, level 1", ">= .20", V1),
    ("tsntm", "", "V, leaf", ">= .17", V2),
    ("tsntm", "", "likeness of siblings", "< .15", noted("diversity_term")),
    ("josh", WORDS, "level 1", ">= .68", TOP),
    ("josh", WORDS, "leaf", ">= .45", LEAF),
    ("josh", WORDS, "leaf, mean of words", "10 points less", judged("mean_of_words_leaf")),
    ("josh", f"{WORDS}, shuffled among the leaves", "leaf", "< .15", LEAF),
    ("josh", f"{SAMPLE}, shuffled among the leaves", "leaf", "< .15", LEAF),
    ("weshclass", "", "level 1, before self-training", ">= .53", judged_at(BEFORE, 0)),
    ("weshclass", "", "leaf, before self-training", ">= .24", judged_at(BEFORE, 1)),
    ("weshclass", "", "leaf, after", "not 2 points less", LEAF),
    ("weshclass", "", "seeds that keep their topic", ">= .95", judged("seeds_kept")),
    ("weshclass", "", "labels changed at the last look", "< .01", judged("changed_last")),
    (
        "weshclass",
        "keywords of all labels",
        "leaf, before self-training",
        "5 points more",
        judged_at(BEFORE, 1),
    ),
    ("weshclass", "keywords of all labels", "leaf, after", "more than before", LEAF),
)
UNLABELLED_TABLES: dict[str, Callable[[], Table]] = {
    "unlabelled-acceptance": unlabelled_acceptance,
    "unlabelled-seeds": lambda: scores(
        False,
        "hLDA, TSNTM, JoSH and WeSHClass",
        f"{FULL} Clusters of hLDA and TSNTM have no names, so no accuracy. {made_on()}",
        UNLABELLED,
    ),
    "unlabelled-ablations": unlabelled_ablations,
    "unlabelled-cost": unlabelled_cost,
}
