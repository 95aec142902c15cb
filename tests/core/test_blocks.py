"""How a corpus is divided into blocks, and what blocks of one pass share."""

import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.blocks import Families


class Wide:
    """A matrix that has only a shape."""

    dtype = np.dtype(np.float32)

    def __init__(self, *shape):
        self.shape = shape


def edges(block, *_):
    return block.start, block.stop


@given(
    st.integers(1, 3_000_000), st.integers(1, 4096), st.integers(1, 40), st.sampled_from([1, 2, 12])
)
def test_blocks_hold_every_row_once_and_threads_get_as_many_the_largest_first(
    n, width, threads, largest
):
    found = ArrayBlocks(Wide(n, width), threads=threads, largest=largest)._blocks
    assert (found[0].start, found[-1].stop) == (0, n)
    assert all(one.stop == other.start for one, other in pairwise(found))
    size = [len(block) for block in found]
    assert min(size) > 0
    if len(size) > threads > 1:
        assert len(size) % threads == 0
        assert all(b <= a + 1 for a, b in pairwise(size))  # but for rounding
        assert size[0] > size[-1]
    else:
        assert max(size) - min(size) <= 1


def test_results_come_in_order_of_rows_for_any_number_of_threads():
    X = np.zeros((5000, 3), dtype=np.float32)
    parts = list(ArrayBlocks(X, block_rows=7, threads=5).map(edges))
    assert parts == [(at, min(at + 7, 5000)) for at in range(0, 5000, 7)]
    assert Counter(stop - start for start, stop in parts) == {7: 714, 2: 1}


def test_what_blocks_prepared_from_centres_is_not_sent_to_workers():
    centres = Families(np.eye(4), np.array([0, 2]))
    size = len(pickle.dumps(centres))
    centres.prepared["panels"] = np.zeros(1000)
    assert len(pickle.dumps(centres)) == size
    back = pickle.loads(pickle.dumps(centres))
    assert np.array_equal(back.vectors, centres.vectors)
    assert back.edges == centres.edges
    assert not back.prepared
