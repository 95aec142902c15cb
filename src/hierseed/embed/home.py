"""Where fetched models live: one folder per user, which HIERSEED_HOME overrides."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def model_home() -> Path:
    """`$HIERSEED_HOME`, or `hierseed` in the platform's folder for caches."""
    chosen = os.environ.get("HIERSEED_HOME")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "hierseed"


def model_folder(name: str) -> Path:
    """The folder of one fetched model."""
    return model_home() / "models" / name
