"""The report of a fit in the current taxonomy: names, counts, words and map."""

from __future__ import annotations

from typing import Any

from hierseed.app.document_map import islands
from hierseed.app.fits import Fit
from hierseed.app.store.topics import Topics
from hierseed.core.mixture.components import add_up
from hierseed.estimators.anchored.fitting import count_documents
from hierseed.report.gather import topic_columns


def current_report(fit: Fit, here: Topics) -> dict[str, Any]:
    """The content of `hierseed report`, with topics as they are named and placed now."""
    found = fit.report
    placed, number = fit.placements(here), fit.topic_numbers(here)
    taxonomy, n = placed.taxonomy, len(placed.taxonomy)
    labels = placed.labels
    own = count_documents(labels, n)
    topics: dict[str, Any] = topic_columns(taxonomy, add_up(taxonomy.tree, own.copy()), own)
    expected, old = fit.expected(here), dict(found["topics"])
    topics["expected"] = [expected.get(key) for key in placed.keys[:n]]
    old["rivals"] = [[[int(number[to]), share] for to, share in line] for line in old["rivals"]]
    topics |= {name: _joined(old[name], number, n) for name in old if name not in topics}
    topics["rivals"] = [
        [rival for rival in line if rival[0] >= 0 and rival[0] != topic]
        for topic, line in enumerate(topics["rivals"])
    ]
    documents = {
        **found["docs"],
        "topic": [int(number[topic]) for topic in found["docs"]["topic"]],
        "rival": [int(number[topic]) for topic in found["docs"]["rival"]],
    }
    return {
        **found,
        "none": int((labels < 0).sum()),
        "other": int(taxonomy.is_other[labels[labels >= 0]].sum()),
        "topics": topics,
        "docs": documents,
        "map": {**found["map"], **islands(fit, here)},
    }


def _joined(lists: list[list[Any]], number: Any, n: int) -> list[list[Any]]:
    """The lists of the topics that are one now, one after the other, without repeats."""
    found: list[list[Any]] = [[] for _ in range(n)]
    for topic, line in enumerate(lists):
        if number[topic] >= 0:
            home = found[number[topic]]
            home.extend(one for one in line if one not in home)
    return found
