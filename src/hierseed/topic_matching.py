"""Matching of topics with those of an earlier model, by the log of edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hierseed.names import SEPARATOR, Edit
from hierseed.taxonomy import Taxonomy


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
    """Where each text is, for those that only one topic has."""
    places: dict[str, int] = {}
    for i, text in enumerate(texts):
        places[text] = -1 if text in places else i
    return {text: i for text, i in places.items() if text and i >= 0}
