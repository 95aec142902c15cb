"""sentence-transformers: any of its models, by local folder or by a name fetched before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hierseed.embed.embedder import Vectors, as_text_list, fingerprint
from hierseed.embed.mean_pooling import (
    explain_missing,
    find_device,
    hash_parameters,
    local_copy,
    token_spans,
    without_bars,
)
from hierseed.errors import MissingDependency


class SentenceTransformers:
    """A model with its own pooling and length limit.

    Parameters
    ----------
    model : a local folder, or a hub name that was fetched before (the hub is never asked
        unless `download` is True)
    device : "cpu" or "cuda"; found where None
    """

    def __init__(self, model: str, *, device: str | None = None, download: bool = False) -> None:
        self.name = f"sentence-transformers:{model}"
        self.cut = 0
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise MissingDependency(
                "sentence-transformers", "sentence-transformers", self.name
            ) from None
        self.device = device or find_device()
        with explain_missing(model, self.name), without_bars():
            place = model if download else local_copy(model)
            self._model: Any = SentenceTransformer(place, device=self.device)
        self.max_tokens = int(self._model.max_seq_length or 512)
        self.dimension = int(self.encode(["x"]).shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all weights and the length limit."""
        return fingerprint("st", self.max_tokens, *hash_parameters(self._model))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed; the library itself batches by length."""
        rows = as_text_list(texts)
        if not rows:
            return np.empty((0, self.dimension), dtype=np.float32)
        self.cut += sum(len(spans) + 2 > self.max_tokens for spans in self.token_spans(rows))
        vectors = self._model.encode(rows, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)

    def token_spans(self, texts: list[str]) -> list[list[tuple[int, int]]]:
        """Position of each token in its text."""
        return token_spans(self._model.tokenizer, texts)
