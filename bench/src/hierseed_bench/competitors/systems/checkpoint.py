"""What a killed training goes on from: tensors and plain values, written beside and renamed.

Files are read with `weights_only=True`: a foreign file can hold numbers, never code.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hierseed.errors import ModelError
from hierseed_bench.competitors.systems.backend import torch


class Checkpoint:
    """A folder with one file per stage of a training.

    Parameters
    ----------
    folder : made where it is not there
    key : says what is trained on what; a file of another key is refused
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder
        self.key = key
        folder.mkdir(parents=True, exist_ok=True)

    def load(self, stage: str) -> dict[str, Any] | None:
        """Give what was saved for a stage, None where nothing was."""
        file = self.folder / f"{stage}.pt"
        if not file.is_file():
            return None
        try:
            saved: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as fault:  # torch raises many kinds for a damaged file
            raise ModelError(
                f"the checkpoint {file.name!r} in {str(self.folder)!r} can't be read ({fault}). "
                "Delete it to start this stage again."
            ) from fault
        if saved.get("key") != self.key:
            raise ModelError(
                f"the checkpoint in {str(self.folder)!r} was made from other texts, labels or "
                "settings. Name another folder, or delete it to start again."
            )
        return saved

    def save(self, stage: str, state: dict[str, Any]) -> None:
        """Write beside, flush, rename: a kill leaves the old file or the new one."""
        handle, partial = tempfile.mkstemp(prefix=f".{stage}.", dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as file:
                torch.save({**state, "key": self.key}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, self.folder / f"{stage}.pt")
        finally:
            Path(partial).unlink(missing_ok=True)


def fingerprint(settings: dict[str, Any], *texts: Iterable[str]) -> str:
    """Short digest of settings and texts, for the key of a checkpoint or a cache."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for group in texts:
        digest.update(b"\x00group")
        for text in group:
            digest.update(text.encode("utf-8", "surrogatepass") + b"\x00")
    return digest.hexdigest()[:16]
