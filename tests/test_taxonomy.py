import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierseed import Taxonomy
from hierseed.errors import SeedError, TaxonomyError


def test_parents_are_filled_in_and_come_first():
    taxonomy = Taxonomy.from_paths(["A > B > C", "D", ("A", "E")])
    assert taxonomy.paths == ("A", "A > B", "A > B > C", "D", "A > E")
    assert taxonomy.tree.level.tolist() == [1, 2, 3, 1, 2]
    assert taxonomy.index("A > B > C") == 2
    assert "A > B" in taxonomy
    assert "B" not in taxonomy


def test_same_name_under_two_parents_and_names_with_slashes():
    taxonomy = Taxonomy.from_paths(["Health > HIV/AIDS", "Work > Other", "Health > Other"])
    assert taxonomy.index("Work > Other") != taxonomy.index("Health > Other")
    assert taxonomy.names[taxonomy.index("Health > HIV/AIDS")] == "HIV/AIDS"


def test_every_fault_is_named_at_once():
    with pytest.raises(TaxonomyError) as fault:
        Taxonomy.from_paths(["A > B", "A > B", ("A", ""), ("C", "x > y"), ("D", "line\nbreak")])
    text = str(fault.value)
    for wanted in ("'A > B' occurs twice", "empty name", "separator", "line break", "4 faults"):
        assert wanted in text


def test_cycles_are_refused_with_their_chain_in_any_order_of_rows():
    with pytest.raises(TaxonomyError) as fault:
        Taxonomy.from_parents(list("abcdef"), [1, 2, 0, -1, 5, 4])
    assert "'a' -> 'b' -> 'c' -> 'a'" in str(fault.value)
    assert "'e' -> 'f' -> 'e'" in str(fault.value)
    assert Taxonomy.from_parents(["child", "top"], [1, -1]).paths == ("top", "top > child")


def test_other_topics_are_appended_and_ids_stay():
    taxonomy = Taxonomy.from_paths(["A > a", "A > Other", "B > b"])
    extended = taxonomy.with_others([-1, taxonomy.index("A"), taxonomy.index("B")])
    assert extended.paths[: len(taxonomy)] == taxonomy.paths
    assert extended.paths[len(taxonomy) :] == ("Other", "A > Other (unlisted)", "B > Other")
    assert extended.is_other.tolist() == [False] * len(taxonomy) + [True] * 3
    assert extended.without_others() == taxonomy
    assert extended.first(len(taxonomy)) == taxonomy
    grown = extended.add(["B > new", "C"])
    assert grown.paths[: len(extended)] == extended.paths


def test_labels_from_paths():
    taxonomy = Taxonomy.from_paths(["A > a", "B"])
    y = taxonomy.labels({"A > a": [0, 3], "B": [1]}, 5)
    assert y.tolist() == [1, 2, -1, 1, -1]
    assert taxonomy.labels({"A > a": [0], "B": [0]}, 2) == [[1, 2], []]
    with pytest.raises(SeedError, match=r"did you mean 'A > a'.*row 9 .* is outside 0 … 4"):
        taxonomy.labels({"A > aa": [0], "B": [9]}, 5)
    for rows in (["17"], [1.5], 1.5, "17"):
        with pytest.raises(SeedError, match="no row number"):
            taxonomy.labels({"B": rows}, 50)
    guns = Taxonomy.from_paths(["Health and public welfare", "Safety of the public > Guns"])
    assert guns.labels({"Guns": [0]}, 2).tolist() == [2, -1]  # the only topic of that name
    with pytest.raises(SeedError, match="no topic 'Gun'"):
        guns.labels({"Gun": [0]}, 5)


def test_thousands_of_topics_are_quick_and_right():
    paths = [f"{a} > {b} > {c}" for a in range(20) for b in range(20) for c in range(25)]
    taxonomy = Taxonomy.from_paths(paths)
    assert len(taxonomy) == 20 + 400 + 10_000
    assert taxonomy.tree.is_leaf.sum() == 10_000
    extended = taxonomy.with_others(range(-1, 420))
    assert len(extended) == len(taxonomy) + 421


@given(st.lists(st.integers(-1, 30), min_size=1, max_size=30))
def test_tree_laws(raw):
    parent = [min(p, i - 1) for i, p in enumerate(raw)]
    tree = Taxonomy([str(i) for i in range(len(parent))], parent).tree
    for topic in range(len(tree)):
        path = tree.path(topic)
        assert len(path) == tree.level[topic]
        assert [p for p in tree.ancestors[topic] if p >= 0] == path
        assert tree.is_leaf[topic] == (len(tree.children(topic)) == 0)
        assert all(tree.parent[child] == topic for child in tree.children(topic))
    assert sum(len(tree.children(t)) for t in range(-1, len(tree))) == len(tree)
    assert (tree.ancestors[-1] == -1).all()


def test_it_shows_itself_escaped_and_with_counts():
    taxonomy = Taxonomy.from_paths(["<b> > x & y"])
    html = taxonomy.to_html(np.array([3, 2]))
    assert "&lt;b&gt;" in html
    assert "x &amp; y" in html
    assert "<b>x" not in html
    assert ">3<" in html


@pytest.mark.parametrize(
    "given",
    [
        {"names": 3, "parent": [-1]},
        {"names": "AB", "parent": [-1, -1]},
        {"names": ["A", 7], "parent": [-1, -1]},
        {"names": ["A", None], "parent": [-1, -1]},
        {"names": ["A"], "parent": "x"},
        {"names": ["A"], "parent": [[-1]]},
        {"names": ["A"], "parent": [0.5]},
        {"names": ["A"], "parent": [2**80]},
        {"names": ["A"], "parent": [5]},
        {"names": ["A"], "parent": None},
        {"names": ["A"], "parent": [-1], "codes": [3]},
        {"names": ["A"], "parent": [-1], "descriptions": 4},
        {"names": ["A"], "parent": [-1], "is_other": [True, False]},
    ],
)
def test_parts_of_a_wrong_type_are_refused_with_the_part(given):
    """As a damaged or edited model may hold them."""
    with pytest.raises(TaxonomyError):
        Taxonomy(**given)


def test_labels_say_what_they_take_and_take_last_names():
    taxonomy = Taxonomy.from_paths(["A > B", "C > B", "C > D"])
    with pytest.raises(SeedError, match=r"got a int and a dict. Write labels"):
        taxonomy.labels(3, {"A": [0]})
    assert taxonomy.labels({"D": [1], "A > B": [0]}, 3).tolist() == [1, 4, -1]
    with pytest.raises(SeedError, match="no topic 'B'"):
        taxonomy.labels({"B": [0]}, 3)
