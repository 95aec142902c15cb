"""Compute scores again from kept predictions: any cell of a table can be checked in seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hierseed.errors import CorpusError, HierSeedError
from hierseed.evaluate import score
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.predictions import Gold, Predictions, gold_digest, kept_gold
from hierseed_bench.runs.prepared import PreparedData, ready
from hierseed_bench.runs.records import Record, Records
from hierseed_bench.runs.run import rounded


@dataclass
class Checked:
    """How many records gave the same scores again."""

    same: int = 0
    without: int = 0
    different: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    """Data sets that are not available, or differ."""


def check_records(records: Records, **wanted: Any) -> Checked:
    """Check every record that has predictions, one data set after the other."""
    found = Checked()
    every = records.find(**wanted)
    kept = [record for record in every if records.has_predictions(record)]
    found.without = len(every) - len(kept)
    kept.sort(key=lambda r: tuple(map(str, RunConfig.from_dict(r["setting"]).texts_shape)))
    for record in kept:
        config = RunConfig.from_dict(record["setting"])
        try:
            gold = kept_gold(records.folder, record["gold"])
            scores = recompute(record, records.predictions(record), gold)
        except HierSeedError as fault:
            text = f"{config.data}: {fault}"
            if text not in found.absent:
                found.absent.append(text)
            continue
        if scores == record["scores"]:
            found.same += 1
        else:
            found.different.append(f"{config} ({record['key']})")
    return found


def held_out(config: RunConfig) -> tuple[PreparedData, list[Any], list[int]]:
    """Return the data set of a run, the gold labels of its test part, and the rows."""
    data = ready(config.texts_shape)
    rows = data.split(config).test
    return data, [data.dataset.labels[row] for row in rows], [int(row) for row in rows]


def recompute(record: Record, predictions: Predictions, gold: Gold | None = None) -> dict[str, Any]:
    """Score kept predictions as the run did; gold labels are the data set's unless given."""
    if gold is None:
        data, labels, _ = held_out(RunConfig.from_dict(record["setting"]))
        if gold_digest(labels) != record["gold"]:
            raise CorpusError("this copy of the data set has other labels than the run's")
        gold = Gold(data.dataset.taxonomy.tree, labels)
    scores = score(
        gold.tree, predictions.path, gold.labels, rows=predictions.row, named=record["named"]
    )
    found: dict[str, Any] = rounded(scores.to_dict())
    return found
