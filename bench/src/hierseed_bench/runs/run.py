"""Run settings and keep their records: one at a time or in several processes, never twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from hierseed.errors import HierSeedError
from hierseed.evaluate import calibration, caught, score
from hierseed_bench.competitors.catalogue import METHODS, make_method
from hierseed_bench.competitors.task import Documents, Method, Several, Task
from hierseed_bench.data.splits import Split
from hierseed_bench.runs.config import Setting
from hierseed_bench.runs.environment import PeakMemory, commit, machine, versions
from hierseed_bench.runs.prepared import Ready, make_task, ready
from hierseed_bench.runs.records import Record, Records

Report = Callable[[Setting, Record | str], None]
DIGITS = 6


class Clock(NamedTuple):
    """Time on the wall, and time of the processor, which a busy machine does not stretch."""

    wall: float
    processor: float

    @classmethod
    def now(cls) -> Clock:
        """Read both."""
        return cls(time.perf_counter(), time.process_time())


def run_one(
    setting: Setting,
    path: Path | None = None,
    threads: int = 1,
    prepare: Callable[[Method], None] = lambda method: None,
) -> Record:
    """Fit and score one setting; the record holds all that is needed to make it again.

    Parameters
    ----------
    prepare : called with the method before it is fitted, to say whom to tell and where to keep
        what a killed run goes on from
    """
    data = ready(setting.shape, path)
    split = data.split(setting)
    task, test, preparation = make_task(data, setting, split)
    method = make_method(setting.method, **dict(setting.parameters))
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
    return {
        "key": setting.key,
        "setting": setting.to_dict(),
        "scores": rounded(scores.to_dict()),
        **_more_scores(method, task, test, levels, gold, data, split),
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
        "notes": list(dataset.notes),
        "method_notes": rounded(getattr(method, "notes", {})),
        "vectors": {
            "name": dataset.vectors_name,
            "dimensions": int(test.vectors.shape[1]),
            "preparation": preparation,
        },
        "random": {"split": 0, "draw": setting.draw, "method": setting.draw},
        "versions": versions(_packages(setting)),
        "commit": commit(),
        "machine": machine() | {"threads": threads},
        "date": datetime.now(UTC).date().isoformat(),
    }


def run_all(
    settings: Iterable[Setting],
    records: Records,
    *,
    path: Path | None = None,
    jobs: int = 1,
    threads: int = 1,
    report: Report = lambda setting, outcome: None,
) -> list[Record]:
    """Run what is not yet on disk; a method that fails is reported and the others go on."""
    done = records.keys()
    todo = list({s.key: s for s in settings if s.key not in done}.values())
    todo.sort(key=lambda s: tuple(map(str, s.shape)))  # one data set at a time in memory
    made = []
    for setting, outcome in _outcomes(todo, path, jobs, threads):
        if not isinstance(outcome, str):
            records.add(outcome)
            made.append(outcome)
        report(setting, outcome)
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
    todo: list[Setting], path: Path | None, jobs: int, threads: int
) -> Iterator[tuple[Setting, Record | str]]:
    if jobs <= 1 or len(todo) <= 1:
        for setting in todo:
            yield setting, _attempt(setting, path, threads)
        return
    # fresh interpreters: forking a process whose BLAS has threads can hang
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(_attempt, setting, path, threads): setting for setting in todo}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def _attempt(setting: Setting, path: Path | None, threads: int) -> Record | str:
    try:
        return run_one(setting, path, threads)
    except HierSeedError as fault:
        return str(fault)


def _more_scores(
    method: Method,
    task: Task,
    test: Documents,
    levels: Any,
    gold: list[Sequence[int]],
    data: Ready,
    split: Split,
) -> dict[str, Any]:
    """Where they apply: the fate of left-out topics, and how honest scores are."""
    more: dict[str, Any] = {}
    if data.home is not None and method.named:
        taxonomy = getattr(method, "taxonomy_", task.taxonomy)
        deepest = levels.max(axis=1)  # ids grow down a path, and those of Other end it
        more["catch"] = rounded(caught(taxonomy, deepest, data.home[split.test]).to_dict())
    told = getattr(method, "scores", None)
    if told is not None:
        topics, confidence = told(test)
        table = calibration(task.taxonomy.tree, topics, confidence, gold)
        more["calibration"] = [
            rounded({"level": c.level, "error": c.error, "brier": c.brier}) for c in table
        ]
    judge = getattr(method, "judge", None)
    if judge is not None:
        more["judged"] = rounded(judge(test, gold))
    return more


def _packages(setting: Setting) -> tuple[str, ...]:
    """Packages beside the usual ones that a method computes with."""
    extra = METHODS[setting.method].extra
    return {"neural": ("torch", "numba"), "hlda": ("tomotopy",)}.get(
        extra, (setting.method,) if extra else ()
    )
