"""Open a GPU in the background, while a command imports the rest and reads its inputs.

Importing torch and opening a GPU take seconds. The driver does its part without the interpreter's
lock, so it starts first, in a thread of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from threading import Thread

_opening: list[Thread] = []


def begin_opening(device: str) -> None:
    """Start to import torch and to open the GPU; return at once."""
    if not _opening:
        _opening.append(Thread(target=_open, args=(device,), name="hierseed-gpu"))
        _opening[0].start()


def wait_until_open() -> None:
    """Wait for what `begin_opening` started."""
    for thread in _opening:
        thread.join()


def _open(device: str) -> None:
    driver = Thread(target=_start_driver, args=(int(device.partition(":")[2] or 0),))
    driver.start()
    with contextlib.suppress(Exception):  # the engine meets the same fault, and reports it
        import torch

        driver.join()
        if torch.cuda.is_available():
            one = torch.ones(8, 8, dtype=torch.float64, device=device)
            (one @ one).sum().item()  # loads the matrix library
            import triton  # noqa: F401 - no module of this package: the command imports those


def _start_driver(number: int) -> None:
    """Make the GPU's context, which torch then finds."""
    os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")  # as torch does
    with contextlib.suppress(OSError, AttributeError):  # no driver
        cuda = ctypes.CDLL("libcuda.so.1")
        card, context = ctypes.c_int(), ctypes.c_void_p()
        if not cuda.cuInit(0) and not cuda.cuDeviceGet(ctypes.byref(card), number):
            cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), card)
