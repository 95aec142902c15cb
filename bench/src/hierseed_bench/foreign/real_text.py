"""Two corpora as users bring them: petitions, mostly foreign, and German news with few seeds.

No topic may swallow the corpus: the largest is compared with the largest of the nearest seed mean,
on the same vectors. German news have gold labels. Strings typed at random must not belong.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import hierseed
from hierseed.assignments import Assignments
from hierseed.io.score_table import gold_topics
from hierseed_bench.data.catalogue import data_root
from hierseed_bench.runs.environment import provenance
from hierseed_bench.runs.records import Record
from hierseed_bench.runs.run import rounded
from hierseed_bench.tables.markdown import Table

SEEDS = {"petitions": ("seeds",), "gnad_de": ("seeds3", "seeds8")}
EMBEDDERS = ("wordllama", "tfidf", "auto", "minilm")
TYPED = 100  # nonsense strings
LOW = 0.1  # nonsense strings must have `belongs` below this
ACCURACY = ("accuracy", "accuracy_nearest")
KEYS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class RealTextRun:
    """The configuration of one run: a folder of data, its table of seeds, an embedder."""

    data: str
    seeds: str
    embedder: str

    @property
    def key(self) -> str:
        """A short hash that tells runs apart."""
        return sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.data} {self.seeds} {self.embedder}"


def plan(data: Iterable[str], embedders: Iterable[str]) -> Iterator[RealTextRun]:
    """Every run, the fast embedders first."""
    for embedder in embedders:
        for name in data:
            for seeds in SEEDS[name]:
                yield RealTextRun(name, seeds, embedder)


def run_one(run: RealTextRun) -> Record:
    """Fit a model to the texts and judge it."""
    folder = data_root() / run.data
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        model = hierseed.fit(
            folder / "docs.csv.gz",
            folder / "topics.txt",
            folder / f"{run.seeds}.csv",
            embedder=run.embedder,
        )
        fitted = time.process_time()
        placed = model.place(folder / "docs.csv.gz")
        nonsense = model.assign(typed_at_random())
    estimator: Any = model.estimator
    found = judge(placed.assignments, np.asarray(placed.X[:]), folder / "gold.csv")
    belongs = nonsense.belongs[nonsense.primary, 0]
    share = estimator.foreign_share_
    return {
        "key": run.key,
        "setting": asdict(run) | {"vectors": model.embedder.name},
        "decision": rounded(found),
        "foreign_share": rounded({"value": share.value, "low": share.low, "high": share.high}),
        "nonsense": rounded(
            {
                "low": float((belongs < LOW).mean()),
                "none": float(nonsense.is_none.mean()),
                "median": float(np.median(belongs)),
            }
        ),
        "sizes": {"documents": placed.assignments.n_documents, "topics": len(model.taxonomy_)},
        "seconds": {"processor": round(fitted - began, 1)},
        **provenance(),
    }


def judge(placed: Assignments, X: NDArray[Any], gold: Path) -> dict[str, Any]:
    """Largest topic, share of None, and accuracy, beside the nearest seed mean's."""
    labels, seeds = np.asarray(placed.labels), np.asarray(placed.is_seed)[placed.primary]
    is_other = np.append(placed.taxonomy.is_other, False)
    listed = labels[(labels >= 0) & ~is_other[labels]]
    nearest = nearest_seed_mean(X, np.where(seeds, labels, -1))
    found = {
        "largest": int(np.bincount(listed).max()),
        "largest_nearest": int(np.bincount(nearest).max()),
        "none": float((labels < 0).mean()),
        "other": float(is_other[labels].mean()),
    }
    if gold.is_file():
        ids = placed.ids or ()
        truth = gold_topics(gold, placed.taxonomy, set(ids).__contains__)
        rows = [row for row, id in enumerate(ids) if id in truth and not seeds[row]]
        right = np.array([[labels[r], nearest[r]] == np.array(truth[ids[r]][:1] * 2) for r in rows])
        found["accuracy"], found["accuracy_nearest"] = map(float, right.mean(axis=0))
    return found


def nearest_seed_mean(X: NDArray[Any], y: NDArray[np.integer]) -> NDArray[np.integer]:
    """Topic whose mean of seeds has the greatest cosine."""
    seeded = np.unique(y[y >= 0])
    means = np.stack([X[y == topic].mean(axis=0) for topic in seeded])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(seeded[(X @ means.T).argmax(axis=1)])


def typed_at_random() -> list[str]:
    """Strings of two or three words of random letters."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list(KEYS), rng.integers(3, 9))) for _ in range(3 * TYPED)]
    return [" ".join(words[i : i + 2 + i % 2]) for i in range(0, 3 * TYPED, 3)]


def table(records: Iterable[Record]) -> Table:
    """Every run as a row."""
    rows = []
    for record in sorted(records, key=_order):
        setting, found, nonsense = record["setting"], record["decision"], record["nonsense"]
        share = record["foreign_share"]
        rows.append(
            (
                setting["data"],
                setting["seeds"],
                setting["embedder"],
                f"{found['largest']:,}",
                f"{found['largest_nearest']:,}",
                *(f"{found[k]:.3f}" if k in found else "-" for k in ACCURACY),
                f"{found['none']:.3f}",
                f"{share['value']:.2f} ({share['low']:.2f} to {share['high']:.2f})",
                f"{nonsense['median']:.2f}",
                f"{nonsense['low']:.2f}",
                f"{nonsense['none']:.2f}",
            )
        )
    return Table(
        "Petitions and German news",
        "From text to topics, one run each. Largest topic: documents in it, beside the largest of "
        "the nearest seed mean on the same vectors. Accuracy: share of documents in their own "
        f"topic, seeds not counted. Nonsense: {TYPED} strings of random letters; the median of "
        f"`belongs`, the share below {LOW}, and the share called None.",
        ("data", "seeds", "embedder", "largest", "nearest mean", "accuracy", "nearest mean",
         "None", "foreign share", "nonsense", f"below {LOW}", "None"),
        tuple(rows),
    )  # fmt: skip


def _order(record: Record) -> tuple[int, str, int]:
    setting = record["setting"]
    first = list(SEEDS).index(setting["data"])
    return first, setting["seeds"], EMBEDDERS.index(setting["embedder"])
