"""The one training loop: epochs over shuffled rows, early stopping, resume after a kill."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hierseed_bench.competitors.systems.backend import seeded, torch
from hierseed_bench.competitors.systems.checkpoint import Checkpoint

Loss = Callable[[Any], Any]  # rows (on the CPU) -> a scalar tensor
SORTED_TOGETHER = 50  # batches


@dataclass(frozen=True)
class Schedule:
    """How long to train, and when to stop.

    Parameters
    ----------
    patience : epochs without a better validation score before it stops; None never stops
    clip : largest norm of a gradient; None leaves it
    save_every : seconds between checkpoints; a large model costs time to write
    """

    epochs: int
    batch: int
    patience: int | None = None
    clip: float | None = None
    save_every: float = 30.0


def train(
    stage: str,
    model: Any,
    optimiser: Any,
    loss: Loss,
    n: int,
    schedule: Schedule,
    *,
    seed: int = 0,
    lengths: Any = None,
    validate: Callable[[], float] | None = None,
    checkpoint: Checkpoint | None = None,
    report: Callable[[dict[str, Any]], None] = lambda event: None,
) -> list[dict[str, Any]]:
    """Train in place and return one record per epoch.

    Parameters
    ----------
    stage : name of this training among those of a system
    loss : of some rows of 0 … n - 1; called in training mode
    lengths : of the rows; rows of like length then share a batch, because a recurrent
        network takes as many steps as its longest row has words
    validate : score of the model as it is, higher is better; called in evaluation mode.
        With one, the best epoch's weights are kept, else the last's.
    """
    history: list[dict[str, Any]] = []
    best: dict[str, Any] = {"score": -float("inf"), "epoch": -1, "weights": None}
    saved = checkpoint.load(stage) if checkpoint else None
    if saved:
        model.load_state_dict(saved["model"])
        history, best = saved["history"], saved["best"]
        if not saved["finished"]:
            optimiser.load_state_dict(saved["optimiser"])
        for event in history:
            report(event)
    finished = bool(saved and saved["finished"])
    last_save = time.monotonic()
    while not finished:
        epoch = len(history)
        started = time.perf_counter(), time.process_time()
        event = {
            "stage": stage,
            "epoch": epoch,
            "loss": _epoch(model, optimiser, loss, n, schedule, lengths, (seed, epoch)),
        }
        if validate is not None:
            model.eval()
            with torch.no_grad():
                event["validation"] = validate()
            if event["validation"] > best["score"]:
                weights = copy.deepcopy(model.state_dict())
                best = {"score": event["validation"], "epoch": epoch, "weights": weights}
        event["seconds"] = round(time.perf_counter() - started[0], 3)
        event["processor"] = round(time.process_time() - started[1], 3)
        history.append(event)
        waited = epoch - best["epoch"] if validate is not None else 0
        patience = schedule.epochs if schedule.patience is None else schedule.patience
        finished = epoch + 1 >= schedule.epochs or waited >= max(patience, 1)
        if finished and best["weights"] is not None:
            model.load_state_dict(best["weights"])
        if checkpoint and (finished or time.monotonic() - last_save >= schedule.save_every):
            _save(checkpoint, stage, model, optimiser, history, best, finished)
            last_save = time.monotonic()
        report(event)  # after the checkpoint, because a callback may stop the training here
    model.eval()
    return history


def _epoch(
    model: Any,
    optimiser: Any,
    loss: Loss,
    n: int,
    schedule: Schedule,
    lengths: Any,
    numbers: tuple[int, int],
) -> float:
    """One pass over the rows. Its random numbers depend on seed and epoch alone, so a
    resumed training sees the batches and the dropout that it would have seen."""
    model.train()
    total: Any = 0.0
    with seeded(*numbers):
        for rows in shuffled(n, schedule.batch, lengths):
            value = loss(rows)
            optimiser.zero_grad(set_to_none=True)
            value.backward()
            if schedule.clip is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), schedule.clip)
            optimiser.step()
            total = total + value.detach() * len(rows)  # stays on the device: no waiting per step
    return float(total) / max(n, 1)


def shuffled(n: int, size: int, lengths: Any = None) -> list[Any]:
    """Batches of row numbers in random order, each row once; of like length where lengths
    are given: rows are sorted within random groups of many batches, then the batches mixed."""
    order = torch.randperm(n)
    if lengths is None:
        return list(order.split(size))
    groups = [group[lengths[group].argsort()] for group in order.split(size * SORTED_TOGETHER)]
    batches = [batch for group in groups for batch in group.split(size)]
    return [batches[i] for i in torch.randperm(len(batches))]


def _save(
    checkpoint: Checkpoint,
    stage: str,
    model: Any,
    optimiser: Any,
    history: list[dict[str, Any]],
    best: dict[str, Any],
    finished: bool,
) -> None:
    state = {"model": model.state_dict(), "history": history, "finished": finished}
    if finished:  # neither is needed again
        state |= {"optimiser": None, "best": {**best, "weights": None}}
    else:
        state |= {"optimiser": optimiser.state_dict(), "best": best}
    checkpoint.save(stage, state)
