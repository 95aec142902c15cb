"""JoSH (Meng et al., KDD 2020): words, documents and topics on one sphere, a tree among them.

Topics are described by words of their names; no label is read. It runs on one CPU
thread, so that the same seed gives the same answer; the original uses threads without locks.

The released code only finds words for topics. A document is labelled as its author advises: by
the leaf nearest to the document's vector. Documents that come later get a vector first, with
all words fixed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import ModelError
from hierseed_bench.competitors.systems.backend import torch
from hierseed_bench.competitors.systems.checkpoint import Checkpoint
from hierseed_bench.competitors.systems.keywords import keywords, name_words
from hierseed_bench.competitors.systems.phrases import Phrases
from hierseed_bench.competitors.systems.skipgram import POWER
from hierseed_bench.competitors.systems.sphere import (
    TreeTerm,
    noise_of,
    place_document,
    text_steps,
    word_steps,
)
from hierseed_bench.competitors.systems.system import Config, Examples, Ints, Labels, System, Task
from hierseed_bench.competitors.systems.text import SPECIAL, Vocabulary, plain_words

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
    names : words that describe the topics, instead of those of the taxonomy
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
    names: Sequence[str] | None = None
    save_every: float = 30.0


class JoSH(System):
    """Nearest leaf to a document's vector."""

    name = "josh"
    Config = JoSHConfig
    config: Any

    def _fit(self, task: Task) -> None:
        own = self.config
        self.tree = task.taxonomy.tree
        documents = [plain_words(text) for text in task.corpus]
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
        known = self._encode(documents)
        counts = np.bincount(np.concatenate(known), minlength=len(self.words))
        ratio = own.sample * counts.sum() / counts
        self.keep = np.minimum(1.0, np.sqrt(ratio) + ratio)
        self.noise = noise_of(counts**POWER)
        self.seed_words = self._topic_words(task)
        self._learn(known, Checkpoint.of(self, task))
        self.diagnostics_ |= {"vocabulary": len(self.words), "device": "cpu"}

    def _encode(self, documents: Sequence[Sequence[str]]) -> list[NDArray[np.int32]]:
        """Numbers of the known words of each document."""
        get = self.index.get
        numbers = [np.array([get(w, -1) for w in words], dtype=np.int32) for words in documents]
        return [found[found >= 0] for found in numbers]

    def _topic_words(self, task: Task) -> list[list[int]]:
        """Words that describe each topic: of its name, else of its seeds, else of its parent."""
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

    def _learn(self, documents: list[NDArray[np.int32]], kept: Checkpoint | None) -> None:
        own, rng = self.config, np.random.default_rng([self.seed, 0])
        size = len(self.words)
        state: dict[str, Any] = {
            "epoch": 0,
            "words": _anywhere(rng, size, own.dimension),
            "contexts": _anywhere(rng, size, own.dimension),
            "documents": _anywhere(rng, len(documents), own.dimension),
            "topics": np.zeros((len(self.tree) + 1, own.dimension), dtype=np.float32),
            "chosen": self.seed_words,
            "history": [],
        }
        if kept and (saved := kept.load("josh")):
            state = {k: v.numpy() if torch.is_tensor(v := saved[k]) else v for k in state}
            for event in state["history"]:
                self.report(event)
        term, last = TreeTerm(self.tree), time.monotonic()
        while state["epoch"] < own.epochs:
            event = self._epoch(state, term, documents)
            state["epoch"] += 1
            state["history"] = [*state["history"], event]
            done = state["epoch"] == own.epochs
            if kept and (done or time.monotonic() - last >= own.save_every):
                arrays = {
                    k: torch.from_numpy(v) for k, v in state.items() if isinstance(v, np.ndarray)
                }
                kept.save("josh", state | arrays)
                last = time.monotonic()
            self.report(event)
        self.vectors_, self.documents_, self.topics_ = (
            state[k] for k in ("words", "documents", "topics")
        )
        self.chosen = state["chosen"]

    def _epoch(
        self, state: dict[str, Any], term: TreeTerm, documents: list[NDArray[np.int32]]
    ) -> dict[str, Any]:
        own, epoch = self.config, state["epoch"]
        started = time.perf_counter(), time.process_time()
        words, topics = state["words"], state["topics"]
        with_topics = epoch >= own.text_epochs
        if with_topics:
            if epoch == own.text_epochs:
                topics[:-1] = unit(np.stack([words[own].mean(axis=0) for own in self.seed_words]))
            term.renew(topics)
        chosen = _flat(state["chosen"])
        margin, word_margin = np.float32(own.margin), np.float32(own.word_margin)
        rng = np.random.default_rng([self.seed, 50, epoch])
        text = self._text(documents, rng)
        tables = (words, state["contexts"], state["documents"])
        source, n = (self.noise, rng.integers(2**63, size=1, dtype=np.uint64)), len(text[0])
        total = count = 0
        for start in range(0, n, own.tokens):
            rate = np.float32(own.rate * max(1 - (epoch + start / n) / own.epochs, 1e-4))
            part, how = (start, min(start + own.tokens, n)), (rate, margin, own.negatives)
            hinge, pairs = text_steps(tables, text, part, own.window, source, how)
            total, count = total + hinge, count + pairs * own.negatives
            if with_topics:
                if own.tree:
                    term.step(topics, rate)
                word_steps(topics, words, chosen, rate, word_margin)
        event = {"stage": "texts", "epoch": epoch, "loss": total / max(count, 1)}
        if with_topics:
            state["chosen"] = self._nearest_words(words, topics, epoch - own.text_epochs + 1)
            event |= {"margins": [round(float(m), 4) for m in term.margin]}
            event |= {"tree_loss": term.loss(topics)}
        passed = time.perf_counter() - started[0], time.process_time() - started[1]
        return event | {"seconds": round(passed[0], 3), "processor": round(passed[1], 3)}

    def _text(self, documents: list[NDArray[np.int32]], rng: Any) -> tuple[Any, Any]:
        """Words of all documents in one row, frequent ones subsampled, and the document of each.

        The documents come in another order every epoch, because steps grow smaller.
        """
        order = rng.permutation(len(documents))
        numbers = np.concatenate([documents[i] for i in order])
        owner = np.repeat(order, [len(documents[i]) for i in order]).astype(np.int32)
        kept = rng.random(len(numbers)) < self.keep[numbers]
        return numbers[kept], owner[kept]

    def _nearest_words(self, words: Any, topics: Any, count: int) -> list[list[int]]:
        """Each topic's own words and the nearest others; several topics may have the same."""
        near = topics[:-1] @ words.T
        for topic, own in enumerate(self.seed_words):
            near[topic, own] = -2.0
        best = np.argsort(-near, axis=1, kind="stable")[:, :count].tolist()
        return [own + found for own, found in zip(self.seed_words, best)]

    def document_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of documents that were not in the corpus: only they move.

        Random numbers come from the document's own words, so that its vector does not depend on
        the other documents.
        """
        own, vectors = self.config, np.empty((len(texts), self.config.dimension), np.float32)
        how = (np.float32(own.rate), np.float32(own.margin), own.negatives)
        for row, found in enumerate(self._known(texts)):
            rng = np.random.default_rng([self.seed, 60, crc32(found.tobytes())])
            vectors[row] = _anywhere(rng, 1, own.dimension)[0]
            source = (self.noise, rng.integers(2**63, size=1, dtype=np.uint64))
            numbers = (found, self.keep[found])
            place_document(vectors, row, self.vectors_, numbers, source, how, own.passes)
        return vectors

    def _known(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return self._encode([self.phrases.glue(plain_words(text)) for text in texts])

    def nearest_leaf(self, vectors: NDArray[Any]) -> Ints:
        """Topics per level of the leaf with the largest cosine."""
        leaves = np.flatnonzero(self.tree.is_leaf)
        return self.tree.ancestors[leaves[(vectors @ self.topics_[leaves].T).argmax(axis=1)]]

    def _predict(self, texts: list[str]) -> Ints:
        return self.nearest_leaf(self.document_vectors(texts))

    def judge(self, texts: Sequence[str], topics: Labels) -> dict[str, Any]:
        """Leaf accuracy from the mean of a text's word vectors instead; norms; the tree's loss."""
        gold = Examples.of(texts, topics)
        mean = np.stack([self.vectors_[numbers].sum(axis=0) for numbers in self._known(gold.texts)])
        found = self.nearest_leaf(mean).max(axis=1)
        norms = np.linalg.norm(np.vstack([self.vectors_, self.documents_, self.topics_]), axis=1)
        return {
            "mean_of_words_leaf": float((found == gold.topics).mean()),
            "norm_error": float(np.abs(norms - 1).max()),
            **{k: v for k, v in self.history_[-1].items() if k in ("margins", "tree_loss")},
        }

    def top_words(self) -> list[list[str]]:
        """Words of every topic: those that describe it, then those it found."""
        return [[self.words[number] for number in chosen] for chosen in self.chosen]

    def describe(self) -> dict[str, Any]:
        """Return settings, diagnostics, curves and words of topics, for the record of a run."""
        found = {"topic_words": self.top_words()[:30], "setting": "inductive"}
        return super().describe() | found


def unit(vectors: Any) -> Any:
    """Vectors of length one."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _anywhere(rng: Any, n: int, dimension: int) -> NDArray[np.float32]:
    """Anywhere on the sphere."""
    vectors: NDArray[np.float32] = unit(rng.random((n, dimension), dtype=np.float32) - 0.5)
    return vectors


def _flat(chosen: list[list[int]]) -> tuple[Any, Any, Any]:
    """Topic, word and weight of every chosen pair; the weights of a topic sum to one."""
    sizes = np.array([len(words) for words in chosen])
    topic = np.repeat(np.arange(len(chosen)), sizes)
    word = np.array([number for words in chosen for number in words])
    return topic, word, (1 / sizes[topic]).astype(np.float32)
