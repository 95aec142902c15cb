"""Read a data set once for all runs that share it, with its vectors."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hierseed.embed import Preparation, get_embedder
from hierseed.embed.embedder import Embedder, is_trained
from hierseed.embed.joined import SUFFIX as LSA
from hierseed.embed.joined import join
from hierseed.embed.student import SUFFIX as STUDENT
from hierseed.embed.student import Student
from hierseed.embed.windows import SUFFIX as WINDOWS
from hierseed.embed.windows import Limited, Windowed
from hierseed.estimators.block_weights import learn_block_weights
from hierseed.evaluate.left_out import INSIDE
from hierseed.files import atomic_file, model_home
from hierseed.io.seeds import name_text
from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.competitors.task import Documents, Task
from hierseed_bench.data.catalogue import load_dataset
from hierseed_bench.data.dataset import Dataset
from hierseed_bench.data.reshape import drop_rare, leave_out, sample, skew
from hierseed_bench.data.splits import Split, draw_seeds, train_test
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.environment import versions

INCLUDED = "minilm"  # vectors in the folders of the open sets
AROUND: dict[str, Callable[[Embedder], Embedder]] = {STUDENT: Student, WINDOWS: Windowed}


@dataclass(frozen=True)
class PreparedData:
    """A data set with vectors, and the right place of documents whose topic was left out."""

    dataset: Dataset
    home: NDArray[np.intp] | None

    def split(self, config: RunConfig) -> Split:
        """Draw the seeds of a config."""
        barred = None if self.home is None else self.home != INSIDE
        return draw_seeds(self.dataset, config.seeds, config.draw, barred=barred)


@lru_cache(maxsize=1)  # configs come sorted: one data set is held at a time
def ready(shape: tuple[Any, ...], path: Path | None = None) -> PreparedData:
    """Read and reshape: sizes skewed, rare topics dropped, topics left out, vectors found."""
    data, vectors, min_docs, limit, exponent, share = shape
    dataset = load_dataset(data, path)
    if vectors:
        dataset = with_vectors(dataset, vectors.removesuffix(LSA))
    else:
        dataset = replace(dataset, vectors=None, vectors_name="not used: this method reads texts")
    if limit:
        dataset = sample(dataset, limit)
    if exponent:
        dataset = skew(dataset, exponent, min_docs)
    dataset = drop_rare(dataset, min_docs)
    if vectors.endswith(LSA):
        dataset = joined_with_lsa(dataset)
    if not share:
        return PreparedData(dataset, None)
    reduced = leave_out(dataset, share)
    return PreparedData(reduced.dataset, reduced.home)


def with_vectors(dataset: Dataset, name: str) -> Dataset:
    """Return a data set with the vectors of a name: included, an .npy file, or an embedder's.

    Embedded vectors are cached. `minilm` embeds only if the folder has no such vectors; its
    student and its windows embed only texts that are not documents of the set.
    """
    wrap = AROUND.get(name.removeprefix(INCLUDED))
    if dataset.vectors is not None and name == INCLUDED:
        return dataset
    if dataset.vectors is not None and name.startswith(INCLUDED) and wrap is not None:
        embedder = wrap(_CachedModel(dataset.texts, dataset.vectors))
        return replace(dataset, vectors=_embedded(dataset, embedder), vectors_name=name)
    if name.endswith(".npy"):
        return replace(dataset, vectors=np.load(name, mmap_mode="r"), vectors_name=Path(name).name)
    return replace(dataset, vectors=_embedded(dataset, get_embedder(name)), vectors_name=name)


def joined_with_lsa(dataset: Dataset) -> Dataset:
    """Join vectors that are learned from the training part with the present ones."""
    assert dataset.vectors is not None
    blocks = dataset.vectors, _embedded(dataset, get_embedder("lsa"))
    return replace(
        dataset,
        vectors=join(blocks[0], np.asarray(blocks[1], np.float32)),
        blocks=tuple(block.shape[1] for block in blocks),
        vectors_name=dataset.vectors_name + LSA,
    )


def make_task(
    data: PreparedData, config: RunConfig, split: Split
) -> tuple[Task, Documents, dict[str, Any]]:
    """The task and the test documents, prepared in the same way for every method."""
    dataset = data.dataset
    vectors = dataset.vectors
    if vectors is None:
        return _text_task(data, config, split)
    blocks = dataset.blocks if config.prepare else ()
    preparation = Preparation(centre=config.prepare, unit=config.prepare, blocks=blocks)
    preparation.fit(vectors[split.train])
    if blocks:
        seeds = vectors[split.seeds], [list(topics) for topics in split.seed_topics]
        fitting = vectors[split.fitting]
        found = learn_block_weights(preparation, fitting, dataset.taxonomy, None, *seeds)
        preparation = preparation.with_weights(found.weights)

    def documents(rows: NDArray[Any]) -> Documents:
        return Documents(preparation.transform(vectors[rows]), [dataset.texts[row] for row in rows])

    task = _task(documents, data, config, split)
    if dict(METHODS[config.method].defaults).get("names"):
        texts = [name_text(dataset.taxonomy, topic) for topic in range(len(dataset.taxonomy))]
        names = get_embedder(config.vectors).encode(texts)
        task = replace(task, names=preparation.transform(names))
    return task, documents(split.test), preparation.header


def _text_task(
    data: PreparedData, config: RunConfig, split: Split
) -> tuple[Task, Documents, dict[str, Any]]:
    """The task of a method that reads texts: its documents have vectors of length 0."""

    def documents(rows: NDArray[Any]) -> Documents:
        texts = [data.dataset.texts[row] for row in rows]
        return Documents(np.zeros((len(rows), 0), dtype=np.float32), texts)

    return _task(documents, data, config, split), documents(split.test), {}


def _task(
    documents: Callable[[NDArray[Any]], Documents],
    data: PreparedData,
    config: RunConfig,
    split: Split,
) -> Task:
    dataset = data.dataset
    task = Task(
        dataset.taxonomy,
        documents(split.seeds),
        split.seed_topics,
        documents(split.fitting),
        random_state=config.draw,
    )
    if not wants_labels(config):  # no other method sees them
        return task
    train = split.train[[len(dataset.labels[row]) > 0 for row in split.train]]
    labels = [dataset.labels[row] for row in train]
    return replace(task, labelled=documents(train), labelled_topics=labels)


def wants_labels(config: RunConfig) -> bool:
    """Whether a run may use all labels of the training part."""
    return METHODS[config.method].uses == "labels" or bool(dict(config.parameters).get("full"))


class _CachedModel:
    """A model that looks up the vectors of known documents and embeds all other texts."""

    def __init__(self, texts: Sequence[str], vectors: NDArray[Any]) -> None:
        self.model = cast(Limited, get_embedder(INCLUDED))
        self.name, self.dimension = INCLUDED, self.model.dimension
        self.fingerprint = f"{self.model.fingerprint}-known"
        self.max_tokens, self.token_spans = self.model.max_tokens, self.model.token_spans
        self._row, self._vectors = {text: row for row, text in enumerate(texts)}, vectors

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = np.empty((len(texts), self.dimension), dtype=np.float32)
        rows = [self._row.get(text, -1) for text in texts]
        known = np.array(rows) >= 0
        found[known] = self._vectors[[row for row in rows if row >= 0]]
        if not known.all():
            found[~known] = self.model.encode([text for text, row in zip(texts, rows) if row < 0])
        return found


def _embedded(dataset: Dataset, embedder: Embedder) -> NDArray[Any]:
    """Embed all documents once; later processes read the file.

    An embedder that learns does so from the training part alone. Its cache is named by its
    options, its code and the texts, because it has no fingerprint before it is trained.
    """
    learns = is_trained(embedder)
    train = train_test(dataset)[0] if learns else np.zeros(0, dtype=np.intp)
    fingerprint = _untrained_fingerprint(embedder) if learns else embedder.fingerprint
    texts = "\0".join(dataset.texts).encode(errors="replace")
    digest = sha256(texts + train.tobytes() + fingerprint.encode()).hexdigest()[:16]
    file = model_home() / "bench" / f"{digest}.npy"
    if not file.is_file():
        if is_trained(embedder):
            embedder.fit([dataset.texts[row] for row in train])
        file.parent.mkdir(parents=True, exist_ok=True)
        vectors = np.asarray(embedder.encode(dataset.texts), dtype=np.float16)
        with atomic_file(file) as partial, partial.open("wb") as out:
            np.save(out, vectors)
    loaded: NDArray[Any] = np.load(file, mmap_mode="r")
    return loaded


def _untrained_fingerprint(embedder: Embedder) -> str:
    """Describe an embedder before training: its options and its code."""
    module = sys.modules[type(embedder).__module__]
    plain = {k: v for k, v in sorted(vars(embedder).items()) if not k.startswith("_")}
    options = {k: v for k, v in plain.items() if isinstance(v, str | int | float)}
    return f"{embedder.name} {options} {inspect.getsource(module)} {versions()}"
