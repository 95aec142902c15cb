"""Workers that are processes of this machine: calls travel over pipes, and nothing is installed.

A process that dies is started again and its call repeated, so a killed worker costs time only. A
process ends by itself when its pipe closes, however the program that started it ended. Started as
a plain interpreter, a worker does not import the user's script again, so scripts need no
`if __name__ == "__main__"`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO

from hierseed.engines.client import ClusterError
from hierseed.engines.worker import THREADS
from hierseed.threads import usable_cpus

ATTEMPTS = 3  # processes that may die over one call
LIBRARIES = ("OMP", "OPENBLAS", "MKL", "RAYON")  # that read NAME_NUM_THREADS when they start
START = (
    "from hierseed.parametrized import leave_out_scikit_learn; leave_out_scikit_learn(); "
    "from hierseed.engines.processes import serve; serve()"
)


class ProcessWorkers:
    """Processes of this machine, one call at a time each.

    Embedding and placing take one thread of a process; a fit takes its share of the cores.
    """

    def __init__(self, workers: int) -> None:
        threads = max(usable_cpus() // workers, 1)
        self._workers = {f"process {i + 1}": _Process(threads) for i in range(workers)}
        self._waiting: Counter[str] = Counter(dict.fromkeys(self._workers, 0))

    @property
    def names(self) -> list[str]:
        """Name of each worker."""
        return list(self._workers)

    @property
    def slots(self) -> int:
        """Calls that run at the same time."""
        return len(self._workers)

    def submit(self, function: Callable[..., Any], *args: Any, worker: str = "") -> Future[Any]:
        """Call a function on a worker, or on the one with the fewest calls waiting."""
        name = worker or min(self._waiting, key=lambda one: self._waiting[one])
        self._waiting[name] += 1
        future = self._workers[name].submit(function, args)
        future.add_done_callback(lambda _: self._waiting.subtract([name]))
        return future

    def gather(self, futures: Iterable[Future[Any]]) -> list[Any]:
        """Results of calls, in order."""
        return [future.result() for future in futures]

    def run(self, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """Call a function on every worker."""
        futures = {name: self.submit(function, *args, worker=name) for name in self._workers}
        return {name: future.result() for name, future in futures.items()}

    def run_briefly(self, function: Callable[..., Any], *args: Any) -> None:
        """Call a function whose result does not matter on every worker."""
        for name in self._workers:
            self.submit(function, *args, worker=name)

    def close(self) -> None:
        """End the processes, also in the middle of a call."""
        for worker in self._workers.values():
            worker.close()


class _Process:
    """One worker, and the thread of this process that talks to it."""

    def __init__(self, threads: int) -> None:
        self._env = {
            **os.environ,
            **{f"{name}_NUM_THREADS": "1" for name in LIBRARIES},
            "TOKENIZERS_PARALLELISM": "false",
            "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
            THREADS: str(threads),
        }
        self._closed = False
        self._start()  # now, so that it imports what it needs while the corpus is read
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hierseed-worker")

    def submit(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Future[Any]:
        return self._thread.submit(self._call, function, args)

    def close(self) -> None:
        self._closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)
        if child := self._child:
            child.kill()
        self._thread.shutdown()
        self._end()

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        message = pickle.dumps((function, args), protocol=5)
        for _ in range(ATTEMPTS):
            if self._closed:
                raise ClusterError("the workers were closed before this call ended")
            try:
                child = self._child or self._start()
                assert child.stdin
                assert child.stdout
                _send(child.stdin, message)
                answer = _receive(child.stdout)
            except (EOFError, OSError):
                self._end()
                continue
            worked, value = pickle.loads(answer)
            if worked:
                return value
            raise value
        raise ClusterError(
            f"{ATTEMPTS} worker processes died one after the other over the same documents. If "
            "the machine runs out of memory, start fewer workers; run the same command again: "
            "what was finished is kept"
        )

    def _start(self) -> subprocess.Popen[bytes]:
        # warnings were given once already, by the process that asks
        command = [sys.executable, "-W", "ignore", "-c", START]
        pipe = subprocess.PIPE
        child = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=self._env)
        self._child: subprocess.Popen[bytes] | None = child
        return child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe:
                with contextlib.suppress(OSError):  # what it was to be sent is lost with it
                    pipe.close()


def serve() -> None:
    """Answer calls until the pipe closes: what a worker process runs."""
    calls, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get between the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that asks ends its workers
    while True:
        try:
            message = _receive(calls)
        except EOFError:
            return
        try:
            function, args = pickle.loads(message)
            answer = pickle.dumps((True, function(*args)), protocol=5)
        except BaseException as fault:
            answer = pickle.dumps((False, _portable(fault)))
        try:
            _send(answers, answer)
        except OSError:
            return


def _portable(fault: BaseException) -> BaseException:
    """An exception that arrives whole, or else what it says."""
    try:
        arrived = pickle.loads(pickle.dumps(fault))
        return fault if type(arrived) is type(fault) else arrived
    except Exception:
        return RuntimeError(f"{type(fault).__name__}: {fault}")


def _send(stream: BinaryIO | Any, message: bytes) -> None:
    stream.write(struct.pack("<Q", len(message)))
    stream.write(message)
    stream.flush()


def _receive(stream: BinaryIO | Any) -> bytes:
    (size,) = struct.unpack("<Q", _exactly(stream, 8))
    return _exactly(stream, size)


def _exactly(stream: BinaryIO | Any, size: int) -> bytes:
    content: bytes = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content
