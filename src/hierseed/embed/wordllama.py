"""wordllama: 256-d static vectors that lie inside its wheel; the embedder that always works.

The weights and the tokenizer are read straight from the package's folder. Its own code is not
imported: that would set up logging for the whole program and, where a file is missing, ask a hub.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse

from hierseed.embed.embedder import Vectors, as_text_list, fingerprint
from hierseed.errors import EmbeddingError

WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
DIMENSIONS = (64, 128, 256)  # trained so that the first 64 or 128 coordinates work alone
CHUNK = 1024  # texts tokenized at a time; bounds memory, never changes a vector


class WordLlama:
    """Mean of static token vectors; no length limit, and no text depends on its neighbours."""

    def __init__(self, dimension: int = 256) -> None:
        if dimension not in DIMENSIONS:
            raise EmbeddingError(
                f"wordllama has {', '.join(map(str, DIMENSIONS))} dimensions, not {dimension}.",
                "Write {embedder:wordllama} or {embedder:wordllama:128}",
            )
        self.dimension = dimension
        self.name = "wordllama" if dimension == 256 else f"wordllama:{dimension}"
        folder = find_folder()
        if folder is None:
            raise EmbeddingError(
                "the package 'wordllama' is not installed, or came without its weights. "
                "Install it with: pip install --force-reinstall --no-deps wordllama"
            )
        self._weights, self._tokens = folder / WEIGHTS, folder / TOKENIZER

    @cached_property
    def fingerprint(self) -> str:
        """Hash of weights, tokenizer and dimension."""
        return fingerprint("wordllama", self.dimension, self._weights, self._tokens)

    @cached_property
    def _table(self) -> Vectors:
        from safetensors.numpy import load_file

        table = load_file(self._weights)["embedding.weight"]
        return np.ascontiguousarray(table[:, : self.dimension], dtype=np.float32)

    @cached_property
    def _tokenizer(self):  # type: ignore[no-untyped-def]  # tokenizers ships no types
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._tokens))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Average the vectors of each text's tokens."""
        rows = as_text_list(texts)
        vectors = np.empty((len(rows), self.dimension), dtype=np.float32)
        for start in range(0, len(rows), CHUNK):
            vectors[start : start + CHUNK] = self._mean(rows[start : start + CHUNK])
        return vectors

    def _mean(self, texts: list[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        tokens = [one.ids for one in encoded]
        lengths = np.fromiter(map(len, tokens), dtype=np.intp, count=len(tokens))
        ids = np.fromiter(chain.from_iterable(tokens), dtype=np.int32, count=int(lengths.sum()))
        np.minimum(ids, len(self._table) - 1, out=ids)
        # A row of weights per text instead of a padded cube: the cost is the number of tokens,
        # so one very long text doesn't slow the short ones beside it.
        share = np.repeat(1.0 / np.maximum(lengths, 1), lengths).astype(np.float32)
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        shape = (len(tokens), len(self._table))
        return np.asarray(sparse.csr_array((share, ids, bounds), shape=shape) @ self._table)


def find_folder() -> Path | None:
    """The installed package's folder, where both files are in it."""
    spec = find_spec("wordllama")
    for place in (spec.submodule_search_locations or []) if spec else []:
        if all((Path(place) / file).is_file() for file in (WEIGHTS, TOKENIZER)):
            return Path(place)
    return None
