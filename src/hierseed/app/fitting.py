"""A fit from the page: the same calls as `hierseed fit` and `assign`, with the project's seeds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from hierseed.app import fits, vectors
from hierseed.app.project import Project
from hierseed.app.store import documents, labels, topics
from hierseed.app.store.topics import Topics
from hierseed.assignments import Assignments
from hierseed.embed import Preparation, Prepared
from hierseed.embed.choose import load_embedder
from hierseed.errors import ProjectError, SeedError
from hierseed.evaluate import score
from hierseed.io.saved import SavedModel
from hierseed.io.seed_documents import SeedDocuments
from hierseed.io.seeds import Seeds
from hierseed.report.gather import gather
from hierseed.suggest import suggest
from hierseed.taxonomy import Taxonomy

SUGGESTED = 60  # documents to label next, found at each fit

Tell = Callable[[dict[str, Any]], None]


class Method(NamedTuple):
    """One way to fit, in plain words."""

    name: str
    title: str
    about: str
    home: str
    kind: str


METHODS = [
    Method(
        "anchored",
        "Anchored",
        "Seeds hold their topic in place while the whole corpus shapes it. Best on most corpora.",
        "hierseed.estimators.anchored",
        "AnchoredHierSeed",
    ),
    Method(
        "hierseed",
        "HierSeed",
        "As published: topics reach out from a level, then divide downwards.",
        "hierseed.estimators.hierseed",
        "HierSeed",
    ),
    Method(
        "unfit",
        "Seeds only",
        "Topics from the seeds alone; the corpus does not shape them. Fastest.",
        "hierseed.estimators.hierseed",
        "UnfitHierSeed",
    ),
]


@dataclass(frozen=True)
class Dials:
    """What a person may turn: how fine, how sure, how much overlap."""

    method: str = ""
    fine: int = 0  # deepest level to place at; 0: as deep as the taxonomy goes
    sure: float = 0.0  # anchored: share of placements to be right; else the score to be reached
    overlap: float = 0.0  # 0: one topic a document
    names: bool = True  # names and descriptions stand in for seeds where a topic has none

    def settings(self) -> dict[str, Any]:
        """Settings of the estimator that differ from its defaults."""
        if self.method == "anchored":
            several = round(1 - self.overlap, 3) if self.overlap > 0 else None
            return {"several": several} | ({"precision": round(self.sure, 3)} if self.sure else {})
        # 0.5 is where the nearer of two topics keeps a document; towards 1 both do.
        return {"eccentricity": round(0.5 + self.overlap / 2, 3)} if self.overlap > 0 else {}

    def threshold(self) -> float | None:
        """Score below which a document stops higher up; the anchored method sees to that itself."""
        return self.sure if self.sure > 0 and self.method != "anchored" else None


def methods() -> list[Method]:
    """Those that are installed, the best first."""
    return [method for method in METHODS if find_spec(method.home)]


def project_seeds(project: Project, here: Topics) -> Seeds:
    """The project's seeds as the library knows them."""
    seeds = Seeds()
    by_row = labels.seeds(project)
    rows = sorted(by_row)
    for start in range(0, len(rows), 500):
        for document in documents.get(project, rows[start : start + 500]):
            seeds.by_id[document.id] = [here.place[id] for id in by_row[document.row]]
    for topic, text in labels.examples(project):
        seeds.texts.append(text)
        seeds.text_topics.append(here.place[topic])
    return seeds


def seed_rows(seeds: Seeds, taxonomy: Taxonomy) -> list[list[str]]:
    """The seeds as rows of a file: id, text, topic."""
    paths = taxonomy.paths
    rows = [[id, "", paths[topic]] for id, found in seeds.by_id.items() for topic in found]
    return rows + [["", text, paths[t]] for t, text in zip(seeds.text_topics, seeds.texts)]


def fit(project: Project, dials: Dials, tell: Tell | None = None) -> int:
    """Embed, fit, place, and keep the result; return the number of the fit."""
    say = tell or (lambda event: None)
    here = topics.current(project)
    if not len(here.taxonomy):
        raise ProjectError("the project has no taxonomy. Load one, or add topics by hand")
    method = next((m for m in methods() if m.name == dials.method), methods()[0])
    dials = replace(dials, method=method.name)
    seeds = project_seeds(project, here)
    given = seed_rows(seeds, here.taxonomy)
    if dials.names:
        seeds.add_names(here.taxonomy)
    if not len(seeds):
        raise SeedError("no seeds yet. Accept a few documents, or let names stand in for seeds")
    store = vectors.make(project, say)
    embedder = load_embedder(project.vectors / "embedder")
    started = time.perf_counter()
    preparation = Preparation().fit(store)
    X = Prepared(store, preparation)
    y = seeds.rows(store.ids)
    outside = preparation.transform(embedder.encode(seeds.texts)) if seeds.texts else None
    estimator = getattr(import_module(method.home), method.kind)(here.taxonomy, **dials.settings())
    rounds = int(getattr(estimator, "max_iter", 1))
    say({"phase": "Fitting", "done": 0, "total": rounds})

    def progress(event: dict[str, Any]) -> None:
        done = int(event["round"])
        spent = time.perf_counter() - started
        left = spent / max(done, 1) * (rounds - done)
        say({"phase": "Fitting", "done": done, "total": rounds, "left": left, "at_most": True})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # empty topics are shown in the tree
        estimator.fit(
            X, y, X_seeds=outside,
            y_seeds=seeds.text_topics if outside is not None else None, progress=progress,
        )  # fmt: skip
    say({"phase": "Placing the documents", "done": rounds, "total": rounds})
    assignments = place(estimator, X, y, dials)
    seconds = time.perf_counter() - started
    say({"phase": "Finding words and drawing the map", "done": rounds, "total": rounds})
    report = gather(
        estimator, X, ((d.id, d.text) for d in documents.every(project)),
        title=project.name, assignments=assignments,
    )  # fmt: skip
    facts = {
        "method": method.name,
        "dials": asdict(dials),
        "embedder": embedder.name,
        "documents": assignments.n_documents,
        "seeds": len(given),
        "names": len(seeds) - len(given),
        "coverage": assignments.coverage,
        "rounds": int(estimator.n_iter_),
        "seconds": round(seconds, 2),
        "scores": gold_scores(project, here, assignments),
    }
    about = {"corpus": project.name, "documents": len(store), "seconds": facts["seconds"]}
    saved = SavedModel(
        estimator,
        preparation,
        embedder.name,
        embedder.fingerprint,
        SeedDocuments.among(seeds.by_id, store.ids, store),
        about,
        str(store.dtype),
    )
    next_ones = suggest(assignments, X, SUGGESTED)
    offers = [(int(row), reason) for row, reason in zip(next_ones.row, next_ones.reasons)]
    return fits.write(project, saved, embedder, assignments, here, report, facts, given, offers)


def place(estimator: Any, X: Any, y: Any, dials: Dials) -> Assignments:
    """Assign, then stop where the dials say."""
    assignments: Assignments = estimator.assign(X, y)
    threshold = dials.threshold()
    if threshold is not None:
        assignments = assignments.confident(threshold)
    if dials.fine > 0:
        assignments = assignments.select(dials.fine)
    return assignments


def gold_scores(project: Project, here: Topics, assignments: Assignments) -> dict[str, Any] | None:
    """Scores against gold labels, where they were given; seeds are left out."""
    gold: dict[int, list[int]] = {}
    for row, topic in project.db.execute("SELECT row, topic FROM gold ORDER BY row, topic"):
        if topic in here.place:
            gold.setdefault(row, []).append(here.place[topic])
    rows = np.array([row for row in sorted(gold) if not assignments.is_seed[row]], dtype=np.intp)
    if not len(rows):
        return None
    scores = score(here.taxonomy, assignments.levels[rows], [gold[int(row)] for row in rows])
    return {"documents": len(rows), **scores.to_dict()}


def lacking(project: Project) -> list[str]:
    """Paths of the topics at the end of a branch that have no seed."""
    here = topics.current(project)
    bare: Taxonomy = here.taxonomy
    return [bare.paths[topic] for topic in project_seeds(project, here).without(bare)]
