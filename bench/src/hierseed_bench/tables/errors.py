"""Error analysis of one run, from its kept predictions: where and why documents went wrong.

After the paper's section on errors: errors by level, between siblings by similarity,
documents with uninformative vectors, and None and Other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import CorpusError
from hierseed_bench.runs.check import held_out
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.prepared import ready
from hierseed_bench.runs.records import Records
from hierseed_bench.tables.markdown import grid

WIDTH = 90  # characters of an example that are shown
BANDS = (0.0, 0.25, 0.5, 0.75, 1.0)


def error_analysis(records: Records, data: str, method: str, draw: int, examples: int) -> str:
    """Return the analysis as Markdown."""
    found = records.find(
        data=data, method=method, draw=draw, seeds=4, parameters=(), skew=0, leave_out=0, limit=0,
        vectors="minilm",
    )  # fmt: skip
    if not found:
        raise CorpusError(
            f"no record of {method} on {data}, draw {draw}. Make one with: hierseed bench run "
            f"--data {data} --method {method} --draws {draw + 1}"
        )
    predictions = records.predictions(found[0])
    config = RunConfig.from_dict(found[0]["setting"])
    _, gold, rows = held_out(config)
    first = predictions.path
    if predictions.row is not None:
        first = first[np.flatnonzero(np.diff(predictions.row, prepend=-1))]
    analysis = Analysis(ready(config.shape).dataset, first, gold, rows)
    parts = [
        f"## Errors of {method} on {data}, draw {draw}\n",
        f"{len(gold):,} test documents; of several gold topics the nearest to the answer counts.\n",
        analysis.by_level(),
        analysis.by_kind(),
        analysis.by_likeness(),
    ]
    if examples:
        parts.append(analysis.examples(examples))
    return "\n".join(parts)


class Analysis:
    """Every test document with its gold path, its predicted path, and the kind of its error."""

    def __init__(self, dataset: Any, path: NDArray[Any], gold: list[Any], rows: list[int]) -> None:
        self.dataset, self.rows = dataset, rows
        self.tree = dataset.taxonomy.tree
        height = self.tree.height
        self.path = path[:, :height]
        self.gold = np.array([self._nearest(topics, own) for topics, own in zip(gold, self.path)])
        wrong = (self.path != self.gold) & (self.gold >= 0)
        self.is_wrong = wrong.any(axis=1)
        self.level = np.where(self.is_wrong, wrong.argmax(axis=1), height)
        self.centres, self.own = self._centres()
        self.kind = self._kinds()

    def _nearest(self, topics: Any, path: NDArray[Any]) -> NDArray[Any]:
        paths = self.tree.ancestors[list(topics)] if topics else np.full((1, self.tree.height), -1)
        shared = (paths == path).cumprod(axis=1).sum(axis=1)
        return np.asarray(paths[shared.argmax()])

    def _centres(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Mean vector of all documents of each topic, by their labels; and the test vectors."""
        vectors = np.asarray(self.dataset.vectors, dtype=np.float32)
        vectors = vectors - vectors.mean(axis=0)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        centres = np.zeros((len(self.tree), vectors.shape[1]), dtype=np.float32)
        for row, topics in enumerate(self.dataset.labels):
            for topic in {above for each in topics for above in self.tree.path(each)}:
                centres[topic] += vectors[row]
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
        return centres, vectors[self.rows]

    def _kinds(self) -> NDArray[Any]:
        """Name what is behind each error, the first that applies."""
        kinds = np.full(len(self.path), "right", dtype=object)
        for i in np.flatnonzero(self.is_wrong):
            level = self.level[i]
            true, found = self.gold[i, level], self.path[i, level]
            siblings = self.tree.children(int(self.tree.parent[true]))
            near = siblings[int(np.argmax(self.centres[siblings] @ self.own[i]))]
            if found < 0:
                kinds[i] = "None, or stopped above" if level else "None"
            elif found >= len(self.tree):
                kinds[i] = "Other"
            elif near != true:
                kinds[i] = "uninformative vector"
            else:
                kinds[i] = "sibling"
        return kinds

    def by_level(self) -> str:
        """Count errors by the level at which they begin."""
        rows = []
        for level in range(self.tree.height):
            there = self.gold[:, level] >= 0
            begun = there & (self.level == level)
            open_ = there & (self.level >= level)
            share = begun.sum() / max(open_.sum(), 1)
            rows.append((level + 1, int(there.sum()), int(begun.sum()), f"{share:.1%}"))
        head = ("level", "documents", "errors that begin here", "of those right so far")
        return f"### By level\n\n{grid(head, rows)}\n"

    def by_kind(self) -> str:
        """Count errors by what is behind them."""
        about = (
            "`uninformative vector`: with every label known, the mean of the true topic is not the "
            "nearest among its siblings either. `sibling`: it is, but the method chose another."
        )
        names, counts = np.unique(self.kind[self.is_wrong].astype(str), return_counts=True)
        total = max(int(counts.sum()), 1)
        order = np.argsort(-counts)
        rows = [(names[i], int(counts[i]), f"{counts[i] / total:.1%}") for i in order]
        return f"### By kind\n\n{about}\n\n{grid(('kind', 'errors', 'share'), rows)}\n"

    def by_likeness(self) -> str:
        """Compare confused siblings with siblings at large, by the cosine of their means."""
        confused, every = [], []
        for i in np.flatnonzero(self.is_wrong):
            true, found = self.gold[i, self.level[i]], self.path[i, self.level[i]]
            if 0 <= found < len(self.tree) and self.tree.parent[true] == self.tree.parent[found]:
                confused.append(float(self.centres[true] @ self.centres[found]))
        for parent in (-1, *np.flatnonzero(~self.tree.is_leaf)):
            children = self.tree.children(int(parent))
            likeness = self.centres[children] @ self.centres[children].T
            every += likeness[np.triu_indices(len(children), 1)].tolist()
        edges = np.quantile(every, BANDS) if every else np.array(BANDS)
        counts = np.histogram(np.clip(confused, edges[0], edges[-1]), edges)[0]
        rows = [
            (f"{low:.2f} to {high:.2f}", f"{count / max(len(confused), 1):.1%}")
            for low, high, count in zip(edges, edges[1:], counts)
        ]
        about = "Each band holds a quarter of all pairs of siblings."
        head = ("cosine of the two means", "share of confusions between siblings")
        return f"### Between siblings, by similarity\n\n{about}\n\n{grid(head, rows)}\n"

    def examples(self, count: int) -> str:
        """Show a few documents of each kind."""
        lines = ["### Examples\n"]
        paths = self.dataset.taxonomy.paths
        for kind in dict.fromkeys(self.kind[self.is_wrong]):
            for i in np.flatnonzero(self.kind == kind)[:count]:
                true, found = int(self.gold[i].max()), int(self.path[i].max())
                text = " ".join(self.dataset.texts[self.rows[i]].split())[:WIDTH]
                answer = paths[found] if 0 <= found < len(paths) else kind
                lines.append(f"- {kind}: *{text}* is {paths[true]}, placed in {answer}")
        return "\n".join(lines) + "\n"
