"""Names of topics as seeds: moved to where documents are, for inner topics too."""

import numpy as np
import pytest

import hierseed
from hierseed.estimators.topic_names import learn_names
from hierseed.taxonomy import Taxonomy


@pytest.fixture
def made():
    """Topics at random places; names are their places, moved all the same way, with noise."""
    random = np.random.default_rng(0)
    places = random.normal(size=(30, 40))
    places /= np.linalg.norm(places, axis=1, keepdims=True)
    moved = 2 * np.eye(40)[0]
    names = places + moved + 0.05 * random.normal(size=places.shape)
    names /= np.linalg.norm(names, axis=1, keepdims=True)
    seeds = np.repeat(places, 3, axis=0) + 0.1 * random.normal(size=(90, 40))
    seeds /= np.linalg.norm(seeds, axis=1, keepdims=True)
    return places, names, seeds, [[i // 3] for i in range(90)]


def nearest(vectors, places):
    return np.argmax(vectors @ places.T, axis=1)


def test_what_names_have_in_common_is_removed(made):
    places, names, seeds, topics = made
    every = range(30)
    for given in ((seeds[:0], []), (seeds[:45], topics[:45])):  # no seeds; seeds for half of all
        found = learn_names(names, every, *given)
        np.testing.assert_array_equal(nearest(found.vectors, places), every)
    cosines = (found.vectors * places).sum(axis=1)
    assert cosines.min() > (names * places).sum(axis=1).max()


def test_good_names_are_worth_more_seeds_than_bad_ones(made):
    _, names, seeds, topics = made
    good = learn_names(names, range(30), seeds, topics).worth
    bad = learn_names(names[::-1], range(30), seeds, topics).worth
    assert good > 1 > 0.2 > bad


def test_the_order_of_seeds_changes_no_bit(made):
    _, names, seeds, topics = made
    found = learn_names(names, range(30), seeds, topics)
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(90)
        other = learn_names(names, range(30), seeds[order], [topics[i] for i in order])
        np.testing.assert_array_equal(other.vectors, found.vectors)
        assert other.worth == found.worth


def test_topics_without_seeds_get_as_many_copies_as_one(made):
    _, names, seeds, topics = made
    found = learn_names(names, range(30), seeds[:60], topics[:60])
    seeded = np.arange(30) < 20
    _, added = found.seeds(range(30), seeded)
    assert added.count(25) == 1
    assert added.count(3) == round(found.worth)


TEXTS = [
    "nursing homes need more staff",
    "staffing in nursing homes and care homes",
    "the surgeon opened the heart",
    "surgery of the heart and the lungs",
    "vaccines against measles",
    "a vaccine for children",
    "hospital budgets fall",
    "the budget of a hospital ward",
    "nurses in hospitals work at night",
    "a nurse on the ward",
] * 3


def test_inner_topics_start_from_their_names():
    tree = Taxonomy.from_paths(
        ["Care > Nursing home", "Care > Nurse", "Medicine > Surgery", "Medicine > Vaccine"]
    )
    model = hierseed.fit(TEXTS, tree, embedder="wordllama", seeds_from_names="all", other=False)
    texts = ["staffing of nursing homes", "medicine", "heart surgery"]
    found = model.assign(texts).to_frame()["topic"].tolist()
    assert found == ["Care > Nursing home", "Medicine", "Medicine > Surgery"]
