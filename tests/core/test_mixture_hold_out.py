"""Which seeds are held out, for scores to be calibrated by."""

import numpy as np

from hierseed.core.exact import Quantization
from hierseed.core.mixture.calibration import halves
from hierseed.core.mixture.components import Pairs, make_components, sum_seeds
from hierseed.core.tree import Tree


def test_halves_share_out_each_topic_and_do_not_see_the_order():
    rng = np.random.default_rng(0)
    component = np.repeat(np.arange(5), [1, 2, 3, 4, 9])
    vectors = rng.normal(size=(len(component), 4))
    half = halved(Pairs(vectors, np.arange(len(component)), component))
    assert half[0] == -1
    for k in range(1, 5):
        mine = half[component == k]
        assert abs((mine == 0).sum() - (mine == 1).sum()) <= 1
    order = rng.permutation(len(component))
    again = halved(Pairs(vectors[order], order, component[order]))
    assert np.array_equal(again, half[order])


def test_a_seed_of_several_topics_is_held_out_from_all_of_them():
    rng = np.random.default_rng(1)
    component = np.concatenate([np.repeat(np.arange(4), 4), [1, 2, 3]])
    seed = np.concatenate([np.arange(16), [0, 1, 12]])
    half = halved(Pairs(rng.normal(size=(16, 4))[seed], seed, component))
    for one in range(16):
        assert len({*half[seed == one]}) == 1
    for number in (0, 1):  # and no topic is left without any
        assert np.bincount(component[half != number], minlength=4).min() > 0


def halved(pairs):
    components = make_components(Tree([-1] * 5), np.ones(5, bool))
    quantization = Quantization.holding(100, 10.0)
    return halves(pairs, sum_seeds(pairs, components, quantization, pairs.seed))
