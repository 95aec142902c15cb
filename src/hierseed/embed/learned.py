"""Samples that embedders learn from, and files of what they learned: JSON and arrays."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from hashlib import blake2b
from heapq import heappush, heapreplace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def sample_texts(texts: Iterable[str], size: int) -> list[str]:
    """Return up to `size` texts, each equally likely, in the order of the stream.

    One pass and `size` texts in memory, however long the stream; the same stream
    gives the same sample.
    """
    draw = random.Random(0)
    kept: list[tuple[int, str]] = []
    for position, text in enumerate(texts):
        if len(kept) < size:
            kept.append((position, text))
            continue
        place = draw.randrange(position + 1)
        if place < size:
            kept[place] = (position, text)
    return [text for _, text in sorted(kept)]


def sample_by_content(texts: Iterable[str], size: int) -> list[str]:
    """Return up to `size` different texts, chosen and ordered by a hash of their content.

    The order of the stream, and texts that repeat, make no difference. One pass, and `size`
    texts in memory.
    """
    kept: dict[int, str] = {}
    heap: list[int] = []  # negative hashes, so that the largest hash comes first
    for text in texts:
        content = text.encode(errors="surrogatepass")
        key = int.from_bytes(blake2b(content, digest_size=16).digest())
        if key in kept or (len(heap) == size and -key <= heap[0]):
            continue
        kept[key] = text
        if len(heap) < size:
            heappush(heap, -key)
        else:
            del kept[-heapreplace(heap, -key)]
    return [kept[key] for key in sorted(kept)]


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
