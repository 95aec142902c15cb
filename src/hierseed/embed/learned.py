"""What an embedder has learned, on disk: one JSON file with its options, and one file per array."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def save_learned(
    folder: str | PathLike[str], name: str, header: dict[str, Any], **arrays: NDArray[Any]
) -> None:
    """Write `NAME.json`, and an `.npy` file for each array."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    text = json.dumps(header, ensure_ascii=False)
    (place / f"{name}.json").write_text(text, encoding="utf-8", newline="\n")
    for array, values in arrays.items():
        np.save(place / f"{array}.npy", values)


def load_learned(
    folder: str | PathLike[str], name: str, *arrays: str
) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Read the header and the named arrays that `save_learned` wrote."""
    place = Path(folder)
    header: dict[str, Any] = json.loads((place / f"{name}.json").read_text(encoding="utf-8"))
    return header, [np.load(place / f"{array}.npy") for array in arrays]
