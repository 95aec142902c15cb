"""Looking at a fit without a browser: tree, lists, rivals, reasons, suggestions, other columns."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hierseed.app import (
    corpus_import,
    document_map,
    fits,
    fitting,
    metadata,
    placements,
    review,
    review_queue,
    tree,
    vectors,
)
from hierseed.app.pages.session import Session
from hierseed.app.placements import Placements
from hierseed.app.project import Project
from hierseed.app.store import codings, documents, edits, labels, topics
from hierseed.app.store.actions import Person
from hierseed.app.vectors import Space
from hierseed.assignments import RECORD
from hierseed.taxonomy import Taxonomy


def id_of(project: Project, path: str) -> int:
    here = topics.current(project)
    return here.ids[here.taxonomy.index(path)]


def counts_of(project: Project, placed: Placements) -> dict[str, int]:
    """Documents of each line of the tree."""
    numbers = tree.tree_view(project, placed).numbers
    return {key: counted[0] or 0 for key, counted in numbers.items()}


def test_counts_in_the_tree_add_up(project: Project) -> None:
    last = fits.last(project)
    assert last is not None
    fit = last.placements(topics.current(project))
    shown = tree.tree_view(project, fit)
    counts = {key: numbers[0] or 0 for key, numbers in shown.numbers.items()}
    tops = [counts[line["key"]] for line in shown.lines if not line["parent"]]
    assert sum(tops) == len(fit.row) == documents.count(project)
    for key in counts:
        below = sum(counts[line["key"]] for line in shown.lines if line["parent"] == key)
        assert counts[key] == below + fit.own_counts.get(key, 0)
        found = review.listing(fit, key, "all", 0, 10**6)
        assert found.total == counts[key]


def test_documents_follow_their_topic_when_it_moves_or_merges(project: Project) -> None:
    fit = fits.last(project)
    assert fit is not None
    email, http, files = (
        id_of(project, p) for p in ("Internet > email", "Internet > http", "Files")
    )
    before = counts_of(project, fit.fitted)
    edits.move(project, email, files)
    edits.merge(project, http, email)
    placed = fit.placements(topics.current(project))
    after = counts_of(project, placed)
    assert after[str(email)] == before[str(email)] + before[str(http)]
    assert after[str(files)] == before[str(files)] + after[str(email)]
    assert sum(c for k, c in after.items() if k.isdigit()) > 0


def test_listing_orders(project: Project) -> None:
    last = fits.last(project)
    assert last is not None
    fit = last.placements(topics.current(project))
    key = str(id_of(project, "Files"))
    everything = review.listing(fit, key, "all", 0, 10**6).records
    orders = {k: review.listing(fit, key, k, 0, 10**6).records for k in review.KINDS}
    assert all(sorted(order) == everything for order in orders.values())
    level = fit.level(fit.keys.index(key)) - 1
    central = fit.distance[orders["central"], level]
    assert (np.diff(central) >= 0).all()
    assert (np.diff(fit.distance[orders["odd"], level]) <= 0).all()
    torn = [r for r in orders["borderline"] if fit.runner_up[r] >= 0]
    assert (np.diff(fit.score[torn, level]) >= 0).all()


def test_rivals_against_a_count_by_hand(project: Project) -> None:
    last, here = fits.last(project), topics.current(project)
    assert last is not None
    fit = last.placements(here)
    tree_ = fit.taxonomy.tree
    topic = fit.keys.index(str(id_of(project, "Internet")))
    by_hand: dict[int, int] = {}
    for record in range(len(fit.row)):
        second = int(fit.runner_up[record])
        doubtful = fit.final_score[record] < 0.5
        if topic in tree_.path(int(fit.topic[record])) and second >= 0 and doubtful:
            top = tree_.path(second)[0]
            if top != topic:
                by_hand[top] = by_hand.get(top, 0) + 1
    found = review.rivals(fit, here, fit.keys[topic], most=99)
    assert {line["key"]: line["count"] for line in found} == {
        fit.keys[t]: count for t, count in by_hand.items()
    }


def test_why_names_the_nearest_topics_and_seeds(project: Project) -> None:
    fit, space = fits.last(project), vectors.space(project)
    assert fit is not None
    assert space is not None
    seed = labels.of_topic(project, id_of(project, "Numbers > random"))[0]
    found = review.why(project, fit, space, seed)
    for level in found["levels"]:
        distances = [topic["distance"] for topic in level["topics"]]
        assert distances == sorted(distances)
        assert sum(topic["chosen"] for topic in level["topics"]) <= 1
    rows = [row for row in labels.seeds(project) if row != seed]
    whole = space.X[:]
    nearest = rows[int(np.argmax(whole[rows] @ whole[seed]))]
    assert found["seeds"][0]["row"] == nearest


def test_similar_is_the_cosine_and_the_sketch_finds_nearly_the_same(project: Project) -> None:
    space = vectors.space(project)
    assert space is not None
    rows, near = space.similar(space.X[5], 10)
    cosines = space.X[:] @ space.X[5]
    assert rows[0] == 5
    assert np.allclose(near, np.sort(cosines)[::-1][:10], atol=1e-6)


def test_the_coarse_search_agrees_with_the_exact_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = vectors.space(project)
    assert exact is not None
    monkeypatch.setattr(vectors, "EXACT", 10)
    monkeypatch.setattr(vectors, "SHORTLIST", 200)
    vectors._write_sketch(project.vectors, exact.store)
    coarse = Space(project.vectors, documents.count(project))
    assert coarse.whole is None
    shared = [
        len(set(exact.similar(exact.X[row], 10)[0]) & set(coarse.similar(exact.X[row], 10)[0]))
        for row in range(0, 400, 20)
    ]
    assert np.mean(shared) > 9


def test_suggestions_have_reasons_and_leave_out_what_was_judged(project: Project) -> None:
    session = Session(project)
    session.act("go", screen="seeds")
    key = str(id_of(project, "Files > zipfile"))
    view = session.act("select", key=key)["stage"]["view"]
    assert len(view["cards"]) == 12
    assert all(card["reason"] for card in view["cards"])
    first = view["cards"][0]["row"]
    view = session.act("say", row=first, verdict=1, key=key, seen=0)["stage"]["view"]
    assert view["cards"][0]["row"] == first  # the list stays where it is
    assert view["cards"][0]["accept"]["verdict"] == 1
    assert view["topic"]["seeds"] == 4
    view = session.act("refresh")["stage"]["view"]
    assert first not in [card["row"] for card in view["cards"]]


def test_without_a_topic_the_corpus_wide_suggestions_are_shown(project: Project) -> None:
    session = Session(project)
    view = session.act("go", screen="seeds")["stage"]["view"]
    assert view["topic"] is None
    assert len(view["cards"]) == 12
    card = view["cards"][0]
    assert card["reason"]
    if card["accept"]:
        key = card["accept"]["key"]
        session.act("say", row=card["row"], verdict=1, key=key, seen=0)
        assert int(key) in labels.seeds(project)[card["row"]]


def test_a_new_topic_from_the_dense_part_of_other(project: Project) -> None:
    fitting.fit(project, fitting.Dials(method="hierseed"))  # the default finds nothing missing here
    session = Session(project)
    session.act("go", screen="review")
    fit = fits.last(project)
    assert fit is not None
    counts = counts_of(project, fit.fitted)
    key = max((key for key in counts if key.startswith("other-")), key=lambda key: counts[key])
    session.act("select", key=key)
    view = session.act("groups")["stage"]["view"]
    assert view["groups"]
    size = len(topics.current(project).taxonomy)
    session.act("take_group", number=0, name="Found there")
    here = topics.current(project)
    assert len(here.taxonomy) == size + 1
    new = next(i for i, name in zip(here.ids, here.taxonomy.names) if name == "Found there")
    assert labels.counts(project)[new] == 3
    parent = topics.get(project, new).parent
    assert (parent or 0) == int(key.rpartition("-")[2])


def test_other_columns_filter_and_count(empty: Project, tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    parties = ("left", "right", "green")
    file.write_text(
        "id,text,year,party\n"
        + "".join(f"{i},about bread {i},{1990 + i % 10},{parties[i % 3]}\n" for i in range(90))
    )
    corpus_import.load_corpus(empty, file, "id", "text")
    edits.replace_all(empty, Taxonomy.from_paths(["A", "B"]), "t")
    session = Session(empty)
    session.act("go", screen="seeds")
    view = session.act("filter", column="party", value="left")["stage"]["view"]
    assert view["total"] == 30
    assert {card["columns"]["party"] for card in view["cards"]} == {"left"}
    view = session.act("filter", column="year", low=1992, high=1993)["stage"]["view"]
    assert view["total"] == 18
    view = session.act("search", query="bread 12")["stage"]["view"]
    assert [card["id"] for card in view["cards"]] == ["12"]
    assert session.act("filter", column="nonsense")["stage"]["view"]["filter"]["column"] == ""
    here = topics.current(empty)
    labels.load(empty, [(i, here.ids[i % 2]) for i in range(80)], "file")
    fit = fits.get(empty, fitting.fit(empty, fitting.Dials()))
    chart = metadata.over(empty, fit.placements(here), "year")
    assert chart is not None
    assert chart["titles"] == [str(year) for year in range(1990, 2000)]
    assert chart["totals"] == [9] * 10
    assert chart["ordered"]
    placed = fit.placements(here).labels
    by_hand = [sum(i % 10 == year and placed[i] == 0 for i in range(90)) for year in range(10)]
    line = next(line for line in chart["lines"] if line["name"] == "A")
    assert line["counts"] == by_hand
    assert sum(by_hand) >= 40  # its seeds
    below = metadata.over(empty, fit.placements(here), "year", str(here.ids[0]))
    assert below is not None
    assert [line["name"] for line in below["lines"]] == [line["name"] for line in chart["lines"]]


@pytest.mark.filterwarnings("error")
def test_steps_cover_the_values_and_nothing_else(empty: Project) -> None:
    """Negative numbers, gaps and an infinite cell change neither the range nor the titles."""
    values: list[Any] = [-100 - i / 7 for i in range(140)]
    cells = [*values, "", "inf"]
    found = [(str(i), f"text {i}") for i in range(len(cells))]
    documents.add(empty, found, [{"balance": cell} for cell in cells])
    empty.put("columns", ["balance"])
    steps, titles, ordered = metadata.bins(empty, "balance", len(cells))
    assert ordered
    assert steps is not None
    assert titles[0] == "-120"
    assert titles[-1] == "-100"
    assert len(titles) == 21
    assert steps[-2:].tolist() == [-1, -1]
    for value, step in zip(values, steps):
        assert float(titles[step]) <= value < float(titles[step]) + 1


def test_proposed_topics_are_looked_into_taken_and_dismissed(project: Project) -> None:
    fitting.fit(project, fitting.Dials(method="hierseed"))  # leaves many documents in Other
    session = Session(project, Person("a", "Anna"))
    view = session.act("go", screen="review")["stage"]["view"]
    offered = view["proposals"]
    assert len(offered) >= 2
    fit = fits.last(project)
    assert fit is not None
    placed = fit.placements(topics.current(project))
    for one in fit.proposals:  # nothing that a listed topic holds
        listed = placed.labels[one["rows"]] < len(placed.topic_ids)
        belongs = placed.belongs[placed.primary[one["rows"]], 0]
        assert not (listed & (placed.labels[one["rows"]] >= 0) & (belongs >= 0.5)).any()
    view = session.act("inside", id=offered[0]["id"])["stage"]["view"]
    assert view["total"] == min(offered[0]["size"], fits.KEPT)
    assert len(view["cards"]) > 0
    session.act("take_proposal", id=offered[0]["id"], name="Found there")
    here = topics.current(project)
    new = next(id for id, name in zip(here.ids, here.taxonomy.names) if name == "Found there")
    assert labels.of_topic(project, new) == fit.proposals[0]["rows"][:3][::-1]
    session.act("undo")  # topic and seeds go together
    assert "Found there" not in topics.current(project).taxonomy.names
    view = session.act("dismiss", id=offered[1]["id"])["stage"]["view"]
    left = {one["id"] for one in offered} - {offered[1]["id"]}
    assert {one["id"] for one in view["proposals"]} == left
    fitting.fit(project, fitting.Dials(method="hierseed"))
    view = session.act("go", screen="review")["stage"]["view"]
    assert offered[1]["id"] not in {one["id"] for one in view["proposals"]}


def test_review_searches_a_topic_and_the_address_keeps_search_and_filter(
    empty: Project, tmp_path: Path
) -> None:
    words = ["bread", "guns"]
    file = tmp_path / "docs.csv"
    lines = [f"d{i},a text about {words[i % 2]} and item{i % 3},{1990 + i}" for i in range(60)]
    file.write_text("id,text,year\n" + "\n".join(lines) + "\n")
    corpus_import.load_corpus(empty, file, "id", "text")
    ids = edits.replace_all(empty, Taxonomy.from_paths(["Bread", "Guns"]), "t")
    labels.load(empty, [(row, ids[row % 2]) for row in range(8)], "file")
    fitting.fit(empty, fitting.Dials())
    session = Session(empty)
    session.act("go", screen="review")
    key = str(ids[0])
    whole = session.act("select", key=key)["stage"]["view"]
    found = session.act("search", query="item1")["stage"]["view"]
    texts = [document.text for document in documents.every(empty)]
    fit = fits.last(empty)
    assert fit is not None
    inside = {row for row, topic in enumerate(fit.fitted.labels) if fit.fitted.keys[topic] == key}
    wanted = {row for row in inside if "item1" in texts[row]}
    assert found["total"] == len(wanted) < whole["total"] == found["members"] == len(inside)
    narrow = session.act("filter", column="year", low=2000.0, high=2010.0)
    wanted = {row for row in wanted if 2000 <= 1990 + row <= 2010}
    assert {card["row"] for card in narrow["stage"]["view"]["cards"]} == wanted
    again = Session(empty)
    again.restore(narrow["frame"]["address"])
    assert again.everything()["stage"] == narrow["stage"]


def test_the_queue_by_disagreement_asks_what_coders_and_fits_differ_about(
    project: Project,
) -> None:
    fit, here = fits.last(project), topics.current(project)
    assert fit is not None
    sample = codings.create(project, "s", [(row, "") for row in range(6)], {}, "Anna")
    for row in range(6):
        codings.code(project, sample, row, "Anna", codings.TOPICS, [here.ids[1]])
        codings.code(project, sample, row, "Ben", codings.TOPICS, [here.ids[2 if row == 4 else 1]])
    asked = review_queue.queue(project, fit.placements(here), fit.n, "disagreement")
    decided = review_queue.decided_rows(project)
    assert asked == [row for row in [4] if row not in decided]
    fitting.fit(project, fitting.Dials(method="unfit"))
    old, new = (fits.get(project, id).placements(here) for id in (1, 2))
    moved = {row for row in range(fit.n) if old.keys[old.labels[row]] != new.keys[new.labels[row]]}
    asked = review_queue.queue(project, new, fit.n, "disagreement")
    assert moved
    assert set(asked) == {*moved, 4} - decided


def test_the_map_packs_every_document_with_its_topic_and_its_step(project: Project) -> None:
    fit = fits.last(project)
    assert fit is not None
    edits.merge(project, id_of(project, "Files > zipfile"), id_of(project, "Files > tarfile"))
    packed = document_map.pack(project, fit)
    length = int.from_bytes(packed[:4], "little")
    header, body = json.loads(packed[4 : 4 + length]), packed[4 + length :]
    n = documents.count(project)
    assert header["n"] == n
    assert len(body) == 8 * n
    placed = fit.placements(topics.current(project))
    assert np.frombuffer(body, "<i4", n).tolist() == placed.labels.tolist()
    x = np.frombuffer(body, "<u2", n, 4 * n) / 65_535 * header["size"][0] + header["low"][0]
    y = np.frombuffer(body, "<u2", n, 6 * n) / 65_535 * header["size"][1] + header["low"][1]
    # A document lies on the island of its topic.
    drawn = fit.report["map"]
    for island, topic in enumerate(drawn["topic"]):
        here_too = fit.fitted.labels == topic
        away = np.hypot(x - drawn["tx"][island], y - drawn["ty"][island])[here_too]
        assert (away <= drawn["r"][island] + 1e-3).all()


def test_renumbered_placements_are_those_of_the_long_way(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Topics that were only added or renamed take a short way to the same placements."""
    fit = fits.last(project)
    assert fit is not None
    here = topics.current(project)
    shared, _ = placements.in_tree(fit.fitted, here)
    assert shared.score is fit.fitted.score  # nothing is copied
    edits.add(project, None, "Before all")
    edits.add(project, here.ids[0], "Between")
    edits.rename(project, here.ids[3], "Renamed")
    now = topics.current(project)
    short, number = placements.in_tree(fit.fitted, now)
    assert short.score is fit.fitted.score
    monkeypatch.setattr(placements, "_only_renumbered", lambda *given: False)
    long, other = placements.in_tree(fit.fitted, now)
    assert np.array_equal(number, other)
    for name in RECORD:
        assert np.array_equal(getattr(short, name), getattr(long, name), equal_nan=True), name
