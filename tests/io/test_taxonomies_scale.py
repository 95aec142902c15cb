"""A hundred thousand topics are read, written and extended in seconds, not in minutes.

No test here looks at a clock: a quadratic step would make them run for hours.
"""

import numpy as np
import pytest
from taxonomy_cases import read_bytes, written

from hierseed import Taxonomy
from hierseed.io.taxonomies import FORMATS
from hierseed.topics import OTHER

N = 100_000


@pytest.fixture(scope="module")
def large() -> Taxonomy:
    parent = [(i - 1) // 10 for i in range(N)]
    parent[0] = -1
    return Taxonomy([f"topic {i}" for i in range(N)], parent)


def test_others_are_appended_in_one_pass(large: Taxonomy) -> None:
    inner = np.flatnonzero(~large.tree.is_leaf)
    more = large.with_others([-1, *inner])
    assert len(more) == N + 1 + len(inner)
    assert more.names[N] == OTHER
    assert (more.tree.parent[N + 1 :] == inner).all()
    assert more.is_other.sum() == 1 + len(inner)
    assert more.without_others() == large


def test_two_others_for_one_topic_get_two_names() -> None:
    taxonomy = Taxonomy.from_paths(["A > Other"]).with_others([0, 0, -1])
    assert taxonomy.names == ("A", "Other", "Other (unlisted)", "Other (unlisted 2)", "Other")


def test_large_taxonomies_come_back(large: Taxonomy) -> None:
    assert read_bytes("paths", written(large, "paths")) == large


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_large_taxonomies_come_back_in_every_format(large: Taxonomy, name: str) -> None:
    again = read_bytes(name, written(large, name))
    assert set(again.paths) == set(large.paths)


def test_parents_that_come_last(large: Taxonomy) -> None:
    lines = [f"t{i},{f't{(i - 1) // 10}' if i else ''}" for i in reversed(range(N))]
    again = read_bytes("csv", "\n".join(["name,parent", *lines]))
    assert len(again) == N
    assert again.tree.height == large.tree.height
