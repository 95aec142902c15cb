"""Repeatable samples of fixed size from a stream: what trained embedders learn from."""

from __future__ import annotations

import random
from collections.abc import Iterable
from hashlib import blake2b
from heapq import heappush, heapreplace


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
