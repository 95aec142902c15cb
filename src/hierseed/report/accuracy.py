"""The accuracy that a fit expects, as the command line, the report and the workbench show it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hierseed.core.mixture.accuracy import Share, below_their_level
from hierseed.core.mixture.components import add_up
from hierseed.estimators.anchored.fitting import count_documents

SURE = 1.28  # standard deviations below its level: nine in ten such topics are below it


def expected_of_levels(model: Any) -> list[Share]:
    """Expected accuracy of each level; empty if no seeds were held out to estimate it."""
    return getattr(model, "expected_accuracy_", []) if getattr(model, "n_held_out_", 0) else []


def expected_of_topics(model: Any) -> list[Share | None]:
    """Expected accuracy of each topic; empty if no seeds were held out to estimate it."""
    levels = expected_of_levels(model)
    return model.expected_topic_accuracy_ if levels else []


def expected_by_path(model: Any) -> dict[str, Share]:
    """Expected accuracy of topics by path, the lowest first."""
    pairs = zip(model.taxonomy_.paths, expected_of_topics(model))
    known = [(path, share) for path, share in pairs if share is not None]
    return dict(sorted(known, key=lambda pair: (pair[1].value, pair[0])))


def expected_to_dict(model: Any) -> dict[str, Any]:
    """Expected accuracy of levels and topics as plain numbers; {} where nothing is known."""
    levels = [asdict(one) for one in expected_of_levels(model)]
    topics = {path: asdict(one) for path, one in expected_by_path(model).items()}
    return {"expected_accuracy": {"levels": levels, "topics": topics}} if levels else {}


def least_accurate(model: Any) -> list[int]:
    """Topics that are most likely less accurate than their level, the lowest first."""
    topics = expected_of_topics(model)
    if not topics:
        return []
    tree = model.taxonomy_.tree
    documents = add_up(tree, count_documents(model.labels_, len(tree)))
    return below_their_level(topics, documents, tree.level, expected_of_levels(model), SURE)
