"""Make runs and keep their records, one at a time or in several processes, none twice."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from hierseed.errors import HierSeedError
from hierseed.evaluate import calibration, score, score_left_out
from hierseed.files import model_home
from hierseed_bench.competitors.catalogue import METHODS, make_method
from hierseed_bench.competitors.task import Documents, Method, Several, Task
from hierseed_bench.data.splits import Split
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.environment import PeakMemory, provenance
from hierseed_bench.runs.predictions import FREE, Gold, Predictions, gold_digest, keep_gold
from hierseed_bench.runs.prepared import PreparedData, make_task, ready
from hierseed_bench.runs.records import Record, Records, claimed

Report = Callable[[RunConfig, Record | str], None]
DIGITS = 6


class Clock(NamedTuple):
    """Time on the wall, and time of the processor, which a busy machine does not stretch."""

    wall: float
    processor: float

    @classmethod
    def now(cls) -> Clock:
        """Read both."""
        return cls(time.perf_counter(), time.process_time())


class Outcome(NamedTuple):
    """Results of a run: its record, its predictions, and the gold labels of the test part."""

    record: Record
    predictions: Predictions
    gold: Gold


class OutOfTimeError(Exception):
    """The time given has passed; the method's checkpoint is on disk."""


def run_one(
    config: RunConfig,
    path: Path | None = None,
    threads: int = 1,
    prepare: Callable[[Method], None] = lambda method: None,
) -> Outcome:
    """Fit and score one run; the record holds all that is needed to make it again.

    Parameters
    ----------
    prepare : called with the method before it is fitted, to set its checkpoint and progress
    """
    data = ready(config.shape, path)
    split = data.split(config)
    task, test, preparation = make_task(data, config, split)
    method = make_method(config.method, **dict(config.parameters))
    prepare(method)
    with threadpool_limits(threads), PeakMemory() as memory:
        started = Clock.now()
        method.fit(task)
        fitted = Clock.now()
        levels = method.predict(test)
        finished = Clock.now()
    dataset = data.dataset
    gold = [dataset.labels[row] for row in split.test]
    rows, places = None, levels
    if isinstance(method, Several) and not dataset.is_single_label:
        rows, places = method.place(test)
    scores = score(dataset.taxonomy, places, gold, rows=rows, named=method.named)
    confidence = method.scores(test)[1] if hasattr(method, "scores") else None
    record = {
        "key": config.key,
        "setting": config.to_dict(),
        "scores": rounded(scores.to_dict()),
        **_more_scores(method, task, test, levels, confidence, gold, data, split),
        "seconds": {
            "fit": round(fitted.wall - started.wall, 3),
            "predict": round(finished.wall - fitted.wall, 3),
            "fit_processor": round(fitted.processor - started.processor, 3),
            "predict_processor": round(finished.processor - fitted.processor, 3),
        },
        "memory_mib": {"peak": round(memory.peak), "extra": round(memory.extra)},
        "sizes": {
            **dataset.statistics(),
            "seeds": len(split.seeds),
            "fitting": len(split.fitting),
            "test": len(split.test),
            "placements": len(places),
        },
        "gold": gold_digest(gold),
        "named": method.named,
        "notes": list(dataset.notes),
        "method_notes": rounded(getattr(method, "notes", {})),
        "vectors": {
            "name": dataset.vectors_name,
            "dimensions": int(test.vectors.shape[1]),
            "preparation": preparation,
        },
        "random": {"split": 0, "draw": config.draw, "method": config.draw},
        **provenance(threads, _packages(config)),
        "date": datetime.now(UTC).date().isoformat(),
    }
    added = getattr(method, "taxonomy_", task.taxonomy).tree.parent[len(task.taxonomy) :]
    kept = Predictions(places, rows, confidence if rows is None else None, added)
    return Outcome(record, kept, Gold(dataset.taxonomy.tree, [list(topics) for topics in gold]))


def run_all(
    configs: Iterable[RunConfig],
    records: Records,
    *,
    path: Path | None = None,
    jobs: int = 1,
    threads: int = 1,
    minutes: float = float("inf"),
    renew: bool = False,
    report: Report = lambda config, outcome: None,
) -> list[Record]:
    """Run what is not yet on disk; a method that fails is reported and the others continue.

    Several such processes may share one folder of records. A training that is killed, or cut off
    after `minutes`, resumes from its checkpoint the next time. `renew` also replaces records that
    can't be checked: those without predictions, or from source with uncommitted changes.
    """
    done = records.checkable_keys() if renew else records.keys()
    todo = list({c.key: c for c in configs if c.key not in done}.values())
    todo.sort(key=lambda c: tuple(map(str, c.shape)))  # one data set at a time in memory
    deadline = time.time() + 60 * minutes
    attempt = partial(
        _attempt, folder=records.folder, path=path, threads=threads, until=deadline, renew=renew
    )
    made = []
    for config, outcome in _outcomes(todo, attempt, jobs):
        if isinstance(outcome, Outcome):
            outcome.record["concurrent_jobs"] = jobs
            if renew:
                records.forget([config.key])
            records.add(outcome.record, outcome.predictions)
            if config.data in FREE:
                keep_gold(records.folder, *outcome.gold)
            made.append(outcome.record)
        report(config, outcome if isinstance(outcome, str) else outcome.record)
    return made


def rounded(value: Any) -> Any:
    """Cut floats to six digits: what is beyond them is noise that makes files differ."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    if isinstance(value, float):
        return round(value, DIGITS) if np.isfinite(value) else None
    return value


def _outcomes(
    todo: list[RunConfig], attempt: Callable[[RunConfig], Outcome | str], jobs: int
) -> Iterator[tuple[RunConfig, Outcome | str]]:
    if jobs <= 1 or len(todo) <= 1:
        for config in todo:
            yield config, attempt(config)
        return
    # fresh interpreters: forking a process whose BLAS has threads can hang
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(attempt, config): config for config in todo}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def _attempt(
    config: RunConfig, folder: Path, path: Path | None, threads: int, until: float, renew: bool
) -> Outcome | str:
    """Make a run, or return why there is none; long trainings resume from their checkpoint."""
    if time.time() > until:
        return "not started: out of time"
    unfinished = model_home() / "unfinished"

    def watch(event: Any) -> None:
        if time.time() > until:
            raise OutOfTimeError

    def prepare(method: Method) -> None:
        if hasattr(method, "checkpoint") and hasattr(method, "progress"):
            method.checkpoint, method.progress = unfinished / config.key, watch

    with claimed(unfinished, config.key) as ours:
        made = Records(folder).checkable_keys() if renew else Records(folder).keys()
        if not ours or config.key in made:
            return "made by another process"
        try:
            outcome = run_one(config, path, threads, prepare)
        except OutOfTimeError:
            return "stopped, to be resumed"
        except HierSeedError as fault:
            return str(fault)
        shutil.rmtree(unfinished / config.key, ignore_errors=True)
        return outcome


def _more_scores(
    method: Method,
    task: Task,
    test: Documents,
    levels: Any,
    confidence: Any,
    gold: list[Sequence[int]],
    data: PreparedData,
    split: Split,
) -> dict[str, Any]:
    """Where they apply: scores of left-out topics, calibration, measures of the method's own."""
    more: dict[str, Any] = {}
    if data.home is not None and method.named:
        taxonomy = getattr(method, "taxonomy_", task.taxonomy)
        deepest = levels.max(axis=1)  # ids grow down a path, and those of Other end it
        more["catch"] = rounded(score_left_out(taxonomy, deepest, data.home[split.test]).to_dict())
    if confidence is not None:
        table = calibration(task.taxonomy.tree, levels, confidence, gold)
        more["calibration"] = [
            rounded({"level": c.level, "error": c.error, "brier": c.brier}) for c in table
        ]
    judge = getattr(method, "judge", None)
    if judge is not None:
        more["judged"] = rounded(judge(test, gold))
    return more


def _packages(config: RunConfig) -> tuple[str, ...]:
    """Return further packages that a method uses."""
    extra = METHODS[config.method].extra
    return {"neural": ("torch", "numba"), "hlda": ("tomotopy",)}.get(
        extra, (config.method,) if extra else ()
    )
