"""Texts to JSON by a fitted model; safe to call from several threads."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hierseed.assignments import RANKED, Assignments
from hierseed.errors import CorpusError
from hierseed.files import file_sha256
from hierseed.io.corpus import Corpus
from hierseed.io.model_bundle import FILE
from hierseed.io.records.frames import MemoryRecords
from hierseed.io.records.rows import Fault
from hierseed.io.taxonomies.vocabulary import BASE
from hierseed.taxonomy import Taxonomy
from hierseed.text_model import TextModel

NUMBERS = ("distance", "score", "belongs")


@dataclass(frozen=True)
class Placed:
    """Placed documents, and those that can't be used."""

    assignments: Assignments | None
    faults: list[Fault]


class TopicService:
    """A model behind a service.

    Parameters
    ----------
    model : with an embedder; a model of vectors is refused, since a service receives texts
    """

    def __init__(self, model: TextModel) -> None:
        self.model = model
        self.name = model.folder.name if model.folder else "model"
        self.version = self.name
        if model.folder:
            self.version = f"{self.name}-{file_sha256(model.folder / FILE)[:8]}"
        self._lock = threading.Lock()  # embedders and warnings are not thread-safe
        self.place(["ready"])  # loads the embedder, or fails now

    @property
    def taxonomy(self) -> Taxonomy:
        """The topics, with the Other topics that the fit added."""
        return self.model.taxonomy_

    def address(self, topic: int) -> str:
        """The address of a topic, or the one that `hierseed convert` gives it in SKOS."""
        return self.taxonomy.addresses[topic] or f"{BASE}{topic + 1}"

    def place(
        self,
        texts: Sequence[str],
        ids: Sequence[str] | None = None,
        *,
        skip: bool = False,
        **options: Any,
    ) -> Placed:
        """Place texts; options as of `TextModel.assign`.

        Parameters
        ----------
        ids : row numbers from 0 unless given
        skip : leave out documents that can't be used, instead of raising
        """
        faults: list[Fault] = []
        columns = {"id": list(ids or map(str, range(len(texts)))), "text": list(texts)}
        corpus = Corpus(
            MemoryRecords("documents", columns),
            on_error="skip" if skip else "stop",
            on_skip=faults.append,
        )
        with self._lock:
            try:
                found = self.model.assign(corpus, progress=lambda event: None, **options)
            except CorpusError:
                if not (skip and faults):
                    raise
                return Placed(None, faults)  # no document is left
        return Placed(found, faults)

    def listed(self, found: Assignments, top: int = 0) -> list[dict[str, Any]]:
        """Assignments as JSON, one entry per document."""
        records = found.to_frame().to_dict("records")
        documents: list[dict[str, Any]] = []
        ranked = self.ranked(found, top) if top else []
        for row, topic, record in zip(found.row.tolist(), found.topic.tolist(), records):
            if len(documents) > row:  # a further topic of the same document
                documents[row]["also"].append(self._topic(topic, _number(record["score"])))
                continue
            levels = [str(record[f"level_{k}"]) for k in range(1, found.path.shape[1] + 1)]
            entry = {
                "id": record["id"],
                "topic": record["topic"] or None,
                "levels": [level for level in levels if level],
                "code": self.taxonomy.codes[topic] or None if topic >= 0 else None,
                "address": self.address(topic) if topic >= 0 else None,
                **{name: _number(record[name]) for name in NUMBERS},
                "runner_up": record["runner_up"] or None,
                **{name: bool(record[name]) for name in ("is_other", "is_none", "is_seed")},
                "also": [],
            }
            if top:
                entry["top"] = ranked[row]
            documents.append(entry)
        return documents

    def ranked(self, found: Assignments, k: int) -> list[list[dict[str, Any]]]:
        """The most probable listed topics of each document, at most five."""
        topics = found.ranked[found.primary, : min(k, RANKED)].tolist()
        chances = found.chances[found.primary, : min(k, RANKED)].tolist()
        return [
            [
                self._topic(topic, chance)
                for topic, chance in zip(some, own)
                if topic >= 0 and chance > 0 and not self.taxonomy.is_other[topic]
            ]
            for some, own in zip(topics, chances)
        ]

    def _topic(self, topic: int, score: float | None) -> dict[str, Any]:
        path, code = self.taxonomy.paths[topic], self.taxonomy.codes[topic] or None
        return {"topic": path, "code": code, "address": self.address(topic), "score": score}


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return None if math.isnan(value) else float(value)
