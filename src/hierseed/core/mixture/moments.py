"""Sums over documents that the mixture needs: moments of the corpus, and the E step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hierseed.core.arrays import NUMPY, Array, Arrays, Floats, Integers
from hierseed.core.blocks import Block, Blocks, portable
from hierseed.core.exact import Grid, Quantization, Sums
from hierseed.core.kernels.compiled import load_kernels
from hierseed.core.mixture.belonging import PARTS, Membership
from hierseed.core.mixture.components import Components
from hierseed.core.mixture.gaussian_mixture import Mixture, pieces, responsibilities

FINE = Grid(40)  # probabilities closer than this are level; the first topic wins
REMEMBERED = 40_000_000  # numbers of a corpus that may be kept rounded, 320 MB; beyond, none are


@dataclass
class MixtureCache:
    """Cache of a block: its rows as whole numbers, and what the last round found out about them.

    `logs` are the mixture's direction, and (components, rows).
    """

    quantization: Quantization | None = None
    rows: Array = None
    logs: tuple[Floats, Array] | None = None
    walked: Walked | None = None


@dataclass(frozen=True)
class DescentRule:
    """What decides how documents go down the tree: its topics, and the temperature."""

    components: Components
    temperature: float


@dataclass(frozen=True)
class Walked:
    """(rows, levels) topics that documents reach, -1 below the last, and their probabilities."""

    mixture: Mixture
    rule: DescentRule
    path: Integers
    chance: Floats

    def is_by(self, mixture: Mixture, rule: DescentRule) -> bool:
        """Whether another mixture would say the same; topics may have been appended to the tree."""
        names, parent = ("direction", "offset", "log_size"), self.rule.components.tree.parent
        return (
            self.rule.temperature == rule.temperature
            and np.array_equal(parent, rule.components.tree.parent[: len(parent)])
            and all(np.array_equal(getattr(mixture, a), getattr(self.mixture, a)) for a in names)
        )


@dataclass(frozen=True)
class CorpusMoments:
    """Number, sum and products of the vectors of all documents that are not seeds.

    A document counts with the weight of its belonging.
    """

    n: float
    sums: Floats
    products: Floats

    @property
    def variance(self) -> float:
        """Mean variance of a coordinate."""
        n, width = max(self.n, 1), len(self.sums)
        mean = self.sums / n
        return float((np.trace(self.products) / n - mean @ mean) / width)


@dataclass(frozen=True)
class Expected:
    """Documents that each component accounts for: their number, their sum, the log-likelihood."""

    weights: Floats
    sums: Floats
    log_likelihood: float


def corpus_moments(
    blocks: Blocks, quantization: Quantization, skip: Integers, membership: Membership
) -> CorpusMoments:
    """Sum up the corpus once; rows in `skip` (seeds) are left out."""
    total = blocks.n * blocks.width
    return dequantize_moments(
        blocks.fold(_corpus_moments, quantization, skip, membership, total), quantization
    )


def dequantize_moments(sums: Sums, quantization: Quantization) -> CorpusMoments:
    """Turn sums of whole numbers, weighted in parts, into numbers."""
    n, vectors, products = sums
    return CorpusMoments(
        n / PARTS,
        quantization.vectors.dequantize(vectors) / PARTS,
        quantization.dequantize_squares(products) / PARTS,
    )


def weighted_sums(X: Array, parts: Array, xp: Arrays = NUMPY) -> Sums:
    """Number, sum and products of some rows of whole numbers, each counted in parts."""
    whole = parts == PARTS
    if bool(whole.all()):
        sums, products = PARTS * X.sum(axis=0), PARTS * (X.T @ X)
        return Sums((float(PARTS * len(X)), xp.to_numpy(sums), xp.to_numpy(products)))
    if xp is not NUMPY:
        products = X.T @ (X * parts[:, None])
        return Sums((float(parts.sum()), xp.to_numpy(parts @ X), xp.to_numpy(products)))
    if (parts[1:] < parts[:-1]).any():
        order = np.argsort(parts, kind="stable")
        X, parts = X[order], parts[order]
    products = np.zeros((X.shape[1], X.shape[1]))
    edges = np.searchsorted(parts, np.arange(1, PARTS + 2))
    for weight, start, stop in zip(range(1, PARTS + 1), edges, edges[1:]):
        if start < stop:  # the library does half of the work where both factors are one
            products += weight * (X[start:stop].T @ X[start:stop])
    return Sums((float(parts.sum()), parts @ X, products))


def e_step(
    blocks: Blocks,
    mixture: Mixture,
    quantization: Quantization,
    skip: Integers,
    membership: Membership,
    rule: DescentRule | None = None,
) -> Expected:
    """E step: responsibilities of every document, summed.

    With a `rule` it is the last one: vectors are not summed up again, and sums stay zero; blocks
    keep responsibilities, or where documents go, for the placement.
    """
    model = mixture.without_covariance(), quantization, skip, membership, blocks.n * blocks.width
    weights, sums, logs = blocks.fold(_e_step, *model, rule)
    return Expected(
        quantization.responsibilities.dequantize(weights),
        quantization.dequantize_sums(sums),
        float(quantization.logs.dequantize(np.asarray(logs))),
    )


def counted(block: Block, quantization: Quantization, total: int) -> Array:
    """Rows of a block on the quantization, as whole numbers."""
    cache = block.cache(MixtureCache)
    if cache.quantization == quantization:
        return cache.rows
    X = block.quantized(quantization.vectors)
    if total <= REMEMBERED:
        cache.quantization, cache.rows = quantization, X
    return X


def seeds_in(block: Block, skip: Integers) -> Integers:
    """Which rows of a block are seeds."""
    return (
        skip[np.searchsorted(skip, block.start) : np.searchsorted(skip, block.stop)] - block.start
    )


def parts_of(block: Block, membership: Membership, skip: Integers) -> Array:
    """Weight of each row of a block in whole parts; a seed has none."""
    parts, mine = membership.parts_of(block), seeds_in(block, skip)
    if len(mine):
        parts[block.xp.asarray(mine)] = 0.0
    return parts


@portable
def _corpus_moments(
    block: Block, quantization: Quantization, skip: Integers, membership: Membership, total: int
) -> Sums:
    parts, rows = parts_of(block, membership, skip), block.kernel_rows(block.width)
    if rows is None:
        return weighted_sums(counted(block, quantization, total), parts, block.xp)
    order = np.argsort(parts, kind="stable")
    order = order[np.searchsorted(parts[order], 1) :]
    found = _add_products(rows, block.width, parts, quantization)
    return found or weighted_sums(block.quantized(quantization.vectors, order), parts[order])


def _add_products(
    rows: Iterator[tuple[slice, Array, int]],
    width: int,
    parts: Floats,
    quantization: Quantization,
) -> Sums | None:
    """`weighted_sums` of rows as kernels take them; None where these can't do it, or not faster."""
    kernels = load_kernels()
    if kernels is None or not kernels.PAIR_PRODUCTS:
        return None
    sums, products, step = np.zeros(width), np.zeros((width, width)), 1.0 / quantization.unit
    for at, X, start in rows:
        order = np.argsort(parts[at], kind="stable")
        order = order[np.searchsorted(parts[at][order], 1) :]
        if not kernels.add_products(X, start, order, parts[at][order], step, sums, products):
            return None
    lower = np.tril(products, -1)
    return Sums((float(parts.sum()), sums, products + lower.T))


@portable
def _e_step(
    block: Block,
    mixture: Mixture,
    quantization: Quantization,
    skip: Integers,
    membership: Membership,
    total: int,
    rule: DescentRule | None,
) -> Sums:
    weight = parts_of(block, membership, skip) / PARTS
    if rule:
        found = _walk_and_share_out(block, mixture, quantization, weight, total, rule)
    else:
        found = _share_out(block, mixture, quantization, weight)
    if found:
        return found
    xp, X = block.xp, counted(block, quantization, total)
    weights = xp.full(
        len(mixture.means), 0.0, xp.float64
    )  # where the block is: fetching takes long
    sums = xp.full(mixture.means.shape, 0.0, xp.float64)
    logs = xp.full((), 0.0, xp.float64)
    keep = rule and total // block.width * (block.width + len(weights)) <= REMEMBERED
    kept = xp.full((len(weights), len(X)), 0.0, xp.float64) if keep else None
    for at in pieces(len(X), xp):
        L = mixture.log_joint(X[at], quantization.unit, xp=xp)
        if kept is not None:
            kept[:, at] = L
        share, log = responsibilities(L, quantization.responsibilities, weight=weight[at], xp=xp)
        weights += share.sum(axis=1)
        logs += quantization.logs.quantize(log * weight[at], xp).sum()
        if rule is None:
            sums += share @ X[at]
    if kept is not None:
        block.cache(MixtureCache).logs = mixture.direction, kept
    return Sums((xp.to_numpy(weights), xp.to_numpy(sums), float(logs)))


def _walk_and_share_out(
    block: Block,
    mixture: Mixture,
    quantization: Quantization,
    weight: Array,
    total: int,
    rule: DescentRule,
) -> Sums | None:
    """The last E step in one call, where the engine has compiled kernels."""
    placed = total // block.width * rule.components.tree.height <= REMEMBERED // 4
    found = walk(block, mixture, quantization.vectors, rule, quantization, weight, placed)
    if found is None:
        return None
    walked, weights, logs = found
    block.cache(MixtureCache).walked = walked if placed else None
    return Sums((weights, np.zeros(mixture.means.shape), logs))


def _share_out(
    block: Block, mixture: Mixture, quantization: Quantization, weight: Array
) -> Sums | None:
    """The E step in one call, where the engine has compiled kernels."""
    rows = block.kernel_rows(len(mixture.means))
    kernels = load_kernels() if rows else None
    if rows is None or kernels is None:
        return None
    packed, offset = mixture.packed(quantization.unit)
    bits = 2.0**quantization.responsibilities.bits, 2.0**quantization.logs.bits
    weights, sums, logs = np.zeros(len(mixture.means)), np.zeros(mixture.means.shape), 0.0
    for at, X, start in rows:
        logs += kernels.share_out(
            X, start, 1.0 / quantization.unit, packed, offset, *bits, weight[at], weights, sums
        )
    return Sums((weights, sums, logs))


def walk(
    block: Block,
    mixture: Mixture,
    grid: Grid,
    rule: DescentRule,
    quantization: Quantization | None = None,
    weight: Floats | None = None,
    placed: bool = True,
) -> tuple[Walked, Floats, float] | None:
    """Go down the tree in one call, where the engine has compiled kernels.

    With weights of documents, also share them out: weights of components, the log-likelihood.
    """
    rows = block.kernel_rows(len(mixture.means))
    kernels = load_kernels() if rows else None
    if rows is None or kernels is None:
        return None
    components, unit = rule.components, 2.0**-grid.bits
    packed, offset = mixture.packed(unit)
    children, first = components.tree.child_lists
    n = len(block) if placed else 0
    path = np.full((n, max(components.tree.height, 1)), -1, dtype=np.int32)
    chance, weights, logs = np.zeros(path.shape), np.zeros(len(components)), 0.0
    bits = (quantization.responsibilities.bits, quantization.logs.bits) if quantization else (0, 0)
    for at, X, start in rows:
        logs += kernels.walk_down(
            X, start, 1.0 / unit, packed, offset, 1.0 / rule.temperature, 2.0**FINE.bits,
            components.topic, children, first, components.of_topic >= 0, path[at], chance[at],
            2.0 ** bits[0], 2.0 ** bits[1], np.zeros(0) if weight is None else weight[at], weights,
        )  # fmt: skip
    return Walked(mixture, rule, path, chance), weights, logs
