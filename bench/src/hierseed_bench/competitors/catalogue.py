"""Every method by the name it has in a table, and what it needs."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hierseed_bench.competitors.task import Method
from hierseed_bench.errors import MissingExtra


@dataclass(frozen=True)
class Entry:
    """The module of a method, and its name in tables.

    Parameters
    ----------
    place : `module:Class` below this package, imported when the method is made
    title : how a table shows it
    uses : what it learns from: "seeds", "fitting" (seeds and unlabelled documents) or
        "labels" (the whole training part)
    defaults : keyword arguments that make this row out of the class
    extra : the optional dependencies it needs, where it does
    reads : what it reads of a document, "vectors" or "texts"; BERTopic reads both
    """

    place: str
    title: str
    uses: str
    defaults: tuple[tuple[str, Any], ...] = ()
    extra: str = ""
    reads: str = "vectors"


def _system(title: str, name: str, uses: str, extra: str = "neural") -> Entry:
    return Entry("comparison:Comparison", title, uses, (("system", name),), extra, "texts")


METHODS: dict[str, Entry] = {
    "hierseed": Entry("ours:Ours", "HierSeed", "fitting", (("kind", "hierseed"),)),
    "unfit": Entry("ours:Ours", "Unfit-HierSeed", "seeds", (("kind", "unfit"),)),
    "anchored": Entry("ours:Ours", "Anchored HierSeed", "fitting", (("kind", "anchored"),)),
    "nearest-leaf": Entry("nearest:NearestLeaf", "nearest leaf-seed mean", "seeds"),
    "nearest-topic": Entry(
        "nearest:NearestLeaf", "nearest seed mean, inner topics too", "seeds", (("inner", True),)
    ),
    "top-down": Entry("nearest:TopDown", "top-down nearest mean", "seeds"),
    "logreg": Entry("linear:LogReg", "logistic regression", "seeds"),
    "hiclass": Entry("per_parent:PerParent", "hiclass per parent", "seeds", extra="hiclass"),
    "self-training": Entry("linear:SelfTraining", "self-training", "fitting"),
    "label-spreading": Entry("spreading:Spreading", "label spreading", "fitting"),
    "seeded-kmeans": Entry("kmeans:SeededKMeans", "seeded k-means", "fitting"),
    "constrained-kmeans": Entry(
        "kmeans:SeededKMeans", "constrained k-means", "fitting", (("constrained", True),)
    ),
    "bertopic": Entry("bertopic:SemiSupervised", "BERTopic", "fitting", extra="bertopic"),
    "setfit": Entry("setfit:FewShot", "SetFit", "seeds", extra="setfit", reads="texts"),
    "hlda": _system("hLDA", "hlda", "fitting", "hlda"),
    "tsntm": _system("TSNTM", "tsntm", "fitting"),
    "josh": _system("JoSH", "josh", "fitting"),
    "weshclass": _system("WeSHClass", "weshclass", "fitting"),
    "hdltex": _system("HDLTex", "hdltex", "seeds"),
    "hiagm": _system("HiAGM", "hiagm", "seeds"),
    "hilap": _system("HiLAP-RL", "hilap", "seeds"),
    "hft": _system("HFT(M)", "hft", "seeds"),
    "sphere": Entry("geometry:Sphere", "mixture on the sphere", "fitting"),
    "hyperbolic": Entry("geometry:Hyperbolic", "tree in hyperbolic space", "seeds"),
    "projected": Entry("geometry:Projected", "Anchored HierSeed, projected", "fitting"),
    "anchored-names": Entry(
        "ours:Ours",
        "Anchored HierSeed with names",
        "fitting",
        (("kind", "anchored"), ("names", True)),
    ),
    "ridge-all-labels": Entry("linear:RidgeAllLabels", "ridge on all labels", "labels"),
}


def make_method(name: str, **parameters: Any) -> Method:
    """Make a method by name; parameters go to its class."""
    if name not in METHODS:
        near = difflib.get_close_matches(name, METHODS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise KeyError(f"no method {name!r}{hint} There are {', '.join(METHODS)}.")
    entry = METHODS[name]
    module, _, attribute = entry.place.partition(":")
    try:
        make: Callable[..., Method] = getattr(
            import_module(f"hierseed_bench.competitors.{module}"), attribute
        )
    except ModuleNotFoundError as fault:
        package = (fault.name or module).partition(".")[0]
        raise MissingExtra(package, entry.extra or "all", f"the method {name}") from fault
    return make(**dict(entry.defaults) | parameters)
