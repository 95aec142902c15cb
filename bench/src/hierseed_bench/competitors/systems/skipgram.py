"""Skip-gram with negative sampling (Mikolov et al. 2013), as products of matrices.

The negatives are drawn once per batch and shared by its pairs, so that a batch is one
product of (pairs x dimension) by (dimension x negatives); their loss is weighted to count
as `negatives` a pair. Steps are Adagrad's, so that many pairs may move at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.files import atomic_file
from hierseed_bench.competitors.systems.checkpoint_key import fingerprint
from hierseed_bench.competitors.systems.text import SPECIAL, Vocabulary, kim_words

Ints = NDArray[np.int64]
POWER = 0.75  # of a word's frequency when negatives are drawn
SHARED = 128  # negatives drawn per batch


@dataclass(frozen=True)
class SkipGram:
    """Settings of a skip-gram model; the defaults are word2vec's.

    Parameters
    ----------
    sample : words more frequent than this are subsampled
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
    rate: float = 0.15
    seed: int = 0
    cache: Path | None = None

    @property
    def name(self) -> str:
        """The name in records."""
        return (
            f"skip-gram {self.dimension}d on the training texts "
            f"(window {self.window}, min count {self.min_count}, {self.epochs} epochs)"
        )

    def fit(self, texts: Sequence[str], device: str = "auto") -> dict[str, NDArray[np.float32]]:
        """Train, or read what was trained before on the same texts."""
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
    """Centres and contexts of one epoch: subsampled words, a window of random width around each."""
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
    from hierseed_bench.competitors.systems.backend import choose_device, seeded, torch

    place = choose_device(device)
    known = [d[d >= 0].astype(np.int64) for d in documents]
    numbers = np.concatenate(known)
    owner = np.repeat(np.arange(len(known)), [len(d) for d in known])
    counts = np.bincount(numbers)
    ratio = model.sample * len(numbers) / counts
    keep = np.minimum(1.0, np.sqrt(ratio) + ratio)
    noise = counts**POWER / (counts**POWER).sum()
    rng = np.random.default_rng(model.seed)
    with torch.no_grad(), seeded(model.seed):
        start = (torch.rand(len(counts), model.dimension) - 0.5) / model.dimension
        inner = _Table(start.to(place))
        outer = _Table(torch.zeros_like(inner.rows))
        for epoch in range(model.epochs):
            centres, contexts = pairs(numbers, owner, keep, model.window, rng)
            order = rng.permutation(len(centres))
            centres, contexts = (torch.as_tensor(x[order]) for x in (centres, contexts))
            steps = max(1, round(len(order) / model.batch))
            drawn = torch.as_tensor(rng.choice(len(counts), (steps, SHARED), p=noise)).to(place)
            split = zip(centres.tensor_split(steps), contexts.tensor_split(steps), drawn)
            for step, (centre, context, other) in enumerate(split):
                done = (epoch + step / steps) / model.epochs
                rate = model.rate * max(1 - done, 1e-4)
                _step(inner, outer, centre.to(place), context.to(place), other, rate, model)
    return inner.rows.cpu().numpy()


class _Table:
    """Vectors with Adagrad, one accumulated square a row."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.squares = rows.new_full((len(rows),), 1e-6)

    def move(self, numbers: Any, gradient: Any, rate: float) -> None:
        """Go up a gradient; repeated rows add up."""
        self.squares.index_add_(0, numbers, gradient.square().mean(dim=1))
        scale = rate * self.squares[numbers].rsqrt()
        self.rows.index_add_(0, numbers, gradient * scale[:, None])


def _step(
    inner: _Table, outer: _Table, centre: Any, context: Any, other: Any, rate: float, model: Any
) -> None:
    """Raise log s(u.v) for pairs and log s(-u.v) for the shared negatives."""
    u, v, w = inner.rows[centre], outer.rows[context], outer.rows[other]
    near = (-(u * v).sum(dim=1)).sigmoid()[:, None]
    far = (u @ w.T).sigmoid() * (model.negatives / len(other))
    inner.move(centre, near * v - far @ w, rate)
    outer.move(context, near * u, rate)
    outer.move(other, -far.T @ u, rate)


def _keep(file: Path, words: list[str], vectors: NDArray[np.float32]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(file) as partial, partial.open("wb") as out:
        np.savez(out, words=np.array(words), vectors=vectors)
