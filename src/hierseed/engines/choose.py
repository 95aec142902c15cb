"""Where a fit runs: threads of this process, its GPU, worker processes, or a dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hierseed.embed.prepare import Prepared
from hierseed.errors import ParameterError
from hierseed.progress import Fact, Listener, Note, amount

THREADS = "threads"


@dataclass(frozen=True)
class Engine:
    """What runs the steps of a fit; without any argument the threads of this process.

    Parameters
    ----------
    workers : number of processes to start on this machine
    address : of a dask scheduler, or its scheduler file
    device : of torch, such as "cuda"
    """

    workers: int | None = None
    address: str | None = None
    device: str | None = None

    @classmethod
    def of(cls, spec: Engine | str | int | None) -> Engine:
        """Read an engine: None or "threads", "cuda", a number of workers, a dask address.

        Examples
        --------
        >>> Engine.of("cuda").device, Engine.of(4).workers, Engine.of("tcp://host:8786").address
        ('cuda', 4, 'tcp://host:8786')
        """
        if isinstance(spec, Engine):
            return spec
        if spec in (None, THREADS, "cpu"):
            return cls()
        if isinstance(spec, int) and spec >= 1:
            return cls(workers=spec)
        if isinstance(spec, str) and spec.split(":")[0] == "cuda":
            return cls(device=spec)
        if isinstance(spec, str) and ("://" in spec or Path(spec).is_file()):
            return cls(address=spec)
        raise ParameterError(
            f"engine can't be {spec!r}. Give None or 'threads', 'cuda', a number of worker "
            "processes, or the address of a dask scheduler such as 'tcp://host:8786'"
        )

    def check(self) -> None:
        """Raise before the long step what would fail after it."""
        self._device_name()  # raises where torch is not installed
        if self.workers or self.address:
            from hierseed.engines.client import (
                check_workers,
                connect,
                disconnect,
                live_workers,
                require_dask,
            )

            require_dask()
        if self.address:
            client = connect(self.address)
            live_workers(client)
            check_workers(client)
            disconnect(client)

    @contextmanager
    def open(self, listener: Listener) -> Iterator[Callable[[Any], Any]]:
        """Give a function that turns vectors into what an estimator fits on."""
        if name := self._device_name():
            from hierseed.engines.torch import TorchBlocks

            listener(Fact("Device", name))
            last: list[TorchBlocks] = []  # the vectors on the device: they are read once

            def on_device(vectors: Any) -> TorchBlocks:
                again = last and isinstance(vectors, Prepared)
                found = last[0].prepared(vectors) if again else TorchBlocks(vectors, self.device)
                last[:] = [found]
                return found

            yield on_device
            return
        if not self.workers and not self.address:
            if self.device:
                listener(Note("torch finds no CUDA device: the fit runs on the processor"))
            yield lambda vectors: vectors
            return
        from hierseed.engines import ClusterBlocks, connect, disconnect
        from hierseed.engines.client import live_workers

        client = connect(self.address, self.workers)
        opened: list[ClusterBlocks] = []

        def blocks_of(vectors: Any) -> ClusterBlocks:
            opened.append(ClusterBlocks(client, _by_address(vectors)))
            return opened[-1]

        try:
            where = f"at {self.address}" if self.address else "on this machine"
            listener(Fact("Cluster", f"{amount(len(live_workers(client)), 'worker')} {where}"))
            yield blocks_of
            for blocks in opened:
                blocks.close()
        finally:
            disconnect(client)

    def _device_name(self) -> str:
        """Name of the device asked for; empty where none is asked for or there is none."""
        if not self.device:
            return ""
        from hierseed.engines.torch import torch

        if self.device.startswith("cuda"):
            return torch.cuda.get_device_name(self.device) if torch.cuda.is_available() else ""
        return self.device


def _by_address(vectors: Any) -> Any:
    """Turn a memory map, also a prepared one, into a file that workers open themselves."""
    from hierseed.engines import MappedFile

    if isinstance(vectors, Prepared):
        return Prepared(_by_address(vectors.X), vectors.preparation)
    if isinstance(vectors, np.memmap) and vectors.filename:
        return MappedFile(vectors.filename)
    return vectors
