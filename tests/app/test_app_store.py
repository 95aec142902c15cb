"""Documents, topics and labels in the project file."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierseed.app.project import Project
from hierseed.app.store import actions, documents, edits, examples, labels, topics
from hierseed.errors import CorpusError, ProjectError
from hierseed.taxonomy import Taxonomy


@pytest.fixture
def filled(empty: Project) -> Project:
    documents.add(
        empty,
        [
            ("a", "The climate policy of the city"),
            ("b", "Policy for the climate, in a café"),
            ("c", "A dog's life"),
            ("d", '<script>alert("x")</script> =1+2'),
        ],
    )
    edits.replace_all(
        empty, Taxonomy.from_paths(["Earth > Climate", "Earth > Water", "Pets > Dogs"]), "t.txt"
    )
    return empty


def ids(project: Project) -> dict[str, int]:
    here = topics.current(project)
    return dict(zip(here.taxonomy.paths, here.ids))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("climate policy", {"a", "b"}),
        ('"climate policy"', {"a"}),
        ("policy -city", {"b"}),
        ("cafe", {"b"}),
        ("poli", {"a", "b"}),
        ("poli ", set()),
        ("script", {"d"}),
        ("-climate", set()),
        ('"', set()),
        ("climate OR NEAR( * ^", set()),
        ("", {"a", "b", "c", "d"}),
    ],
)
def test_search(filled: Project, query: str, found: set[str]) -> None:
    page = documents.search(filled, query)
    assert {d.id for d in documents.get(filled, page.rows)} == found
    assert page.total == len(found)


@given(st.text(max_size=30))
@settings(max_examples=200, deadline=None)
def test_no_query_is_malformed(query: str) -> None:
    import sqlite3

    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5 (text)")
    for unfinished in (False, True):
        if match := documents.match_query(query, unfinished=unfinished):
            db.execute("SELECT * FROM t WHERE t MATCH ?", (match,)).fetchall()
    db.close()


def test_adding_again_goes_on_and_a_changed_text_is_refused(filled: Project) -> None:
    assert documents.add(filled, [("c", "A dog's life"), ("e", "new")]) == 1
    with pytest.raises(CorpusError, match="'a'"):
        documents.add(filled, [("f", "also new"), ("a", "changed")])
    assert [d.id for d in documents.every(filled)] == ["a", "b", "c", "d", "e"]
    assert documents.search(filled, "also").total == 0


def test_what_was_labelled_stays_labelled(filled: Project) -> None:
    """Rename, move, merge, load another taxonomy: ids and labels live on."""
    climate, water, pets = (ids(filled)[p] for p in ("Earth > Climate", "Earth > Water", "Pets"))
    labels.decide(filled, 0, climate, labels.YES)
    edits.rename(filled, climate, "Weather")
    edits.move(filled, climate, pets)
    assert topics.current(filled).path(climate) == "Pets > Weather"
    assert labels.seeds(filled) == {0: [climate]}
    edits.merge(filled, climate, water)
    assert labels.seeds(filled) == {0: [water]}
    assert labels.of_topic(filled, water) == [0]
    edits.replace_all(filled, Taxonomy.from_paths(["Earth > Water > Rain", "New"]), "u.txt")
    assert ids(filled)["Earth > Water"] == water
    assert labels.seeds(filled) == {0: [water]}
    assert labels.counts(filled) == {water: 1}


def test_every_edit_can_be_undone_to_the_start(filled: Project) -> None:
    start = topics.current(filled)
    climate, water, earth = (ids(filled)[p] for p in ("Earth > Climate", "Earth > Water", "Earth"))
    labels.decide(filled, 0, climate, labels.YES)
    steps = [
        lambda: edits.add(filled, None, "Sky"),
        lambda: edits.rename(filled, climate, "Weather"),
        lambda: edits.describe(filled, climate, "Rain and sun"),
        lambda: edits.move(filled, water, None),
        lambda: edits.split(filled, climate, ["Hot", "Cold"]),
        lambda: edits.merge(filled, climate, water),
        lambda: edits.delete(filled, earth),
        lambda: edits.replace_all(filled, Taxonomy.from_paths(["Only"]), "x"),
    ]
    seen = [start.taxonomy]
    for step in steps:
        step()
        seen.append(topics.current(filled).taxonomy)
        assert seen[-1] != seen[-2]
    for before in reversed(seen[:-1]):
        actions.undo(filled)
        assert topics.current(filled).taxonomy == before
    assert topics.current(filled).ids == start.ids
    assert labels.seeds(filled) == {0: [climate]}


def test_undo_refuses_when_someone_else_was_faster(filled: Project) -> None:
    climate = ids(filled)["Earth > Climate"]
    edits.rename(filled, climate, "Mine")
    mine = actions.to_undo(filled)
    assert mine is not None
    edits.rename(filled, climate, "Theirs")
    with pytest.raises(ProjectError, match="your last step"):
        actions.undo(filled, expected=mine.id)
    assert topics.current(filled).path(climate) == "Earth > Theirs"


@pytest.mark.parametrize(
    "step",
    [
        lambda p, i: edits.add(p, None, "Earth"),
        lambda p, i: edits.add(p, None, "  "),
        lambda p, i: edits.add(p, None, "a > b"),
        lambda p, i: edits.rename(p, i["Earth > Water"], "Climate"),
        lambda p, i: edits.move(p, i["Earth"], i["Earth > Water"]),
        lambda p, i: edits.merge(p, i["Earth"], i["Earth > Water"]),
        lambda p, i: edits.merge(p, i["Earth"], i["Earth"]),
        lambda p, i: edits.split(p, i["Earth"], ["X", "X"]),
        lambda p, i: labels.decide(p, 0, 999, 1),
    ],
)
def test_what_would_break_the_tree_is_refused_whole(filled: Project, step) -> None:  # type: ignore[no-untyped-def]
    before, pulse = topics.current(filled).taxonomy, filled.pulse()
    with pytest.raises(ProjectError):
        step(filled, ids(filled))
    assert topics.current(filled).taxonomy == before
    assert filled.pulse() == pulse


def test_labels_of_a_deleted_topic_come_back_with_undo(filled: Project) -> None:
    dogs = ids(filled)["Pets > Dogs"]
    labels.decide(filled, 2, dogs, labels.YES)
    edits.delete(filled, ids(filled)["Pets"])
    assert labels.seeds(filled) == {}
    with pytest.raises(ProjectError, match="deleted"):
        labels.decide(filled, 2, dogs, labels.YES)
    actions.undo(filled)
    assert labels.seeds(filled) == {2: [dogs]}


def test_a_move_leaves_one_seed_and_undo_returns_the_other(filled: Project) -> None:
    climate, water = ids(filled)["Earth > Climate"], ids(filled)["Earth > Water"]
    labels.decide(filled, 1, climate, labels.YES, exact=True)
    labels.decide(filled, 1, water, labels.YES, exact=True)
    assert labels.seeds(filled) == {1: [water]}
    actions.undo(filled)
    assert labels.seeds(filled) == {1: [climate]}
    actions.redo(filled)
    assert labels.seeds(filled) == {1: [water]}


def test_examples_count_once(filled: Project) -> None:
    dogs = ids(filled)["Pets > Dogs"]
    assert examples.add(filled, [(dogs, "Woof"), (dogs, "Woof"), (dogs, "Bark")]) == 2
    assert examples.add(filled, [(dogs, "Woof")]) == 0
    assert labels.counts(filled) == {dogs: 2}


def test_random_edits_keep_a_tree(empty: Project) -> None:
    """A law: whatever people do, the live topics are a taxonomy and undo leads back."""
    draw = np.random.default_rng(1)
    edits.replace_all(
        empty, Taxonomy.from_paths([f"T{i} > U{j}" for i in range(4) for j in range(3)]), "x"
    )
    seen = [topics.current(empty).taxonomy]
    while len(seen) < 40:
        live = list(topics.current(empty).ids)
        a, b = (int(x) for x in draw.choice(live, 2)) if live else (0, 0)
        fresh = f"n{len(seen)}"
        acts = [
            partial(edits.add, empty, a, fresh),
            partial(edits.move, empty, a, b),
            partial(edits.merge, empty, a, b),
            partial(edits.delete, empty, a)
            if len(live) > 8
            else partial(edits.add, empty, None, fresh),
        ]
        try:
            acts[int(draw.integers(4))]()
        except ProjectError:
            continue
        seen.append(topics.current(empty).taxonomy)
    for before in reversed(seen[:-1]):
        actions.undo(empty)
        assert topics.current(empty).taxonomy == before
    for after in seen[1:]:
        actions.redo(empty)
        assert topics.current(empty).taxonomy == after
    with pytest.raises(ProjectError, match="nothing to redo"):
        actions.redo(empty)


def test_a_new_change_ends_what_can_be_done_again(filled: Project) -> None:
    climate = ids(filled)["Earth > Climate"]
    edits.rename(filled, climate, "Weather")
    actions.undo(filled)
    edits.rename(filled, climate, "Sky")
    assert actions.to_redo(filled) is None
    actions.undo(filled)
    assert actions.redo(filled) == "Renamed 'Climate' to 'Sky'"


def test_words_are_found_in_scripts_without_spaces(empty: Project) -> None:
    documents.add(
        empty, [("zh", "气候变化影响农业"), ("ja", "気候は農業に影響する"), ("en", "farming")]
    )
    found = documents.search(empty, "农业")
    assert [d.id for d in documents.get(empty, found.rows)] == ["zh"]
    found = documents.search(empty, "農業 -farming")
    assert [d.id for d in documents.get(empty, found.rows)] == ["ja"]
    assert not documents.search(empty, "业农").rows  # a word is a phrase of its signs, in order
