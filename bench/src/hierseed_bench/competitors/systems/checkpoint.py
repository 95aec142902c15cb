"""Checkpoints that a killed training resumes from: tensors and plain values.

A file is written under another name and then renamed. Files are read with `weights_only=True`, so
a file from elsewhere can hold numbers but no code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hierseed.errors import ModelError
from hierseed.files import atomic_file
from hierseed_bench.competitors.systems.backend import torch
from hierseed_bench.competitors.systems.checkpoint_key import task_key
from hierseed_bench.competitors.systems.system import System, Task


class Checkpoint:
    """A folder with one file per stage of a training.

    Parameters
    ----------
    folder : created if it does not exist
    key : digest of what is trained on what; a file with another key is refused
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder
        self.key = key
        folder.mkdir(parents=True, exist_ok=True)

    @classmethod
    def of(cls, system: System, task: Task) -> Checkpoint | None:
        """Return the checkpoint of a system on a task, None if it keeps none."""
        if system.checkpoint is None:
            return None
        return cls(system.checkpoint, task_key(system.settings(), task))

    def load(self, stage: str) -> dict[str, Any] | None:
        """Return what was saved for a stage, None if nothing was."""
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
        """Write beside and rename: a kill leaves either the old file or the new one."""
        with atomic_file(self.folder / f"{stage}.pt") as partial, partial.open("wb") as file:
            torch.save({**state, "key": self.key}, file)
