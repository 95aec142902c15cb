"""Edits of a taxonomy, and how a fit follows them."""

import numpy as np
import pytest

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy
from hierseed.errors import TaxonomyError
from hierseed.estimators.earlier import match_topics

OLD = Taxonomy.from_paths(["A > B > C", "A > D", "E > F", "E > G"])


def was(new):
    """The old path of each topic of an edited taxonomy."""
    found = match_topics(OLD, new)
    return {path: OLD.paths[i] if i >= 0 else None for path, i in zip(new.paths, found)}


def test_each_edit_and_what_becomes_of_the_topics():
    new = OLD.rename("A", "Z")
    assert was(new)["Z > B > C"] == "A > B > C"
    new = new.move("Z > B", "E")
    assert was(new)["E > B > C"] == "A > B > C"
    new = new.merge("E > F", "E > G")
    assert "E > F" not in new
    assert was(new)["E > G"] == "E > G"
    new = new.split("E > G", ["new", "newer"])
    assert was(new)["E > G > new"] is None
    new = new.delete("Z")
    assert set(new.paths) == {"E", "E > G", "E > G > new", "E > G > newer", "E > B", "E > B > C"}
    assert [edit.kind for edit in new.log] == ["rename", "move", "merge", "split", "delete"]
    assert OLD.log == ()
    assert OLD.paths[0] == "A"  # nothing was changed in place


def test_a_name_that_is_used_again_is_another_topic():
    new = OLD.rename("E > F", "H").add(["E > F"])
    assert was(new)["E > H"] == "E > F"
    assert was(new)["E > F"] is None


def test_codes_and_addresses_are_followed_without_a_log():
    old = Taxonomy(["A", "B"], [-1, 0], codes=["1", "2"])
    new = Taxonomy(["X", "Y", "A"], [-1, -1, -1], codes=["2", "1", ""])
    assert match_topics(old, new) == [1, 0, 0]
    old = Taxonomy(["A", "B"], [-1, 0], addresses=["u:1", "u:2"])
    new = Taxonomy(["B", "A"], [-1, 0], addresses=["u:2", "u:1"])
    assert match_topics(old, new) == [1, 0]


def test_edits_that_make_no_tree_are_refused():
    for edit in (
        lambda: OLD.move("A", "A > B"),
        lambda: OLD.merge("A", "A > D"),
        lambda: OLD.rename("E > F", "G"),
        lambda: OLD.rename("E > F", "x > y"),
        lambda: OLD.delete("nowhere"),
    ):
        with pytest.raises(TaxonomyError):
            edit()


@pytest.mark.parametrize("method", [HierSeed, AnchoredHierSeed])
def test_a_fit_follows_renamed_and_moved_topics(method):
    rng = np.random.default_rng(0)
    leaves = [i for i in range(len(OLD)) if OLD.tree.is_leaf[i]]
    centres = rng.normal(size=(len(OLD), 6)) * 5
    truth = rng.choice(leaves, 200)
    X = (centres[truth] + rng.normal(size=(200, 6))).astype(np.float32)
    y = np.full(200, -1)
    for leaf in leaves:
        y[np.flatnonzero(truth == leaf)[:4]] = leaf
    first = method(OLD, other=False).fit(X, y)
    same = method(OLD, other=False).fit(X, start=first)
    new = OLD.rename("A", "Z").rename("E > F", "H")
    renamed = method(new, other=False).fit(X, start=first)
    np.testing.assert_array_equal(renamed.labels_, same.labels_)  # a name changes nothing
    new = OLD.move("A > B", "E")
    moved = method(new, other=False).fit(X, start=first)
    found = np.array([*match_topics(OLD, new), -1])
    below = np.isin(same.labels_, [OLD.index("A > B > C")])
    assert (found[moved.labels_] == same.labels_)[below].mean() > 0.9


def edited():
    """A name given up and taken again by another topic: only the log tells them apart."""
    return OLD.rename("E > F", "H").rename("E > G", "F").split("A > D", ["x", "y"])


def test_the_log_is_written_with_the_taxonomy_and_read_again(tmp_path):
    new = edited()
    new.write(tmp_path / "new.json")
    again = Taxonomy.read(tmp_path / "new.json")
    assert sorted(again.paths) == sorted(new.paths)
    assert again.log == new.log
    assert was(again)["E > F"] == "E > G"


def test_a_model_fitted_after_some_edits_is_followed_by_the_later_ones_only():
    new = edited()
    later = new.rename("E > F", "last")
    found = match_topics(new, later)
    assert [new.paths[i] for i in found] == list(new.paths)
    assert match_topics(new, new) == list(range(len(new)))


@pytest.mark.parametrize(
    "edits", ["7", '["rename"]', '[["rename", "A"], 3]', '[["fly", "A", "B"]]', '[["move", 1, 2]]']
)
def test_a_log_that_is_none_is_refused_with_its_place(tmp_path, edits):
    file = tmp_path / "new.json"
    file.write_text(f'{{"topics": [{{"name": "A"}}], "edits": {edits}}}')
    with pytest.raises(TaxonomyError, match=r"\$\.edits"):
        Taxonomy.read(file)
