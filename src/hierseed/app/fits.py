"""Fits on disk: a folder each, written whole; the row in the database comes last.

fits/0001/model/        what `hierseed assign` takes
fits/0001/fit.json      topics' ids for life, facts, and the placements as arrays
fits/0001/report.json   words, rivals and map, as `hierseed report` shows them
"""

from __future__ import annotations

import contextlib
import json
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.app.project import Project, now
from hierseed.app.store.topics import Topics
from hierseed.assignments import Assignments
from hierseed.errors import ModelError
from hierseed.io.atomic import atomic_folder
from hierseed.io.sealed import read_sealed, write_sealed
from hierseed.taxonomy import Taxonomy
from hierseed.text_model import TextModel, load

FORMAT, VERSION, FILE = "hierseed-fit", 1, "fit.json"
NONE = "none"

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]


class Line(NamedTuple):
    """A fit in the list of fits."""

    id: int
    at: str
    facts: dict[str, Any]


class Grouped:
    """Records by topic, sorted once, so that those of a few topics are found without a search."""

    def __init__(self, topic: Ints, topics: int) -> None:
        self.order = np.argsort(topic, kind="stable").astype(np.int32)
        self.edges = np.searchsorted(topic[self.order], np.arange(-1, topics + 1))

    def take(self, within: NDArray[np.bool_]) -> Ints:
        """Records of the topics marked; the last mark is that of None (-1)."""
        chosen = np.flatnonzero(within)
        start = np.where(chosen == len(within) - 1, 0, chosen + 1)  # None is sorted first
        parts = [self.order[self.edges[i] : self.edges[i + 1]] for i in start]
        return np.sort(np.concatenate([np.zeros(0, dtype=np.int32), *parts]))


class Fit:
    """One finished fit: where every document went."""

    def __init__(self, id: int, folder: Path) -> None:
        content, arrays = read_sealed(folder / FILE, format=FORMAT, version=VERSION)
        self.id, self.folder = id, folder
        self.facts: dict[str, Any] = content["facts"]
        self.ids: list[int] = content["ids"]  # of the listed topics; Others have none
        self.taxonomy = Taxonomy(**content["taxonomy"])
        self.row: Ints = arrays["row"]
        self.topic: Ints = arrays["topic"]
        self.path: Ints = arrays["path"]
        self.distance: Floats = arrays["distance"]
        self.score: Floats = arrays["score"]
        self.runner_up: Ints = arrays["runner_up"]
        self.is_seed: NDArray[np.bool_] = arrays["is_seed"]
        self.n: int = content["n"]
        self.seeds: list[list[str]] = content["seeds"]  # rows of id, text, topic, as given
        self.suggestions: list[tuple[int, str]] = [tuple(s) for s in content["suggestions"]]

    @cached_property
    def keys(self) -> list[str]:
        """What a page calls each topic: its id for life, or `other-` and its parent's."""
        keys = [str(id) for id in self.ids]
        for topic in range(len(self.ids), len(self.taxonomy)):
            above = int(self.taxonomy.tree.parent[topic])
            keys.append(f"other-{self.ids[above] if above >= 0 else 0}")
        return [*keys, NONE]  # the last answers for topic -1

    @cached_property
    def primary(self) -> NDArray[np.intp]:
        """The first record of each document."""
        return np.flatnonzero(np.diff(self.row, prepend=-1))

    @cached_property
    def labels(self) -> Ints:
        """Deepest topic of each document."""
        return self.topic[self.primary]

    @cached_property
    def own_counts(self) -> NDArray[np.intp]:
        """Records that stop at each topic; the last entry is None's."""
        return np.bincount(
            np.where(self.topic < 0, len(self.taxonomy), self.topic),
            minlength=len(self.taxonomy) + 1,
        )

    @cached_property
    def report(self) -> dict[str, Any]:
        """Words, rivals, map: what the report page shows."""
        text = (self.folder / "report.json").read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    @cached_property
    def model(self) -> TextModel:
        """The fitted model."""
        return load(self.folder / "model")

    def level(self, topic: int) -> int:
        """Level of a topic of the fit, 1 for None."""
        return int(self.taxonomy.tree.level[topic]) if topic >= 0 else 1

    def records(self, row: int) -> range:
        """The records of one document."""
        start = int(self.primary[row])
        stop = int(self.primary[row + 1]) if row + 1 < self.n else len(self.row)
        return range(start, stop)

    @cached_property
    def final_score(self) -> Floats:
        """For each record the score of its deepest topic."""
        depth = np.maximum((self.path >= 0).sum(axis=1) - 1, 0)
        return self.score[np.arange(len(self.score)), depth]

    @cached_property
    def _first(self) -> Grouped:
        return Grouped(self.topic, len(self.taxonomy))

    @cached_property
    def _second(self) -> Grouped:
        return Grouped(self.runner_up, len(self.taxonomy))

    def members(self, within: NDArray[np.bool_]) -> Ints:
        """Records in any of these topics (None last), in order."""
        return self._first.take(within)

    def nearly(self, within: NDArray[np.bool_]) -> Ints:
        """Records for which any of these topics came second, in order."""
        return self._second.take(np.append(within[:-1], False))

    def assignments(self, start: int, stop: int) -> Assignments:
        """The placements of some documents that follow each other, as the library knows them."""
        stop = min(stop, self.n)
        part = slice(self.records(start).start, self.records(stop - 1).stop)
        return Assignments(
            self.taxonomy, stop - start, self.row[part] - start, self.topic[part], self.path[part],
            self.distance[part], self.score[part], self.runner_up[part], self.is_seed[start:stop],
        )  # fmt: skip


def write(
    project: Project,
    model: TextModel,
    assignments: Assignments,
    topics: Topics,
    report: dict[str, Any],
    facts: dict[str, Any],
    seeds: list[list[str]],
    suggestions: list[tuple[int, str]],
) -> int:
    """Write a fit as a whole; only then does the project know of it."""
    id = int(project.db.execute("SELECT coalesce(max(id), 0) + 1 FROM fit").fetchone()[0])
    taxonomy = assignments.taxonomy
    content = {
        "n": assignments.n_documents,
        "ids": list(topics.ids),
        "facts": facts,
        "seeds": seeds,
        "suggestions": suggestions,
        "taxonomy": {
            "names": taxonomy.names,
            "parent": taxonomy.tree.parent,
            "codes": taxonomy.codes,
            "descriptions": taxonomy.descriptions,
            "is_other": taxonomy.is_other,
        },
    }
    arrays = {
        "row": assignments.row.astype(np.int32),
        "topic": assignments.topic.astype(np.int32),
        "path": assignments.path.astype(np.int32),
        "distance": assignments.distance.astype(np.float32),
        "score": assignments.score.astype(np.float32),
        "runner_up": assignments.runner_up.astype(np.int32),
        "is_seed": assignments.is_seed,
    }
    folder = project.fit_folder(id)
    folder.parent.mkdir(exist_ok=True)
    with atomic_folder(folder, marker=FILE) as partial:
        model.save(partial / "model")
        (partial / "report.json").write_text(json.dumps(report), encoding="utf-8")
        write_sealed(
            partial / FILE, format=FORMAT, version=VERSION, content=content, arrays=arrays,
            files=["report.json"],
        )  # fmt: skip
    with project.write() as db:
        db.execute("INSERT INTO fit VALUES (?, ?, ?)", (id, now(), json.dumps(facts)))
    return id


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
