"""Compute what the page shows, from a fitted model, vectors and texts.

One pass over the vectors, then one over the documents: neither has to fit in memory, and what
is kept of them is bounded by `Limits`, so a million documents give a page of a few megabytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierseed.assignments import Assignments
from hierseed.core.arrays import Integers
from hierseed.errors import CorpusError
from hierseed.report import selection
from hierseed.report.accuracy import expected_of_levels, expected_of_topics
from hierseed.report.map import make_map
from hierseed.report.words import distinctive_words
from hierseed.taxonomy import Taxonomy

ABOUT = 600  # characters of a description


@dataclass(frozen=True)
class Limits:
    """How much of the corpus goes into the page."""

    map_documents: int = 4_000
    listed_documents: int = 6_000  # in all lists of all topics together
    per_list: int = 6
    word_documents: int = 40_000
    words: int = 12
    text: int = 320  # characters of a listed document
    hover: int = 110  # characters of a document that is only a point on the map


def gather(
    model: Any,
    X: Any,
    documents: Iterable[tuple[str, str]],
    *,
    title: str = "Placed corpus",
    assignments: Assignments | None = None,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Return everything the page shows, as plain lists and numbers.

    Parameters
    ----------
    model : a fitted estimator
    X : the vectors of the corpus, as `model.assign` takes them
    documents : (id, text) of each row, in order; read once
    assignments : the result of `model.assign(X)`, if it is known
    """
    limits = limits or Limits()
    assignments = assignments or model.assign(X)
    placements = selection.first_placements(assignments)
    taxonomy, n, labels = placements.taxonomy, len(placements), placements.labels
    counts, own = selection.count_documents(placements)
    vectors = np.asarray(model.vectors_, dtype=float)

    per_list = max(1, min(limits.per_list, limits.listed_documents // (2 * len(taxonomy) or 1)))
    central = selection.central_documents(placements, per_list)
    borderline = selection.borderline_documents(placements, per_list, central)
    on_map = selection.sample_documents(placements.labels, limits.map_documents)
    for_words = selection.sample_documents(placements.labels, limits.word_documents)
    nowhere = np.flatnonzero(labels < 0)
    nowhere = nowhere[selection.sample_documents(np.zeros(len(nowhere), int), limits.per_list)]

    listed = sorted({*nowhere.tolist(), *(r for rows in (*central, *borderline) for r in rows)})
    kept, words = _read(documents, n, listed, on_map, for_words, placements, limits)
    index = {row: i for i, row in enumerate(kept)}

    X_map = np.asarray(X[on_map], dtype=float)
    drawn = make_map(taxonomy, vectors, counts, on_map, labels[on_map], X_map)
    second = selection.second_choices(placements, on_map, X_map, vectors)

    rows = np.array(list(kept), dtype=np.intp)
    rival = selection.runner_ups(placements)[rows].max(axis=1, initial=-1)
    score = np.where(labels >= 0, placements.at(placements.score), np.nan)
    return {
        "title": title,
        "method": type(model).__name__,
        "n": n,
        "none": int((labels < 0).sum()),
        "other": int(taxonomy.is_other[labels[labels >= 0]].sum()),
        "seeds": int(placements.is_seed.sum()),
        "several": int((np.bincount(assignments.row) > 1).sum()),
        "topics": {
            **topic_columns(taxonomy, counts, own),
            "words": words,
            "central": [[index[r] for r in chosen] for chosen in central],
            "border": [[index[r] for r in chosen] for chosen in borderline],
            "rivals": selection.rival_topics(placements, second, vectors, 4),
            "expected": [
                one and _rounded((one.value, one.low, one.high), 4)
                for one in expected_of_topics(model)
            ],
        },
        "nowhere": [index[int(r)] for r in nowhere],
        "docs": {
            "id": [kept[r][0] for r in kept],
            "text": [kept[r][1] for r in kept],
            "topic": labels[rows].tolist(),
            "rival": rival.tolist(),
            "score": _rounded(score[rows], 2),
            "seed": placements.is_seed[rows].astype(int).tolist(),
        },
        "map": {
            "doc": [index[int(r)] for r in on_map],
            "x": _rounded(drawn.points[:, 0], 4),
            "y": _rounded(drawn.points[:, 1], 4),
            "topic": drawn.topics.tolist(),
            "tx": _rounded(drawn.positions[:, 0], 4),
            "ty": _rounded(drawn.positions[:, 1], 4),
            "r": _rounded(drawn.radii, 4),
        },
        "history": [_plain(event) for event in getattr(model, "history_", [])],
    }


def topic_columns(taxonomy: Taxonomy, counts: Integers, own: Integers) -> dict[str, list[Any]]:
    """Names, place and size of topics; `counts` include documents further down."""
    described = any(taxonomy.descriptions)
    return {
        "name": list(taxonomy.names),
        "parent": taxonomy.tree.parent.tolist(),
        "other": taxonomy.is_other.astype(int).tolist(),
        "count": counts.tolist(),
        "own": own.tolist(),
        "code": list(taxonomy.codes) if any(taxonomy.codes) else [],
        "about": [shorten(text, ABOUT) for text in taxonomy.descriptions] if described else [],
    }


def results_of(model: Any) -> dict[str, Any]:
    """Diagnostics of a fit: share that belongs, expected accuracy, topics that need attention."""
    foreign = getattr(model, "foreign_share_", None)
    return {
        "belong": str(foreign.complement()) if foreign is not None and foreign.high > 0 else None,
        "expected": [str(one) for one in expected_of_levels(model)],
        "findings": [str(one) for one in getattr(model, "diagnosis_", [])],
    }


def _read(
    documents: Iterable[tuple[str, str]],
    n: int,
    listed: list[int],
    on_map: Integers,
    for_words: Integers,
    placements: Assignments,
    limits: Limits,
) -> tuple[dict[int, tuple[str, str]], list[list[str]]]:
    """Pass over the documents once: (id, text) of those shown, words of each topic."""
    length = np.zeros(n, dtype=np.intp)
    length[on_map] = limits.hover
    length[listed] = limits.text
    kept: dict[int, tuple[str, str]] = {}
    counted = np.zeros(n, dtype=bool)
    counted[for_words] = True
    n_read = 0

    def texts() -> Iterator[str]:
        nonlocal n_read
        for row, (name, text) in enumerate(documents):
            n_read = row + 1
            if row >= n:
                continue
            if length[row]:
                kept[row] = (str(name), shorten(text, int(length[row])))
            if counted[row]:
                yield text

    stream = texts()
    many = len(placements.taxonomy) > 2_000
    words = distinctive_words(
        placements.taxonomy.tree,
        placements.labels[for_words],
        stream,
        limits.words // 2 if many else limits.words,
    )
    for _ in stream:  # read the remaining documents
        pass
    if n_read != n:
        raise CorpusError(
            f"{n_read:,} documents but {n:,} vectors. Give the corpus that the vectors come from."
        )
    return kept, words


def shorten(text: str, most: int) -> str:
    """One line of at most `most` characters, cut between words."""
    line = " ".join(text[: 8 * most].split())
    if len(line) <= most:
        return line
    cut = line[:most].rsplit(" ", 1)[0]
    return (cut if len(cut) > most // 2 else line[:most]) + "…"


def _rounded(values: Any, digits: int) -> list[float | None]:
    """Rounded numbers for JSON; None for NaN."""
    return [round(float(v), digits) if math.isfinite(v) else None for v in values]


def _plain(event: dict[str, Any]) -> dict[str, float | None]:
    """The numbers of one round of the fit."""
    return {
        key: float(value) if math.isfinite(value) else None
        for key, value in event.items()
        if isinstance(value, int | float | np.number)
    }
