"""Self-training of WeSHClass: towards its own sharpened predictions, level by level."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from hierseed_bench.competitors.systems.backend import F, torch
from hierseed_bench.competitors.systems.checkpoint import Checkpoint
from hierseed_bench.competitors.systems.ensemble import Ensemble, PaddedRows
from hierseed_bench.competitors.systems.system import Ints


def sharpened(q: Any) -> Any:
    """Square probabilities, and divide by how often a class is predicted at all."""
    weight = q.square() / q.sum(dim=0).clamp(min=1e-12)
    return weight / weight.sum(dim=1, keepdim=True).clamp(min=1e-12)


def divergence(target: Any, logs: Any) -> Any:
    """KL(target || prediction), mean over documents."""
    return F.kl_div(logs, target, reduction="batchmean")


@dataclass
class _State:
    """Progress of self-training."""

    level: int = 1
    iteration: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class SelfTraining:
    """Some batches towards the sharpened predictions, then new predictions for all texts.

    Parameters
    ----------
    config : of the system
    checkpoint : checkpoint to resume from, if one is kept
    report : called after every update of the predictions
    """

    ensemble: Ensemble
    config: Any
    place: Any
    checkpoint: Checkpoint | None
    report: Callable[[dict[str, Any]], None]

    def run(self, rows: PaddedRows, held: tuple[Any, Ints] | None) -> None:
        """Train on all levels, the top first.

        Parameters
        ----------
        held : rows that keep their topics, and their nodes per level
        """
        own, state, height = self.config, _State(), self.ensemble.tree.height
        optimiser = torch.optim.SGD(
            self.ensemble.parameters(), own.self_rate, momentum=own.momentum
        )
        saved = self.checkpoint.load("self") if self.checkpoint else None
        if saved:
            self.ensemble.load_state_dict(saved["model"])
            optimiser.load_state_dict(saved["optimiser"])
            state = _State(saved["level"], saved["iteration"], saved["history"])
            for event in state.history:
                self.report(event)
        last = saved["argmax"].numpy() if saved and saved["argmax"] is not None else None
        clock = time.monotonic()
        while state.level <= height:
            settled, last, event = self._look_and_train(rows, held, optimiser, state, last)
            state.history.append(event)
            if settled or state.iteration >= own.iterations:
                state.level, state.iteration, last = state.level + 1, 0, None
            done = state.level > height
            if self.checkpoint and (done or time.monotonic() - clock >= own.save_every):
                kept = asdict(state) | {"argmax": None if last is None else torch.as_tensor(last)}
                weights = {"model": self.ensemble.state_dict(), "optimiser": optimiser.state_dict()}
                self.checkpoint.save("self", kept | weights)
                clock = time.monotonic()
            self.report(event)

    def _look_and_train(
        self, rows: PaddedRows, held: Any, optimiser: Any, state: _State, last: Any
    ) -> tuple[bool, Any, dict[str, Any]]:
        """Predict all texts, sharpen, and train some batches towards that."""
        own, level, n = self.config, state.level, len(rows.lengths)
        started = time.perf_counter(), time.process_time()
        self.ensemble.eval()
        logs = self.ensemble.logs(rows, level)
        target = sharpened(logs.exp())
        if held is not None:
            known = held[1][:, level - 1] >= 0
            nodes = self.ensemble.tree.place[held[1][known, level - 1]]
            target[torch.as_tensor(held[0][known])] = torch.eye(target.shape[1])[
                torch.as_tensor(nodes)
            ].to(self.place)
        now = logs.argmax(dim=1).cpu().numpy()
        changed = 1.0 if last is None else float((now != last).mean())
        event = {"stage": f"self{level}", "epoch": state.iteration, "changed": changed, "loss": 0.0}
        settled = changed < own.settled or self.ensemble.active[level] == 0
        if not settled:
            self.ensemble.train()
            steps = max(own.refresh, n // own.batch // 5)
            total: Any = 0.0
            for step in range(state.iteration, state.iteration + steps):
                first = step * own.batch % n  # in order, over and over
                some = torch.arange(first, min(first + own.batch, n))
                loss = divergence(target[some.to(self.place)], self.ensemble(rows[some], level))
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                optimiser.step()
                total = total + loss.detach()
            state.iteration += steps
            event["loss"] = float(total) / steps
        event["seconds"] = round(time.perf_counter() - started[0], 3)
        event["processor"] = round(time.process_time() - started[1], 3)
        return settled, now, event
