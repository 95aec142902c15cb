"""A table of word vectors of which only the words that are trained on can move."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed_bench.competitors.systems.backend import F, nn, torch
from hierseed_bench.competitors.systems.text import PADDING


class Words(nn.Module):
    """Word numbers to vectors.

    A word that no training text has gets no gradient, so it stays where it started; only the
    others are parameters. Four seeds a topic have one word in ten, and an optimiser goes over
    all its parameters at every step.

    Parameters
    ----------
    start : a vector per word
    trained : numbers of the words that training texts have
    """

    def __init__(self, start: NDArray[np.float32], trained: NDArray[Any]) -> None:
        super().__init__()
        here = np.zeros(len(start), dtype=bool)
        here[trained] = here[PADDING] = True
        order = np.concatenate([np.flatnonzero(here), np.flatnonzero(~here)])
        self.weight = nn.Parameter(torch.as_tensor(start[here]))
        self.register_buffer("rest", torch.as_tensor(start[~here]), persistent=False)
        place = torch.as_tensor(np.argsort(order), dtype=torch.int32)
        self.register_buffer("place", place, persistent=False)
        self.embedding_dim = start.shape[1]

    def forward(self, words: Any) -> Any:
        """Vectors; padding is zero and stays so."""
        table = self.weight if self.training else torch.cat([self.weight, self.rest])
        return F.embedding(self.place[words], table, padding_idx=PADDING)
