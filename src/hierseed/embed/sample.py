"""A fixed-size, repeatable sample of a stream: what trained embedders learn from."""

from __future__ import annotations

import random
from collections.abc import Iterable


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
