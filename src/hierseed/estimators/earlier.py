"""Start from an earlier model: its topics matched with those of an edited taxonomy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hierseed.core.arrays import Bools, Floats
from hierseed.core.hierseed.vectors import start as start_vectors
from hierseed.errors import ModelError
from hierseed.estimators.inputs import refuse_bare_leaves
from hierseed.taxonomy import Taxonomy
from hierseed.topics import SEPARATOR, Edit


def topics_of(earlier: Any, taxonomy: Taxonomy, width: int) -> list[int]:
    """For each topic, the one that it was in an earlier model, -1 for none (see `match_topics`).

    A model that is not fitted, or was fitted on other vectors, is refused.
    """
    if not hasattr(earlier, "taxonomy_"):
        raise ModelError("start is not fitted yet: fit it, or leave start out")
    if earlier.n_features_in_ != width:
        raise ModelError(
            f"start was fitted on {earlier.n_features_in_} dimensions, X has {width}. "
            "Use vectors of the same embedder."
        )
    return match_topics(earlier.taxonomy_, taxonomy)


def continue_from(
    taxonomy: Taxonomy, earlier: Any, means: Floats, known: Bools, width: int
) -> tuple[Taxonomy, Floats, set[int]]:
    """Start from the topics of an earlier model, and its Other topics where their parents exist.

    Also returns the topics (-1: the root) for which it has decided about an Other.
    """
    matched = topics_of(earlier, taxonomy, width)
    old = earlier.taxonomy_
    now = {topic: here for here, topic in enumerate(matched) if topic >= 0}
    parents, others = [], []
    for topic in np.flatnonzero(old.is_other).tolist():
        above = int(old.tree.parent[topic])
        if topic not in now and (above < 0 or above in now):
            here = -1 if above < 0 else now[above]
            if here < 0 or not taxonomy.tree.is_leaf[here]:
                parents.append(here)
                others.append(earlier.vectors_[topic])
    vectors, known, extended = means.copy(), known.copy(), {-1}
    for topic, before in enumerate(matched):
        if before >= 0:
            vectors[topic], known[topic] = earlier.vectors_[before], True
            extended.add(topic)
    refuse_bare_leaves(taxonomy, known)
    vectors = start_vectors(taxonomy.tree, vectors, known)
    vectors = np.concatenate([vectors, *(vector[None] for vector in others)])
    return taxonomy.with_others(parents), vectors, extended


def match_topics(earlier: Taxonomy, later: Taxonomy) -> list[int]:
    """For each topic of `later`, the topic of `earlier` that it was, -1 for a new one.

    Followed by the edits made since `earlier`, then by address, by code, and by path.
    """
    known = len(earlier.log)
    log = later.log[known:] if later.log[:known] == earlier.log else later.log
    followed = {_follow(log, path): i for i, path in enumerate(earlier.paths)}
    by_address = _unique(earlier.addresses)
    by_code = _unique(earlier.codes)
    by_path = {path: i for i, path in enumerate(earlier.paths)} if not log else {}
    found = []
    for topic, path in enumerate(later.paths):
        steps: tuple[tuple[dict[Any, int], str], ...] = (
            (followed if log else {}, path),
            (by_address, later.addresses[topic]),
            (by_code, later.codes[topic]),
            (by_path, path),
        )
        found.append(next((known[key] for known, key in steps if key and key in known), -1))
    return found


def _follow(log: Sequence[Edit], path: str) -> str | None:
    """The path of a topic after some edits; None if it was deleted or merged into another."""
    for edit in log:
        if path != edit.path and not path.startswith(edit.path + SEPARATOR):
            continue
        if edit.kind == "delete" or (edit.kind == "merge" and path == edit.path):
            return None
        if edit.kind in ("rename", "move", "merge"):
            path = edit.to + path[len(edit.path) :]
    return path


def _unique(texts: Sequence[str]) -> dict[str, int]:
    """The position of each text that only one topic has."""
    places: dict[str, int] = {}
    for i, text in enumerate(texts):
        places[text] = -1 if text in places else i
    return {text: i for text, i in places.items() if text and i >= 0}
