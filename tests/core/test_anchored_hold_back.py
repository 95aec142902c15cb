"""Seeds held back, and what they say of groups that nobody listed."""

import numpy as np
import pytest

from hierseed.core.mixture.components import make_components
from hierseed.core.mixture.gaussian_mixture import Mixture
from hierseed.core.mixture.hold_out import HeldOut, halves, supported_groups
from hierseed.core.mixture.initialise import Initialisation
from hierseed.core.mixture.quantization import Quantization
from hierseed.core.mixture.seeds import Pairs, sum_seeds
from hierseed.core.tree import Tree

SIZES = np.array([0.3, 0.3, 0.2, 0.15, 0.05])  # the last two are groups


def opened():
    components = make_components(Tree([-1] * 3), np.ones(3, bool), np.full(2, -1))
    mixture = Mixture.of_balls(np.zeros((5, 2)), 1.0, np.log(SIZES))
    return Initialisation(components, None, mixture)


def landed(own, found):
    """Seeds of these topics that land in these components, their own being second best."""
    mine = np.arange(5)[:, None] == own
    return HeldOut(np.where(np.arange(5)[:, None] == found, 0.0, np.where(mine, -1.0, -9.0)), mine)


@pytest.mark.parametrize(("first", "second"), [(8, 2), (9, 2), (8, 3), (9, 3), (0, 0)])
def test_a_group_takes_no_more_seeds_than_a_topic_of_its_size(first, second):
    own = np.repeat(np.arange(3), 100)
    found = own.copy()
    found[:40] = 1  # so 40 of 300 go astray; of those of the first topic 0.15 / 0.7 may do so
    found[150 : 150 + first] = 3  # to the first group, of the third's 0.15 / 0.8: 8.2 in all,
    found[250 : 250 + second] = 4  # and to the second a third of that
    kept = supported_groups(landed(own, found), opened())
    assert kept.tolist() == [True, True, True, first <= 8, second <= 2]


def test_where_nothing_can_be_held_back_groups_stay():
    assert supported_groups(None, opened()).all()


def test_one_listed_topic_whose_seeds_a_group_takes():
    components = make_components(Tree([-1]), np.ones(1, bool), np.full(1, -1))
    mixture = Mixture.of_balls(np.zeros((2, 2)), 1.0, np.log([0.1, 0.9]))
    initial = Initialisation(components, None, mixture)
    own = np.zeros((2, 4), dtype=bool)
    own[0] = True
    logs = np.array([[0.0, 0, 0, 0], [-1, -1, -1, 1]])
    assert supported_groups(HeldOut(logs, own), initial).tolist() == [True, False]
    assert supported_groups(HeldOut(logs[:, :3], own[:, :3]), initial).all()


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


def test_a_seed_of_several_topics_is_held_back_from_all_of_them():
    rng = np.random.default_rng(1)
    component = np.concatenate([np.repeat(np.arange(4), 4), [1, 2, 3]])
    seed = np.concatenate([np.arange(16), [0, 1, 12]])
    half = halved(Pairs(rng.normal(size=(16, 4))[seed], seed, component))
    for one in range(16):
        assert len({*half[seed == one]}) == 1
    for number in (0, 1):  # and no topic is left without any
        assert np.bincount(component[half != number], minlength=4).min() > 0


def halved(pairs):
    components = make_components(Tree([-1] * 5), np.ones(5, bool), np.zeros(0, dtype=np.intp))
    quantization = Quantization.holding(100, 10.0)
    return halves(pairs, sum_seeds(pairs, components, quantization, pairs.seed))
