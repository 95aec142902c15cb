"""TSNTM (Isonuma, Mori, Bollegala, Sakata, ACL 2020): a neural topic model on a growing tree.

Doubly recurrent cells turn the shape of the tree into topics and into stick-breaking weights,
so a tree that grows or shrinks needs no new weights. Labels are never read: the clusters are
the nodes on the way to a document's likeliest leaf.

The published code's dropout never acts, so there is none here.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from hierseed.errors import ModelError
from hierseed_bench.competitors.systems.backend import choose_device, on_device, seeded, torch
from hierseed_bench.competitors.systems.checkpoint import Checkpoint
from hierseed_bench.competitors.systems.system import Config, Ints, Labels, System, Task
from hierseed_bench.competitors.systems.text import SPECIAL, Vocabulary, is_content, plain_words
from hierseed_bench.competitors.systems.topic_tree import TopicTree
from hierseed_bench.competitors.systems.training import shuffled
from hierseed_bench.competitors.systems.tsntm_model import Bags, TreeTopics

PREDICTED = 2048  # documents per batch of a prediction


@dataclass(frozen=True)
class TSNTMConfig(Config):
    """Published settings.

    Parameters
    ----------
    words, min_df : the most frequent words, of those in at least `min_df` documents
    shortest : training texts with fewer of them are left out
    branches : children at the first levels of the first tree
    add, remove : shares of the words above which an inner node gets a child, and below
        which a subtree goes
    update_every : steps between changes of the tree
    flatness : temperature of the root's words, less at each level below
    diversity : weight of the term that turns siblings away from each other
    """

    words: int = 2000
    min_df: int = 10
    shortest: int = 5
    hidden: int = 256
    latent: int = 32
    branches: tuple[int, ...] = (3, 3)
    add: float = 0.05
    remove: float = 0.05
    update_every: int = 5000
    flatness: float = 10.0
    diversity: float = 1.0
    epochs: int = 1000
    batch: int = 64
    rate: float = 0.01
    clip: float = 5.0
    held_out: float = 0.1
    save_every: float = 30.0


class TSNTM(System):
    """Clusters without names: node numbers of the learned tree."""

    name = "tsntm"
    Config = TSNTMConfig
    config: Any
    tree: TopicTree

    def _fit(self, task: Task) -> None:
        self.place = choose_device(self.device)
        on_device(self.place, reset=True)
        own = self.config
        counts = self._count_words(task.corpus)
        length = np.asarray(counts.sum(axis=1)).ravel()
        order = np.random.default_rng([self.seed, 40]).permutation(
            np.flatnonzero(length >= own.shortest)
        )
        size = max(1, round(own.held_out * len(order)))
        if len(order) < 2:
            raise ModelError("TSNTM: no text has enough known words. Give more, or lower min_df.")
        held_out, training = counts[order[:size]], counts[order[size:]]
        self.tree = TopicTree.start(own.branches, task.taxonomy.tree.height + 1)
        with seeded(self.seed, 0):
            sizes = (counts.shape[1], own.hidden, own.latent, self.tree.levels, own.flatness)
            self.model = TreeTopics(*sizes).to(self.place)
        self._train(training, held_out, Checkpoint.of(self, task))
        self.diagnostics_ = {
            "vocabulary": counts.shape[1],
            "tree": self._widths(),
            "diversity_term": self._diversity(),
            **on_device(self.place),
        }

    def _count_words(self, texts: Sequence[str]) -> csr_matrix:
        documents = [_words(text) for text in texts]
        common = Vocabulary.build((sorted(set(d)) for d in documents), min_count=self.config.min_df)
        frequent = Vocabulary.build(
            documents, size=self.config.words, keep=common.index.__contains__
        )
        self.words = frequent.words[len(SPECIAL) :]
        self.index = {word: column for column, word in enumerate(self.words)}
        return self._counts(documents)

    def _counts(self, documents: Sequence[Sequence[str]]) -> csr_matrix:
        """Count each word in each document."""
        known = [[self.index[word] for word in words if word in self.index] for words in documents]
        row = np.repeat(np.arange(len(known)), [len(columns) for columns in known])
        column = np.array([n for columns in known for n in columns], dtype=np.intp)
        ones = np.ones(len(row), dtype=np.float32)
        return csr_matrix((ones, (row, column)), shape=(len(known), len(self.words)))

    def _train(self, training: Any, held_out: Any, kept: Checkpoint | None) -> None:
        own, model = self.config, self.model
        optimiser = torch.optim.Adagrad(
            model.parameters(),
            own.rate,
            initial_accumulator_value=0.1,  # TensorFlow's start
            fused=self.place.type == "cpu",
        )
        state: dict[str, Any] = {"epoch": 0, "steps": 0, "history": [], "best": None}
        if kept and (saved := kept.load("tsntm")):
            model.load_state_dict(saved["model"])
            optimiser.load_state_dict(saved["optimiser"])
            self.tree = TopicTree(saved["tree"])
            state = {name: saved[name] for name in state}
            for event in state["history"]:
                self.report(event)
        last = time.monotonic()
        while state["epoch"] < own.epochs:
            event = self._epoch(state, optimiser, training, held_out)
            if kept and (state["epoch"] == own.epochs or time.monotonic() - last >= own.save_every):
                weights = {"model": model.state_dict(), "optimiser": optimiser.state_dict()}
                history = [*state["history"], event]
                kept.save("tsntm", {**state, **weights, "history": history, "tree": self._parents})
                last = time.monotonic()
            state["history"].append(event)
            self.report(event)
        model.load_state_dict(state["best"]["weights"])
        self.tree = TopicTree(state["best"]["tree"])
        model.eval()

    @property
    def _parents(self) -> list[int]:
        return list(self.tree.parent)

    def _epoch(
        self, state: dict[str, Any], optimiser: Any, training: Any, held_out: Any
    ) -> dict[str, Any]:
        """Train one epoch, score the held-out texts, and update the tree if it is time."""
        own, model = self.config, self.model
        started = time.perf_counter(), time.process_time()
        total, n = torch.zeros((), device=self.place), training.shape[0]
        model.train()
        with seeded(self.seed, 1, state["epoch"]):
            for rows in shuffled(n, own.batch):
                bags = Bags.of(training[rows.numpy()], self.place)
                loss = model.loss(bags, self.tree, own.diversity)
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_value_(model.parameters(), own.clip)
                optimiser.step()
                state["steps"] += 1
                total = total + loss.detach() * len(rows)
        model.eval()
        perplexity, share = self._measure(held_out)
        event = {
            "stage": "training",
            "epoch": state["epoch"],
            "loss": float(total) / n,
            "validation": -perplexity,
            "nodes": len(self.tree),
            "seconds": round(time.perf_counter() - started[0], 3),
            "processor": round(time.process_time() - started[1], 3),
        }
        if state["best"] is None or perplexity < state["best"]["perplexity"]:
            weights = copy.deepcopy(model.state_dict())
            state["best"] = {"perplexity": perplexity, "weights": weights, "tree": self._parents}
        state["epoch"] += 1
        steps_an_epoch = -(-n // own.batch)
        if state["steps"] % own.update_every < steps_an_epoch and state["epoch"] < own.epochs:
            self.tree = self.tree.updated(share, own.add, own.remove)
        return event

    def _measure(self, counts: Any) -> tuple[float, NDArray[np.float64]]:
        """Perplexity by the bound, and the share of all words that each node explains."""
        bound, shares, known = 0.0, np.zeros(len(self.tree)), 0
        with torch.no_grad():
            for bags in self._parts(counts):
                nll, kl, theta = self.model.explain(bags, self.tree)
                some = bags.length > 0
                bound += float(((nll + kl)[some] / bags.length[some]).sum())
                known += int(some.sum())
                shares += (theta * bags.length[:, None]).sum(dim=0).double().cpu().numpy()
        return float(np.exp(bound / max(known, 1))), shares / float(counts.sum())

    def _parts(self, counts: csr_matrix) -> Iterator[Bags]:
        for start in range(0, counts.shape[0], PREDICTED):
            yield Bags.of(counts[start : start + PREDICTED], self.place)

    def _widths(self) -> list[int]:
        return [int(n) for n in np.bincount(self.tree.depth)[1:]]

    def _diversity(self) -> float:
        with torch.no_grad():
            return float(self.model.sibling_likeness(self.model.topics(self.tree), self.tree))

    def _predict(self, texts: list[str]) -> Ints:
        leaves = np.array(self.tree.leaves)
        paths = np.array([self.tree.path(leaf)[1:] for leaf in leaves], dtype=np.intp)
        best = []
        with torch.no_grad():
            for bags in self._parts(self._counts([_words(text) for text in texts])):
                share = self.model.leaf_shares(bags, self.tree)
                best.append(share[:, torch.as_tensor(leaves)].argmax(dim=1).cpu().numpy())
        return paths[np.concatenate(best)]

    def judge(self, texts: Sequence[str], topics: Labels) -> dict[str, Any]:
        """Perplexity, leaves in use, and how unlike all words together each level's topics are."""
        counts = self._counts([_words(text) for text in texts])
        perplexity, _ = self._measure(counts)
        with torch.no_grad():
            beta = self.model.word_shares(self.model.topics(self.tree), self.tree).cpu().numpy()
        overall = np.asarray(counts.sum(axis=0)).ravel()
        cosine = beta @ overall / np.linalg.norm(beta, axis=1) / np.linalg.norm(overall)
        depth = np.array(self.tree.depth)
        special = [float(1 - cosine[depth == d].mean()) for d in range(self.tree.levels)]
        used = len(np.unique(self._predict(list(texts))[:, -1]))
        return {"perplexity": perplexity, "leaves_used": used, "specialisation": special}

    def top_words(self, count: int = 10) -> list[list[str]]:
        """Likeliest words of every node."""
        with torch.no_grad():
            beta = self.model.word_shares(self.model.topics(self.tree), self.tree)
        best = beta.argsort(dim=1, descending=True)[:, :count].cpu().numpy()
        return [[self.words[column] for column in row] for row in best]


def _words(text: str) -> list[str]:
    return [word for word in plain_words(text) if len(word) > 2 and is_content(word)]
