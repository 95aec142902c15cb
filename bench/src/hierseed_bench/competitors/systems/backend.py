"""PyTorch, with a clear message if it is not installed; devices and random seeds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from hierseed.errors import HierSeedError
from hierseed_bench.errors import MissingExtra

try:
    import torch as torch
    from torch import nn as nn
    from torch.nn import functional as F  # noqa: N812 - everyone's name for it
except ImportError as absent:
    raise MissingExtra("torch", "neural", "this baseline") from absent

__all__ = ["F", "choose_device", "nn", "on_device", "seeded", "torch"]


def choose_device(name: str) -> Any:
    """Resolve "auto" to a GPU if there is one; raise if a GPU is asked for and absent."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise HierSeedError(f"device {name!r} was asked for, but PyTorch sees no GPU. Use cpu.")
    return torch.device(name)


@contextlib.contextmanager
def seeded(*numbers: int) -> Iterator[None]:
    """Fix the random numbers of the block and leave the caller's as they were."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices):
        mixed = 0
        for number in numbers:
            mixed = (mixed * 1_000_003 + number + 1) % (2**63 - 1)
        torch.manual_seed(mixed)
        yield


def on_device(place: Any, *, reset: bool = False) -> dict[str, Any]:
    """Name of the device and the most of a GPU's memory that was held since the last reset."""
    if place.type != "cuda":
        return {"device": "cpu"}
    if reset:
        torch.cuda.reset_peak_memory_stats(place)
    peak = torch.cuda.max_memory_allocated(place) / 2**20
    return {"device": torch.cuda.get_device_name(place), "gpu_peak_mib": round(peak)}
