"""HiLAP-RL with the bow-CNN (Mao, Tian, Han, Ren, EMNLP 2019): a walk that learns when to stop.

First trained to name the next topic from every true one (SL), then by reinforcement: the
reward of a step is the growth of F1, the baseline a greedy walk through the same features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed_bench.competitors.systems.backend import F, torch
from hierseed_bench.competitors.systems.bow_cnn import Policy
from hierseed_bench.competitors.systems.regions import Regions
from hierseed_bench.competitors.systems.supervised import (
    Supervised,
    SupervisedConfig,
    adam,
    in_batches,
)
from hierseed_bench.competitors.systems.system import Examples, Ints, Labels, Task
from hierseed_bench.competitors.systems.text import Vocabulary, is_content, plain_words
from hierseed_bench.competitors.systems.walk import (
    Map,
    Walk,
    f1_gains,
    policy_loss,
    returns,
    take_walk,
)

PREDICTED = 128  # documents per batch: a region is a thousand numbers


@dataclass(frozen=True)
class HiLAPConfig(SupervisedConfig):
    """Published sizes.

    Parameters
    ----------
    length : regions of a document, not words
    rl_epochs, rl_seed_epochs : epochs of reinforcement after the supervised ones; 0 for none
    steps : of a walk; None takes the height of the tree and two more
    gamma : worth of a reward one step later
    beta, beta_decay, beta_every : pull towards open choices, times `beta_decay` after every
        `beta_every` updates
    count_stop : count STOP in the reward's F1, as the published code does
    """

    epochs: int = 50
    batch: int = 32
    patience: int | None = 5
    seed_epochs: int = 100
    rl_epochs: int = 20
    rl_seed_epochs: int = 50
    words: int = 30_000
    width: int = 1000
    label: int = 50
    hidden: int = 500
    dropout: float = 0.5
    decay: float = 1e-6
    steps: int | None = None
    gamma: float = 0.9
    beta: float = 2.0
    beta_decay: float = 0.9
    beta_every: int = 500
    count_stop: bool = False


class Answers(NamedTuple):
    """Predictions for each document."""

    chosen: Ints  # nodes of the greedy walk, step by step
    forced: Ints  # leaf reached from the root with STOP forbidden
    reached: Ints  # leaf of the walk's first path, continued from where it stopped
    flat: NDArray[np.float32]  # scores of the flat head


class HiLAP(Supervised):
    """A policy over the topics, the root and STOP. Shallow leaves need no stand-ins here."""

    name = "hilap"
    Config = HiLAPConfig
    tokenise = staticmethod(plain_words)

    def _read_words(self, task: Task) -> None:
        """Frequent words that are no stop words and have no digits; no word vectors."""
        self.vectors = None
        cut = map(plain_words, task.corpus)
        self.vocabulary = Vocabulary.build(cut, size=self.config.words, keep=is_content)
        self.diagnostics_["vocabulary"] = len(self.vocabulary)

    def regions(self, texts: Sequence[str]) -> Regions:
        """Documents as regions on the device."""
        numbers = [self.vocabulary.encode(plain_words(text)) for text in texts]
        return Regions.build(numbers, self.config.length, self.place)

    def _learn(self, examples: Examples, held_out: Examples | None) -> None:
        tree = self.tree.tree
        self.map = Map.of(tree, self.place)
        self.steps = self.config.steps or tree.height + 2
        regions, gold = self.regions(examples.texts), self._gold(examples)
        read = regions.words.unique().cpu().long()
        self.model = Policy(len(self.vocabulary), read, self.config, self.map).to(self.place)
        sets = self._sets(gold)
        validate = self._validation(held_out) if held_out is not None else None

        def supervised(some: Any) -> Any:
            return self._supervised(self.model.read(regions[some]), gold[some], sets[some])

        def reinforced(some: Any) -> Any:
            read = self.model.read(regions[some])  # once: the same dropout for both walks
            steering = self._reinforced(read, sets[some])
            return steering + self._supervised(read, gold[some], sets[some])

        config, n = self.config, len(examples)
        rl_epochs = config.rl_epochs if self.full else config.rl_seed_epochs
        for stage, loss, schedule in (
            ("supervised", supervised, config.schedule(self.full)),
            ("reinforced", reinforced, config.schedule(self.full, rl_epochs)),
        ):
            if stage == "reinforced" and not rl_epochs:
                continue
            optimiser = adam(self.model, config.rate, weight_decay=config.decay)
            self.train(stage, self.model, optimiser, loss, n, schedule=schedule, validate=validate)
            if validate is not None:
                validate()
                self.diagnostics_[f"after_{stage}"] = self._seen

    def _gold(self, examples: Examples) -> Any:
        return torch.as_tensor(self.tree.tree.ancestors[examples.topics]).to(self.place)

    def _sets(self, gold: Any) -> Any:
        """0/1 rows over the topics, ancestors included."""
        sets = torch.zeros(len(gold), self.map.root + 1, device=self.place)
        return sets.scatter(1, gold.where(gold >= 0, self.map.root), 1.0)[:, :-1]

    def _supervised(self, read: Any, gold: Any, sets: Any) -> Any:
        """Half the flat head over all topics, half the next topic from every true one."""
        flat = F.binary_cross_entropy_with_logits(self.model.flat(read.document), sets)
        return 0.5 * flat + 0.5 * self._local(read, gold) / self.steps

    def _local(self, read: Any, gold: Any) -> Any:
        root, stop = self.map.root, self.map.stop
        here = torch.full_like(gold[:, 0], root)
        total = 0.0
        for depth in range(gold.shape[1] + 1):
            ended = torch.full_like(here, -1)
            below = gold[:, depth] if depth < gold.shape[1] else ended
            valid = here >= 0
            safe = here.where(valid, root)
            choices = self.map.children[safe].clone()
            choices[:, stop] = True
            wanted = torch.zeros_like(choices, dtype=torch.float32)
            wanted.scatter_(1, below.where(below >= 0, stop)[:, None], 1.0)
            each = F.binary_cross_entropy_with_logits(
                self.model.score(read, safe), wanted, reduction="none"
            )
            mean = (each * choices).sum(dim=1) / choices.sum(dim=1)
            total = total + (mean * valid).sum() / len(gold)
            here = below
        return total

    def _reinforced(self, read: Any, sets: Any) -> Any:
        gains: dict[str, Any] = {}
        with torch.no_grad():
            greedy = self._walk(read, sample=False)
        sampled = self._walk(read, sample=True)
        for name, walk in (("greedy", greedy), ("sampled", sampled)):
            reward = f1_gains(walk.chosen, sets, self.map, count_stop=self.config.count_stop)
            gains[name] = returns(reward, self.config.gamma)
        advantage = gains["sampled"] - gains["greedy"]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        fallen = self.config.beta_decay ** (self.model.updates // self.config.beta_every)
        self.model.updates += 1
        return policy_loss(sampled, advantage, self.config.beta * fallen)

    def _walk(self, read: Any, *, sample: bool) -> Walk:
        n = len(read.document)
        return take_walk(
            self.map, lambda here: self.model.score(read, here), n, self.steps, sample=sample
        )

    def answers(self, texts: Sequence[str]) -> Answers:
        """Return walk, leaves and flat scores of texts."""
        return self._answers(self.regions(texts), len(texts))

    def _answers(self, regions: Regions, n: int) -> Answers:
        self.model.eval()
        parts = []
        with torch.no_grad():
            for some in in_batches(n, PREDICTED):
                read = self.model.read(regions[some])
                chosen = self._walk(read, sample=False).chosen
                forced = self._descend(read, torch.full_like(chosen[:, 0], self.map.root))
                reached = self._descend(read, self._nested(chosen))
                parts.append((chosen, forced, reached, self.model.flat(read.document)))
        return Answers(*(torch.cat(part).cpu().numpy() for part in zip(*parts)))

    def _nested(self, chosen: Any) -> Any:
        """Deepest node of the first chosen path: at each level the first below the one above."""
        here = torch.full_like(chosen[:, 0], self.map.root)
        for _ in range(self.tree.height):
            below = self.map.children[here].gather(1, chosen)
            first = below.float().argmax(dim=1, keepdim=True)
            here = torch.where(below.any(dim=1), chosen.gather(1, first).squeeze(1), here)
        return here

    def _descend(self, read: Any, here: Any) -> Any:
        """Go on to a leaf, STOP forbidden."""
        for _ in range(self.tree.height):
            below = self.map.children[here]
            best = self.model.score(read, here).masked_fill(~below, -float("inf")).argmax(dim=1)
            here = torch.where(below.any(dim=1), best, here)
        return here

    def _validation(self, held_out: Examples) -> Any:
        """Half the walks that are exactly right, half the leaves that are."""
        regions = self.regions(held_out.texts)

        def validate() -> float:
            self._seen = self._compare(self._answers(regions, len(held_out)), held_out)
            return (self._seen["exact_path"] + self._seen["forced_leaf"]) / 2

        return validate

    def judge(self, texts: Sequence[str], topics: Labels) -> dict[str, Any]:
        """Greedy walks as sets, the leaf with STOP forbidden, the flat head's leaf."""
        gold = Examples.of(texts, topics)
        return self._compare(self.answers(gold.texts), gold)

    def _compare(self, answers: Answers, gold: Examples) -> dict[str, float]:
        true = self._sets(self._gold(gold)).cpu().numpy()
        found = self.chosen_sets(answers.chosen)
        leaves = np.flatnonzero(self.tree.tree.is_leaf)
        flat = leaves[answers.flat[:, leaves].argmax(axis=1)]
        return {
            "exact_path": float((found == true).all(axis=1).mean()),
            "micro_f1": float(2 * (found * true).sum() / (found.sum() + true.sum())),
            "labels_per_document": float(found.sum(axis=1).mean()),
            "forced_leaf": float((answers.forced == gold.topics).mean()),
            "flat_head_leaf": float((flat == gold.topics).mean()),
        }

    def chosen_sets(self, chosen: Ints) -> NDArray[np.float32]:
        """Walks as 0/1 rows over the topics."""
        rows = np.zeros((len(chosen), self.map.stop + 1), dtype=np.float32)
        np.put_along_axis(rows, chosen, 1.0, axis=1)
        return rows[:, : self.map.root]

    def _predict(self, texts: list[str]) -> Ints:
        answers = self.answers(texts)
        sets = self.chosen_sets(answers.chosen)
        stopped_early = sets[np.arange(len(sets)), answers.reached] == 0
        self.diagnostics_["forced_below_stop"] = float(stopped_early.mean())
        return self.tree.tree.ancestors[answers.reached]
