"""Which runs make which result: the main comparison, seeds, ablations, vectors, hard cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from hierseed.bench.setting import Setting

DRAWS = 5
OPEN_SETS = ("20newsgroups", "arxiv", "cap", "arxiv_acm", "us_code", "wos_partial")
FLAT_SETS = ("20newsgroups", "arxiv", "cap")  # two levels, one label, enough documents
SEEDS = (1, 2, 4, 6, 8)

OURS = ("hierseed", "unfit", "anchored")
QUICK = ("nearest-leaf", "top-down", "logreg", "seeded-kmeans", "hierseed", "ridge-all-labels")
MAIN = (
    *OURS,
    "nearest-leaf",
    "nearest-topic",
    "top-down",
    "logreg",
    "hiclass",
    "self-training",
    "label-spreading",
    "seeded-kmeans",
    "constrained-kmeans",
    "ridge-all-labels",
)
SLOW = {  # minutes a run: fewer draws, which the tables show by a missing deviation
    ("arxiv", "self-training"): 1,
    ("arxiv_acm", "self-training"): 1,
    ("arxiv", "label-spreading"): 2,
}
FEW = ("hierseed", "anchored", "nearest-leaf", "logreg", "seeded-kmeans")  # for the side tables

ABLATIONS: dict[str, dict[str, Any]] = {  # one change at a time to HierSeed as published
    "as published": {},
    "no sphere": {"les_weight": 0.0},
    "sphere: mean and deviation": {"sphere": "deviation"},
    "sphere: strictly empty": {"sphere": "empty"},
    "no Other": {"other": False},
    "Other below the pivot only": {"other": "below"},
    "Other as the equation is printed": {"other_spelling": "printed"},
    "pivot at level 2": {"pivot_level": 2},
    "eccentricity 0.25": {"eccentricity": 0.25},
    "eccentricity 0.5": {"eccentricity": 0.5},
    "eccentricity 0.75": {"eccentricity": 0.75},
    "own vector weighs 5": {"self_weight": 5.0},
    "notebooks: own vector 5, no sphere": {"self_weight": 5.0, "les_weight": 0.0},
}
ABLATION_DRAWS = 3
RAW = "vectors not centred, not scaled"
VECTORS = ("minilm", "wordllama", "tfidf")


def main(draws: int = DRAWS, data: Iterable[str] = OPEN_SETS) -> Iterator[Setting]:
    """Every method on every open set, 4 seeds a topic."""
    for name, method in product(data, MAIN):
        for draw in range(min(draws, SLOW.get((name, method), draws))):
            yield Setting(name, method, draw=draw)


def seeds(draws: int = DRAWS, data: Iterable[str] = FLAT_SETS) -> Iterator[Setting]:
    """More and fewer seeds a topic."""
    for name, method, k, draw in product(data, FEW, SEEDS, range(draws)):
        yield Setting(name, method, seeds=k, draw=draw)


def ablations(draws: int = DRAWS, data: Iterable[str] = FLAT_SETS) -> Iterator[Setting]:
    """HierSeed with one thing changed at a time; three draws show what matters."""
    draws = min(draws, ABLATION_DRAWS)
    for name, (tag, change), draw in product(data, ABLATIONS.items(), range(draws)):
        parameters = tuple(sorted(change.items()))
        yield Setting(name, "hierseed", draw=draw, parameters=parameters, tag=tag)
    for name, method, draw in product(data, ("hierseed", "nearest-leaf"), range(draws)):
        yield Setting(name, method, draw=draw, prepare=False, tag=RAW)


def vectors(draws: int = DRAWS, data: Iterable[str] = FLAT_SETS) -> Iterator[Setting]:
    """Other embedders."""
    for name, kind, method, draw in product(data, VECTORS, FEW, range(draws)):
        yield Setting(name, method, draw=draw, vectors=kind)


def skewed(draws: int = DRAWS) -> Iterator[Setting]:
    """Topic sizes by Zipf's law."""
    for name, method, draw in product(("20newsgroups", "arxiv"), (*FEW, "unfit"), range(draws)):
        yield Setting(name, method, draw=draw, skew=1.0)


def left_out(draws: int = DRAWS, data: Iterable[str] = FLAT_SETS) -> Iterator[Setting]:
    """Topics missing from the taxonomy: do Other and None catch their documents?"""
    for name, method, draw in product(data, (*OURS, "nearest-leaf"), range(draws)):
        yield Setting(name, method, draw=draw, leave_out=0.15)


def quick() -> Iterator[Setting]:
    """Give a first look in a minute or two."""
    for method, draw in product(QUICK, range(2)):
        yield Setting("20newsgroups", method, draw=draw, limit=6000)


PLANS: dict[str, Callable[..., Iterator[Setting]]] = {
    "main": main,
    "seeds": seeds,
    "ablations": ablations,
    "vectors": vectors,
    "skewed": skewed,
    "left-out": left_out,
}


def everything(draws: int = DRAWS, parts: Iterable[str] = tuple(PLANS)) -> list[Setting]:
    """Return the settings of several plans, each once."""
    unique: dict[str, Setting] = {}
    for part in parts:
        for setting in PLANS[part](draws):
            known = unique.setdefault(setting.key, setting)
            if setting.tag and not known.tag:
                unique[setting.key] = replace(known, tag=setting.tag)
    return list(unique.values())
