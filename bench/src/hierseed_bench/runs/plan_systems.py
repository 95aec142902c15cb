"""Runs of the paper's eight systems: with four seeds a topic, with all labels, and reduced.

Some trainings are shorter than published; such runs are tagged `shorter`, or say so in
docs/baselines.md. hLDA and TSNTM read no labels and JoSH only the topics' names, so that a draw
changes nothing for them but the random numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from hierseed_bench.runs.config import RunConfig

SHORTER = "shorter"  # tag of runs whose parameters only cut the training short
DRAWS = 5
FEWER = {"arxiv_acm": 3}  # a run of TSNTM takes over ten minutes of a GPU there, of HiAGM eight
DATA = ("arxiv", "20newsgroups", "us_code", "cap", "wos_partial", "arxiv_acm")
SUPERVISED = ("hiagm", "hilap", "hdltex", "hft")  # the longest first
UNLABELLED = ("hlda", "weshclass", "tsntm", "josh")
ABLATED = ("20newsgroups", "arxiv")

# With all labels: shorter than published (HiAGM 250 epochs, patience 50; HiLAP 50 and 20-50),
# about 12,000 updates for HiAGM whatever the size of the data. HDLTex: the batch of the paper's
# text; its code has 64.
ALL_LABELS: dict[str, dict[str, Any]] = {
    "hdltex": {"batch": 128},
    "hiagm": {"patience": 12},
    "hilap": {"epochs": 12, "rl_epochs": 8, "patience": 2},
}
HIAGM_EPOCHS = {
    "arxiv": 35, "20newsgroups": 80, "cap": 100, "us_code": 150, "wos_partial": 200,
    "arxiv_acm": 60,
}  # fmt: skip

# TSNTM about 20,000 steps with an update of the tree every 1,000 (published: up to 1,000 epochs,
# every 5,000), WeSHClass at most this many batches of self-training a level (5,000), hLDA 150 or
# 200 sweeps (500)
CUT: dict[tuple[str, str], dict[str, Any]] = {
    ("tsntm", "arxiv"): {"epochs": 60, "update_every": 1000},
    ("tsntm", "20newsgroups"): {"epochs": 110, "update_every": 1000},
    ("tsntm", "cap"): {"epochs": 200, "update_every": 1000},
    ("tsntm", "us_code"): {"epochs": 400, "update_every": 1000},
    ("tsntm", "wos_partial"): {"epochs": 400, "update_every": 1000},
    ("tsntm", "arxiv_acm"): {"epochs": 90, "update_every": 1000},
    ("weshclass", "arxiv"): {"iterations": 900},
    ("weshclass", "20newsgroups"): {"iterations": 1500},
    ("weshclass", "cap"): {"iterations": 900},
    ("weshclass", "us_code"): {"iterations": 120},
    ("weshclass", "wos_partial"): {"iterations": 900},
    ("weshclass", "arxiv_acm"): {"iterations": 900},
    ("hlda", "arxiv"): {"sweeps": 150, "infer_sweeps": 20},
    ("hlda", "20newsgroups"): {"sweeps": 200, "infer_sweeps": 50},
    ("hlda", "us_code"): {"sweeps": 150, "infer_sweeps": 20},
    ("hlda", "arxiv_acm"): {"sweeps": 150, "infer_sweeps": 20},
}
REDUCED: tuple[tuple[str, bool, dict[str, Any], str], ...] = (
    # method, all labels, what is changed, tag
    ("hiagm", True, {"structure": False}, "without GCN"),
    ("hilap", True, {"rl_epochs": 0, "rl_seed_epochs": 0}, "before RL"),
    ("hft", True, {"fine_tune": False}, "without fine-tuning"),
    ("josh", False, {"tree": False}, "without the tree term"),
    ("weshclass", False, {"self_training": False}, "without self-training"),
    ("weshclass", False, {"use_seed_docs": False}, "keywords alone"),
)
LANGUAGE_MODEL: tuple[str, dict[str, Any]] = (
    # a small one, trained for 2 epochs (25) on 3,000 words (10,000)
    "language model, without self-training",
    {"writer": "lstm", "lm_epochs": 2, "lm_words": 3000, "self_training": False},
)
WORDS = "a word a topic"
SAMPLE = f"{WORDS}, 3,000 documents"
NAMES = {  # one word a topic for 20 Newsgroups, in the order of its taxonomy
    "religion": "religion", "alt.atheism": "atheism", "soc.religion.christian": "christian",
    "talk.religion.misc": "morality", "comp": "computer", "comp.graphics": "graphics",
    "comp.os.ms-windows.misc": "windows", "comp.sys.ibm.pc.hardware": "bios",
    "comp.sys.mac.hardware": "mac", "comp.windows.x": "motif", "misc": "sale",
    "misc.forsale": "shipping", "rec": "sports", "rec.autos": "cars",
    "rec.motorcycles": "motorcycle", "rec.sport.baseball": "baseball",
    "rec.sport.hockey": "hockey", "sci": "science", "sci.crypt": "encryption",
    "sci.electronics": "circuit", "sci.med": "medical", "sci.space": "space",
    "politics": "politics", "talk.politics.guns": "guns",
    "talk.politics.mideast": "israel", "talk.politics.misc": "clinton",
}  # fmt: skip


def config(
    data: str, method: str, *, full: bool = False, draw: int = 0, tag: str = "", limit: int = 0,
    **options: Any,
) -> RunConfig:  # fmt: skip
    """Return one run, with the shortened training of its system and data set."""
    parameters = dict(CUT.get((method, data), {}))
    if full:
        parameters |= {"full": True} | ALL_LABELS.get(method, {})
    parameters |= options
    if full and method == "hiagm":
        parameters["epochs"] = HIAGM_EPOCHS[data]
    items = tuple(sorted(parameters.items()))
    return RunConfig(data, method, draw=draw, limit=limit, parameters=items, tag=tag)


def draws_of(data: str) -> int:
    """How many draws of the seeds a data set has in this comparison."""
    return FEWER.get(data, DRAWS)


def seeds(draws: int = DRAWS, data: Iterable[str] = DATA) -> Iterator[RunConfig]:
    """Four seeds a topic."""
    for draw, method, name in product(range(draws), (*SUPERVISED, *UNLABELLED), data):
        if draw < draws_of(name):
            yield config(name, method, draw=draw, tag=SHORTER if (method, name) in CUT else "")


def full(draws: int = DRAWS, data: Iterable[str] = DATA) -> Iterator[RunConfig]:
    """All labels, the paper's Table 3."""
    for name, method in product(data, SUPERVISED):
        yield config(name, method, full=True, tag="full")


def reduced(draws: int = DRAWS, data: Iterable[str] = DATA[:4]) -> Iterator[RunConfig]:
    """Each system without its characteristic part."""
    for name, (method, labels, options, tag) in product(data, REDUCED):
        if name in ABLATED or method == "josh":
            yield config(name, method, full=labels, tag=tag, **options)


def checks(draws: int = DRAWS) -> Iterator[RunConfig]:
    """The check of each implementation on 20 Newsgroups."""
    tag = "batches of 64, patience 8"
    yield config("20newsgroups", "hdltex", full=True, tag=tag, batch=64, patience=8)
    words, shuffled = one_word_names(), one_word_names(shuffled=True)
    changes: tuple[tuple[str, dict[str, Any]], ...] = (
        ("", {"names": words}),
        (", without the tree term", {"names": words, "tree": False}),
        (", shuffled among the leaves", {"names": shuffled}),
    )
    for (tag, limit), (more, options) in product(((WORDS, 0), (SAMPLE, 3000)), changes):
        yield config("20newsgroups", "josh", tag=tag + more, limit=limit, **options)
    tag = "keywords of all labels"
    yield config("20newsgroups", "weshclass", full=True, tag=tag)
    yield config("20newsgroups", "weshclass", tag=LANGUAGE_MODEL[0], **LANGUAGE_MODEL[1])


def one_word_names(shuffled: bool = False) -> list[str]:
    """Return a word for each topic; shuffled: each leaf has the word of the next."""
    words = dict(NAMES)
    if shuffled:
        leaves = [name for name in NAMES if "." in name]
        words |= {leaf: NAMES[other] for leaf, other in zip(leaves, leaves[1:] + leaves[:1])}
    return list(words.values())
