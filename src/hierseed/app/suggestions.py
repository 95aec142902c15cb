"""Documents worth a look for one topic, each with the reason why."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest

import numpy as np

from hierseed.app.placements import Placements
from hierseed.app.project import Project
from hierseed.app.review import listing
from hierseed.app.store import documents, labels, topics
from hierseed.app.store.topics import Topics
from hierseed.app.tree import path_of
from hierseed.app.vectors import Space
from hierseed.io.seeds import name_text

LOOKED_AT = 200  # documents that each source may offer
QUOTED = 90  # letters of a seed that a reason quotes
SEEDS = 500  # the latest seeds of a topic that others are compared with

Suggestion = tuple[int, str]


def suggest(
    project: Project, space: Space | None, placed: Placements | None, id: int, most: int = 60
) -> list[Suggestion]:
    """Rows with a reason each, the sources taking turns; decided documents are left out."""
    here = topics.current(project)
    seeds = labels.of_topic(project, id)
    decided = {*seeds, *labels.of_topic(project, id, labels.NO), *labels.seeds(project)}
    for decision in labels.WHOLE:
        decided.update(labels.whole(project, decision))
    sources: list[Iterator[Suggestion]] = []
    if space is not None:
        known = documents.get(project, [row for row in seeds if row < len(space.store)][:SEEDS])
        sources.append(_like_seeds(space, known) if known else _like_name(space, here, id))
    if placed is not None:
        key = str(id)
        sources += [_torn(placed, here, key), _nearly_here(placed, here, key), _middle(placed, key)]
    found: dict[int, str] = {}
    for turn in zip_longest(*(islice(source, LOOKED_AT) for source in sources)):
        for offer in turn:
            if offer is not None and offer[0] not in decided:
                found.setdefault(*offer)
        if len(found) >= most:
            break
    return list(found.items())[:most]


def _like_seeds(space: Space, seeds: list[documents.Document]) -> Iterator[Suggestion]:
    own = space.X[np.array([seed.row for seed in seeds], dtype=np.intp)]
    mean = own.mean(axis=0)
    rows, _ = space.similar(mean / max(float(np.linalg.norm(mean)), 1e-12), LOOKED_AT)
    nearness = space.X[rows] @ own.T
    for row, near in zip(rows.tolist(), nearness):
        best = int(near.argmax())
        quote = " ".join(seeds[best].text.split())[:QUOTED]
        yield row, f"Like the seed “{quote}” ({near[best]:.0%} alike)"


def _like_name(space: Space, here: Topics, id: int) -> Iterator[Suggestion]:
    rows, _ = space.similar(space.encode(name_text(here.taxonomy, here.place[id])), LOOKED_AT)
    for row in rows.tolist():
        yield row, "Near to the name of the topic, which has no seed yet"


def _torn(placed: Placements, here: Topics, key: str) -> Iterator[Suggestion]:
    for record in listing(placed, key, "borderline", 0, LOOKED_AT).records:
        second = int(placed.runner_up[record])
        if second >= 0:
            other = path_of(here, placed.keys[second])
            yield int(placed.row[record]), f"Here, but nearly in {other}"


def _nearly_here(placed: Placements, here: Topics, key: str) -> Iterator[Suggestion]:
    within = placed.inside(key)
    records = placed.nearly(within)
    records = records[~within[placed.topic[records]]]
    order = records[np.lexsort((records, placed.final_score[records]))]
    for record in order[:LOOKED_AT]:
        there = path_of(here, placed.keys[int(placed.topic[record])])
        yield int(placed.row[record]), f"In {there}, but nearly here"


def _middle(placed: Placements, key: str) -> Iterator[Suggestion]:
    for record in listing(placed, key, "central", 0, LOOKED_AT).records:
        yield int(placed.row[record]), "In the middle of the topic, not confirmed yet"
