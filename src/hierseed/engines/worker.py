"""The code that runs on a worker of a cluster: open the vectors, run a step on some rows.

A worker keeps the blocks of a fit, with their caches, between steps.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import socket
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.blocks import Vectors, merge
from hierseed.errors import CorpusError

THREADS = "HIERSEED_WORKER_THREADS"  # set in processes of this machine; dask keeps its own number
MAX_FITS = 2  # whose blocks a worker keeps; the oldest is dropped first

Part = tuple[int, int]  # rows from, to


class Source(NamedTuple):
    """Description of a corpus for a worker.

    Attributes
    ----------
    fit : key under which the worker keeps the blocks
    vectors : pickled, as a path and not the rows
    path : for messages
    fingerprint : digest of a few rows, which must be the same everywhere
    block_rows : rows in a block
    """

    fit: str
    vectors: bytes
    path: str
    fingerprint: str
    block_rows: int


_kept: dict[str, dict[Part, ArrayBlocks]] = {}


def fold_parts(source: Source, parts: Sequence[Part], step: bytes) -> Any:
    """Merge the results of a step over some parts of the corpus."""
    run, model = pickle.loads(step)
    return reduce(merge, (blocks.fold(run, *model) for blocks in _open(source, parts)))


def map_parts(source: Source, parts: Sequence[Part], step: bytes) -> list[Any]:
    """Results of a step on each block of some parts."""
    run, model = pickle.loads(step)
    return [answer for blocks in _open(source, parts) for answer in blocks.map(run, *model)]


def drop_blocks(fit: str) -> None:
    """Drop the blocks of a fit that has ended."""
    _kept.pop(fit, None)


def versions() -> dict[str, str]:
    """Versions that must agree on all machines for the same bits."""
    from hierseed import __version__

    python = ".".join(platform.python_version_tuple()[:2])
    return {"hierseed": __version__, "python": python, "numpy": np.__version__}


def open_error(source: Source) -> str:
    """Why this worker can't read the vectors; empty if it can."""
    try:
        _vectors(source)
    except CorpusError as fault:
        return str(fault)
    return ""


def fingerprint(vectors: Vectors) -> str:
    """Digest of the shape and a few rows: enough to distinguish files."""
    n = vectors.shape[0]
    rows = np.asarray(vectors[np.unique([0, n // 2, n - 1])])
    return hashlib.sha256(f"{vectors.shape}{rows.dtype}".encode() + rows.tobytes()).hexdigest()


def _open(source: Source, parts: Sequence[Part]) -> list[ArrayBlocks]:
    mine = _kept.setdefault(source.fit, {})
    for stale in list(_kept)[:-MAX_FITS]:
        del _kept[stale]
    missing = [part for part in parts if part not in mine]
    if missing:
        vectors = _vectors(source)
        for start, stop in missing:
            mine[start, stop] = ArrayBlocks(
                vectors, source.block_rows, _threads(), start=start, stop=stop
            )
    return [mine[part] for part in parts]


def _vectors(source: Source) -> Vectors:
    place = f"the worker on {socket.gethostname()}"
    advice = (
        "Keep the vectors on a path that all workers and this machine see, such as a shared file "
        "system, and give that path."
    )
    try:
        vectors: Vectors = pickle.loads(source.vectors)
        found = fingerprint(vectors)
    except (OSError, ValueError, IndexError) as fault:
        raise CorpusError(f"{place} can't open {source.path}: {fault}. {advice}") from None
    if found != source.fingerprint:
        raise CorpusError(f"{place} sees other vectors at {source.path}. {advice}")
    return vectors


def _threads() -> int:
    """Number of threads the worker was started with."""
    if THREADS in os.environ:
        return int(os.environ[THREADS])
    from distributed import get_worker

    return int(get_worker().state.nthreads)
