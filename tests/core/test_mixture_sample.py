"""The sample that a fit begins on."""

import numpy as np
import pytest
from mixture_worlds import graded_membership, set_up

from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.exact import Quantization
from hierseed.core.mixture.belonging import Membership
from hierseed.core.mixture.gaussian_mixture import CholeskyCovariance, Mixture
from hierseed.core.mixture.moments import corpus_moments, e_step
from hierseed.core.mixture.sample import SAMPLE, draw


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
    assert back.centre.tobytes() == drawn.centre.tobytes()
    certain = Membership.certain(1)
    one, two = (d.weigh(certain, ArrayBlocks(X), none).corpus for d in (drawn, back))
    assert one.products.tobytes() == two.products.tobytes()
    chosen = {*map(bytes, drawn.X)}
    seeds = np.flatnonzero(
        [bytes(x) in chosen for x in quantization.vectors.quantize(X).astype("f")]
    )[:3]
    less = draw(ArrayBlocks(X), quantization, seeds)
    assert len(less.X) == len(drawn.X) - 3  # seeds are left out of the sample


@pytest.mark.parametrize("graded", [False, True])
def test_a_small_corpus_is_its_own_sample(graded):
    X, components, pairs, quantization, rows = set_up("deep", per_leaf=40, spread=0.8)
    membership = Membership.certain(components.tree.height)
    if graded:
        membership = graded_membership(X, components, pairs)
    blocks = ArrayBlocks(X, 50)
    sample = draw(blocks, quantization, rows).weigh(membership, blocks, rows)
    assert sample.whole
    whole = corpus_moments(ArrayBlocks(X), quantization, rows, membership)
    assert sample.corpus.products.tobytes() == whole.products.tobytes()
    assert sample.weight.sum() == whole.n
    mixture = Mixture.of(
        pairs.vectors[: len(components)] * 9,
        CholeskyCovariance.of(np.eye(6)),
        np.zeros(len(components)),
    )
    exact = e_step(ArrayBlocks(X), mixture, quantization, rows, membership)
    found = sample.e_step(mixture)
    np.testing.assert_allclose(found.weights, exact.weights, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.sums, exact.sums, rtol=1e-3, atol=2e-3)


def test_a_corpus_of_copies_has_a_sample_too():
    X = np.tile(np.random.default_rng(0).normal(size=(1, 3)), (SAMPLE + 1, 1))
    quantization = Quantization.holding(len(X), 10.0)
    for rows in (np.zeros(0, dtype=np.intp), np.arange(len(X))):
        for shift in range(8):  # whether one is chosen depends on what it says; then all are
            found = draw(ArrayBlocks(X + shift / 8), quantization, rows)
            assert len(found.X) == len(X) - len(rows)
