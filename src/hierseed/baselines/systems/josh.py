"""JoSH (Meng et al., KDD 2020): words, documents and topics on one sphere, a tree among them.

Topics are told by words of their names; no label is read. Pairs are taken in batches (see
`sphere`), so there is no random order of threads in it.

The released code only finds words for topics. A document is labelled as its author advises: by
the leaf nearest to the document's vector. Documents that come later get a vector first, with
all words fixed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hierseed.baselines.systems.backend import choose_device, on_device, seeded, torch
from hierseed.baselines.systems.checkpoint import Checkpoint
from hierseed.baselines.systems.checkpoint_key import task_key
from hierseed.baselines.systems.keywords import keywords, name_words
from hierseed.baselines.systems.phrases import Phrases
from hierseed.baselines.systems.skipgram import POWER, pairs
from hierseed.baselines.systems.sphere import TreeTerm, text_step, unit, word_step
from hierseed.baselines.systems.system import Config, Examples, Ints, Labels, System, Task
from hierseed.baselines.systems.text import SPECIAL, Vocabulary, plain_words
from hierseed.baselines.systems.training import curves
from hierseed.errors import ModelError

FALLBACK = 3  # words from seeds, for a topic whose name the corpus does not know


@dataclass(frozen=True)
class JoSHConfig(Config):
    """Settings of the authors' run script.

    Parameters
    ----------
    text_epochs : of the epochs, how many come before the topics
    margin, word_margin : of the texts, and of topics and their words
    tokens : of text between two steps of the topics
    tree : False leaves out the term that makes the topics a tree
    passes : over a document that is placed later
    names : words to tell the topics by, where those of the taxonomy won't do
    """

    dimension: int = 100
    window: int = 5
    min_count: int = 5
    sample: float = 1e-3
    negatives: int = 2
    epochs: int = 10
    text_epochs: int = 2
    rate: float = 0.025
    margin: float = 0.25
    word_margin: float = 0.9
    tokens: int = 128
    tree: bool = True
    phrases: bool = True
    passes: int = 20
    batch: int = 4096
    names: Sequence[str] | None = None
    save_every: float = 30.0

    @classmethod
    def quick(cls, **options: Any) -> Self:
        """Give small settings, for tests and first looks."""
        small: dict[str, Any] = {"dimension": 16, "min_count": 1, "sample": 1.0, "batch": 64}
        return cls(**small | {"epochs": 8, "rate": 0.05, "tokens": 64} | options)


class JoSH(System):
    """Nearest leaf to a document's vector."""

    name = "josh"
    Config = JoSHConfig
    config: Any

    def _fit(self, task: Task) -> None:
        self.place = choose_device(self.device)
        on_device(self.place, reset=True)
        own = self.config
        self.tree = task.taxonomy.tree
        corpus = task.corpus
        documents = [plain_words(text) for text in corpus]
        self.phrases = Phrases()
        if own.phrases:
            self.phrases.fit(documents)
            documents = [self.phrases.glue(words) for words in documents]
        vocabulary = Vocabulary.build(documents, min_count=own.min_count)
        self.words = vocabulary.words[len(SPECIAL) :]
        self.index = {word: number for number, word in enumerate(self.words)}
        if not self.words:
            raise ModelError(
                "JoSH: no word is frequent enough. Give more texts, or lower min_count."
            )
        numbers, owner = self._encode(documents)
        counts = np.bincount(numbers, minlength=len(self.words))
        ratio = own.sample * len(numbers) / counts
        self.keep = np.minimum(1.0, np.sqrt(ratio) + ratio)
        noise = counts**POWER
        self.noise = torch.as_tensor(noise / noise.sum()).cumsum(0).to(self.place)
        self.seed_words = self._topic_words(task)
        with seeded(self.seed, 0), torch.no_grad():
            self._learn(numbers, owner, len(corpus), self._checkpoint(task))
        self.corpus = corpus
        self.diagnostics_ |= {"vocabulary": len(self.words), **on_device(self.place)}

    def _checkpoint(self, task: Task) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        return Checkpoint(self.checkpoint, task_key(System.describe(self), task))

    def _encode(self, documents: Sequence[Sequence[str]]) -> tuple[Any, Any]:
        """Known words of all documents in one row, and the document of each."""
        known = [[self.index[w] for w in words if w in self.index] for words in documents]
        owner = np.repeat(np.arange(len(known)), [len(numbers) for numbers in known])
        return np.array([n for numbers in known for n in numbers], dtype=np.int64), owner

    def _topic_words(self, task: Task) -> list[list[int]]:
        """Words that each topic is told by: its name's, else its seeds', else its parent's."""
        names = self.config.names or task.names
        found = [name_words(name, self.index) for name in names]
        lacking = [topic for topic, words in enumerate(found) if not words]
        gold = self.tree.ancestors[task.seeds.topics]
        spare = keywords(task.seeds, gold, self.index, FALLBACK) if lacking else {}
        for topic in lacking:
            above = int(self.tree.parent[topic])
            found[topic] = spare.get(topic) or (found[above] if above >= 0 else self.words[:1])
        self.diagnostics_ = {"topics_without_known_name": len(lacking)}
        return [[self.index[word] for word in words] for words in found]

    def _learn(self, numbers: Any, owner: Any, n: int, kept: Checkpoint | None) -> None:
        own = self.config
        size = (len(self.words), own.dimension)
        state: dict[str, Any] = {
            "epoch": 0,
            "words": _random(size[0], size[1], self.place),
            "anchors": _random(size[0] + n, size[1], self.place),  # contexts, then documents
            "topics": torch.zeros(len(self.tree) + 1, size[1], device=self.place),
            "chosen": self.seed_words,
            "history": [],
        }
        if kept and (saved := kept.load("josh")):
            state = {
                k: saved[k].to(self.place) if torch.is_tensor(saved[k]) else saved[k] for k in state
            }
            for event in state["history"]:
                self.report(event)
        term, last = TreeTerm(self.tree, self.place), time.monotonic()
        while state["epoch"] < own.epochs:
            event = self._epoch(state, term, numbers, owner)
            state["epoch"] += 1
            state["history"] = [*state["history"], event]
            done = state["epoch"] == own.epochs
            if kept and (done or time.monotonic() - last >= own.save_every):
                kept.save("josh", state)
                last = time.monotonic()
            self.report(event)
        self.vectors_, self.anchors, self.topics = (
            state[k] for k in ("words", "anchors", "topics")
        )
        self.chosen = state["chosen"]

    def _epoch(self, state: dict[str, Any], term: TreeTerm, numbers: Any, owner: Any) -> Any:
        own, epoch, started = self.config, state["epoch"], time.perf_counter()
        words, anchors, topics = state["words"], state["anchors"], state["topics"]
        with_topics = epoch >= own.text_epochs
        if with_topics:
            if epoch == own.text_epochs:
                for topic, chosen in enumerate(self.seed_words):
                    topics[topic] = words[chosen].mean(dim=0)
                topics.copy_(unit(topics))
            term.renew(topics)
        told = _flat(state["chosen"], self.place)
        rng = np.random.default_rng([self.seed, 50, epoch])
        at, word, tokens = self._pairs(numbers, owner, rng, len(self.words))
        total: Any = 0.0
        with seeded(self.seed, 2, epoch):
            order = torch.randperm(len(at))
            batches = order.split(own.batch)
            owed = 0.0
            for number, rows in enumerate(batches):
                rate = own.rate * max(1 - (epoch + number / len(batches)) / own.epochs, 1e-4)
                total = total + self._text(anchors, words, at[rows], word[rows], rate)
                owed += tokens / len(batches) / own.tokens
                while with_topics and owed >= 1:
                    if own.tree:
                        term.step(topics, rate)
                    word_step(topics, words, told, rate, own.word_margin)
                    owed -= 1
        event = {"stage": "texts", "epoch": epoch, "loss": float(total) / max(len(batches), 1)}
        if with_topics:
            state["chosen"] = self._nearest_words(words, topics, epoch - own.text_epochs + 1)
            event |= {"margins": [round(float(m), 4) for m in term.margin]}
            event |= {"tree_loss": term.loss(topics)}
        return event | {"seconds": round(time.perf_counter() - started, 3)}

    def _pairs(self, numbers: Any, owner: Any, rng: Any, shift: int) -> tuple[Any, Any, int]:
        """Anchors and words of an epoch: neighbours, and each word with its document."""
        kept = rng.random(len(numbers)) < self.keep[numbers]
        numbers, owner = numbers[kept], owner[kept]
        centres, contexts = pairs(numbers, owner, np.ones(len(self.words)), self.config.window, rng)
        at = torch.as_tensor(np.concatenate([centres, owner + shift]))
        return at, torch.as_tensor(np.concatenate([contexts, numbers])), len(numbers)

    def _text(
        self, anchors: Any, words: Any, at: Any, word: Any, rate: float, frozen: bool = False
    ) -> Any:
        """One batch with random words; a word is no counterexample of itself."""
        at, word = at.to(self.place), word.to(self.place)
        drawn = torch.rand(len(at), self.config.negatives).double().to(self.place)
        other = torch.searchsorted(self.noise, drawn).clamp(max=len(self.words) - 1)
        same = other == word[:, None]
        if not frozen:
            same |= other == at[:, None]
        return text_step(
            anchors,
            words,
            (at, word, other.masked_fill(same, -1)),
            rate,
            self.config.margin,
            frozen,
        )

    def _nearest_words(self, words: Any, topics: Any, count: int) -> list[list[int]]:
        """Each topic's own words and the nearest others; several topics may have the same."""
        near = topics[:-1] @ words.T
        for topic, own in enumerate(self.seed_words):
            near[topic, own] = -2.0
        best = near.topk(min(count, len(self.words)), dim=1).indices.tolist()
        return [own + found for own, found in zip(self.seed_words, best)]

    def document_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of documents that were not in the corpus: only they move."""
        documents = [self.phrases.glue(plain_words(text)) for text in texts]
        numbers, owner = self._encode(documents)
        rng, own = np.random.default_rng([self.seed, 60]), self.config
        with torch.no_grad(), seeded(self.seed, 3):
            vectors = _random(len(texts), own.dimension, self.place)
            for number in range(own.passes):
                kept = rng.random(len(numbers)) < self.keep[numbers]
                at, word = torch.as_tensor(owner[kept]), torch.as_tensor(numbers[kept])
                for rows in torch.randperm(len(at)).split(own.batch):
                    rate = own.rate * (1 - number / own.passes)
                    self._text(vectors, self.vectors_, at[rows], word[rows], rate, frozen=True)
        answer: NDArray[np.float32] = vectors.cpu().numpy()
        return answer

    def nearest_leaf(self, vectors: NDArray[Any]) -> Ints:
        """Topics per level of the leaf with the largest cosine."""
        leaves = np.flatnonzero(self.tree.is_leaf)
        topics = self.topics[:-1].cpu().numpy()[leaves]
        return self.tree.ancestors[leaves[(vectors @ topics.T).argmax(axis=1)]]

    def _predict(self, texts: list[str]) -> Ints:
        return self.nearest_leaf(self.document_vectors(texts))

    def judge(self, texts: Sequence[str], topics: Labels) -> dict[str, Any]:
        """Leaf accuracy from the mean of a text's word vectors instead; norms; the tree's loss."""
        gold = Examples.of(texts, topics)
        words = self.vectors_.cpu().numpy()
        documents = [self.phrases.glue(plain_words(text)) for text in gold.texts]
        numbers, owner = self._encode(documents)
        mean = np.zeros((len(documents), words.shape[1]))
        np.add.at(mean, owner, words[numbers])
        found = self.nearest_leaf(mean).max(axis=1)
        norms = torch.cat([self.vectors_, self.anchors, self.topics]).norm(dim=1)
        return {
            "mean_of_words_leaf": float((found == gold.topics).mean()),
            "norm_error": float((norms - 1).abs().max()),
            **{k: v for k, v in self.history_[-1].items() if k in ("margins", "tree_loss")},
        }

    def top_words(self) -> list[list[str]]:
        """Words of every topic: those it was told by, then those it found."""
        return [[self.words[number] for number in chosen] for chosen in self.chosen]

    def describe(self) -> dict[str, Any]:
        """Name, settings and what was seen, for the record of a run."""
        told = super().describe() | self.diagnostics_ | {"curves": curves(self.history_)}
        return told | {"topic_words": self.top_words()[:30], "setting": "inductive"}


def _random(n: int, dimension: int, place: Any) -> Any:
    """Anywhere on the sphere."""
    return unit(torch.rand(n, dimension) - 0.5).to(place)


def _flat(chosen: list[list[int]], place: Any) -> tuple[Any, Any]:
    """Topic and word of every chosen pair."""
    topic = np.repeat(np.arange(len(chosen)), [len(words) for words in chosen])
    word = [number for words in chosen for number in words]
    return torch.as_tensor(topic, device=place), torch.as_tensor(word, device=place)
