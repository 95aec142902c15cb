"""Documents as a page shows them: the text, the decisions, the place and the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hierseed.app.placements import Placements
from hierseed.app.project import Project
from hierseed.app.store import documents, labels, memos, topics
from hierseed.app.store.labels import NO, NOTHING, WHOLE, YES
from hierseed.app.tree import path_of

READ = 4_000  # letters of a text that are sent to the page; the rest comes when it is asked for


def cards(
    project: Project,
    rows: Sequence[int],
    *,
    placed: Placements | None = None,
    key: str = "",
    reasons: Mapping[int, str] | None = None,
    whole: int | None = None,
) -> list[dict[str, Any]]:
    """One card for each document, in the order given; `key` is the topic in question.

    Without a key, the topic that the fit placed a document in is in question. The text of the
    row `whole` is sent in full.
    """
    here = topics.current(project)
    decided = labels.of_rows(project, rows)
    columns = documents.columns_of(project, rows)
    notes = memos.of_documents(project, rows)
    found = []
    for document in documents.get(project, rows):
        verdicts = {label.topic: label.verdict for label in decided.get(document.row, [])}
        places = places_of(placed, document.row, here) if placed else []
        accept, reject = _targets(here, key, places, verdicts)
        length = None if document.row == whole else READ
        found.append(
            {
                "row": document.row,
                "id": document.id,
                "text": document.text[:length],
                "cut": length is not None and len(document.text) > length,
                "letters": len(document.text),
                "accept": _target(here, accept, verdicts),
                "reject": _target(here, reject, verdicts),
                "seed_of": _decided(here, verdicts, YES),
                "not_in": _decided(here, verdicts, NO),
                "whole": next((name for topic, name in WHOLE.items() if topic in verdicts), ""),
                "placed": places,
                "columns": columns.get(document.row, {}),
                "memos": notes.get(document.row, []),
                "reason": (reasons or {}).get(document.row, ""),
            }
        )
    return found


def _decided(here: topics.Topics, verdicts: Mapping[int, int], wanted: int) -> list[dict[str, str]]:
    """The topics that a document was accepted or rejected for."""
    found = (id for id, verdict in verdicts.items() if verdict == wanted and id not in WHOLE)
    return [{"key": str(id), "path": here.path(id)} for id in found]


def _targets(
    here: topics.Topics, key: str, places: list[dict[str, Any]], verdicts: Mapping[int, int]
) -> tuple[int | None, int | None]:
    """The topics that the keys A (accept) and R (reject) apply to.

    Accepting means the deepest topic in question: a document that the fit placed below the
    selected topic is accepted where it is placed, so that it keeps its subtopic. Rejecting
    means the selected topic itself.
    """
    listed = [int(place["key"]) for place in places if place["key"].isdigit()]
    if not key:
        return (listed[0], listed[0]) if listed else (None, None)
    if not key.isdigit() or int(key) not in here.place:
        return None, None
    topic = here.ids[here.place[int(key)]]
    tree = here.taxonomy.tree
    seeds = [id for id, verdict in verdicts.items() if verdict == YES and id not in WHOLE]
    for other in [*seeds, *listed]:
        below = here.place[topic] in tree.ancestors[here.place[other]]
        if below and verdicts.get(other) != NO:
            return other, topic
    return topic, topic


def _target(
    here: topics.Topics, topic: int | None, verdicts: Mapping[int, int]
) -> dict[str, Any] | None:
    if topic is None:
        return None
    return {
        "key": str(topic),
        "path": here.path(topic),
        "verdict": verdicts.get(topic, NOTHING),
    }


def places_of(placed: Placements, row: int, here: topics.Topics) -> list[dict[str, Any]]:
    """Placements of a document in the fit: path, score, and the runner-up."""
    if row >= placed.n_documents:
        return []
    places = []
    for record in placed.records(row):
        key, second = placed.keys[placed.topic[record]], int(placed.runner_up[record])
        score = float(placed.final_score[record])
        rival = placed.keys[second] if second >= 0 else ""
        places.append(
            {
                "key": key,
                "path": path_of(here, key),
                "score": None if score != score else round(score, 3),
                "rival": path_of(here, rival) if rival else "",
                "rival_key": rival,
            }
        )
    return places
