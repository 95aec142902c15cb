"""What a checkpoint is good for: one system's settings on one task."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from hierseed_bench.competitors.systems.system import Task


def task_key(settings: dict[str, Any], task: Task) -> str:
    """Short digest of settings, tree, labels and texts."""
    labelled = task.labelled
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    labels = [*task.seeds.topics, "|", *(labelled.topics if labelled else ())]
    groups: list[Iterable[Any]] = [task.taxonomy.paths, task.names, labels, task.seeds.texts]
    groups += [task.fitting, labelled.texts if labelled else ()]
    for group in groups:
        digest.update(b"\x00group")
        for item in group:
            digest.update(str(item).encode("utf-8", "surrogatepass") + b"\x00")
    return digest.hexdigest()[:16]
