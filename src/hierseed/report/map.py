"""A flat map: topics as islands, documents around them.

Topics are laid out by stress majorisation (SMACOF) of the distances between their vectors, with
siblings drawn together, then pushed apart until no two islands overlap. A document lies on its
topic's island: the further from the topic's vector, the nearer to the shore, and on the side of
the topics it is next nearest to. None lies between its nearest topics. No random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from hierseed.core.arrays import Floats, Integers
from hierseed.core.tree import Tree
from hierseed.taxonomy import Taxonomy

MOST = 600  # islands; a tree with more leaves is drawn at its deepest level with no more topics
ROUNDS = 150
NEIGHBOURS = 6  # topics that pull at a document
BLOCK = 4_096  # documents placed at once
AXES = 16_384  # documents that the main axes are found from
LAND = 0.38  # share of the map's square that islands cover


@dataclass(frozen=True)
class Map:
    """Positions of topics and documents, in the square from -1 to 1."""

    topics: Integers  # that are islands
    positions: Floats  # of the islands
    radii: Floats
    rows: Integers  # documents that are shown
    points: Floats  # where they lie


def make_map(
    taxonomy: Taxonomy,
    vectors: Floats,
    counts: Integers,
    rows: Integers,
    labels: Integers,
    X: Floats,
) -> Map:
    """Lay out the topics, and place the documents `rows` with their labels and vectors."""
    shown = map_topics(taxonomy.tree)
    shown = shown[(counts[shown] > 0) | ~taxonomy.is_other[shown]]  # an empty Other is not shown
    positions, radii = lay_out(taxonomy.tree, vectors, shown, counts)
    islands = find_islands(taxonomy.tree, shown, labels)
    points = place(X, islands, vectors[shown], positions, radii)
    return Map(shown, positions, radii, rows, points)


def map_topics(tree: Tree, most: int = MOST) -> Integers:
    """Return the topics that become islands: the leaves, or a level with few enough topics."""
    for level in range(tree.height, 0, -1):
        shown = np.flatnonzero((tree.level == level) | (tree.is_leaf & (tree.level < level)))
        if len(shown) <= most:
            return shown
    return tree.at_level(1)[:most]


def lay_out(
    tree: Tree, vectors: Floats, shown: Integers, counts: Integers
) -> tuple[Floats, Floats]:
    """Place the shown topics: (positions, radii), inside the square from -1 to 1."""
    points = vectors[shown].astype(float)
    parents = tree.parent[shown]
    above = np.where((parents >= 0)[:, None], vectors[parents].astype(float), points)
    points = np.hstack([points, 1.5 * above])  # siblings share this half, so they stay together
    area = np.sqrt(counts[shown] + 0.01 * max(1, counts[shown].sum() / len(shown)))
    radii = area * np.sqrt(4 * LAND / np.pi / (area**2).sum())
    positions = _push_apart(_majorise(_distances(points)), radii)
    low = (positions - radii[:, None]).min(axis=0)
    high = (positions + radii[:, None]).max(axis=0)
    reach = float((high - low).max()) / 2 or 1.0
    return (positions - (low + high) / 2) / reach, radii / reach


def find_islands(tree: Tree, shown: Integers, labels: Integers) -> Integers:
    """Return for each document the position of its topic in `shown`, -1 where it has none."""
    island_of = np.full(len(tree) + 1, -1)
    island_of[shown] = np.arange(len(shown))
    above = tree.ancestors[labels]
    islands: Integers = np.where(above >= 0, island_of[above], -1).max(axis=1, initial=-1)
    return islands


def place(
    X: Any,
    island: Integers,
    vectors: NDArray[np.floating],
    positions: Floats,
    radii: Floats,
) -> Floats:
    """Place documents; `island[i]` is a position in the shown topics, -1 where it has none.

    X is read in blocks, twice, so that a corpus on disk needs no memory of its own.
    """
    n = len(island)
    if not n:
        return np.zeros((0, 2))
    vectors = vectors.astype(float)
    k = min(NEIGHBOURS, len(vectors))
    near, gaps, away = np.zeros((n, k), dtype=np.intp), np.zeros((n, k)), np.zeros(n)
    for block, rows in _blocks(X, n):
        products = rows.astype(np.float32) @ vectors.astype(np.float32).T
        squares = (rows**2).sum(1)[:, None] - 2.0 * products + (vectors**2).sum(1)[None]
        squares = np.maximum(squares, 0.0)
        near[block] = np.argpartition(squares, k - 1, axis=1)[:, :k]
        gaps[block] = np.take_along_axis(squares, near[block], axis=1)
        away[block] = squares[np.arange(len(rows)), island[block]]
    gaps -= gaps.min(axis=1, keepdims=True)
    weights = np.exp(-gaps / max(float(np.median(gaps)), 1e-12))
    weights /= weights.sum(axis=1, keepdims=True)
    pulled: Floats = (weights[:, :, None] * positions[near]).sum(axis=1)

    # Documents at the same point are spread along the two main axes of the residuals.
    some = np.arange(0, n, n // AXES + 1)
    left = np.asarray(X[some], dtype=float)
    for topic, weight in zip(near[some].T, weights[some].T):
        left = left - weight[:, None] * vectors[topic]
    axes = _main_axes(left)
    explained = (weights[:, :, None] * (vectors @ axes)[near]).sum(axis=1)
    flat = np.zeros((n, 2))
    for block, rows in _blocks(X, n):
        flat[block, : axes.shape[1]] = rows @ axes - explained[block]

    placed = pulled.copy()
    spread = _scaled(flat)
    for topic in np.unique(island[island >= 0]):
        here = np.flatnonzero(island == topic)
        offset = _scaled(pulled[here]) + spread[here]
        offset /= np.maximum(np.linalg.norm(offset, axis=1, keepdims=True), 1e-12)
        # Ranks fill the island evenly.
        reach = np.sqrt(_ranks(away[here]))[:, None]
        placed[here] = positions[topic] + radii[topic] * reach * offset
    nowhere = island < 0
    placed[nowhere] += 0.5 * radii.mean() * spread[nowhere]
    return placed


def _blocks(X: Any, n: int) -> Iterator[tuple[slice, Floats]]:
    """Consecutive rows with their vectors."""
    for start in range(0, n, BLOCK):
        block = slice(start, min(start + BLOCK, n))
        yield block, np.asarray(X[block], dtype=float)


def _ranks(values: Floats) -> Floats:
    """Ranks between 0 and 1, the middle of each step."""
    return (np.argsort(np.argsort(values, kind="stable"), kind="stable") + 0.5) / len(values)


def _scaled(flat: Floats) -> Floats:
    """Offsets from their own mean, of spread 1."""
    return (flat - flat.mean(axis=0)) / max(float(flat.std()), 1e-12)


def _main_axes(away: Floats) -> Floats:
    """The two main axes as columns, signs fixed."""
    d = away.shape[1]
    _, axes = eigh(away.T @ away, subset_by_index=[max(0, d - 2), d - 1])
    axes = axes[:, ::-1]
    return axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1, 1)


def _distances(points: Floats) -> Floats:
    squares = (points**2).sum(1)
    return np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * points @ points.T, 0))


def _majorise(distances: Floats) -> Floats:
    """Scale distances to two dimensions: classical start, then ROUNDS of SMACOF."""
    n = len(distances)
    if n == 1:
        return np.zeros((1, 2))
    centred = distances**2
    centred = centred - centred.mean(0) - centred.mean(1)[:, None] + centred.mean()
    values, axes = eigh(-0.5 * centred, subset_by_index=[n - 2, n - 1])
    values, axes = values[::-1], axes[:, ::-1]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    flat = axes * np.sqrt(np.maximum(values, 0))
    scale = distances.max() or 1.0
    flat, target = flat / scale, distances / scale
    for _ in range(ROUNDS):
        now = _distances(flat)
        ratio = np.divide(target, now, out=np.zeros_like(now), where=now > 1e-12)
        flat = (ratio.sum(1)[:, None] * flat - ratio @ flat) / n
    return flat


def _push_apart(positions: Floats, radii: Floats, gap: float = 1.12) -> Floats:
    """Scale the layout to the unit square, then move overlapping islands off each other."""
    n = len(positions)
    if n == 1:
        return positions
    # equal vectors must not stay on one spot: a fixed spiral, too small to matter otherwise
    turn = np.arange(n) * 2.399963
    spiral = np.stack([np.cos(turn), np.sin(turn)], axis=1) * np.sqrt(np.arange(n) + 1)[:, None]
    flat = positions - np.median(positions, axis=0)
    flat = flat / max(float(np.abs(flat).max()), 1e-12) + 1e-3 * spiral / np.sqrt(n)
    reach = np.linalg.norm(flat, axis=1)
    # mostly by rank: one far topic must not squeeze all others into a corner
    evened = 0.3 * reach / max(float(reach.max()), 1e-12) + 0.7 * np.sqrt(_ranks(reach))
    flat = flat * (evened / np.maximum(reach, 1e-12))[:, None]
    wanted = gap * (radii[:, None] + radii[None])
    np.fill_diagonal(wanted, 0)
    share = radii[None] / (radii[:, None] + radii[None])  # the smaller island moves further
    for _ in range(2 * ROUNDS):
        now = np.maximum(_distances(flat), 1e-7)
        short = np.maximum(wanted - now, 0)
        if not (short > 1e-6).any():
            break
        push = 0.5 * short * share / now
        flat = flat + push.sum(axis=1)[:, None] * flat - push @ flat
    return flat
