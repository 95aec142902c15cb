"""WeSHClass, HClass in the paper's table (Meng, Shen, Zhang, Han, AAAI 2019).

Keywords of the seeds give each class a distribution of directions; documents made up from it
train a classifier at every node; all of them together then train themselves on the unlabelled
texts, level by level. Documents are bags of words, the released code's default, or come from a
language model as in the paper; no document is kept from going down to a leaf.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed_bench.competitors.systems.backend import choose_device, on_device, seeded, torch
from hierseed_bench.competitors.systems.checkpoint import Checkpoint
from hierseed_bench.competitors.systems.ensemble import WIDTHS, Ensemble, LocalNet, PaddedRows
from hierseed_bench.competitors.systems.keywords import keywords, name_words
from hierseed_bench.competitors.systems.language_model import LanguageModel, SentenceWriter, cut
from hierseed_bench.competitors.systems.paths import PaddedTree
from hierseed_bench.competitors.systems.pseudo import Writer, draw
from hierseed_bench.competitors.systems.self_training import SelfTraining, divergence
from hierseed_bench.competitors.systems.supervised import Supervised, SupervisedConfig, adam
from hierseed_bench.competitors.systems.system import Examples, Ints, Labels, Task
from hierseed_bench.competitors.systems.text import SPECIAL, kim_words
from hierseed_bench.competitors.systems.training import Schedule

SEED_SHARE = 5  # real seeds are repeated until they number one in five made-up documents


@dataclass(frozen=True)
class WeSHClassConfig(SupervisedConfig):
    """Published settings; self-training at most 5,000 batches a level (the test script).

    Parameters
    ----------
    epochs : of each local classifier on made-up documents
    keywords : per topic, from its seeds (from all labels where those are given)
    pseudo : made-up documents per class
    writer : who makes documents up, "words" (bags of words) or "lstm" (a language model)
    nearest, background : words around a direction, and the share of any words at all; with a
        language model the share only sets how certain the class of a document is
    sentence, lm_words, lm_hidden, lm_epochs, lm_rate : of the language model
    use_seed_docs : train on the seeds too and hold them to their topics, as the released code
        means to do; False takes nothing but keywords from them
    self_training : False stops after the made-up documents
    iterations, refresh : batches a level at most, and between two looks at all texts
    self_rate : of self-training
    settled : share of texts whose topic changes below which a level is done
    """

    words: int = 200_000
    length: int = 300
    epochs: int = 30
    batch: int = 256
    rate: float = 0.1
    momentum: float = 0.9
    keywords: int = 10
    pseudo: int = 500
    writer: str = "words"
    nearest: int = 50
    background: float = 0.2
    maps: int = 20
    hidden: int = 20
    sentence: int = 40
    lm_words: int = 10_000
    lm_hidden: int = 100
    lm_epochs: int = 25
    lm_rate: float = 1e-3
    use_seed_docs: bool = True
    self_training: bool = True
    iterations: int = 5000
    refresh: int = 30
    self_rate: float = 5e-4
    settled: float = 1e-3


class WeSHClass(Supervised):
    """Local classifiers, their product, and self-training of it."""

    name = "weshclass"
    Config = WeSHClassConfig
    tokenise = staticmethod(kim_words)

    def _fit(self, task: Task) -> None:
        self.place = choose_device(self.device)
        on_device(self.place, reset=True)
        self.tree: PaddedTree = task.tree
        self.full = False
        self._read_words(task)
        lengths = np.linalg.norm(self.initial, axis=1, keepdims=True)
        self.initial = self.initial / np.maximum(lengths, 1e-12)
        self.table = torch.as_tensor(self.initial).to(self.place)
        self._kept = Checkpoint.of(self, task)
        self.seeds, self.corpus = task.seeds, task.corpus
        known = set(self.vocabulary.words[len(SPECIAL) :])
        source = task.labelled or task.seeds
        self.keywords = keywords(source, self.tree.gold(source.topics), known, self.config.keywords)
        self.named = [
            name_words(task.names[self.tree.topic[n]], known) for n in range(len(self.tree))
        ]
        self._learn(task.seeds, None)
        self.diagnostics_ |= on_device(self.place)

    def rows(self, texts: Sequence[str]) -> PaddedRows:
        """Documents as rows of word numbers, padded for the widest window."""
        found = super().rows(texts)
        return PaddedRows.of(found.words, found.lengths)

    def _learn(self, examples: Examples, held_out: Examples | None) -> None:
        rows = self.rows(self.corpus)
        own = self.config
        length = max(int(rows.lengths.double().mean()), WIDTHS[-1])
        writer = self._writer(rows, length)
        level = {n: 0 if n < 0 else int(self.tree.padded.level[n]) for n in self.tree.choices}
        self.nodes = sorted(self.tree.choices, key=lambda node: (level[node], node))
        self.lacking: set[int] = set()
        nets = [self._pretrained(node, writer, examples) for node in self.nodes]
        self.diagnostics_ |= {"topics_without_keywords": len(self.lacking), "pseudo_length": length}
        if not nets:  # a tree without any choice
            return
        self.ensemble = Ensemble(self.tree, self.nodes, nets).to(self.place)
        self.before = copy.deepcopy(self.ensemble.state_dict())
        if own.self_training:
            training = SelfTraining(self.ensemble, own, self.place, self._kept, self.report)
            training.run(rows, self._held(examples))
        self.ensemble.eval()

    def _writer(self, rows: PaddedRows, length: int) -> Writer | SentenceWriter:
        own = self.config
        if own.writer == "words":
            words = rows.words.flatten()
            counts = torch.bincount(words, minlength=len(self.vocabulary)).float().cpu()
            counts[: len(SPECIAL)] = 0
            return Writer(self.table, counts + 1e-12, own.nearest, own.background, length)
        with seeded(self.seed, 73):
            model = LanguageModel(self.table, own.lm_words, own.lm_hidden).to(self.place)
        sentences = model.known(cut(rows.words, rows.lengths, own.sentence))

        def loss(some: Any) -> Any:
            return model.loss(sentences[some.to(self.place)])

        schedule = Schedule(own.lm_epochs, own.batch, clip=1.0, save_every=own.save_every)
        self.train(
            "language", model, adam(model, own.lm_rate), loss, len(sentences), schedule=schedule
        )
        return SentenceWriter(self.table, model, length, own.sentence)

    def components(self, node: int) -> list[NDArray[np.float64]]:
        """Keyword vectors of a class, a group per child where it has several."""
        children = [int(child) for child in self.tree.padded.children(node)]
        groups = [self._vectors(child) for child in children] or [self._vectors(node)]
        found = [group for group in groups if len(group)]
        if not found and len(own := self._vectors(node)):
            found = [own]
        if not found:  # nothing at all is known of it: any direction
            self.lacking.add(node)
            axis = np.eye(self.initial.shape[1])
            found = [np.concatenate([axis, -axis])]
        return found

    def _vectors(self, node: int) -> NDArray[np.float64]:
        words = self.keywords.get(node) or self.named[node]
        numbers = [self.vocabulary.index[word] for word in words]
        return self.initial[numbers].astype(np.float64)

    def write(self, node: int, writer: Writer | SentenceWriter) -> Any:
        """Made-up documents of a class."""
        rng = np.random.default_rng([self.seed, 70, node])
        directions = draw(self.components(node), self.config.pseudo, rng)
        return writer.write(directions, (self.seed, 71, node))

    def _pretrained(self, node: int, writer: Writer | SentenceWriter, seeds: Examples) -> LocalNet:
        own, children = self.config, [int(c) for c in self.tree.padded.children(node)]
        words = torch.cat([self.write(child, writer) for child in children])
        rows = PaddedRows.of(words.int(), torch.full((len(words),), words.shape[1]))
        a, k = own.background, len(children)
        target = torch.eye(k).repeat_interleave(own.pseudo, dim=0) * (1 - a) + a / k
        if own.use_seed_docs:
            gold = self.tree.gold(seeds.topics)
            mine = [np.flatnonzero((gold == child).any(axis=1)) for child in children]
            numbers = np.concatenate(mine)
            if len(numbers):
                times = max(1, round(len(words) / SEED_SHARE / len(numbers)))
                repeated = np.tile(numbers, times)
                which = np.tile(np.repeat(np.arange(k), [len(m) for m in mine]), times)
                rows = rows + self.rows([seeds.texts[i] for i in repeated])
                target = torch.cat([target, torch.eye(k)[torch.as_tensor(which)]])
        target = target.to(self.place)
        with seeded(self.seed, 72, node + 1):
            net = LocalNet(self.table, k, own.maps, own.hidden).to(self.place)

        def loss(some: Any) -> Any:
            return divergence(target[some.to(self.place)], net(rows[some]))

        schedule = Schedule(own.epochs, own.batch, save_every=own.save_every)
        optimiser = torch.optim.SGD(net.parameters(), own.rate, momentum=own.momentum)
        self.train(f"node{node}", net, optimiser, loss, len(target), schedule=schedule)
        return net

    def _held(self, seeds: Examples) -> tuple[Any, Ints] | None:
        """Rows of the corpus that are seeds, and their nodes per level."""
        if not self.config.use_seed_docs:
            return None
        row = {text: number for number, text in enumerate(self.corpus)}
        return np.array([row[text] for text in seeds.texts]), self.tree.gold(seeds.topics)

    def _leaves(self, texts: Sequence[str]) -> Ints:
        if not self.nodes:
            return np.repeat(self.tree.leaves[:1], len(texts))
        logs = self.ensemble.logs(self.rows(texts), self.tree.height)
        return self.tree.padded.at_level(self.tree.height)[logs.argmax(dim=1).cpu().numpy()]

    def _predict(self, texts: list[str]) -> Ints:
        return self.tree.topics(self._leaves(texts))

    def judge(self, texts: Sequence[str], topics: Labels) -> dict[str, Any]:
        """Accuracy per level before self-training, and the share of seeds that keep their topic."""
        gold, after = Examples.of(texts, topics), copy.deepcopy(self.ensemble.state_dict())
        wanted = self.tree.gold(self.seeds.topics)
        found = self.tree.padded.ancestors[self._leaves(self.seeds.texts)]
        self.ensemble.load_state_dict(self.before)
        answer = self.tree.tree.ancestors[gold.topics]
        right = np.where(answer >= 0, self._predict(gold.texts) == answer, np.nan)
        self.ensemble.load_state_dict(after)
        changes = [event["changed"] for event in self.history_ if "changed" in event]
        return {
            "before_self_training": [float(np.nanmean(level)) for level in right.T],
            "seeds_kept": float(((found == wanted) | (wanted < 0)).all(axis=1).mean()),
            "changed_last": changes[-1] if changes else None,
        }
