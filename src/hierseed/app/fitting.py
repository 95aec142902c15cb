"""A fit from the workbench: `hierseed.fit` with the project's documents and seeds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hierseed.app import document_map, fits, vectors
from hierseed.app.jobs import JobProgress, OnProgress
from hierseed.app.project import Project, now
from hierseed.app.store import documents, examples, labels, topics
from hierseed.app.store import gold as gold_labels
from hierseed.app.store.topics import Topics
from hierseed.assignments import Assignments
from hierseed.errors import ProjectError, SeedError
from hierseed.estimators.parameters import DEFAULT, METHODS
from hierseed.evaluate import score
from hierseed.io.seeds import Seeds
from hierseed.pipeline import fit as fit_model
from hierseed.progress import Event, Listener, Step
from hierseed.report.accuracy import expected_of_levels
from hierseed.taxonomy import Taxonomy

SUGGESTED = 60  # documents to label next, found at each fit
PROPOSED = 10  # topics that the taxonomy may lack, found at each fit


@dataclass(frozen=True)
class Dials:
    """Settings on the page: how fine, how sure, how much overlap."""

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


class ProjectTexts:
    """Pairs of id and text of all documents; can be read as often as needed."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Read all documents in order."""
        return ((document.id, document.text) for document in documents.every(self._project))


def project_seeds(project: Project, here: Topics) -> Seeds:
    """The project's seeds as the library knows them."""
    seeds = _by_document(project, here, labels.seeds(project))
    for topic, text in examples.pairs(project):
        seeds.texts.append(text)
        seeds.text_topics.append(here.place[topic])
    return seeds


def project_rejections(project: Project, here: Topics) -> Seeds:
    """Topics that documents were rejected for; "none of these" rejects all topics of level 1."""
    by_row = labels.rejections(project)
    every = [here.ids[topic] for topic in here.taxonomy.tree.children(-1)]
    by_row |= dict.fromkeys(labels.whole(project, labels.NONE_OF_THESE), every)
    return _by_document(project, here, by_row)


def _by_document(project: Project, here: Topics, by_row: dict[int, list[int]]) -> Seeds:
    found = Seeds()
    for document in documents.get(project, sorted(by_row)):
        found.by_id[document.id] = [here.place[id] for id in by_row[document.row]]
    return found


def seed_rows(seeds: Seeds, taxonomy: Taxonomy) -> list[list[str]]:
    """The seeds as rows of a file: id, text, topic."""
    paths = taxonomy.paths
    rows = [[id, "", paths[topic]] for id, found in seeds.by_id.items() for topic in found]
    return rows + [["", text, paths[t]] for t, text in zip(seeds.text_topics, seeds.texts)]


def fit(project: Project, dials: Dials, on_progress: OnProgress | None = None) -> int:
    """Embed, fit, place, and keep the result; return the number of the fit."""
    here = topics.current(project)
    if not len(here.taxonomy):
        raise ProjectError("the project has no taxonomy. Load one, or add topics by hand")
    dials = replace(dials, method=dials.method if dials.method in METHODS else DEFAULT)
    begun, last_event = now(), labels.last_event(project)  # later decisions wait
    seeds = project_seeds(project, here)
    given = seed_rows(seeds, here.taxonomy)
    rejected = project_rejections(project, here)
    names = len(seeds.without(here.taxonomy)) if dials.names else 0
    if not given and not dials.names:
        raise SeedError("no seeds yet. Accept a few documents, or let names stand in for seeds")
    bar = JobProgress(
        project, documents.count(project), on_progress or (lambda event: None),
        seconds={"Turning texts into vectors": vectors.seconds_to_make(project)},
    )  # fmt: skip
    update = bar.update
    store = vectors.make(project, update)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # empty topics are shown in the tree
        model = fit_model(
            store,
            here.taxonomy,
            seeds if given else None,  # no seed at all: names stand in for every topic
            method=dials.method,
            progress=_phase(update, "Fitting", only="Fitting"),
            seeds_from_names=dials.names,
            rejected=rejected,
            **dials.settings(),
        )
    update({"phase": "Placing the documents", "done": 0, "total": 1})
    placed = model.place(
        store,
        texts=ProjectTexts(project),
        threshold=dials.threshold(),
        level=dials.fine or None,
        progress=_phase(update, "Placing the documents"),
    )
    assignments = placed.assignments
    seconds = time.perf_counter() - started
    words = "Finding words and drawing the map"
    update({"phase": words, "done": 0, "total": 1})
    report = placed.report(project.name, _phase(update, words))
    points = document_map.place_documents(placed, report)
    facts = {
        "method": dials.method,
        "dials": asdict(dials),
        "embedder": model.embedder.name,
        "documents": assignments.n_documents,
        "seeds": len(given),
        "names": names,
        "coverage": assignments.coverage,
        "rounds": int(model.estimator.n_iter_),
        "seconds": round(seconds, 2),
        "scores": gold_scores(project, here, assignments),
        "started": begun,
        "event": last_event,
        "expected": [round(one.value, 4) for one in expected_of_levels(model.estimator)],
    }
    model.about |= {"corpus": project.name, "seconds": facts["seconds"]}
    update({"phase": "Looking for missing topics", "done": 0, "total": 1})
    last = fits.last(project)
    proposals = placed.propose_topics(PROPOSED, earlier=fits.proposals(last) if last else ())
    next_ones = placed.suggest(SUGGESTED)
    offers = [(int(row), reason) for row, reason in zip(next_ones.row, next_ones.reasons)]
    update({"phase": "Saving the fit", "done": 0, "total": 1})
    id = fits.write(
        project,
        model,
        assignments,
        here,
        report,
        facts,
        given,
        seed_rows(rejected, here.taxonomy),
        offers,
        proposals,
        points,
    )
    bar.finish()
    return id


def _phase(update: OnProgress, phase: str, only: str = "") -> Listener:
    """Pass the steps of one phase on; `only` names the one that counts."""

    def listen(event: Event) -> None:
        if isinstance(event, Step) and event.total and event.name in (only or event.name):
            update({"phase": phase, "done": event.done, "total": event.total})

    return listen


def gold_scores(project: Project, here: Topics, assignments: Assignments) -> dict[str, Any] | None:
    """Scores against gold labels, where they were given; seeds are left out."""
    gold: dict[int, list[int]] = {}
    for row, topic in gold_labels.pairs(project):
        gold.setdefault(row, []).append(here.place[topic])
    rows = np.array([row for row in sorted(gold) if not assignments.is_seed[row]], dtype=np.intp)
    if not len(rows):
        return None
    scores = score(here.taxonomy, assignments.levels[rows], [gold[int(row)] for row in rows])
    return {"documents": len(rows), **scores.to_dict()}


def lacking(project: Project) -> list[str]:
    """Paths of the leaves that have no seed."""
    here = topics.current(project)
    bare: Taxonomy = here.taxonomy
    return [bare.paths[topic] for topic in project_seeds(project, here).without(bare)]
