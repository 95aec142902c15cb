"""Where long steps run: threads of this process, its GPU, worker processes, or a dask cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hierseed.embed.prepare import Prepared
from hierseed.errors import MissingDependency, ParameterError
from hierseed.open_gpu import wait_until_open
from hierseed.progress import Fact, Listener, Note, amount

if TYPE_CHECKING:
    from hierseed.engines.torch import TorchBlocks
    from hierseed.engines.workers import Workers

T = TypeVar("T")

THREADS = "threads"
KEPT = 64_000_000  # numbers of prepared vectors that a fit keeps in memory, 256 MB


@dataclass(frozen=True)
class Engine:
    """What embeds, fits and places; without any argument the threads of this process.

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
        if self.device and find_spec("torch") is None:
            raise MissingDependency("torch", "gpu", "a fit on a GPU")
        if self.address:
            from hierseed.engines.client import connect, disconnect
            from hierseed.engines.workers import DaskWorkers

            client = connect(self.address)
            try:
                DaskWorkers(client)
            finally:
                disconnect(client)

    @contextmanager
    def open(self, listener: Listener) -> Iterator[OpenEngine]:
        """Connect to the workers, or start them; they are let go when the block ends."""
        if name := self._device_name():
            listener(Fact("Device", name))
            yield OpenEngine(device=self.device)
            return
        if not self.workers and not self.address:
            if self.device:
                listener(Note("torch finds no CUDA device: the fit runs on the processor"))
            yield OpenEngine()
            return
        from hierseed.engines.client import connect, disconnect
        from hierseed.engines.workers import workers_of

        client = connect(self.address, self.workers)
        try:
            workers = workers_of(client)
            where = f"at {self.address}" if self.address else "on this machine"
            listener(Fact("Workers", f"{amount(len(workers.names), 'worker')} {where}"))
            with closing(OpenEngine(workers)) as engine:
                yield engine
        finally:
            disconnect(client)

    def _device_name(self) -> str:
        """Name of the requested device; empty if none is requested or available."""
        if not self.device:
            return ""
        wait_until_open()
        from hierseed.engines.torch import torch

        if self.device.startswith("cuda"):
            return torch.cuda.get_device_name(self.device) if torch.cuda.is_available() else ""
        return self.device


class OpenEngine:
    """An engine in use.

    Attributes
    ----------
    workers : processes to call functions on; None: this process does the work
    """

    def __init__(self, workers: Workers | None = None, device: str | None = None) -> None:
        self.workers, self.device = workers, device
        self._opened: list[Any] = []
        self._on_device: TorchBlocks | None = None
        self._files: dict[int, tuple[Any, Any]] = {}  # arrays by id, with the file of each
        self._stack = ExitStack()

    def blocks(self, vectors: Any) -> Any:
        """Turn vectors into what an estimator fits on."""
        if self.device:
            from hierseed.engines.torch import TorchBlocks

            if self._on_device is not None and isinstance(vectors, Prepared):
                self._on_device = self._on_device.prepared(vectors)  # not read again
            else:
                self._on_device = TorchBlocks(vectors, self.device)
            return self._on_device
        if self.workers is None:
            small = math.prod(vectors.shape) <= KEPT
            return vectors.in_memory() if small and isinstance(vectors, Prepared) else vectors
        from hierseed.engines.cluster import ClusterBlocks

        self._opened.append(ClusterBlocks(self.workers, self.on_disk(vectors)))
        return self._opened[-1]

    def on_disk(self, vectors: Any) -> Any:
        """Turn vectors into what is pickled as a path, so that workers open it themselves.

        For processes of this machine an array in memory is written to a temporary file.
        """
        from hierseed.engines.mapped import MappedFile

        if isinstance(vectors, Prepared):
            return Prepared(self.on_disk(vectors.X), vectors.preparation)
        if not isinstance(vectors, np.ndarray):
            return vectors
        if isinstance(vectors, np.memmap) and vectors.filename:
            return MappedFile(vectors.filename)
        if not self.is_local:
            return vectors  # which `ClusterBlocks` refuses
        if id(vectors) not in self._files:
            folder = Path(self._stack.enter_context(TemporaryDirectory()))
            np.save(folder / "vectors.npy", vectors)
            self._files[id(vectors)] = vectors, MappedFile(folder / "vectors.npy")
        return self._files[id(vectors)][1]

    @property
    def is_local(self) -> bool:
        """True where all workers are processes of this machine and see its files."""
        return not hasattr(self.workers, "client")

    def map(self, function: Callable[[Any], T], tasks: Iterable[Any]) -> Iterator[T]:
        """Yield `function(task)` for every task, in their order, computed by the workers."""
        if self.workers is None:
            return map(function, tasks)
        from hierseed.engines.workers import map_in_order

        return map_in_order(self.workers, function, tasks)

    def close(self) -> None:
        """Let workers drop what they keep of the vectors; remove temporary files."""
        for blocks in self._opened:
            blocks.close()
        self._stack.close()
