"""Small corpora with a known tree, and the nasty ones, for all tests of the core."""

import itertools
import threading

import numpy as np

from hierseed import Taxonomy
from hierseed.core.array_blocks import ArrayBlocks

TREES = {
    "two levels": ["A > a1", "A > a2", "A > a3", "B > b1", "B > b2", "C > c1", "C > c2"],
    "ragged": ["A > a1 > x", "A > a1 > y", "A > a1 > z", "A > a2", "B", "C > c1", "C > c2"],
    "one level": ["A", "B", "C", "D"],
    "an only child": ["A > a1", "B > b1", "B > b2", "C > c1"],
    "deep": ["A > a > p > u", "A > a > p > v", "A > a > q", "B > b > r", "B > b > s", "B > c"],
}


def make_world(name="two levels", *, per_leaf=12, width=6, seeds=3, spread=0.35, seed=0):
    """Taxonomy, vectors, seeds `y` and the true leaf of each document: nested normal clouds."""
    rng = np.random.default_rng(seed)
    taxonomy = Taxonomy.from_paths(TREES[name])
    tree = taxonomy.tree
    centres = np.zeros((len(taxonomy), width))
    for topic in range(len(taxonomy)):
        above = centres[tree.parent[topic]] if tree.parent[topic] >= 0 else np.zeros(width)
        centres[topic] = above + rng.normal(size=width) * 2.0 / tree.level[topic]
    leaves = np.flatnonzero(tree.is_leaf)
    truth = np.repeat(leaves, per_leaf)
    X = centres[truth] + rng.normal(size=(len(truth), width)) * spread
    y = np.full(len(truth), -1)
    for leaf in leaves:
        y[np.flatnonzero(truth == leaf)[:seeds]] = leaf
    order = rng.permutation(len(truth))
    return taxonomy, X[order], y[order], truth[order]


def seeds_of(y):
    return {int(t): np.flatnonzero(y == t).tolist() for t in np.unique(y) if t >= 0}


def split_into_blocks(monkeypatch, rows, threads, width):
    """Cut corpora into blocks of so many rows; the first pass needs all its threads at once.

    Each of the first blocks waits until so many are under rule. A fit that does not use the
    threads it was told to fails here.
    """
    started, together = itertools.count(), threading.Barrier(threads)
    original = ArrayBlocks._run

    def run(self, step, block, *model):
        if next(started) < threads:
            together.wait(timeout=30)
        return original(self, step, block, *model)

    monkeypatch.setattr("hierseed.core.array_blocks.LEAST_ROWS", 1)
    monkeypatch.setattr("hierseed.core.array_blocks.BLOCK_VALUES", rows * width)
    monkeypatch.setattr(ArrayBlocks, "_run", run)
