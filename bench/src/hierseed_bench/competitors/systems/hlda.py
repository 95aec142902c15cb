"""hLDA (Griffiths, Jordan, Tenenbaum, Blei 2003): a tree of topics from a nested Chinese
restaurant process. The Gibbs sampler is tomotopy's; labels are never read.

Every document has one path through the tree; the nodes below the root are its clusters. The
sampler decides how many there are.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from hierseed.errors import ModelError
from hierseed.files import atomic_file
from hierseed_bench.competitors.systems.checkpoint_key import task_key
from hierseed_bench.competitors.systems.system import Config, Ints, Labels, System, Task
from hierseed_bench.errors import MissingExtra

try:
    import tomotopy
except ImportError as absent:
    raise MissingExtra("tomotopy", "hlda", "hLDA") from absent

_WORD = re.compile(r"[a-z]{3,}")
STOP_WORDS = ENGLISH_STOP_WORDS | {"will", "also", "said"}


@dataclass(frozen=True)
class HLDAConfig(Config):
    """The reference sampler's priors; the library's own collapse to two paths.

    Parameters
    ----------
    alpha : of the mix of levels in a document
    gamma : how readily a document opens a new branch
    eta : of the words of a topic; smaller gives more topics
    sweeps, infer_sweeps : over the training texts, and for a document that is placed later
    min_df, rm_top : words in fewer documents, and the commonest words, are left out
    report_every : sweeps between two reports (and looks at the clock for a checkpoint)
    """

    alpha: float = 10.0
    gamma: float = 1.0
    eta: float = 0.1
    sweeps: int = 500
    infer_sweeps: int = 100
    min_df: int = 5
    rm_top: int = 20
    report_every: int = 20
    save_every: float = 30.0


def words_of(text: str) -> list[str]:
    """Runs of three letters or more that are no stop words."""
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


def path_of(document: Any) -> Ints:
    """Nodes of a document from the root down.

    tomotopy 0.14.0, the version that is pinned, has no public name for it that works.
    """
    return np.asarray(document._path, dtype=np.intp)


class HLDA(System):
    """Clusters without names: node numbers of the sampled tree."""

    name = "hlda"
    Config = HLDAConfig
    config: Any
    model: Any

    def _fit(self, task: Task) -> None:
        self.height = task.taxonomy.tree.height
        self.model = self._resumed(task) or self._started(task)
        last = time.monotonic()
        while (done := int(self.model.global_step)) < self.config.sweeps:
            started = time.perf_counter()
            step = min(self.config.report_every, self.config.sweeps - done)
            self.model.train(step, workers=1)  # one worker: the same seed, the same paths
            self.report(
                {
                    "stage": "sweeps",
                    "epoch": int(self.model.global_step),
                    "loss": -float(self.model.ll_per_word),
                    "seconds": round(time.perf_counter() - started, 3),
                }
            )
            if self._file and time.monotonic() - last >= self.config.save_every:
                self._save()
                last = time.monotonic()
        if self._file:
            self._save()
        self.diagnostics_ = {
            "device": "cpu",
            "vocabulary": len(self.model.used_vocabs),
            "clusters": self._live(),
        }

    def _started(self, task: Task) -> Any:
        own = self.config
        documents = [words_of(text) for text in task.corpus]
        known = self._usable(documents)
        if not known:
            raise ModelError(  # the library would crash
                "hLDA: no word is left. Give more texts, or a smaller min_df and rm_top."
            )
        # a document without words would make the likelihood infinite
        documents = [found for d in documents if (found := [w for w in d if w in known])]
        model = tomotopy.HLDAModel(
            depth=self.height + 1,
            alpha=own.alpha,
            gamma=own.gamma,
            eta=own.eta,
            seed=self.seed + 1,  # 0 would mean the clock
        )
        for words in documents:
            model.add_doc(words)
        return model

    def _usable(self, documents: list[list[str]]) -> set[str]:
        """Words of enough documents, without the commonest."""
        own = self.config
        containing = Counter(word for words in documents for word in set(words))
        total = Counter(word for words in documents for word in words)
        often = [word for word, count in containing.items() if count >= own.min_df]
        return set(sorted(often, key=lambda word: (-total[word], word))[own.rm_top :])

    def _live(self) -> list[int]:
        """Nodes in use at each level below the root."""
        live = [k for k in range(self.model.k) if self.model.is_live_topic(k)]
        levels = np.bincount([self.model.level(k) for k in live], minlength=self.height + 1)
        return [int(n) for n in levels[1:]]

    @property
    def _file(self) -> Path | None:
        return None if self.checkpoint is None else self.checkpoint / "hlda.bin"

    def _save(self) -> None:
        assert self._file is not None
        with atomic_file(self._file) as partial:
            partial.write_bytes(self.model.saves(True))

    def _resumed(self, task: Task) -> Any:
        """Go on with a saved sampler. Its random numbers are new: the library keeps none."""
        if self._file is None:
            return None
        self._file.parent.mkdir(parents=True, exist_ok=True)
        key, kept = task_key(self.settings(), task), self._file.with_suffix(".key")
        if not self._file.is_file():
            kept.write_text(key, encoding="utf-8", newline="\n")
            return None
        if not kept.is_file() or kept.read_text(encoding="utf-8") != key:
            raise ModelError(
                f"the checkpoint in {str(self.checkpoint)!r} was made from other texts, labels or "
                "settings. Name another folder, or delete it to start again."
            )
        return tomotopy.HLDAModel.load(str(self._file))

    def _predict(self, texts: list[str]) -> Ints:
        known = set(self.model.used_vocabs)
        levels = np.full((len(texts), self.height), -1, dtype=np.intp)
        rows, documents = [], []
        for row, text in enumerate(texts):
            # without a word it knows the library answers with the first nodes of the tree
            if words := [word for word in words_of(text) if word in known]:
                rows.append(row)
                documents.append(self.model.make_doc(words))
        if documents:
            self.model.infer(documents, iterations=self.config.infer_sweeps, workers=1)
            levels[rows] = [path_of(document)[1:] for document in documents]
        return levels

    def judge(self, texts: Sequence[str], topics: Labels) -> dict[str, Any]:
        """Say how well the sampler explains words, by the bound it reports."""
        return {"log_likelihood_per_word": float(self.model.ll_per_word)}
