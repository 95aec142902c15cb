"""Where documents of left-out topics went, told in words and counted one by one."""

from collections import Counter

import numpy as np
import pytest

from hierseed.evaluate import score_left_out
from hierseed.evaluate.left_out import INSIDE
from hierseed.taxonomy import Taxonomy
from hierseed_bench.data.dataset import Dataset
from hierseed_bench.data.reshape import leave_out

PATHS = ["A > B", "A > C > D", "A > C > E", "F > G", "F > H", "I"]
OTHER = "Other"


def fate(place: str | None, home: str | None) -> str:
    """What became of one document: its place and its missing topic's parent, as paths.

    A place of None is no topic at all; a home of None is the root.
    """
    if place is None:
        return "none, home" if home is None else "none"
    above, _, name = place.rpartition(" > ")
    if name == OTHER:
        return "right other" if (above or None) == home else "wrong other"
    return "stopped" if place == home else "listed"


@pytest.mark.parametrize("seed", range(6))
def test_shares_are_those_of_counting_in_words(seed):
    rng = np.random.default_rng(seed)
    kept = Taxonomy.from_paths(PATHS)
    parents = rng.choice(np.arange(-1, len(kept)), 4, replace=False)
    inner = [int(p) for p in parents if p < 0 or not kept.tree.is_leaf[p]] or [-1]
    fitted = kept.with_others(inner)
    predicted = rng.integers(-1, len(fitted), 400)
    home = rng.choice([INSIDE, -1, *np.flatnonzero(~kept.tree.is_leaf)], 400)
    names = [*(path if not other else _plain(path) for path, other in _marked(fitted)), None]
    counts, alarms, listed = Counter(), 0, 0
    for at, parent in zip(predicted, home):
        if parent == INSIDE:
            listed += 1
            alarms += names[at] is None or names[at].rpartition(" > ")[2] == OTHER
        else:
            counts[fate(names[at], None if parent < 0 else kept.paths[parent])] += 1
    total = counts.total()
    result = score_left_out(fitted, predicted, home)
    assert (result.left_out, result.kept) == (total, listed)
    assert result.home_other == pytest.approx(counts["right other"] / total)
    assert result.home_stopped == pytest.approx(counts["stopped"] / total)
    assert result.none == pytest.approx((counts["none"] + counts["none, home"]) / total)
    assert result.elsewhere_other == pytest.approx(counts["wrong other"] / total)
    assert result.listed == pytest.approx(counts["listed"] / total)
    right = counts["right other"] + counts["stopped"] + counts["none, home"]
    assert result.home == pytest.approx(right / total)
    assert result.false_alarm == pytest.approx(alarms / listed)


def _marked(taxonomy):
    return zip(taxonomy.paths, taxonomy.is_other)


def _plain(path: str) -> str:
    """An Other by its bare name, whatever number it was given."""
    above, gap, _ = path.rpartition(" > ")
    return f"{above}{gap}{OTHER}"


def test_every_document_of_a_left_out_topic_gets_the_home_that_a_reader_would_give():
    """The way there: labels, the reduced taxonomy and homes of a whole data set, by their paths."""
    whole = Taxonomy.from_paths([f"{a} > {b}" for a in "ABCDE" for b in "uvwxyz"])
    rng = np.random.default_rng(0)
    leaves = np.flatnonzero(whole.tree.is_leaf)
    labels = [[int(leaf)] for leaf in rng.permutation(np.repeat(leaves, 5))]
    ids = [str(row) for row in range(len(labels))]
    found = leave_out(Dataset("made", whole, labels, ids, ids), 0.2)
    kept = found.dataset.taxonomy
    left = set(whole.paths) - set(kept.paths)
    tops = {path for path in left if " > " not in path}
    assert len(tops) == 1
    for row, (topic,) in enumerate(labels):
        path = whole.paths[topic]
        top = path.split(" > ")[0]
        home = found.home[row]
        if path in kept.paths:
            assert home == INSIDE
        elif top in tops:
            assert home == -1
        else:
            assert kept.paths[home] == top
