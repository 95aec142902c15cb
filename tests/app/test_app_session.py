"""The screens without a browser: what is shown, and what a click does."""

from pathlib import Path

import numpy as np
import pytest

from hierseed.app import (
    compare,
    fits,
    fitting,
    jobs,
    loading,
    metadata,
    review,
    tree,
    uploads,
    vectors,
)
from hierseed.app.loading import look_at_corpus
from hierseed.app.pages.session import SCREENS, Session
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, labels, topics
from hierseed.app.store.actions import Person
from hierseed.app.vectors import Space
from hierseed.io.corpus import ROW_NUMBER
from hierseed.taxonomy import Taxonomy


def id_of(project: Project, path: str) -> int:
    here = topics.current(project)
    return here.ids[here.taxonomy.index(path)]


def test_every_screen_shows_an_empty_project(empty: Project) -> None:
    session = Session(empty)
    for kind in SCREENS:
        news = session.act("go", screen=kind.name)
        assert news["stage"]["name"] == kind.name
        assert news["notes"] == []


def test_what_a_page_must_not_ask_is_answered_with_a_note(project: Project) -> None:
    session = Session(project)
    before = project.pulse()
    for asked in (
        {"do": "nonsense"},
        {"do": "select", "key": "drop table"},
        {"do": "say", "row": 1, "verdict": 7, "key": "1"},
        {"do": "say", "row": 10**9, "verdict": 1, "key": str(id_of(project, "Files"))},
        {"do": "move", "row": 1, "key": "none"},
        {"do": "__init__"},
        {"do": "page"},
    ):
        session.act("go", screen="seeds")
        news = session.act(asked["do"], **{k: v for k, v in asked.items() if k != "do"})
        assert [note["kind"] for note in news["notes"]] == ["bad"], asked
    assert project.pulse() == before


def test_counts_in_the_tree_add_up(project: Project) -> None:
    last = fits.last(project)
    assert last is not None
    fit = last.today(topics.current(project))
    lines = {line["key"]: line for line in tree.tree_view(project, fit)}
    tops = [line["count"] for line in lines.values() if not line["parent"]]
    assert sum(tops) == len(fit.row) == documents.count(project)
    for key, line in lines.items():
        below = sum(other["count"] for other in lines.values() if other["parent"] == key)
        own = fit.own_counts.get(key, 0)
        assert line["count"] == below + own
        found = review.listing(fit, key, "all", 0, 10**6)
        assert found.total == line["count"]


def test_documents_follow_their_topic_when_it_moves_or_merges(project: Project) -> None:
    fit = fits.last(project)
    assert fit is not None
    email, http, files = (
        id_of(project, p) for p in ("Internet > email", "Internet > http", "Files")
    )
    before = {line["key"]: line["count"] for line in tree.tree_view(project, fit.fitted)}
    edits.move(project, email, files)
    edits.merge(project, http, email)
    placed = fit.today(topics.current(project))
    after = {line["key"]: line["count"] for line in tree.tree_view(project, placed)}
    assert after[str(email)] == before[str(email)] + before[str(http)]
    assert after[str(files)] == before[str(files)] + after[str(email)]
    assert sum(c for k, c in after.items() if k.isdigit()) > 0


def test_listing_orders(project: Project) -> None:
    last = fits.last(project)
    assert last is not None
    fit = last.today(topics.current(project))
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
    fit = last.today(here)
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


def test_a_correction_is_a_seed_and_counts_at_the_next_fit(project: Project) -> None:
    """Move five documents of one topic to another by hand: the fit follows."""
    session = Session(project)
    session.act("go", screen="review")
    source, target = str(id_of(project, "Internet > ftplib")), id_of(project, "Files > shutil")
    view = session.act("select", key=source)["stage"]["view"]
    rows = [card["row"] for card in view["cards"]][:5]
    for row in rows:
        session.act("move", row=row, key=str(target))
    assert all(labels.seeds(project)[row] == [target] for row in rows)
    first = fits.last(project)
    fitting.fit(project, fitting.Dials(method="unfit"))
    second = fits.last(project)
    assert first is not None
    assert second is not None
    assert second.facts["seeds"] >= first.facts["seeds"]
    here = topics.current(project)
    then, now = first.today(here), second.today(here)
    found = compare.compare(then, now, here)
    assert found["moved"] + found["same"] == first.n
    old, new = ([p.keys[int(t)] for t in p.labels] for p in (then, now))
    assert found["moved"] == sum(a != b for a, b in zip(old, new))
    way = found["ways"][0]
    moved, total = compare.movers(then, now, way["from"], way["to"], 0, 5)
    assert total == way["count"]
    assert all(old[row] == way["from"] and new[row] == way["to"] for row in moved)


def test_a_new_topic_from_the_dense_part_of_other(project: Project) -> None:
    fitting.fit(project, fitting.Dials(method="hierseed"))  # the default finds nothing missing here
    session = Session(project)
    session.act("go", screen="review")
    fit = fits.last(project)
    assert fit is not None
    others = [
        line for line in tree.tree_view(project, fit.fitted) if line["key"].startswith("other-")
    ]
    key = max(others, key=lambda line: line["count"])["key"]
    session.act("select", key=key)
    view = session.act("parts")["stage"]["view"]
    assert view["parts"]
    size = len(topics.current(project).taxonomy)
    session.act("take_part", number=0, name="Found there")
    here = topics.current(project)
    assert len(here.taxonomy) == size + 1
    new = next(i for i, name in zip(here.ids, here.taxonomy.names) if name == "Found there")
    assert labels.counts(project)[new] == 3
    parent = topics.get(project, new).parent
    assert (parent or 0) == int(key.rpartition("-")[2])


def test_tick_tells_another_tab(project: Project) -> None:
    mine, theirs = Session(project), Session(project)
    assert mine.tick() is not None  # learns the state of the last job
    assert mine.tick() is None
    theirs.act("go", screen="seeds")
    theirs.act("select", key=str(id_of(project, "Files > zipfile")))
    theirs.act("say", row=3, verdict=1, key=theirs.key)
    news = mine.tick()
    assert news is not None
    assert news["frame"]["seeds"] == sum(labels.counts(project).values())
    assert mine.tick() is None


def test_load_screen_previews_and_tells_every_fault(empty: Project, tmp_path: Path) -> None:
    folder = uploads.folder(empty)
    corpus = folder / "aaaaaaaa.csv"
    corpus.write_text(
        "key,body,year\n1,First text here,2001\n2,,2002\n1,Again,2003\n4,Last one,2004\n"
    )
    session = Session(empty)
    view = session.act("uploaded", kind="corpus", token=corpus.name, name="news.csv")["stage"][
        "view"
    ]
    assert (view["preview"]["id"], view["preview"]["text"]) == ("key", "body")
    assert view["checked"]["facts"][0].startswith("2 documents")
    faults = "\n".join(view["checked"]["faults"])
    assert "empty text" in faults
    assert "id stands twice" in faults
    assert "news.csv:3" in faults
    assert "aaaaaaaa" not in str(view)

    bad = folder / "bbbbbbbb.txt"
    bad.write_text("A > B\nA > B\nC > \n")
    view = session.act("uploaded", kind="taxonomy", token=bad.name, name="t.txt")["stage"]["view"]
    assert len(view["told"]["taxonomy"]["faults"]) >= 2
    assert view["topics"] == 0
    good = folder / "cccccccc.txt"
    good.write_text("A > B\nA > C\n")
    view = session.act("uploaded", kind="taxonomy", token=good.name, name="t.txt")["stage"]["view"]
    assert view["topics"] == 3
    assert not good.exists()

    session.act("load")
    job = jobs.latest(empty)
    assert job is not None
    done = jobs.wait(empty, job.id)
    assert done.state == "done"
    assert done.message.startswith("2 documents added; 2 rows left out")
    assert "news.csv:3" in done.message
    assert documents.count(empty) == 2
    seeds = folder / "dddddddd.csv"
    seeds.write_text("id,text,topic\n4,,A > B\n99,,A > C\n4,,Nowhere\n,own words,C\n")
    view = session.act("uploaded", kind="seeds", token=seeds.name, name="s.csv")["stage"]["view"]
    assert view["told"]["seeds"]["facts"] == ["2 seeds added, 0 removed, 0 as before"]
    assert len(view["told"]["seeds"]["faults"]) == 2


@pytest.mark.parametrize(
    ("encoding", "title"),
    [("cp1252", "Windows-1252"), ("utf-16", "UTF-16"), ("utf-8-sig", ""), ("utf-8", "")],
)
def test_a_corpus_in_another_encoding_is_read_and_said(
    empty: Project, encoding: str, title: str
) -> None:
    corpus = uploads.folder(empty) / "aaaaaaaa.csv"
    text = "id,text\n" + "".join(f"{i},café – “naïve”\n" for i in range(9))
    corpus.write_bytes(text.encode(encoding))
    done = Session(empty).act("uploaded", kind="corpus", token=corpus.name, name="news.csv")
    view = done["stage"]["view"]
    assert view["checked"]["faults"] == []
    assert view["checked"]["facts"][0].startswith("9 documents")
    assert view["preview"]["rows"][0] == ["0", "café – “naïve”"]
    assert [title] * bool(title) == [
        t for t in ("Windows-1252", "UTF-16") if t in str(view["preview"]["facts"])
    ]


def test_taxonomy_screen_edits_and_undoes(project: Project) -> None:
    session = Session(project)
    session.act("go", screen="taxonomy")
    key = str(id_of(project, "Files > tarfile"))
    session.act("select", key=key)
    session.act("rename", name="tar archives")
    session.act("describe", description="Archives of tape")
    session.act("move", to="")
    view = session.act("add", name="gz")["stage"]["view"]
    assert view["topic"]["path"] == "tar archives > gz"
    session.act("delete")
    session.act("undo")
    here = topics.current(project)
    assert here.path(int(key)) == "tar archives"
    assert "tar archives > gz" in here.taxonomy.paths
    news = session.act("undo", expected=1)
    assert news["notes"][0]["kind"] == "bad"
    session.act("redo", expected=news["frame"]["redo"][0])
    assert "tar archives > gz" not in topics.current(project).taxonomy.paths


def test_names_that_stand_in_are_not_counted_as_seeds(project: Project) -> None:
    here = topics.current(project)
    bare = here.ids[here.taxonomy.index("Files > shutil")]
    for row, ids in labels.seeds(project).items():
        if bare in ids:
            labels.decide(project, row, bare, 0)
    given = sum(map(len, labels.seeds(project).values()))
    facts = fits.get(project, fitting.fit(project, fitting.Dials())).facts
    assert (facts["seeds"], facts["names"]) == (given, 1)


@pytest.mark.parametrize(
    ("header", "id"),
    [
        ("Record No,Text,Year", "Record No"),
        ("Year,CaseNumber,Text", "CaseNumber"),
        ("Year No,Record ID,Text", "Record ID"),  # a year stands twice
        ("Year,Notes,Text", ROW_NUMBER),
    ],
)
def test_a_column_that_numbers_the_rows_is_guessed(header: str, id: str, tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    values = {"Text": "A text of some length, number {}", "Year": "2001", "Year No": "2001"}
    rows = [
        ",".join(f'"{values.get(name, "R-{}").format(i)}"' for name in header.split(","))
        for i in range(9)
    ]
    file.write_text("\n".join([header, *rows]) + "\n")
    look = look_at_corpus(file)
    assert (look.id, look.text, len(look.rows)) == (id, "Text", 6)


def test_documents_without_topics_open_where_the_topics_are_brought(empty: Project) -> None:
    documents.add(empty, [(str(i), f"text {i}") for i in range(7)])
    session = Session(empty)
    assert session.screen == "load"
    view = session.act("go", screen="seeds")["stage"]["view"]
    assert (view["mode"], view["total"], len(view["cards"])) == ("search", 7, 7)
    key = str(edits.add(empty, None, "A"))
    assert Session(empty).screen == "seeds"
    assert session.act("select", key=key)["stage"]["view"]["mode"] == "suggest"


def test_vectors_of_an_older_version_are_made_again(project: Project) -> None:
    header = project.vectors / "store.json"
    header.write_text(header.read_text().replace('"format": 2', '"format": 1'))
    project.memo.clear()
    session = Session(project)
    for kind in SCREENS:
        assert session.act("go", screen=kind.name)["notes"] == []
    assert vectors.space(project) is None
    assert fits.get(project, fitting.fit(project, fitting.Dials(method="unfit"))).n > 0
    assert vectors.space(project) is not None


def test_the_queue_leaves_out_what_is_decided_and_never_ends_early(project: Project) -> None:
    session = Session(project, Person("a", "Anna"))
    session.act("hello", key="x", name="Anna")
    session.act("go", screen="seeds")
    view = session.act("queue", order="uncertain")["stage"]["view"]
    n, seeds = documents.count(project), len(labels.seeds(project))
    assert view["total"] == n - seeds
    fit = fits.last(project)
    assert fit is not None
    placed = fit.today(topics.current(project))
    scores = [placed.final_score[placed.primary[card["row"]]] for card in view["cards"]]
    assert scores == sorted(scores)
    rows = [card["row"] for card in view["cards"]]
    for row in rows[:3]:
        session.act("whole", row=row, decision="unsure")
    view = session.act("page", page=10**6)["stage"]["view"]  # behind the end: what is left
    assert view["cards"]
    assert not set(rows[:3]) & {card["row"] for card in view["cards"]}
    assert view["progress"]["by"] == {"Anna": 3}
    # two coders who share it get different documents, together all of them
    session.act("hello", key="y", name="Ben")
    session.act("queue", sharing=True)
    ben = {row for row, _ in session.screens["seeds"].found}  # type: ignore[attr-defined]
    session.act("hello", key="x", name="Anna")
    session.act("queue", sharing=True)
    anna = {row for row, _ in session.screens["seeds"].found}  # type: ignore[attr-defined]
    assert not anna & ben
    assert len(anna | ben) == n - seeds - 3


def test_other_columns_filter_and_count(empty: Project, tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    parties = ("left", "right", "green")
    file.write_text(
        "id,text,year,party\n"
        + "".join(f"{i},about bread {i},{1990 + i % 10},{parties[i % 3]}\n" for i in range(90))
    )
    loading.load_corpus(empty, file, "id", "text")
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
    chart = metadata.over(empty, fit.today(here), "year")
    assert chart is not None
    assert chart["titles"] == [str(year) for year in range(1990, 2000)]
    assert chart["totals"] == [9] * 10
    placed = fit.today(here).labels
    by_hand = [sum(i % 10 == year and placed[i] == 0 for i in range(90)) for year in range(10)]
    line = next(line for line in chart["lines"] if line["name"] == "A")
    assert line["counts"] == by_hand
    assert sum(by_hand) >= 40  # its seeds


def test_a_page_is_accepted_at_once_and_undone_at_once(project: Project) -> None:
    session = Session(project, Person("a", "Anna"))
    session.act("go", screen="review")
    key = str(id_of(project, "Files > pathlib"))
    cards = session.act("select", key=key)["stage"]["view"]["cards"]
    before = labels.seeds(project)
    session.act("bulk", rows=[card["row"] for card in cards], verdict=1, key=key)
    after = labels.seeds(project)
    free = [card["row"] for card in cards if not card["seed_of"]]
    assert {row for row in after if row not in before} == set(free)
    session.act("undo")
    assert labels.seeds(project) == before


def test_proposed_topics_are_looked_into_taken_and_dismissed(project: Project) -> None:
    fitting.fit(project, fitting.Dials(method="hierseed"))  # leaves many documents in Other
    session = Session(project, Person("a", "Anna"))
    view = session.act("go", screen="review")["stage"]["view"]
    offered = view["proposals"]
    assert len(offered) >= 2
    fit = fits.last(project)
    assert fit is not None
    placed = fit.today(topics.current(project))
    for one in fit.proposals:  # nothing that a listed topic holds
        listed = placed.labels[one["rows"]] < len(placed.ids)
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
