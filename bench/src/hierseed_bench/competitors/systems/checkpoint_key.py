"""Digests that name a checkpoint or a cache by what it was made from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from hierseed_bench.competitors.systems.system import Task


def fingerprint(settings: dict[str, Any], *groups: Iterable[Any]) -> str:
    """Return a short digest of settings and of texts or labels."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for group in groups:
        digest.update(b"\x00group")
        for item in group:
            digest.update(str(item).encode("utf-8", "surrogatepass") + b"\x00")
    return digest.hexdigest()[:16]


def task_key(settings: dict[str, Any], task: Task) -> str:
    """Return the digest of a system's settings and of all that it learns from."""
    known = task.labelled
    labels = [*task.seeds.topics, "|", *(known.topics if known else ())]
    texts = (task.seeds.texts, task.fitting, known.texts if known else ())
    return fingerprint(settings, task.taxonomy.paths, task.names, labels, *texts)
