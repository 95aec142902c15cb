"""The base class of all systems: from a task to one topic on each level."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Ints
from hierseed.errors import ModelError, SeedError, name_some
from hierseed.taxonomy import Taxonomy
from hierseed_bench.competitors.systems.paths import PaddedTree

Progress = Callable[[dict[str, Any]], None]
Labels = Sequence[int] | Sequence[Sequence[int]] | NDArray[Any]
VALIDATION_SHARE = 0.2  # of the labels, where all of them are given (the paper's)


@dataclass(frozen=True)
class Examples:
    """Texts with one topic each; a text of several topics is repeated."""

    texts: list[str]
    topics: Ints

    @classmethod
    def of(cls, texts: Sequence[str], topics: Labels) -> Examples:
        """Spread lists of topics; a repeated pair counts once."""
        many = [t if isinstance(t, Sequence | np.ndarray) else [t] for t in topics]
        if len(texts) != len(many):
            raise SeedError(f"{len(texts):,} texts but {len(many):,} labels; give one label each")
        pairs = dict.fromkeys((text, int(t)) for text, ids in zip(texts, many) for t in ids)
        return cls([text for text, _ in pairs], np.array([t for _, t in pairs], dtype=np.intp))

    def __len__(self) -> int:
        return len(self.texts)

    def __add__(self, other: Examples) -> Examples:
        return Examples.of(self.texts + other.texts, np.concatenate([self.topics, other.topics]))

    def take(self, rows: Ints) -> Examples:
        """Some of the examples."""
        return Examples([self.texts[i] for i in rows], self.topics[rows])


@dataclass(frozen=True)
class Task:
    """All that a system may learn from."""

    taxonomy: Taxonomy
    tree: PaddedTree
    seeds: Examples
    fitting: list[str]
    labelled: Examples | None
    names: tuple[str, ...]

    @property
    def corpus(self) -> list[str]:
        """Every training text once: what vocabularies and word vectors are made from.

        In alphabetical order, so that it is the same whichever texts were drawn as seeds.
        """
        labelled = self.labelled.texts if self.labelled else []
        return sorted({*self.seeds.texts, *self.fitting, *labelled})

    def supervision(self, seed: int) -> tuple[Examples, Examples | None]:
        """Return training and validation examples.

        Seeds alone are too few to hold any out. With all labels one in five validates, and
        seeds that are not among the labelled texts join the training part.
        """
        if self.labelled is None:
            return self.seeds, None
        order = np.random.default_rng([seed, 20]).permutation(len(self.labelled))
        size = round(VALIDATION_SHARE * len(order))
        validation = self.labelled.take(np.sort(order[:size]))
        known = set(self.labelled.texts)
        new = np.array([i for i, t in enumerate(self.seeds.texts) if t not in known], dtype=np.intp)
        return self.labelled.take(np.sort(order[size:])) + self.seeds.take(new), validation


@dataclass(frozen=True)
class Config:
    """Settings of a system; the defaults are the published ones."""


class System(ABC):
    """A system of the comparison.

    Parameters
    ----------
    config : settings; the published ones unless given
    seed : of every random choice; on a CPU the same seed gives the same answer, on a GPU
        sums may differ in their last bits
    device : "auto" (a GPU if there is one), "cpu", "cuda", "cuda:1", …
    progress : called with a dictionary after every epoch
    checkpoint : folder for checkpoints; `fit` with the same arguments resumes from them
    vectors : where word vectors come from, for the systems that start from some: a source
        or its name ("skip-gram", "random", "glove:FILE")
    """

    name: ClassVar[str]
    Config: ClassVar[type[Config]]
    OPTIONS = ("seed", "device", "progress", "checkpoint", "vectors")

    def __init__(
        self,
        config: Any = None,
        *,
        seed: int = 0,
        device: str = "auto",
        progress: Progress | None = None,
        checkpoint: str | Path | None = None,
        vectors: Any = None,
    ) -> None:
        self.config = self.Config() if config is None else config
        self.seed = seed
        self.device = device
        self.progress = progress
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.vectors = vectors
        self.history_: list[dict[str, Any]] = []
        self.diagnostics_: dict[str, Any] = {}
        self.task_: Task | None = None

    def fit(
        self,
        taxonomy: Taxonomy,
        seeds: tuple[Sequence[str], Labels],
        fitting_texts: Sequence[str] = (),
        labelled: tuple[Sequence[str], Labels] | None = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Learn from seeds and unlabelled texts, or from all labels.

        Parameters
        ----------
        seeds : texts, and a topic id (or a list of them) for each
        fitting_texts : texts without labels
        labelled : all training texts with their topics, for the setting with full labels
        names : names of the topics, if not those of the taxonomy
        """
        every = Examples.of(*seeds)
        full = Examples.of(*labelled) if labelled is not None else None
        _refuse(taxonomy, every, full, names)
        task = Task(
            taxonomy,
            PaddedTree(taxonomy.tree),
            every,
            list(fitting_texts),
            full,
            tuple(names if names is not None else taxonomy.names),
        )
        self.history_, self.diagnostics_, self.task_ = [], {}, None
        self._fit(task)
        self.task_ = task
        return self

    def predict(self, texts: Sequence[str]) -> Ints:
        """Return a topic id per text and level, -1 where a path ends."""
        if self.task_ is None:
            raise ModelError(f"{type(self).__name__} is not fitted. Call fit first.")
        if not len(texts):
            return np.zeros((0, self.task_.taxonomy.tree.height), dtype=np.intp)
        return self._predict(list(texts))

    def judge(self, texts: Sequence[str], topics: Labels) -> dict[str, Any]:
        """Return further measures of this system, given the true topics."""
        return {}

    def settings(self) -> dict[str, Any]:
        """Return name and settings."""
        record = {"system": self.name, "seed": self.seed, **asdict(self.config)}
        return record | ({} if self.vectors is None else {"vectors": self.vectors.name})

    def describe(self) -> dict[str, Any]:
        """Return settings, diagnostics and learning curves, for the record of a run."""
        spent = sum(event.get("processor", 0.0) for event in self.history_)  # of resumed parts too
        seen = {"training_processor_seconds": round(spent, 1), "curves": curves(self.history_)}
        return self.settings() | self.diagnostics_ | seen

    def report(self, event: dict[str, Any]) -> None:
        """Keep an event of the training and pass it on."""
        self.history_.append(event)
        if self.progress is not None:
            self.progress({"system": self.name, **event})

    @abstractmethod
    def _fit(self, task: Task) -> None: ...

    @abstractmethod
    def _predict(self, texts: list[str]) -> Ints: ...


def _refuse(
    taxonomy: Taxonomy, seeds: Examples, labelled: Examples | None, names: Sequence[str] | None
) -> None:
    """Report every fault of the inputs at once."""
    faults = []
    for what, examples in (("seeds", seeds), ("labelled texts", labelled)):
        if examples is None:
            continue
        wrong = np.unique(
            examples.topics[(examples.topics < 0) | (examples.topics >= len(taxonomy))]
        )
        if len(wrong):
            faults.append(
                f"{what} with topics outside 0 … {len(taxonomy) - 1}: {name_some(wrong.tolist())}"
            )
    if not len(seeds) and not (labelled and len(labelled)):
        faults.append("neither seeds nor labelled texts are given")
    if names is not None and len(names) != len(taxonomy):
        faults.append(f"{len(names)} names for {len(taxonomy)} topics")
    if faults:
        raise SeedError("; ".join(faults) + ". Give topic ids of this taxonomy.")


def curves(history: list[dict[str, Any]], stages: int = 8, points: int = 40) -> dict[str, Any]:
    """Return loss and validation score of the first stages, at a limited number of epochs."""
    found: dict[str, Any] = {}
    for stage in list(dict.fromkeys(event["stage"] for event in history))[:stages]:
        events = [event for event in history if event["stage"] == stage]
        step = -(-len(events) // points)
        found[stage] = {"epochs": len(events), "every": step}
        for name in ("loss", "validation"):
            if name in events[0]:
                found[stage][name] = [round(event[name], 4) for event in events[::step]]
    return found
