"""Seeds held back, and what they say of groups that nobody listed."""

import numpy as np
import pytest

from hierseed.core.anchor.components import make_components
from hierseed.core.anchor.hold_back import Held, believed
from hierseed.core.anchor.mixture import Mixture
from hierseed.core.anchor.opening import Opening
from hierseed.core.tree import Tree

SIZES = np.array([0.3, 0.3, 0.2, 0.15, 0.05])  # the last two are groups


def opened():
    components = make_components(Tree([-1] * 3), np.ones(3, bool), np.full(2, -1))
    mixture = Mixture.of_balls(np.zeros((5, 2)), 1.0, np.log(SIZES))
    return Opening(components, None, mixture)


def landed(own, found):
    """Seeds of these topics that land in these components, their own being second best."""
    mine = np.arange(5)[:, None] == own
    return Held(np.where(np.arange(5)[:, None] == found, 0.0, np.where(mine, -1.0, -9.0)), mine)


@pytest.mark.parametrize(("first", "second"), [(8, 2), (9, 2), (8, 3), (9, 3), (0, 0)])
def test_a_group_takes_no_more_seeds_than_a_topic_of_its_size(first, second):
    own = np.repeat(np.arange(3), 100)
    found = own.copy()
    found[:40] = 1  # so 40 of 300 go astray; of those of the first topic 0.15 / 0.7 may do so
    found[150 : 150 + first] = 3  # to the first group, of the third's 0.15 / 0.8: 8.2 in all,
    found[250 : 250 + second] = 4  # and to the second a third of that
    kept = believed(landed(own, found), opened())
    assert kept.tolist() == [True, True, True, first <= 8, second <= 2]


def test_where_nothing_can_be_held_back_groups_stay():
    assert believed(None, opened()).all()


def test_one_listed_topic_whose_seeds_a_group_takes():
    components = make_components(Tree([-1]), np.ones(1, bool), np.full(1, -1))
    mixture = Mixture.of_balls(np.zeros((2, 2)), 1.0, np.log([0.1, 0.9]))
    opening = Opening(components, None, mixture)
    own = np.zeros((2, 4), dtype=bool)
    own[0] = True
    logs = np.array([[0.0, 0, 0, 0], [-1, -1, -1, 1]])
    assert believed(Held(logs, own), opening).tolist() == [True, False]
    assert believed(Held(logs[:, :3], own[:, :3]), opening).all()
