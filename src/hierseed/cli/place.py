"""Where a fit runs: in this process, on its GPU, in several processes, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from hierseed.cli.console import Console, amount

if TYPE_CHECKING:
    from hierseed.io.checkpoint import Checkpoint


@dataclass(frozen=True)
class Place:
    """What `--workers`, `--dask` and `--device` ask for; none of them: this process."""

    workers: int | None
    address: str | None
    device: str
    console: Console

    def check(self) -> None:
        """Say before the long step what would be wrong after it."""
        if self.workers and self.address:
            raise typer.BadParameter(
                "the workers of --dask are those that its scheduler has; leave --workers out",
                param_hint="--workers",
            )
        if self.device != "cpu" and (self.workers or self.address):
            raise typer.BadParameter(
                "a fit runs on one GPU, or on the workers of --workers and --dask, not on both",
                param_hint="--device",
            )
        self._card()  # says now that torch is missing
        if self.workers or self.address:
            from hierseed.engines.client import (
                check_workers,
                connect,
                disconnect,
                living,
                need_dask,
            )

            need_dask()
        if self.address:
            client = connect(self.address)
            living(client)
            check_workers(client)
            disconnect(client)

    @contextmanager
    def open(self, rounds: Checkpoint) -> Iterator[Callable[[Any], Any]]:
        """Give a function that turns vectors into what an estimator fits on."""
        if card := self._card():
            from hierseed.engines.torch import TorchBlocks

            self.console.fact("Device", card)
            yield lambda vectors: TorchBlocks(vectors, self.device)
            return
        if not self.workers and not self.address:
            if self.device != "cpu":
                self.console.note("torch finds no CUDA device: the fit runs on the processor")
            yield lambda vectors: vectors
            return
        from hierseed.engines import ClusterBlocks, ClusterError, connect, disconnect
        from hierseed.engines.client import living

        client = connect(self.address, self.workers)
        opened: list[ClusterBlocks] = []

        def blocks_of(vectors: Any) -> ClusterBlocks:
            opened.append(ClusterBlocks(client, _by_address(vectors)))
            return opened[-1]

        try:
            where = f"at {self.address}" if self.address else "on this machine"
            self.console.fact("Cluster", f"{amount(len(living(client)), 'worker')} {where}")
            yield blocks_of
            for blocks in opened:
                blocks.close()
        except ClusterError as fault:
            if not rounds.rounds:
                raise
            raise ClusterError(
                f"{fault} The same command goes on after round {rounds.rounds}, which is kept in "
                f"{rounds.folder}"
            ) from fault
        finally:
            disconnect(client)

    def _card(self) -> str:
        """Name of the GPU that is asked for; empty where none is, or there is none."""
        if self.device == "cpu":
            return ""
        from hierseed.engines.torch import torch

        return torch.cuda.get_device_name(self.device) if torch.cuda.is_available() else ""


def _by_address(vectors: Any) -> Any:
    """Turn a memory map, also one that is prepared on the way, into a file that workers open."""
    import numpy as np

    from hierseed.embed.prepare import Prepared
    from hierseed.engines import MappedFile

    if isinstance(vectors, Prepared):
        return Prepared(_by_address(vectors.X), vectors.preparation)
    if isinstance(vectors, np.memmap) and vectors.filename:
        return MappedFile(vectors.filename)
    return vectors
