"""The opening of the anchored mixture: what nobody listed, and the sample it looks at."""

import numpy as np
import pytest
from anchored_worlds import begun, set_up

from hierseed.core.blocks import ArrayBlocks
from hierseed.core.mixture.components import make_components
from hierseed.core.mixture.covariance import Factored
from hierseed.core.mixture.em import (
    Settings,
    advance,
)
from hierseed.core.mixture.gaussian_mixture import Mixture, shares
from hierseed.core.mixture.initialise import distinct, far_halves, initialise
from hierseed.core.mixture.moments import Totals, spread, totals
from hierseed.core.mixture.placement import FINE
from hierseed.core.mixture.quantization import Quantization
from hierseed.core.mixture.sample import SAMPLE, draw
from hierseed.core.mixture.seeds import Pairs, sum_seeds
from hierseed.core.tree import Tree


def halved_world():
    """Six listed topics far apart; the first is one of two halves, and has its seeds in one."""
    rng = np.random.default_rng(0)
    topic = np.repeat(np.arange(6), 100)
    X = rng.normal(size=(700, 12))
    X[np.arange(600), topic] += 8
    X[600:, 0] += 8
    X[600:, 11] += 12  # what nobody listed: beside the first topic, as far as others are
    rows = np.concatenate([100 * t + np.arange(4) for t in range(6)])
    components = make_components(Tree([-1] * 6), np.ones(6, bool), np.array([-1]))
    pairs = Pairs(X[rows], rows, topic[rows])
    quantization = Quantization.holding(len(X), float(np.linalg.norm(X, axis=1).max()))
    return X, components, pairs, quantization, rows


def test_the_far_half_of_a_topic_lies_where_its_seeds_do_not():
    X, components, pairs, quantization, rows = halved_world()
    listed = components.with_unlisted(np.zeros(0, dtype=np.intp))  # nothing else to take it in
    blocks, _, problem, mixture = begun(
        X, listed, pairs, quantization, rows, Settings(), within=12.0
    )
    sample = draw(blocks, quantization, rows)
    mixture, seen = advance(problem, sample, mixture, 3)
    parents, means, weights = far_halves(problem, sample, mixture, seen)
    assert parents.tolist() == [-1] * 6
    np.testing.assert_allclose(means[0], X[600:].mean(axis=0), atol=0.6)
    assert weights[0] == pytest.approx(100, rel=0.1)


@pytest.mark.parametrize("missing", [True, False])
def test_the_opening_finds_what_nobody_listed_and_nothing_else(missing):
    X, components, pairs, quantization, rows = halved_world()
    seeds = sum_seeds(pairs, components, quantization, rows)
    sample = draw(ArrayBlocks(X[: 700 if missing else 600]), quantization, rows)
    found = initialise(sample, components, seeds, Settings())
    rest = np.flatnonzero(found.components.is_unlisted)
    assert (len(rest) > 0) == missing
    share = FINE.dequantize(shares(found.mixture.log_joint(X), FINE)[0][rest].sum(axis=0))
    assert (share[600:] > 0.9).mean() == missing
    assert share[:600].mean() < 0.01


def test_groups_near_a_listed_topic_or_almost_empty_are_dropped():
    means = np.array([[0.0, 0], [4, 0], [2, 3.25], [0, 1], [4, 8]])
    mixture = Mixture.of(means, Factored.of(np.eye(2)), np.log(np.full(5, 0.2)))
    components = make_components(Tree([-1, -1]), np.ones(2, bool), np.full(3, -1))
    # the third lies just far enough; what few documents say of its place is chance, and too little
    for counts, expected in (([1e9, 9, 9], [0, 1, 2, 4]), ([9.0, 9, 9], [0, 1, 4]),
                             ([1e9, 9, 2], [0, 1, 2])):  # fmt: skip
        seen = Totals(np.array([9.0, 9, *counts]), means, 0.0)
        assert distinct(components, mixture, seen, np.array([4, 3]), 0.9).tolist() == expected
    # the third is as near to the first, the last is nearer to the second: two seeds say little
    seen = Totals(np.array([9.0, 9, 1e9, 9, 9]), means, 0.0)
    assert distinct(components, mixture, seen, np.array([4, 2]), 0.9).tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_sample_goes_by_content_and_has_the_right_size(dtype):
    X = np.random.default_rng(0).normal(size=(4 * SAMPLE + 5, 3)).astype(dtype)
    quantization = Quantization.holding(len(X), 10.0)
    none = np.zeros(0, dtype=np.intp)
    drawn = draw(ArrayBlocks(X), quantization, none)
    assert len(drawn.X) * drawn.copies == pytest.approx(len(X), rel=0.15)
    assert not drawn.whole
    order = np.random.default_rng(1).permutation(len(X))
    back = draw(ArrayBlocks(X[order], 777), quantization, none)
    assert back.X.tobytes() == drawn.X.tobytes()  # in the same order, too
    assert back.corpus.products.tobytes() == drawn.corpus.products.tobytes()
    chosen = {*map(bytes, drawn.X)}
    seeds = np.flatnonzero(
        [bytes(x) in chosen for x in quantization.vectors.quantize(X).astype("f")]
    )[:3]
    less = draw(ArrayBlocks(X), quantization, seeds)
    assert len(less.X) == len(drawn.X) - 3  # seeds are left out of the sample


def test_a_small_corpus_is_its_own_sample():
    X, components, pairs, quantization, rows = set_up("deep", per_leaf=40, spread=0.8)
    sample = draw(ArrayBlocks(X, 50), quantization, rows)
    assert sample.whole
    whole = spread(ArrayBlocks(X), quantization, rows)
    assert sample.corpus.products.tobytes() == whole.products.tobytes()
    mixture = Mixture.of(
        pairs.vectors[: len(components)] * 9, Factored.of(np.eye(6)), np.zeros(len(components))
    )
    exact, found = totals(ArrayBlocks(X), mixture, quantization, rows), sample.totals(mixture)
    np.testing.assert_allclose(found.weights, exact.weights, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.sums, exact.sums, rtol=1e-3, atol=1e-3)


def test_a_corpus_of_copies_has_a_sample_too():
    X = np.tile(np.random.default_rng(0).normal(size=(1, 3)), (SAMPLE + 1, 1))
    quantization = Quantization.holding(len(X), 10.0)
    for rows in (np.zeros(0, dtype=np.intp), np.arange(len(X))):
        for shift in range(8):  # whether one is chosen depends on what it says; then all are
            found = draw(ArrayBlocks(X + shift / 8), quantization, rows)
            assert len(found.X) == len(X) - len(rows)
