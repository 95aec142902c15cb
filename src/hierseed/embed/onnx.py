"""MiniLM-class transformers in onnxruntime: mean over all tokens, no torch.

Each text runs alone, on one thread, and as many run at once as there are cores. Dynamic int8
takes its scale from everything in a batch: the same text in another batch came out with a cosine
as low as .97. Alone it always gives the same bits, there is no padding to pay for, and two
threads of one text each were faster than batches of 16 on two threads (53 against 50 a second).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hierseed.embed.embedder import Vectors, as_text_list, fingerprint
from hierseed.errors import EmbeddingError, MissingDependency
from hierseed.threads import usable_cpus

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"


class OnnxMean:
    """A folder with `model.onnx` and `tokenizer.json`.

    Parameters
    ----------
    folder : where the two files are
    max_tokens : longer texts are cut there, and counted in `cut`
    """

    def __init__(
        self, folder: str | PathLike[str], *, name: str | None = None, max_tokens: int = 256
    ) -> None:
        self.folder = Path(folder)
        self.name = name or f"onnx:{folder}"
        self.max_tokens = max_tokens
        self.cut = 0
        absent = [file for file in (MODEL, TOKENIZER) if not (self.folder / file).is_file()]
        if absent:
            raise EmbeddingError(
                f"no {' and no '.join(absent)} in {str(self.folder)!r}. Give a folder with both."
            )
        try:
            import onnxruntime
        except ImportError:
            raise MissingDependency("onnxruntime", "minilm", f"the embedder {self.name}") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(self.folder / MODEL), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {one.name for one in self._session.get_inputs()}
        self.dimension = int(self._session.get_outputs()[0].shape[-1])

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the model, the tokenizer and the length limit."""
        files = sorted(self.folder.glob("model.onnx*"))
        return fingerprint("onnx", self.max_tokens, *files, self.folder / TOKENIZER)

    @cached_property
    def tokenizer(self) -> Any:
        """The model's own, without padding, cutting at the limit."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_tokens)
        return tokenizer

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Average the last hidden states over all tokens, marks at both ends included."""
        encoded = self.tokenizer.encode_batch(as_text_list(texts))
        self.cut += sum(bool(one.overflowing) for one in encoded)
        vectors = np.empty((len(encoded), self.dimension), dtype=np.float32)

        def run(row: int) -> None:
            vectors[row] = self._mean(encoded[row].ids)

        # The longest first, so that no thread is left with a long text at the end.
        order = sorted(range(len(encoded)), key=lambda row: -len(encoded[row].ids))
        with ThreadPoolExecutor(cores()) as pool:
            list(pool.map(run, order))
        return vectors

    def _mean(self, ids: list[int]) -> Vectors:
        tokens = np.array([ids], dtype=np.int64)
        feed = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        feed = {name: values for name, values in feed.items() if name in self._inputs}
        states: Vectors = self._session.run(None, feed)[0]
        return states[0].mean(axis=0)

    def token_spans(self, texts: list[str]) -> list[list[tuple[int, int]]]:
        """Position of each token in its text, however long that is."""
        from tokenizers import Tokenizer

        whole = Tokenizer.from_str(self.tokenizer.to_str())
        whole.no_truncation()
        return [one.offsets for one in whole.encode_batch(texts, add_special_tokens=False)]


def cores() -> int:
    """Cores this process may use; a worker beside others has one."""
    if limit := os.environ.get("OMP_NUM_THREADS"):
        return int(limit)
    return usable_cpus()
