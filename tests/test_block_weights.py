"""The weight of a block is learned from held-out seeds, and says which block tells topics apart."""

import numpy as np
import pytest

from hierseed import Taxonomy
from hierseed.embed import Preparation
from hierseed.estimators.block_weights import (
    CANDIDATES,
    USUAL,
    learn_block_weights,
    least_of,
    sample_rows,
)

TOPICS = Taxonomy.from_paths([f"{group} > {leaf}" for group in "AB" for leaf in "uvwx"])
LEAVES = np.flatnonzero(TOPICS.tree.is_leaf)


def world(informative, *, n=600, width=30, seeds=4, seed=0):
    """Two blocks; only `informative` of them depends on the topic."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(len(LEAVES), size=n)
    blocks = [rng.normal(size=(n, width)) for _ in range(2)]
    blocks[informative] += 1.5 * rng.normal(size=(len(LEAVES), width))[topic]
    y = np.full(n, -1)
    for k, leaf in enumerate(LEAVES):
        y[np.flatnonzero(topic == k)[:seeds]] = leaf
    return np.hstack(blocks).astype(np.float32), y


def learn(X, y, **more):
    width = X.shape[1] // 2
    preparation = Preparation(blocks=(width, width)).fit(X)
    return learn_block_weights(preparation, X, TOPICS, y, **more)


def test_an_uninformative_block_gets_little_weight():
    assert learn(*world(informative=0)).weights[1] <= 0.25
    assert learn(*world(informative=1)).weights == CANDIDATES[-1]


def test_a_later_weight_is_taken_only_where_the_seeds_tell_the_difference():
    rng = np.random.default_rng(0)
    first = rng.normal(2.0, 1.0, size=400)
    noise = rng.normal(0.0, 0.5, size=400)
    noise -= noise.mean()
    error = noise.std(ddof=1) / 20
    assert least_of([first, first + noise - 0.9 * error]) == 0
    assert least_of([first, first + noise - 1.1 * error]) == 1
    assert least_of([first, first + 0.1]) == 0


def test_the_order_of_documents_changes_nothing():
    X, y = world(informative=0)
    order = np.random.default_rng(5).permutation(len(X))
    one, other = learn(X, y), learn(X[order], y[order])
    assert one.weights == other.weights
    assert one.losses == other.losses


def test_seeds_outside_the_corpus_count_as_those_inside():
    X, y = world(informative=1)
    inside = y >= 0
    preparation = Preparation(blocks=(30, 30)).fit(X)
    beside = learn_block_weights(preparation, X[~inside], TOPICS, None, X[inside], y[inside])
    within = learn_block_weights(preparation, X, TOPICS, y)
    assert beside.losses == pytest.approx(within.losses, abs=1e-9)


def test_where_no_seed_can_be_held_out_the_usual_weight_is_taken():
    found = learn(*world(informative=0, seeds=1))
    assert found.weights == USUAL
    assert "no topic has a seed to hold out" in str(found)


def test_sampled_rows_are_chosen_by_content():
    X, _ = world(informative=0)
    chosen = sample_rows(X, 100, np.arange(10))
    order = np.random.default_rng(1).permutation(np.arange(10, len(X)))
    moved = np.concatenate([X[:10], X[order]])
    np.testing.assert_array_equal(chosen, sample_rows(moved, 100, np.arange(10)))
    assert len(chosen) == 100
    assert not any((row == X[:10]).all(axis=1).any() for row in chosen)
