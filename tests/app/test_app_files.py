"""Files: nothing half there looks whole, nothing is replaced unasked, every failure is said."""

import errno
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hierseed.app import corpus_import, export, jobs, taxonomy_import, uploads
from hierseed.app.pages.session import Session
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, examples, gold, labels, loads, topics
from hierseed.errors import CorpusError, ProjectError
from hierseed.taxonomy import Taxonomy


@pytest.fixture
def filled(empty: Project) -> Project:
    documents.add(empty, [(f"d{i}", f"text {i}") for i in range(20)])
    edits.replace_all(empty, Taxonomy.from_paths(["A > B", "A > C", "D"]), "t.txt")
    return empty


def ids(project: Project) -> dict[str, int]:
    here = topics.current(project)
    return dict(zip(here.taxonomy.paths, here.ids))


def bring(session: Session, kind: str, name: str, text: str | bytes) -> dict[str, Any]:
    file = (
        uploads.folder(session.project) / f"upload{len(text)}{abs(hash(text))}{Path(name).suffix}"
    )
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    session.act("go", screen="load")
    news = session.act("uploaded", kind=kind, token=file.name, name=name)
    assert isinstance(news, dict)
    return news


def test_a_load_that_was_cut_off_says_so_and_is_resumed_or_discarded(
    empty: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = uploads.folder(empty) / "abcdefgh.csv"
    file.write_text("id,text\n" + "".join(f"{i},text {i}\n" for i in range(50)))
    monkeypatch.setattr(corpus_import, "BATCH", 10)

    class Killed(BaseException):
        pass

    def kill(event: dict[str, Any]) -> None:
        if event.get("done", 0) >= 20:
            raise Killed

    with pytest.raises(Killed):
        corpus_import.load_corpus(empty, file, "id", "text", kill, name="news.csv")
    session = Session(empty)
    assert session.frame()["unfinished"] == {"name": "news.csv", "done": 20, "total": 50}
    view = session.act("go", screen="load")["stage"]["view"]
    assert view["loads"][0]["unfinished"]
    edits.replace_all(empty, Taxonomy.from_paths(["A"]), "t")
    assert session.act("go", screen="fit")["stage"]["view"]["unfinished"] == "news.csv"
    session.act("go", screen="load")
    session.act("resume")
    job = jobs.latest(empty)
    assert job is not None
    assert jobs.wait(empty, job.id).state == "done"
    assert documents.count(empty) == 50
    assert session.frame()["unfinished"] is None

    file.write_text("id,text\n" + "".join(f"more-{i},text {i}\n" for i in range(50)))
    with pytest.raises(Killed):
        corpus_import.load_corpus(empty, file, "id", "text", kill, name="more.csv")
    labels.decide(empty, 55, ids(empty)["A"], 1)
    session.act("discard")
    assert documents.count(empty) == 50
    assert labels.seeds(empty) == {}
    assert documents.search(empty, "text").total == 50
    assert [load.name for load in loads.every(empty)] == ["news.csv"]
    assert len(list(empty.path.parent.glob("*.backup-before-removal-*"))) == 1


def test_documents_can_be_removed(project: Project) -> None:
    session = Session(project)
    session.act("go", screen="load")
    session.act("remove", kind="corpus")
    assert documents.count(project) == 0
    for screen in session.screens:
        assert session.act("go", screen=screen)["notes"] == []
    documents.add(project, [("x", "new text")])
    assert documents.search(project, "new").total == 1
    assert project.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_rows_left_out_are_still_listed_later(empty: Project, tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("id,text\n1,a\n2,\n")
    corpus_import.load_corpus(empty, file, "id", "text", name="news.csv")
    view = Session(empty).act("go", screen="load")["stage"]["view"]
    assert "1 rows left out" in view["loads"][0]["message"]
    assert "news.csv:3" in view["loads"][0]["message"]


def test_a_corrected_seed_file_replaces_the_old_one_after_a_look(filled: Project) -> None:
    session, at = Session(filled), ids(filled)
    bring(session, "seeds", "s.csv", "id,text,topic\nd1,,A > B\nd2,,A > B\n,own words,D\n")
    assert labels.seeds(filled) == {1: [at["A > B"]], 2: [at["A > B"]]}
    labels.decide(filled, 5, at["D"], labels.YES)  # by hand
    labels.decide(filled, 6, at["A > C"], labels.NO)
    corrected = "id,text,topic\nd1,,A > C\nd2,,A > B\nd5,,A > B\nd6,,A > C\n,other words,D\n"
    view = bring(session, "seeds", "s2.csv", corrected)["stage"]["view"]
    plan = view["plans"]["seeds"]
    assert (plan["added"], plan["removed"], plan["kept"]) == (2, 2, 1)
    assert plan["removes"] == ["d1: A > B"]
    assert any("2 rows differ from decisions made here" in fact for fact in plan["facts"])
    assert labels.seeds(filled)[1] == [at["A > B"]]  # nothing yet
    session.act("take", kind="seeds", replace=True)
    assert labels.seeds(filled) == {1: [at["A > C"]], 2: [at["A > B"]], 5: [at["D"]]}
    assert [text for _, text in examples.pairs(filled)] == ["other words"]
    session.act("undo")
    assert labels.seeds(filled) == {1: [at["A > B"]], 2: [at["A > B"]], 5: [at["D"]]}
    assert [text for _, text in examples.pairs(filled)] == ["own words"]
    session.act("remove", kind="seeds")
    assert labels.counts(filled) == {}
    session.act("undo")
    assert sum(labels.counts(filled).values()) == 4


def test_corrected_expert_labels_replace_the_old_ones(filled: Project) -> None:
    session, at = Session(filled), ids(filled)
    bring(session, "gold", "g.csv", "id,topic\nd1,A > B\nd2,D\n")
    view = bring(session, "gold", "g2.csv", "id,topic\nd1,A > C\nd2,D\n")["stage"]["view"]
    assert (view["plans"]["gold"]["added"], view["plans"]["gold"]["removed"]) == (1, 1)
    session.act("take", kind="gold", replace=True)
    assert gold.pairs(filled) == [(1, at["A > C"]), (2, at["D"])]
    session.act("remove", kind="gold")
    assert gold.pairs(filled) == []


def test_a_wrong_taxonomy_replaces_nothing_unasked(filled: Project) -> None:
    session, at = Session(filled), ids(filled)
    labels.load(filled, [(1, at["A > B"]), (2, at["D"])], "file")
    view = bring(session, "taxonomy", "wrong.txt", "X > Y\nA > B\n")["stage"]["view"]
    assert set(ids(filled)) == {"A", "A > B", "A > C", "D"}
    plan = view["plans"]["taxonomy"]
    assert (plan["added"], plan["removed"], plan["kept"]) == (2, 2, 2)
    assert "1 seeds belong to topics that are not in this file" in plan["facts"]
    session.act("leave", kind="taxonomy")
    assert set(ids(filled)) == {"A", "A > B", "A > C", "D"}
    bring(session, "taxonomy", "wrong.txt", "X > Y\nA > B\n")
    session.act("take", kind="taxonomy", replace=False)
    assert set(ids(filled)) == {"A", "A > B", "A > C", "D", "X", "X > Y"}


def test_seeds_wait_while_the_corpus_loads(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    edits.replace_all(empty, Taxonomy.from_paths(["A"]), "t")
    session = Session(empty)
    with empty.write() as db:  # a load that runs: the row that a worker would have
        db.execute(
            "INSERT INTO job (kind, arguments, state, started) VALUES ('load', '{}', 'running', '')"
        )
    view = bring(session, "seeds", "s.csv", "id,topic\nd1,A\n")["stage"]["view"]
    assert view["waiting"] == {"seeds": "s.csv"}
    assert view["reports"] == {}
    documents.add(empty, [("d1", "text")])
    jobs.finish(empty, 1, "done", "")
    view = session.act("go", screen="load")["stage"]["view"]
    assert view["waiting"] == {}
    assert labels.seeds(empty) == {0: list(ids(empty).values())}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (PermissionError(errno.EACCES, "Permission denied", "x.csv"), "Permission denied"),
        (sqlite3.OperationalError("disk I/O error"), "could not be written"),
    ],
)
def test_a_failing_disk_is_said_in_words(
    project: Project, monkeypatch: pytest.MonkeyPatch, fault: Exception, said: str
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise fault

    monkeypatch.setattr(export, "write_table", fail)
    monkeypatch.setattr(export, "open_table", fail)
    session = Session(project)
    session.act("go", screen="export")
    for do, options in (("seeds", {}), ("documents", {"ending": "csv"}), ("decisions", {})):
        news = session.act(do, **options)
        assert [note["kind"] for note in news["notes"]] == ["bad"]
        assert said in news["notes"][0]["text"]


def test_a_damaged_project_file_is_said_in_words(project: Project) -> None:
    session = Session(project)
    size = project.path.stat().st_size
    project.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with project.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    project._local.__dict__.clear()  # as a thread that opens the file afresh
    session.act("go", screen="fit")
    news = session.act("fit")
    assert news["notes"]
    assert "damaged" in news["notes"][0]["text"]


def test_a_damaged_schema_is_no_project(empty: Project) -> None:
    path = empty.path
    empty.close()
    damaged = path.read_bytes().replace(b"CREATE TABLE meta", b"CREATE \x80ABLE meta")
    path.with_name("copy.hierseed").write_bytes(damaged)
    with pytest.raises(ProjectError, match="can't be opened as a project"):
        Project(path.with_name("copy"))


def test_a_workbook_that_unfolds_to_gigabytes_is_refused_unread(empty: Project) -> None:
    file = uploads.folder(empty) / "bomb.xlsx"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(3):
            with archive.open(f"xl/{i}.xml", "w") as part:
                for _ in range(60):
                    part.write(bytes(2**20))
    assert file.stat().st_size < 2**20
    with pytest.raises(CorpusError, match="unpacks"):
        uploads.refuse_bomb(file, "bomb.xlsx")


def test_an_ordinary_workbook_is_no_bomb(empty: Project) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for i in range(3_000):
        book.active.append([i, f"text {i} " * 40])
    file = uploads.folder(empty) / "fine.xlsx"
    book.save(file)
    uploads.refuse_bomb(file, "fine.xlsx")


def test_ids_that_an_export_guarded_are_found_again(empty: Project) -> None:
    documents.add(empty, [("=cmd", "a"), ("-x", "b"), ("'quoted", "c")])
    edits.replace_all(empty, Taxonomy.from_paths(["A"]), "t")
    a = ids(empty)["A"]
    labels.load(empty, [(0, a), (1, a), (2, a)], "file")
    file = export.write_seeds(empty)
    plan = taxonomy_import.make_plan(empty, "seeds", file, "seeds.csv")
    assert (plan.kept, plan.added, plan.removed, plan.faults) == (3, 0, 0, [])
