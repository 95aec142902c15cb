"""Skip-gram with negative sampling (Mikolov et al. 2013), as products of matrices.

The negatives are drawn once per batch and shared by its pairs, so that a batch is one
product of (pairs x dimension) by (dimension x negatives); their loss is weighted to count
as `negatives` a pair. Adam takes the place of one small step after another.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.baselines.systems.text import SPECIAL, Vocabulary, kim_words

Ints = NDArray[np.int64]
POWER = 0.75  # of a word's frequency when negatives are drawn
SHARED = 256  # negatives drawn per batch


@dataclass(frozen=True)
class SkipGram:
    """Settings of a skip-gram model; the defaults are word2vec's.

    Parameters
    ----------
    sample : words more frequent than this are thinned out
    cache : folder in which vectors are kept by a digest of texts and settings, so that all
        systems of a comparison start from the very same ones
    """

    dimension: int = 100
    window: int = 5
    min_count: int = 5
    sample: float = 1e-3
    negatives: int = 5
    epochs: int = 5
    batch: int = 8192
    rate: float = 0.01
    seed: int = 0
    cache: Path | None = None

    @property
    def name(self) -> str:
        """What to write into the record."""
        return (
            f"skip-gram {self.dimension}d on the training texts "
            f"(window {self.window}, min count {self.min_count}, {self.epochs} epochs)"
        )

    def fit(self, texts: Sequence[str], device: str = "auto") -> dict[str, NDArray[np.float32]]:
        """Train, or read what was trained before on the same texts."""
        from hierseed.baselines.systems.checkpoint import fingerprint

        settings = asdict(self) | {"cache": None}
        file = self.cache and Path(self.cache) / f"{fingerprint(settings, texts)}.npz"
        if file and file.is_file():
            with np.load(file, allow_pickle=False) as saved:
                return dict(zip(saved["words"].tolist(), saved["vectors"]))
        documents = [kim_words(text) for text in texts]
        vocabulary = Vocabulary.build(documents, min_count=self.min_count)
        words = vocabulary.words[len(SPECIAL) :]
        if not words:
            return {}
        vectors = _train(self, [vocabulary.encode(d) - len(SPECIAL) for d in documents], device)
        if file:
            _keep(file, words, vectors)
        return dict(zip(words, vectors))


def pairs(
    numbers: Ints, document: Ints, keep: NDArray[np.float64], window: int, rng: Any
) -> tuple[Ints, Ints]:
    """Centres and contexts of one epoch: thinned words, a window of random width around each."""
    kept = rng.random(len(numbers)) < keep[numbers]
    words, owner = numbers[kept], document[kept]
    width = rng.integers(1, window + 1, len(words))
    centres, contexts = [], []
    for step in range(1, window + 1):
        same = owner[step:] == owner[:-step]
        left, right = words[:-step], words[step:]
        forward, backward = same & (width[:-step] >= step), same & (width[step:] >= step)
        centres += [left[forward], right[backward]]
        contexts += [right[forward], left[backward]]
    return np.concatenate(centres), np.concatenate(contexts)


def _train(model: SkipGram, documents: list[NDArray[np.int32]], device: str) -> Any:
    from hierseed.baselines.systems.backend import F, choose_device, nn, seeded, torch

    place = choose_device(device)
    known = [d[d >= 0].astype(np.int64) for d in documents]
    numbers = np.concatenate(known)
    owner = np.repeat(np.arange(len(known)), [len(d) for d in known])
    counts = np.bincount(numbers)
    ratio = model.sample * len(numbers) / counts
    keep = np.minimum(1.0, np.sqrt(ratio) + ratio)
    noise = torch.as_tensor(counts**POWER, dtype=torch.float32, device=place)
    with seeded(model.seed):
        inner = nn.Embedding(len(counts), model.dimension, sparse=True)
        outer = nn.Embedding(len(counts), model.dimension, sparse=True)
        nn.init.uniform_(inner.weight, -0.5 / model.dimension, 0.5 / model.dimension)
        nn.init.zeros_(outer.weight)
        inner, outer = inner.to(place), outer.to(place)
        optimiser = torch.optim.SparseAdam([*inner.parameters(), *outer.parameters()], model.rate)
        rng = np.random.default_rng(model.seed)
        for epoch in range(model.epochs):
            centres, contexts = pairs(numbers, owner, keep, model.window, rng)
            order = rng.permutation(len(centres))
            steps = list(_batches(order, model.batch))
            for step, rows in enumerate(steps):
                done = (epoch + step / len(steps)) / model.epochs
                optimiser.param_groups[0]["lr"] = model.rate * max(1 - done, 1e-4)
                centre = inner(torch.as_tensor(centres[rows], device=place))
                context = outer(torch.as_tensor(contexts[rows], device=place))
                other = outer(torch.multinomial(noise, SHARED, replacement=True))
                near = F.logsigmoid((centre * context).sum(1)).mean()
                far = F.logsigmoid(-centre @ other.T).mean() * model.negatives
                optimiser.zero_grad()
                (-(near + far) * len(rows)).backward()
                optimiser.step()
    return inner.weight.detach().cpu().numpy()


def _batches(order: Ints, size: int) -> Iterator[Ints]:
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _keep(file: Path, words: list[str], vectors: NDArray[np.float32]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(suffix=".npz", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            np.savez(out, words=np.array(words), vectors=vectors)
        os.replace(partial, file)
    finally:
        Path(partial).unlink(missing_ok=True)
