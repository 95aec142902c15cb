"""Documents as a page shows them: the text, what was said of it, where it was placed and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hierseed.app.fits import Fit
from hierseed.app.project import Project
from hierseed.app.store import documents, labels, topics
from hierseed.app.store.labels import NOTHING, YES
from hierseed.app.tree import key_today, path_of

READ = 4_000  # letters of a text that are sent to the page


def cards(
    project: Project,
    rows: Sequence[int],
    *,
    fit: Fit | None = None,
    key: str = "",
    reasons: Mapping[int, str] | None = None,
) -> list[dict[str, Any]]:
    """One card per document, in the order given; `key` is the topic in question.

    Without one, the topic that the fit placed a document in is in question.
    """
    here = topics.current(project)
    said = labels.of_rows(project, rows)
    found = []
    for document in documents.get(project, rows):
        mine = said.get(document.row, [])
        places = placed(fit, document.row, here) if fit else []
        about = key or next((place["key"] for place in places), "")
        verdict = next((word.verdict for word in mine if str(word.topic) == about), NOTHING)
        found.append(
            {
                "row": document.row,
                "id": document.id,
                "text": document.text[:READ],
                "cut": len(document.text) > READ,
                "about": about if about.isdigit() else "",
                "verdict": verdict,
                "seed_of": [
                    {"key": str(word.topic), "path": here.path(word.topic)}
                    for word in mine
                    if word.verdict == YES
                ],
                "placed": places,
                "reason": (reasons or {}).get(document.row, ""),
            }
        )
    return found


def placed(fit: Fit, row: int, here: topics.Topics) -> list[dict[str, Any]]:
    """Where the fit put a document: path, score, and what came second."""
    if row >= fit.n:
        return []
    places = []
    for record in fit.records(row):
        topic = int(fit.topic[record])
        key = key_today(fit, here, topic)
        depth = max(int((fit.path[record] >= 0).sum()) - 1, 0)
        score, second = float(fit.score[record, depth]), int(fit.runner_up[record])
        rival = key_today(fit, here, second) if second >= 0 else ""
        places.append(
            {
                "key": key,
                "path": path_of(here, key) if key else "a deleted topic",
                "score": None if score != score else round(score, 3),
                "rival": path_of(here, rival) if rival else "",
                "rival_key": rival,
            }
        )
    return places
