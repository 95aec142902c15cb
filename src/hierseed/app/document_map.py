"""The map of a fit: a point for each document, packed as numbers for the browser."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.app import metadata
from hierseed.app.fits import Fit
from hierseed.app.project import Project
from hierseed.app.store import documents, topics
from hierseed.errors import ProjectError
from hierseed.placed import PlacedDocuments
from hierseed.report.map import find_islands, place

STEPS = 65_535  # coordinates are whole numbers from 0 to this
HOVER = 160  # letters of a document shown beside the pointer


def place_documents(placed: PlacedDocuments, report: dict[str, Any]) -> NDArray[np.float32]:
    """Place every document on the islands of the report, which draws only some of them."""
    drawn = report["map"]
    shown = np.array(drawn["topic"], dtype=np.intp)
    labels = np.asarray(placed.assignments.labels, dtype=np.intp)
    points = place(
        placed.X,
        find_islands(placed.assignments.taxonomy.tree, shown, labels),
        np.asarray(placed.estimator.vectors_)[shown],
        np.array([drawn["tx"], drawn["ty"]]).T,
        np.array(drawn["r"]),
    )
    return points.astype(np.float32)


def islands(fit: Fit, here: topics.Topics) -> dict[str, Any]:
    """The islands, without those of topics that were deleted."""
    found, number = fit.report["map"], fit.topic_numbers(here)
    kept = [i for i, topic in enumerate(found["topic"]) if number[topic] >= 0]
    drawn = {name: [found[name][i] for i in kept] for name in ("tx", "ty", "r")}
    return {**drawn, "topic": [int(number[found["topic"][i]]) for i in kept]}


def pack(project: Project, fit: Fit, column: str = "") -> bytes:
    """Points, topics and the steps of a column, one array after the other.

    The length of the header, the header as JSON, then topic (int32), x and y (uint16) and, where
    a column was asked for, the step of each document in it (int8, -1 for none).
    """
    here = topics.current(project)
    if fit.points is not None:
        points, topic, rows = fit.points, fit.placements(here).labels, True
    else:  # a fit of an older version, which placed only the documents of the report
        drawn, listed = fit.report["map"], fit.report["docs"]["topic"]
        points = np.array([drawn["x"], drawn["y"]], dtype=np.float32).T
        topic = fit.topic_numbers(here)[[listed[i] for i in drawn["doc"]]]
        rows = False
    header: dict[str, Any] = {"n": len(points), "rows": rows, "titles": []}
    parts = [topic.astype("<i4").tobytes()]
    low = points.min(axis=0, initial=-1.0)
    size = np.maximum(points.max(axis=0, initial=1.0) - low, 1e-6)
    header |= {"low": low.tolist(), "size": size.tolist()}
    steps = np.rint((points - low) / size * STEPS).astype("<u2")
    parts += [steps[:, 0].tobytes(), steps[:, 1].tobytes()]
    if column and rows:
        if column not in {entry["name"] for entry in metadata.columns(project)}:
            raise ProjectError(f"the corpus has no column {column!r}. Reload the page")
        bins, titles, ordered = metadata.bins(project, column, len(points))
        if bins is None:
            raise ProjectError(
                f"{column} has too many different values for colours. Choose another column"
            )
        header |= {"titles": titles, "ordered": ordered}
        parts.append(bins.astype("i1").tobytes())
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)  # the arrays begin where a browser can read them in place
    return b"".join([np.array(len(text), dtype="<u4").tobytes(), text, *parts])


def hover(project: Project, row: int) -> dict[str, str]:
    """Text of a tooltip: id and the beginning of the text."""
    found = documents.get(project, [row])
    if not found:
        raise ProjectError("no such document. Reload the page")
    return {"id": found[0].id, "text": " ".join(found[0].text[: 2 * HOVER].split())[:HOVER]}
