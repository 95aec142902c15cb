"""Which runs make which result: the main comparison, seeds, ablations, vectors, hard cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from hierseed_bench.runs import plan_systems
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.plan_systems import SHORTER

DRAWS = 5
UNSEEN_SETS = ("wordnet", "debian")  # built after the default method was settled
FURTHER_SETS = ("icd", "naics", "emoji")  # likewise, run once, with the vectors of wordllama
OPEN_SETS = ("20newsgroups", "arxiv", "cap", "arxiv_acm", "us_code", "wos_partial")
FLAT_SETS = ("20newsgroups", "arxiv", "cap")  # two levels, one label, enough documents
SEEDS = (1, 2, 4, 6, 8)
SEVERAL_LABELS = ("arxiv_acm", "debian")
ONE_TOPIC = (("several", None),)  # like with like: all other methods give one topic a document

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
METHOD_SETS = (  # data, Zipf exponent; constants of the default method were chosen on three
    ("20newsgroups", 0.0), ("us_code", 0.0), ("arxiv", 1.0), ("arxiv", 0.0), ("cap", 0.0),
    ("arxiv_acm", 0.0), ("20newsgroups", 1.0), ("wos_partial", 0.0),
)  # fmt: skip
CHOSEN_ON = METHOD_SETS[:3]
SIMPLE = (
    "hierseed", "unfit", "nearest-leaf", "logreg", "hiclass", "seeded-kmeans", "self-training",
    "label-spreading",
)  # fmt: skip
FEW = ("hierseed", "anchored", "nearest-leaf", "logreg", "seeded-kmeans")  # for the side tables

ABLATIONS: dict[str, dict[str, Any]] = {  # one change at a time to HierSeed
    "as we run it": {},
    "the paper to the letter": {"variant": "paper"},
    "Eq. 4 alone as stop rule": {"stop_rule": "within", "tol": 0.0},
    "Lloyd to the end": {"refine_max_iter": 10_000, "refine_tol": 0.0},
    "sphere over all triples": {"sphere": "deviation", "sphere_triples": "all"},
    "Eq. 3 alone at inference": {"overlap": "fitting"},
    "only child at its parent's place: radius 0": {"only_child": "zero"},
    "no sphere": {"les_weight": 0.0},
    "sphere: mean and deviation": {"sphere": "deviation"},
    "sphere: strictly empty": {"sphere": "empty"},
    "no Other": {"other": False},
    "Other below the pivot only": {"other": "below"},
    "Other as the equation is printed": {"other_spelling": "printed"},
    "pivot at level 2": {"pivot_level": 2},
    "eccentricity 0.5": {"eccentricity": 0.5},
    "eccentricity 0.75": {"eccentricity": 0.75},
    "eccentricity 1: all that reach it": {"eccentricity": 1.0},
    "own vector weighs 5": {"self_weight": 5.0},
    "radii 2.3 and 1.3": {"child_factor": 2.3, "sibling_factor": 1.3},
    "published constants (notebooks)": {
        "child_factor": 2.3,
        "sibling_factor": 1.3,
        "self_weight": 5.0,
        "self_weight_step": 1.0,
        "les_weight": 0.0,
    },
}
RAW = "vectors not centred, not scaled"
VECTORS = ("minilm", "wordllama", "tfidf", "glove", "fasttext")
GERMAN = ("tfidf", "lsa", "wordllama", "wordllama+lsa", "minilm", "minilm+lsa")
TEACHERS = ("wordllama", "minilm", "minilm+student", "mpnet", "mpnet+student", "mpnet+lsa")
WINDOWED = ("us_code", "20newsgroups")  # many of their documents are longer than 256 tokens
SPACES = ("anchored", "projected", "sphere", "hyperbolic")
JOINED = ("wordllama", "wordllama+lsa", "minilm", "minilm+lsa", "minilm+student")
AUTO = {"wordllama+lsa": "plain install", "minilm+lsa": "with MiniLM"}  # what `auto` chooses
SEVERAL: dict[str, dict[str, dict[str, Any]]] = {  # ways to give a document one topic, or several
    "hierseed": {"one topic": {}, "eccentricity 1": {"eccentricity": 1.0}},
    "anchored": {
        "one topic": dict(ONE_TOPIC),
        "as many as seeds have": {},
        "several 0.7": {"several": 0.7},
    },
    "ridge-all-labels": {"one topic": {}, "several": {"several": True}},
}
TUNED = (("max_steps", 50),)  # of SetFit, which tunes an encoder for every draw


def one_topic(data: str, method: str) -> tuple[tuple[str, Any], ...]:
    """Return what keeps the default method to one topic a document."""
    ours = method in ("anchored", "projected")
    return ONE_TOPIC if ours and data in SEVERAL_LABELS else ()


def main(draws: int = DRAWS, data: Iterable[str] = OPEN_SETS) -> Iterator[RunConfig]:
    """Every method on every open set, 4 seeds a topic."""
    for name, method, draw in product(data, MAIN, range(draws)):
        yield RunConfig(name, method, draw=draw, parameters=one_topic(name, method))


def seeds(draws: int = DRAWS, data: Iterable[str] = FLAT_SETS) -> Iterator[RunConfig]:
    """More and fewer seeds a topic."""
    for name, method, k, draw in product(data, FEW, SEEDS, range(draws)):
        yield RunConfig(name, method, seeds=k, draw=draw)


def ablations(draws: int = DRAWS, data: Iterable[str] = OPEN_SETS) -> Iterator[RunConfig]:
    """HierSeed with one thing changed at a time."""
    for name, (tag, change), draw in product(data, ABLATIONS.items(), range(draws)):
        parameters = tuple(sorted(change.items()))
        yield RunConfig(name, "hierseed", draw=draw, parameters=parameters, tag=tag)
    for name, method, draw in product(data, ("hierseed", "nearest-leaf"), range(draws)):
        yield RunConfig(name, method, draw=draw, prepare=False, tag=RAW)


def vectors(draws: int = DRAWS, data: Iterable[str] = FLAT_SETS) -> Iterator[RunConfig]:
    """Other embedders."""
    for name, kind, method, draw in product(data, VECTORS, FEW, range(draws)):
        yield RunConfig(name, method, draw=draw, vectors=kind)


def skewed(draws: int = DRAWS) -> Iterator[RunConfig]:
    """Topic sizes by Zipf's law."""
    for name, method, draw in product(("20newsgroups", "arxiv"), (*FEW, "unfit"), range(draws)):
        yield RunConfig(name, method, draw=draw, skew=1.0)


def left_out(draws: int = DRAWS, data: Iterable[str] = FLAT_SETS) -> Iterator[RunConfig]:
    """Topics missing from the taxonomy: are their documents placed in Other and None?"""
    for name, method, draw in product(data, (*OURS, "nearest-leaf"), range(draws)):
        yield RunConfig(name, method, draw=draw, leave_out=0.15)


def several(draws: int = DRAWS) -> Iterator[RunConfig]:
    """One topic or several per document, on the set whose documents have several."""
    for (method, ways), draw in product(SEVERAL.items(), range(draws)):
        for parameters in ways.values():
            yield RunConfig("arxiv_acm", method, draw=draw, parameters=tuple(parameters.items()))


def extras(draws: int = DRAWS, data: Iterable[str] = OPEN_SETS) -> Iterator[RunConfig]:
    """BERTopic and SetFit, which bring large packages of their own."""
    for name, draw in product(data, range(draws)):
        yield RunConfig(name, "bertopic", draw=draw)
    for name, draw in product(data, range(draws)):
        yield RunConfig(name, "setfit", draw=draw, parameters=TUNED, tag=SHORTER)


def quick() -> Iterator[RunConfig]:
    """Small runs that take a minute or two."""
    for method, draw in product(QUICK, range(2)):
        yield RunConfig("20newsgroups", method, draw=draw, limit=6000)


def unseen(draws: int = DRAWS) -> Iterator[RunConfig]:
    """Every method on the sets that no constant was chosen with."""
    yield from main(draws, UNSEEN_SETS)


def further(draws: int = DRAWS) -> Iterator[RunConfig]:
    """Fast methods on three more sets, with the vectors that need no download."""
    methods = (m for m in MAIN if m not in ("self-training", "label-spreading"))
    for name, method, draw in product(FURTHER_SETS, methods, range(draws)):
        yield RunConfig(name, method, draw=draw, vectors="wordllama")


def few_seeds(draws: int = DRAWS) -> Iterator[RunConfig]:
    """One, two, four and eight seeds for the default method and others, skewed sets too."""
    methods = ("anchored", *SIMPLE)
    for (data, skew), k, method, draw in product(METHOD_SETS, (1, 2, 4, 8), methods, range(draws)):
        given = one_topic(data, method)
        yield RunConfig(data, method, seeds=k, draw=draw, skew=skew, parameters=given)
    for data, skew in METHOD_SETS:
        yield RunConfig(data, "ridge-all-labels", skew=skew)


def embedders(draws: int = DRAWS) -> Iterator[RunConfig]:
    """Every embedder with HierSeed and two simple methods; arXiv cut to 10,000 documents."""
    methods = ("hierseed", "nearest-leaf", "seeded-kmeans")
    for name, kind, method, draw in product(FLAT_SETS, VECTORS, methods, range(draws)):
        limit = 10_000 if name == "arxiv" else 0
        yield RunConfig(name, method, draw=draw, vectors=kind, limit=limit)


def names(draws: int = DRAWS) -> Iterator[RunConfig]:
    """Names of topics as evidence: without a seed, and with one, two and four."""
    for data, k, draw in product(OPEN_SETS, (0, 1, 2, 4), range(draws)):
        yield RunConfig(data, "anchored-names", seeds=k, draw=draw)
        if k:
            yield RunConfig(data, "anchored", seeds=k, draw=draw)


def spaces(draws: int = DRAWS) -> Iterator[RunConfig]:
    """Other spaces, and a projection tuned on seeds and confident documents."""
    for data, method, draw in product(OPEN_SETS, SPACES, range(draws)):
        yield RunConfig(data, method, draw=draw, parameters=one_topic(data, method))


def windows(draws: int = DRAWS) -> Iterator[RunConfig]:
    """Long documents read in windows, on the sets that have most of them."""
    kinds = "minilm", "minilm+windows"
    for data, kind, draw in product(WINDOWED, kinds, range(draws)):
        yield RunConfig(data, "anchored", draw=draw, vectors=kind)


def teachers(draws: int = DRAWS) -> Iterator[RunConfig]:
    """Two slow models and their students; mpnet needs a GPU but for the smallest set."""
    for data, kind, draw in product(("naics", *OPEN_SETS, *UNSEEN_SETS), TEACHERS, range(draws)):
        yield RunConfig(data, "anchored", draw=draw, vectors=kind)


def german(draws: int = DRAWS) -> Iterator[RunConfig]:
    """Embedders that learn from the corpus, alone and joined, on texts that are not English."""
    for kind, draw in product(GERMAN, range(draws)):
        yield RunConfig("gnad", "anchored", draw=draw, vectors=kind)


def joined(draws: int = DRAWS) -> Iterator[RunConfig]:
    """The default method on what `auto` may choose, alone and joined with `lsa`."""
    for name, kind, draw in product((*OPEN_SETS, *UNSEEN_SETS), JOINED, range(draws)):
        yield RunConfig(name, "anchored", draw=draw, vectors=kind)
    for name, kind, draw in product(OPEN_SETS, AUTO, range(draws)):
        parameters = one_topic(name, "anchored")
        yield RunConfig(name, "anchored", draw=draw, vectors=kind, parameters=parameters)


PLANS: dict[str, Callable[..., Iterator[RunConfig]]] = {
    "main": main,
    "seeds": seeds,
    "ablations": ablations,
    "vectors": vectors,
    "skewed": skewed,
    "left-out": left_out,
    "several": several,
    "extras": extras,
    "unseen": unseen,
    "further": further,
    "few-seeds": few_seeds,
    "embedders": embedders,
    "joined": joined,
    "names": names,
    "spaces": spaces,
    "windows": windows,
    "teachers": teachers,
    "german": german,
    "systems-seeds": plan_systems.seeds,
    "systems-full": plan_systems.full,
    "systems-reduced": plan_systems.reduced,
    "systems-checks": plan_systems.checks,
}


def everything(draws: int = DRAWS, parts: Iterable[str] = tuple(PLANS)) -> list[RunConfig]:
    """Return the settings of several plans, each once."""
    unique: dict[str, RunConfig] = {}
    for part in parts:
        for setting in PLANS[part](draws):
            known = unique.setdefault(setting.key, setting)
            if setting.tag and not known.tag:
                unique[setting.key] = replace(known, tag=setting.tag)
    return list(unique.values())
