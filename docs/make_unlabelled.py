"""The tables of baselines.md on the systems that learn from unlabelled texts."""

from collections.abc import Callable

from make_baselines import DATA, FULL, Pick, ablation, accuracy, judged, runs, scores

from hierseed.baselines.catalogue import METHODS
from hierseed.bench.cells import Table, cell
from hierseed.bench.records import Record

UNLABELLED = ("hlda", "tsntm", "josh", "weshclass")
TOP, LEAF = accuracy(0), accuracy(-1)
WORDS = "a word a topic"


def unlabelled_cost() -> Table:
    """Time and memory of the systems that learn from unlabelled texts."""
    rows = []
    for method in UNLABELLED:
        cells: list[str] = []
        for data in DATA:
            own = runs(False, data=data, method=method)
            spent = [cell(own, _seconds(what), 0) for what in ("fit", "predict")]
            gpu = cell(own[:1], lambda record: record["method_notes"].get("gpu_peak_mib"), 0)
            memory = "" if gpu == "-" else f", {gpu} MiB"
            cells.append(f"{spent[0]} s + {spent[1]} s{memory}" if own else "-")
        rows.append((METHODS[method].title, *cells))
    about = (
        "Seconds to fit + to place the test part, and the most GPU memory held. hLDA on one "
        "core. Eighteen runs shared one NVIDIA H200 and 16 cores."
    )
    return Table("Time and memory", about, ("system", *DATA), tuple(rows))


def _seconds(what: str) -> Pick:
    return lambda record: record["seconds"][what]


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
    for data in ("20newsgroups", "arxiv"):
        for method, tag in (
            ("josh", f"{WORDS}, without the tree term"),
            ("weshclass", "without self-training"),
            ("weshclass", "keywords alone"),
        ):
            whole = runs(False, data=data, method=method, draw=0)
            if method == "josh":  # with one word a topic, on a sample
                whole = ablation(data, WORDS)
            part = [r for r in ablation(data, tag) if r["setting"]["method"] == method]
            rows += [
                (data, METHODS[method].title, what, cell(whole, pick), tag, cell(part, pick))
                for what, pick in (("level 1", TOP), ("leaf", LEAF))
                if whole and part
            ]
    header = ("data", "system", "accuracy", "whole", "", "reduced")
    about = "Four seeds a topic, one draw, test part. JoSH: 3,000 documents, one word a topic."
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
    ("josh", WORDS, "leaf, mean of words", "less", judged("mean_of_words_leaf")),
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
        f"{FULL} Clusters of hLDA and TSNTM have no names, so no accuracy.",
        UNLABELLED,
    ),
    "unlabelled-ablations": unlabelled_ablations,
    "unlabelled-cost": unlabelled_cost,
}
