"""Looking at a fit: which documents a topic holds, its rivals, why a document is here."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.app.fits import Fit
from hierseed.app.placements import Placements
from hierseed.app.project import Project
from hierseed.app.store import documents, labels, topics
from hierseed.app.store.topics import Topics
from hierseed.app.tree import path_of
from hierseed.app.vectors import Space

DOUBTFUL = 0.5  # a score below this: the document is more likely elsewhere than here
KINDS = {
    "central": "the ones nearest to the middle of the topic",
    "borderline": "the ones that nearly went elsewhere",
    "odd": "the ones furthest from the middle",
    "all": "all of them, in the order of the corpus",
}

Ints = NDArray[np.int32]


class Listing(NamedTuple):
    """One page of the documents of a topic."""

    records: list[int]
    total: int


def listing(
    placed: Placements,
    key: str,
    kind: str,
    offset: int,
    limit: int,
    within: NDArray[np.integer[Any]] | None = None,
) -> Listing:
    """Documents of a line of the tree, everything below it included; `within` only these rows."""
    order = _order(placed, key, kind)
    if within is not None:
        order = order[np.isin(placed.row[order], within)]
    return Listing(order[offset : offset + limit].tolist(), len(order))


@lru_cache(maxsize=16)
def _order(placed: Placements, key: str, kind: str) -> Ints:
    """Records in the order asked for; kept, so that turning a page costs nothing."""
    records = placed.members(placed.inside(key))
    if kind == "all" or not len(records):
        return records
    level = placed.level(placed.number.get(key, -1))
    values = (placed.score if kind == "borderline" else placed.distance)[records]
    own = (placed.path[records] >= 0).sum(axis=1)
    at = values[np.arange(len(records)), np.clip(np.minimum(level, own) - 1, 0, None)]
    if kind == "borderline":
        at = np.where(placed.runner_up[records] < 0, np.inf, at)
    worst = -np.inf if kind == "odd" else np.inf
    at = np.where(np.isnan(at), worst, at)
    return records[np.argsort(-at if kind == "odd" else at, kind="stable")]


def words(fit: Fit, here: Topics, key: str) -> list[str]:
    """The words that distinguish a topic, as found at the fit."""
    number, wanted = fit.topic_numbers(here), fit.placements(here).number.get(key)
    found: list[str] = []
    for topic, line in enumerate(fit.report["topics"]["words"]):
        if number[topic] == wanted:
            found += [word for word in line if word not in found]
    return found


def rivals(placed: Placements, here: Topics, key: str, most: int = 4) -> list[dict[str, Any]]:
    """The topics that doubtful documents of this one could belong to instead.

    A document counts where the fit gives its place less than an even chance.
    """
    within = placed.inside(key)
    records = placed.members(within)
    doubtful = placed.final_score[records] < DOUBTFUL
    records = records[doubtful & (placed.runner_up[records] >= 0)]
    if not len(records):
        return []
    # The runner-up may lie deeper; the rival of this topic is its ancestor on the same level.
    level = placed.level(placed.number.get(key, -1))
    at_level = placed.taxonomy.tree.ancestors[placed.runner_up[records], level - 1]
    other = at_level[(at_level >= 0) & ~within[at_level]]
    counts = np.bincount(other, minlength=len(placed.taxonomy))
    found = []
    for topic in np.argsort(-counts, kind="stable")[:most]:
        if counts[topic]:
            there = placed.keys[int(topic)]
            line = {"key": there, "path": path_of(here, there), "count": int(counts[topic])}
            found.append(line)
    return found


class Near(NamedTuple):
    """A topic or a document with its distance."""

    key: str
    path: str
    distance: float
    chosen: bool


def why(project: Project, fit: Fit, space: Space, row: int) -> dict[str, Any]:
    """Why a document is where it is: level by level the nearest topics, and the nearest seeds."""
    here = topics.current(project)
    fitted, number, keys = fit.fitted, fit.topic_numbers(here), fit.placements(here).keys
    record = fitted.records(row)[0]
    x = np.asarray(fit.model.prepare(space.store)[np.array([row])])[0]
    tree = fit.taxonomy.tree
    path = [int(t) for t in fitted.path[record] if t >= 0]
    levels = []
    for depth in range(max(len(path), 1)):
        above = path[depth - 1] if depth else -1
        siblings = tree.children(above)
        away = np.linalg.norm(fit.model.estimator.vectors_[siblings] - x, axis=1)
        nearest = np.argsort(away, kind="stable")[:4]
        chosen = path[depth] if depth < len(path) else -1
        shown = [int(siblings[i]) for i in nearest]
        if chosen >= 0 and chosen not in shown:
            shown = [*shown[:3], chosen]
        distance = dict(zip(siblings.tolist(), away.tolist()))
        lines = [
            Near(key, path_of(here, key), distance[topic], topic == chosen)
            for topic in sorted(shown, key=lambda topic: distance[topic])
            for key in [keys[number[topic]]]
        ]
        score = float(fitted.score[record, depth])
        levels.append(
            {
                "level": depth + 1,
                "score": None if np.isnan(score) else score,
                "topics": [line._asdict() for line in lines],
            }
        )
    return {
        "levels": levels,
        "ranked": likely(fit.placements(here), here, row),
        "seeds": nearest_seeds(project, here, space, row),
    }


def likely(placed: Placements, here: Topics, row: int) -> dict[str, Any]:
    """The most probable topics of a document, and the chance that it belongs to any."""
    record = placed.records(row)[0]
    ranked, chances = placed.ranked[record], placed.chances[record]
    lines = [
        {"path": path_of(here, placed.keys[int(topic)]), "chance": round(float(chance), 4)}
        for topic, chance in zip(ranked, chances)
        if topic >= 0 and np.isfinite(chance)
    ]
    belongs = float(placed.belongs[record, 0])
    return {"topics": lines, "belongs": None if np.isnan(belongs) else round(belongs, 4)}


def nearest_seeds(
    project: Project, here: Topics, space: Space, row: int, most: int = 3
) -> list[dict[str, Any]]:
    """The seeds most like a document, with their topics."""
    by_row = labels.seeds(project)
    rows = np.array([other for other in by_row if other != row and other < len(space.store)])
    if not len(rows):
        return []
    nearness = space.X[rows] @ space.X[np.array([row])][0]
    best = np.argsort(-nearness, kind="stable")[:most]
    chosen = {int(rows[i]): float(nearness[i]) for i in best}
    return [
        {
            "row": document.row,
            "id": document.id,
            "text": document.text[:280],
            "paths": [here.path(id) for id in by_row[document.row]],
            "nearness": chosen[document.row],
        }
        for document in documents.get(project, list(chosen))
    ]
