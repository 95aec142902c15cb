"""transformers with mean pooling: the mean of the last hidden states over all tokens.

The paper used roberta-base, 768 dimensions, 256 tokens. Give the folder of any encoder that
`transformers` can load; the name shown is the folder's, whatever is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hierseed.core.arrays import Ints
from hierseed.embed.embedder import Vectors, as_text_list, fingerprint
from hierseed.errors import EmbeddingError, MissingDependency

TOKENS_PER_BATCH = {"cpu": 4096, "cuda": 65_536}


class MeanPooling:
    """Any encoder of the transformers library.

    Parameters
    ----------
    model : a local folder, or a hub name that was fetched before (the hub is never asked
        unless `download` is True)
    max_tokens : longer texts are cut there, and counted in `cut`
    device : "cpu" or "cuda"; found where None. On cuda the model runs in float16
    """

    def __init__(
        self,
        model: str,
        *,
        name: str | None = None,
        max_tokens: int = 256,
        device: str | None = None,
        download: bool = False,
    ) -> None:
        self.name = name or f"transformers:{model}"
        self.max_tokens = max_tokens
        self.cut = 0
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
        except ImportError as fault:
            raise MissingDependency(fault.name or "torch", "transformers", self.name) from None
        self.device = device or find_device()
        with explain_missing(model, self.name), without_bars():
            place = model if download else local_copy(model)
            self._tokenizer = AutoTokenizer.from_pretrained(place)
            self._model = AutoModel.from_pretrained(place).to(self.device).eval()
        # RoBERTa counts positions from 2, so a model may hold fewer tokens than its table has rows.
        limit = getattr(self._tokenizer, "model_max_length", max_tokens)
        self.max_tokens = min(max_tokens, int(limit))
        # A checkpoint may be kept in float16, which a CPU computes slowly.
        self._model = self._model.to(torch.float16 if self.device == "cuda" else torch.float32)
        self.dimension = int(self._model.config.hidden_size)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all weights and the length limit, wherever they were loaded from."""
        parts = hash_parameters(self._model)
        vocabulary = str(sorted(self._tokenizer.get_vocab().items()))
        return fingerprint("mean", self.max_tokens, vocabulary, *parts)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Average hidden states; texts of like length share a batch."""
        import torch

        rows = as_text_list(texts)
        vectors = np.zeros((len(rows), self.dimension), dtype=np.float32)
        if not rows:
            return vectors
        tokens = self._tokenizer(rows, truncation=True, max_length=self.max_tokens)
        self.cut += sum(bool(one.overflowing) for one in tokens.encodings or [])
        ids = [np.array(one, dtype=np.int64) for one in tokens["input_ids"]]
        budget = TOKENS_PER_BATCH.get(self.device, 4096)
        found = []
        with torch.inference_mode():
            for batch in batches_by_length([len(one) for one in ids], budget):
                padded, mask = pad([ids[row] for row in batch], self._tokenizer.pad_token_id or 0)
                given = {"input_ids": padded, "attention_mask": mask}
                there = {name: torch.from_numpy(one).to(self.device) for name, one in given.items()}
                states = self._model(**there).last_hidden_state.float()
                seen = there["attention_mask"].unsqueeze(-1).float()
                mean = (states * seen).sum(dim=1) / seen.sum(dim=1).clamp(min=1)
                found.append((batch, mean))
        for batch, mean in found:  # only now: a card computes while the next batch is made
            vectors[batch] = mean.cpu().numpy()
        return vectors

    def token_spans(self, texts: list[str]) -> list[list[tuple[int, int]]]:
        """Position of each token in its text."""
        return token_spans(self._tokenizer, texts)


def token_spans(tokenizer: Any, texts: list[str]) -> list[list[tuple[int, int]]]:
    """Position of each token in its text, however long that is."""
    options = {"add_special_tokens": False, "truncation": False, "verbose": False}
    spans: list[list[tuple[int, int]]] = tokenizer(texts, return_offsets_mapping=True, **options)[
        "offset_mapping"
    ]
    return spans


def pad(ids: list[np.ndarray], filler: int) -> tuple[np.ndarray, np.ndarray]:
    """Token ids as a matrix, filled up on the right, and a mask of what was not filled in."""
    lengths = np.array([len(one) for one in ids])
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    padded = np.full(mask.shape, filler, dtype=np.int64)
    padded[mask] = np.concatenate(ids)
    return padded, mask.astype(np.int64)


_asked: ContextVar[str | None] = ContextVar("device", default=None)


@contextmanager
def on_device(device: str | None) -> Iterator[None]:
    """Load transformers on this device ("cpu" or "cuda"); None: on a card where there is one."""
    token = _asked.set(device)
    try:
        yield
    finally:
        _asked.reset(token)


def find_device() -> str:
    """`cuda` where there is one and `on_device` does not say otherwise, else `cpu`."""
    import torch

    return "cuda" if _asked.get() != "cpu" and torch.cuda.is_available() else "cpu"


def hash_parameters(model: Any) -> Iterator[str | np.ndarray]:
    """Names and values of all parameters, in order, for a fingerprint.

    In half precision, as a card has them: a corpus embedded on a card and one embedded on the
    processor may be used together.
    """
    for name, values in model.state_dict().items():
        yield name
        yield values.half().float().cpu().numpy()


def local_copy(model: str) -> str:
    """Find the folder of a model that is on this machine.

    The libraries' own `local_files_only` is not enough: they ask the hub who is calling before
    they look at the disk.
    """
    if Path(model).is_dir():
        return model
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    for name in (model, f"sentence-transformers/{model}"):
        try:
            found = try_to_load_from_cache(name, "config.json")
        except HFValidationError:
            continue
        if isinstance(found, str):
            return str(Path(found).parent)
    raise FileNotFoundError("not among the models fetched before")


@contextmanager
def without_bars() -> Iterator[None]:
    """Load without the library's own progress bars, which would break ours."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


@contextmanager
def explain_missing(model: str, name: str) -> Iterator[None]:
    """Raise one error for all ways in which the libraries fail to find a model."""
    try:
        yield
    except (OSError, ValueError) as fault:
        reason = str(fault).strip().splitlines()[0] if str(fault).strip() else type(fault).__name__
        what = "can't be loaded" if Path(model).is_dir() else "is not on this machine"
        raise EmbeddingError(
            f"the model {model!r} {what} ({reason[:160]}). Give a local folder, or fetch it once "
            f"with: hierseed embedders get {name}"
        ) from None


def batches_by_length(lengths: Sequence[int], tokens: int) -> Iterator[Ints]:
    """Yield rows, longest first, in batches of at most `tokens` padded tokens (at least one row).

    The longest come first so that running out of memory shows at once, not after an hour.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.intp), kind="stable")
    start = 0
    while start < len(order):
        size = max(1, tokens // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size
