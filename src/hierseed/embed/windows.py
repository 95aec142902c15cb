"""Long texts in windows: split at words, embed each window, average by length."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol, cast

import numpy as np

from hierseed.embed.embedder import Embedder, Vectors, as_text_list, fingerprint
from hierseed.errors import EmbeddingError

SUFFIX = "+windows"
MARKS = 2  # tokens that a model puts at both ends of a text

Span = tuple[int, int]


class Limited(Embedder, Protocol):
    """An embedder that cuts long texts, and can say where their tokens are."""

    max_tokens: int

    def token_spans(self, texts: list[str]) -> list[list[Span]]:
        """Position of each token in its text."""


class Windowed:
    """Wraps an embedder with a length limit, so that no text is cut."""

    def __init__(self, inner: Embedder) -> None:
        if not hasattr(inner, "token_spans"):
            raise EmbeddingError(
                f"{inner.name} has no length limit, so there is nothing to split into windows. "
                f"Leave {SUFFIX} out."
            )
        self.inner = cast(Limited, inner)
        self.name = inner.name + SUFFIX
        self.dimension = inner.dimension

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the inner embedder, with a mark."""
        return fingerprint(SUFFIX, self.inner.fingerprint)

    @property
    def cut(self) -> int:
        """Windows that were cut all the same; next to none, since they are measured first."""
        return int(getattr(self.inner, "cut", 0))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed windows and average them, each with its number of tokens as weight."""
        rows = as_text_list(texts)
        pieces: list[str] = []
        weights: list[float] = []
        first: list[int] = []
        for text, spans in zip(rows, self.inner.token_spans(rows)):
            first.append(len(pieces))
            windows = split_windows(spans, self.inner.max_tokens - MARKS)
            if len(windows) <= 1:
                pieces.append(text)
                weights.append(1)
                continue
            pieces.extend(text[spans[a][0] : spans[b - 1][1]] for a, b in windows)
            weights.extend(b - a for a, b in windows)
        if not pieces:
            return np.empty((0, self.dimension), dtype=np.float32)
        share = np.array(weights, dtype=np.float32)[:, None]
        total = np.add.reduceat(share, first)
        weighted = np.add.reduceat(self.inner.encode(pieces) * share, first)
        return np.divide(weighted, total, dtype=np.float32)


def split_windows(spans: Sequence[Span], size: int) -> list[Span]:
    """Ranges of at most `size` tokens that end between words, of about equal length."""
    windows: list[Span] = []
    start = 0
    while start < len(spans):
        remaining = len(spans) - start
        # Equal shares: a text one token over the limit doesn't leave a window of one token.
        share = -(-remaining // -(-remaining // size))
        stop = start + share
        while start < stop < len(spans) and spans[stop][0] == spans[stop - 1][1]:
            stop -= 1  # the token at `stop` continues the word before it
        stop = start + share if stop == start else min(stop, len(spans))
        windows.append((start, stop))
        start = stop
    return windows
