"""The screens without a browser: what is shown, and what a click does."""

import json
from pathlib import Path

import pytest

from hierseed.app import (
    compare,
    fits,
    fitting,
    jobs,
    uploads,
    vectors,
)
from hierseed.app.corpus_import import look_at_corpus
from hierseed.app.current_report import current_report
from hierseed.app.pages.review import ENOUGH
from hierseed.app.pages.session import SCREENS, Session
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, labels, topics
from hierseed.app.store.actions import Person
from hierseed.io.corpus import ROW_NUMBER
from hierseed.io.model_bundle import read_sealed, write_sealed


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
    then, now = first.placements(here), second.placements(here)
    found = compare.compare(then, now, here)
    assert found["moved"] + found["same"] == first.n
    old, new = ([p.keys[int(t)] for t in p.labels] for p in (then, now))
    assert found["moved"] == sum(a != b for a, b in zip(old, new))
    way = found["ways"][0]
    moved, total = compare.movers(then, now, way["from"], way["to"], 0, 5)
    assert total == way["count"]
    assert all(old[row] == way["from"] and new[row] == way["to"] for row in moved)


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
    assert "id occurs twice" in faults
    assert "news.csv:3" in faults
    assert "aaaaaaaa" not in str(view)

    bad = folder / "bbbbbbbb.txt"
    bad.write_text("A > B\nA > B\nC > \n")
    view = session.act("uploaded", kind="taxonomy", token=bad.name, name="t.txt")["stage"]["view"]
    assert len(view["reports"]["taxonomy"]["faults"]) >= 2
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
    assert view["reports"]["seeds"]["facts"] == ["2 seeds added"]
    assert len(view["reports"]["seeds"]["faults"]) == 2


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
        ("Year No,Record ID,Text", "Record ID"),  # a year occurs twice
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
    project.remembered.clear()
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
    placed = fit.placements(topics.current(project))
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


def test_no_hits_are_not_called_many(project: Project) -> None:
    session = Session(project)
    session.act("go", screen="seeds")
    view = session.act("search", query="xylophonequartz")["stage"]["view"]
    assert (view["total"], view["note"]) == (0, "")
    view = session.act("search", query="")["stage"]["view"]
    assert view["total"] == documents.count(project)
    assert view["note"] == ""


def test_a_preview_shows_lists_and_takes_none_for_the_text(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    row = {
        "body": "a short text",
        "labels": [["religion", "a very long name of a topic"]],
        "ok": True,
    }
    file.write_text("".join(json.dumps(row) + "\n" for _ in range(3)))
    look = look_at_corpus(file)
    assert look.text == "body"
    assert look.rows[0][1:] == ['[["religion", "a very long name of a topic"]]', "True"]


def test_the_header_says_what_to_expect_right(project: Project) -> None:
    """Expected accuracy per level, which is not the share that was placed."""
    fit = fits.last(project)
    assert fit is not None
    summary = Session(project).everything()["frame"]["summary"]
    assert len(fit.facts["expected"]) == 2
    for value in fit.facts["expected"]:
        assert f"{value:.0%}" in summary
        assert value < fit.facts["coverage"]
    assert "placed" not in summary


def test_each_topic_shows_what_to_expect_right_until_its_documents_change(
    project: Project,
) -> None:
    session, here = Session(project), topics.current(project)
    fit = fits.last(project)
    assert fit is not None
    told = session.everything()["numbers"]["expected"]
    known = fit.model.expected_accuracy()
    assert {here.path(int(key)): share[0] for key, share in told.items()} == {
        path: round(share.value, 4) for path, share in known.items()
    }
    view = session.act("go", screen="review")["stage"]["view"]
    rights = [topic["right"][0] for topic in view["least"]]
    assert rights == sorted(rights)
    assert rights[0] == min(
        told[str(id)][0]
        for id, leaf in zip(here.ids, here.taxonomy.tree.is_leaf)
        if leaf and fit.placements(here).counts_below[str(id)] >= ENOUGH
    )
    merged, into = (id_of(project, f"Files > {name}") for name in ("zipfile", "tarfile"))
    above = str(id_of(project, "Files"))
    view = session.act("select", key=str(into))["stage"]["view"]
    assert view["expected"] == told[str(into)]
    edits.rename(project, into, "archives")
    edits.merge(project, merged, into)
    now = session.everything()["numbers"]["expected"]
    assert now == {key: told[key] for key in told if key not in (str(merged), str(into))}
    assert above in now  # the same documents are in it
    report = current_report(fit, topics.current(project))["topics"]
    shown = dict(zip(report["name"], report["expected"]))
    assert shown["archives"] is None
    assert shown["Files"] == told[above]


def test_a_fit_of_an_older_version_shows_no_expected_accuracy(project: Project) -> None:
    fit = fits.last(project)
    assert fit is not None
    content, arrays = read_sealed(fit.folder / fits.FILE, format=fits.FORMAT, version=fits.VERSION)
    assert arrays.pop("expected") is not None
    write_sealed(
        fit.folder / fits.FILE, format=fits.FORMAT, version=fits.VERSION,
        content=content, arrays=arrays, files=["report.json"],
    )  # fmt: skip
    older = fits.Fit(fit.id, fit.folder)
    assert older.expected(topics.current(project)) == {}
