"""Fits on disk: a folder for each, written as a whole; the row in the database comes last.

fits/0001/model/        what `hierseed assign` takes
fits/0001/fit.json      topics' ids for life, facts, and the placements as arrays
fits/0001/report.json   words, rivals and map, as `hierseed report` shows them
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import astuple
from functools import cached_property, lru_cache
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.app.placements import Placements, in_tree, renamed
from hierseed.app.project import Project, now
from hierseed.app.store.topics import Topics
from hierseed.assignments import RECORD, Assignments
from hierseed.errors import ModelError
from hierseed.files import atomic_folder
from hierseed.io.model_bundle import read_sealed, taxonomy_header, write_sealed
from hierseed.proposals import Proposal
from hierseed.report.accuracy import expected_of_topics
from hierseed.taxonomy import Taxonomy
from hierseed.text_model import TextModel, load

KEPT = 300  # documents of a proposed topic that are kept
FORMAT, VERSION, FILE = "hierseed-fit", 1, "fit.json"

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]


class Line(NamedTuple):
    """A fit in the list of fits."""

    id: int
    at: str
    facts: dict[str, Any]


class Fit:
    """One finished fit: where every document went, with the taxonomy of that day."""

    def __init__(self, id: int, folder: Path) -> None:
        content, arrays = read_sealed(folder / FILE, format=FORMAT, version=VERSION)
        self.id, self.folder = id, folder
        self.facts: dict[str, Any] = content["facts"]
        self.ids: list[int] = content["ids"]  # of the listed topics; Others have none
        self.taxonomy = Taxonomy(**content["taxonomy"])
        self.fitted = _placements(arrays, self.taxonomy, tuple(self.ids))
        self._expected: Floats | None = arrays.get("expected")  # older fits have none
        self.points: Floats | None = arrays.get("points")  # older fits have none
        self.n: int = content["n"]
        self.seeds: list[list[str]] = content["seeds"]  # rows of id, text, topic, as given
        self.rejected: list[list[str]] = content.get("rejected", [])  # rows of id, "", topic
        self.suggestions: list[tuple[int, str]] = [tuple(s) for s in content["suggestions"]]
        self.proposals: list[dict[str, Any]] = content.get("proposals", [])
        self._current: tuple[Topics, Placements, Ints] | None = None

    def placements(self, here: Topics) -> Placements:
        """The placements in the current taxonomy; computed again only after a change."""
        return self._in_tree(here)[1]

    def topic_numbers(self, here: Topics) -> Ints:
        """The number in the current taxonomy of each topic of the fit, the last one for None."""
        return self._in_tree(here)[2]

    def _in_tree(self, here: Topics) -> tuple[Topics, Placements, Ints]:
        known = self._current
        if known is None or (known[0] is not here and not _same_tree(known[0], here)):
            known = self._current = (here, *in_tree(self.fitted, here))
        elif known[0] is not here:
            known = self._current = (here, renamed(known[1], self.fitted, here), known[2])
        return known

    def expected(self, here: Topics) -> dict[str, list[float]]:
        """By key, the share of a topic's documents to expect right, and its interval.

        Topics that have gained or lost documents by a change of the taxonomy are left out.
        """
        if self._expected is None:
            return {}
        then, now = self.fitted, self.placements(here).counts_below
        pairs = zip(then.keys, self._expected.tolist())
        return {
            key: [round(value, 4) for value in share]
            for key, share in pairs
            if isfinite(share[0]) and now.get(key) == then.counts_below[key]
        }

    @cached_property
    def report(self) -> dict[str, Any]:
        """Words, rivals and map, as found at the fit."""
        text = (self.folder / "report.json").read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    @cached_property
    def model(self) -> TextModel:
        """The fitted model."""
        return load(self.folder / "model")


def _same_tree(one: Topics, two: Topics) -> bool:
    """True where topics differ in names and texts only."""
    parents = one.taxonomy.tree.parent, two.taxonomy.tree.parent
    return one.ids == two.ids and one.home == two.home and bool(np.array_equal(*parents))


def proposals(fit: Fit) -> list[Proposal]:
    """The topics that a fit proposed, as the library knows them."""
    return [
        Proposal(
            one["id"], np.array(one["rows"], dtype=np.intp), tuple(one["documents"]),
            one["parent"], one["sure"], tuple(one["words"]),
        )
        for one in fit.proposals
    ]  # fmt: skip


def _placements(
    arrays: dict[str, Any], taxonomy: Taxonomy, topic_ids: tuple[int, ...]
) -> Placements:
    """The placements of a fit; fits of older versions have no degrees of belonging."""
    n, is_seed = len(arrays["is_seed"]), arrays["is_seed"]
    if "belongs" not in arrays:
        names = ("row", "topic", "path", "distance", "score", "runner_up", "is_seed")
        arrays = vars(Assignments.ungraded(taxonomy, n, *(arrays[name] for name in names)))
    own = {name: arrays[name] for name in RECORD}
    return Placements(taxonomy, n, **own, is_seed=is_seed, topic_ids=topic_ids)


def write(
    project: Project,
    model: TextModel,
    assignments: Assignments,
    topics: Topics,
    report: dict[str, Any],
    facts: dict[str, Any],
    seeds: list[list[str]],
    rejected: list[list[str]],
    suggestions: list[tuple[int, str]],
    proposals: Sequence[Proposal] = (),
    points: Floats | None = None,
) -> int:
    """Write a fit as a whole; only then does the project know of it."""
    id = int(project.db.execute("SELECT coalesce(max(id), 0) + 1 FROM fit").fetchone()[0])
    content = {
        "n": assignments.n_documents,
        "ids": list(topics.ids),
        "facts": facts,
        "seeds": seeds,
        "rejected": rejected,
        "suggestions": suggestions,
        "proposals": [
            {
                "id": one.id,
                "rows": [int(row) for row in one.rows[:KEPT]],
                "documents": list(one.documents[:KEPT]),
                "size": one.size,
                "parent": one.parent,
                "sure": one.sure,
                "words": list(one.words),
            }
            for one in proposals
        ],
        "taxonomy": taxonomy_header(assignments.taxonomy),
    }
    arrays = {name: _small(getattr(assignments, name)) for name in RECORD}
    arrays["is_seed"] = assignments.is_seed
    if shares := expected_of_topics(model.estimator):
        unknown = (np.nan, np.nan, np.nan)
        arrays["expected"] = np.array([astuple(one) if one else unknown for one in shares])
    if points is not None:
        arrays["points"] = points
    folder = project.fit_folder(id)
    folder.parent.mkdir(exist_ok=True)
    with atomic_folder(folder, marker=FILE) as partial:
        model.save(partial / "model")
        (partial / "report.json").write_text(json.dumps(report), encoding="utf-8", newline="\n")
        write_sealed(
            partial / FILE, format=FORMAT, version=VERSION, content=content, arrays=arrays,
            files=["report.json"],
        )  # fmt: skip
    with project.write() as db:
        db.execute("INSERT INTO fit VALUES (?, ?, ?)", (id, now(), json.dumps(facts)))
    return id


def _small(values: NDArray[Any]) -> NDArray[Any]:
    """Convert to 32-bit numbers."""
    return values.astype(np.float32 if values.dtype.kind == "f" else np.int32)


def calibrated(fit: Fit) -> bool:
    """True where scores are probabilities, as the anchored method makes them."""
    return str(fit.facts["method"]) == "anchored"


def every(project: Project) -> list[Line]:
    """All fits, the latest first."""
    rows = project.db.execute("SELECT id, at, facts FROM fit ORDER BY id DESC")
    return [Line(id, at, json.loads(facts)) for id, at, facts in rows]


def last(project: Project) -> Fit | None:
    """The latest fit that can be read, None before the first.

    A folder that was damaged or taken away must not keep the project from opening.
    """
    for (id,) in project.db.execute("SELECT id FROM fit ORDER BY id DESC").fetchall():
        with contextlib.suppress(ModelError):
            return get(project, int(id))
    return None


def get(project: Project, id: int) -> Fit:
    """Read a fit; the last few are kept in memory."""
    return _read(id, project.fit_folder(id))


@lru_cache(maxsize=4)
def _read(id: int, folder: Path) -> Fit:
    return Fit(id, folder)
