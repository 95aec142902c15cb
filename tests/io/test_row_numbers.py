"""Row numbers as ids: the same answers as a list of them, without walking it."""

import numpy as np
import pytest

from hierseed.errors import SeedError
from hierseed.io.documents import RowNumbers
from hierseed.io.seeds import Seeds


def seeds_of(**topics):
    return Seeds(by_id={id.removeprefix("row"): given for id, given in topics.items()})


@pytest.mark.parametrize("numbers", [range(50), range(20, 50), range(3, 40, 4)])
def test_an_id_is_found_as_in_a_list(numbers):
    ids, plain = RowNumbers(numbers), [str(number) for number in numbers]
    for id in ["0", "7", "19", "20", "49", "50", "-1", "007", " 7", "x", "²", ""]:
        assert (id in ids) == (id in plain)
        assert ids.rows([id]) == ([plain.index(id)] if id in plain else [])


@pytest.mark.parametrize("topics", [{"row3": [1], "row40": [2]}, {"row3": [1, 5], "row0": [2]}])
def test_seeds_become_the_same_labels(topics):
    seeds, n = seeds_of(**topics), 50
    by_number, by_list = seeds.rows(RowNumbers(n)), seeds.rows([str(row) for row in range(n)])
    assert type(by_number) is type(by_list)
    assert [np.atleast_1d(one).tolist() for one in by_number] == [
        np.atleast_1d(one).tolist() for one in by_list
    ]


def test_missing_seeds_are_named():
    with pytest.raises(
        SeedError, match=r"2 of 3 seed documents are not in the corpus of 50: '50', 'x'"
    ):
        seeds_of(row3=[1], row50=[1], rowx=[2]).rows(RowNumbers(50))


def test_many_millions_of_rows_are_not_walked(monkeypatch):
    """A list of 10**9 ids would not fit in memory."""
    monkeypatch.setattr(RowNumbers, "__iter__", None)
    ids = RowNumbers(10**9)
    assert "999999999" in ids
    assert ids.rows(["1000000000", "17"]) == [17]
