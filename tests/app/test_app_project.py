"""The project file: versions, backups, and that it never loses a word."""

import contextlib
import gzip
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hierseed.app import backups, schema
from hierseed.app.project import Project
from hierseed.app.store import actions, documents, edits, examples, gold, labels, loads, topics
from hierseed.errors import ProjectError


def small(path: Path) -> Project:
    project = Project(path)
    documents.add(project, [(f"d{i}", f"document number {i}") for i in range(40)])
    edits.add(project, None, "A")
    edits.add(project, None, "B")
    return project


def test_a_new_project_is_wal_and_its_commits_are_synced(empty: Project) -> None:
    assert empty.db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert empty.db.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
    assert empty.db.execute("PRAGMA foreign_keys").fetchone()[0] == 1


def test_other_databases_and_folders_are_refused(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "x.hierseed")
    other.execute("CREATE TABLE mine (a)")
    other.commit()
    other.close()
    with pytest.raises(ProjectError, match="another program"):
        Project(tmp_path / "x.hierseed")
    (tmp_path / "text.hierseed").write_text("no database " * 500)
    with pytest.raises(ProjectError, match="can't be opened"):
        Project(tmp_path / "text")
    (tmp_path / "folder.hierseed").mkdir()
    with pytest.raises(ProjectError, match="is a folder"):
        Project(tmp_path / "folder")
    with pytest.raises(ProjectError, match="no folder"):
        Project(tmp_path / "nowhere" / "p")


def test_a_folder_that_is_read_only_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refuse)
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere
    with pytest.raises(ProjectError, match="its folder can't be written to"):
        Project(tmp_path / "p")


def test_a_newer_file_is_refused_and_left_alone(empty: Project) -> None:
    empty.db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(ProjectError, match="newer"):
        Project(empty.path)
    assert empty.db.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION + 1


def test_migration_backs_up_first(tmp_path: Path) -> None:
    project = small(tmp_path / "p")

    def step(db: sqlite3.Connection) -> None:
        db.execute("ALTER TABLE topic ADD COLUMN colour TEXT")
        db.execute("UPDATE topic SET name = name || '!'")

    target = schema.VERSION + 1
    backup = schema.migrate(
        project.db, project.path, schema.VERSION, target=target, steps={schema.VERSION: step}
    )
    assert backup is not None
    assert project.db.execute("SELECT name, colour FROM topic").fetchall() == [
        ("A!", None),
        ("B!", None),
    ]
    project.close()
    old = Project(backup)  # of the version before, whole
    assert documents.count(old) == 40
    assert [row[0] for row in old.db.execute("SELECT name FROM topic")] == ["A", "B"]
    old.close()


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """A project file that version 2 of the workbench wrote."""
    packed = Path(__file__).parent / "version-2.hierseed.gz"
    (tmp_path / "p.hierseed").write_bytes(gzip.decompress(packed.read_bytes()))
    return tmp_path / "p.hierseed"


def test_a_file_of_version_2_keeps_everything(old_file: Path) -> None:
    project = Project(old_file)
    here = topics.current(project)
    guns, bread = (here.ids[here.taxonomy.index(p)] for p in ("Law > Guns", "Food > Bread"))
    assert here.taxonomy.paths == ("Law", "Law > Guns", "Food", "Food > Bread")
    assert labels.seeds(project) == {0: [guns], 1: [bread], 2: [guns]}  # one through a merge
    assert labels.rejections(project) == {3: [bread]}
    assert labels.file_seeds(project) == [(0, guns), (1, bread)]
    assert examples.pairs(project) == [(bread, "rye and wheat")]
    assert gold.pairs(project) == [(4, guns), (5, bread)]
    assert documents.columns_of(project, [3]) == {3: {"year": 1993}}
    assert documents.search(project, "bread").total == 6
    assert actions.redo(project) == "Added 'Sky'"
    assert actions.undo(project) == "Added 'Sky'"
    assert actions.undo(project) == "Merged 'Officers' into 'Guns'"
    assert actions.undo(project) == "Renamed 'Police' to 'Officers'"
    assert "Law > Police" in topics.current(project).taxonomy.paths
    assert project.db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert project.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert len(list(old_file.parent.glob("p.backup-v2-*.hierseed"))) == 1
    fresh = Project(old_file.parent / "fresh")
    columns = "SELECT m.name, p.name, p.type FROM sqlite_schema m, pragma_table_info(m.name) p"
    columns += " WHERE m.type = 'table' AND m.name NOT LIKE 'document_text%' ORDER BY 1, 2"
    assert project.db.execute(columns).fetchall() == fresh.db.execute(columns).fetchall()
    fresh.close()
    project.close()


def test_a_file_of_early_version_3_is_brought_up_to_date(tmp_path: Path) -> None:
    project = small(tmp_path / "p")
    loads.finish(project, loads.begin(project, "docs.csv", {}), "2 rows left out")
    project.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "p.hierseed")) as db:
        db.execute("ALTER TABLE load RENAME COLUMN message TO told")  # its name at first
        db.execute("PRAGMA user_version = 3")
    project = Project(tmp_path / "p")
    assert [load.message for load in loads.every(project)] == ["2 rows left out"]
    assert len(list(tmp_path.glob("p.backup-v3-*.hierseed"))) == 1
    project.close()


def test_a_file_of_the_first_version_is_brought_up_to_date(old_file: Path) -> None:
    with contextlib.closing(sqlite3.connect(old_file)) as db:
        db.execute("DROP TABLE kept")  # what version 2 added
        db.execute("PRAGMA user_version = 1")
    project = Project(old_file)
    assert documents.count(project) == 12
    assert documents.add(project, [("new", "one more")], [{"year": 1990}]) == 1
    assert documents.kept(project, 11, 13) == [{}, {"year": 1990}]
    assert len(list(old_file.parent.glob("p.backup-v1-*.hierseed"))) == 1
    project.close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    project = small(tmp_path / "p")

    def step(db: sqlite3.Connection) -> None:
        db.execute("UPDATE topic SET name = 'lost'")
        db.execute("ALTER TABLE topic ADD COLUMN colour TEXT")
        raise RuntimeError("half way")

    with pytest.raises(ProjectError, match=r"half way.*as it was before") as caught:
        schema.migrate(
            project.db, project.path, schema.VERSION,
            target=schema.VERSION + 1, steps={schema.VERSION: step},
        )  # fmt: skip
    backups = list(tmp_path.glob("p.backup-*"))
    assert [backup.name in str(caught.value) for backup in backups] == [True]
    assert [r[0] for r in project.db.execute("SELECT name FROM topic")] == ["A", "B"]
    assert "colour" not in [r[1] for r in project.db.execute("PRAGMA table_info(topic)")]
    project.close()


KILLED = """
import os, signal, sys
from hierseed.app.project import Project
from hierseed.app.store import labels
project = Project(sys.argv[1])
for row in range(40):
    labels.decide(project, row, 1, 1)
    os.write(1, b"%d\\n" % row)
    if row == 17:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_every_label_told_is_there_after_kill_9(tmp_path: Path) -> None:
    small(tmp_path / "p").close()
    path = str(tmp_path / "p")
    ran = subprocess.run([sys.executable, "-c", KILLED, path], capture_output=True, check=False)
    assert ran.returncode == -signal.SIGKILL
    told = [int(line) for line in ran.stdout.split()]
    project = Project(path)
    assert sorted(labels.seeds(project)) == told == list(range(18))
    assert project.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    project.close()


CUT = """
import os, signal, sys
from hierseed.app.project import Project
project = Project(sys.argv[1])
with project.write() as db:
    db.execute("UPDATE topic SET name = 'half'")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_transaction_cut_in_the_middle_leaves_no_trace(tmp_path: Path) -> None:
    small(tmp_path / "p").close()
    subprocess.run([sys.executable, "-c", CUT, str(tmp_path / "p")], check=False)
    project = Project(tmp_path / "p")
    assert [r[0] for r in project.db.execute("SELECT name FROM topic")] == ["A", "B"]
    project.close()


def test_writers_in_threads_and_processes_lose_nothing(tmp_path: Path) -> None:
    project = small(tmp_path / "p")
    script = (
        "import sys\nfrom hierseed.app.project import Project\n"
        "from hierseed.app.store import labels\nproject = Project(sys.argv[1])\n"
        "for row in range(20, 40): labels.decide(project, row, 2, 1)\n"
    )
    other = subprocess.Popen([sys.executable, "-c", script, str(project.path)])

    def write(topic: int) -> None:
        for row in range(20):
            labels.decide(project, row, topic, 1, several=True)

    threads = [threading.Thread(target=write, args=(topic,)) for topic in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert other.wait() == 0
    found = labels.seeds(project)
    assert all(sorted(found[row]) == [1, 2] for row in range(20))
    assert all(found[row] == [2] for row in range(20, 40))
    project.close()


def test_the_second_of_two_people_does_not_overwrite_the_first(tmp_path: Path) -> None:
    project = small(tmp_path / "p")
    labels.decide(project, 3, 1, labels.YES, seen=labels.NOTHING)
    with pytest.raises(ProjectError, match="someone else has accepted"):
        labels.decide(project, 3, 1, labels.NO, seen=labels.NOTHING)
    assert labels.seeds(project) == {3: [1]}
    labels.decide(project, 3, 1, labels.NO, seen=labels.YES)  # after looking
    assert labels.seeds(project) == {}
    verdicts = project.db.execute("SELECT before, verdict FROM label_event").fetchall()
    assert verdicts == [(0, 1), (1, -1)]
    project.close()


def test_the_pulse_changes_with_whatever_changes(tmp_path: Path) -> None:
    project = small(tmp_path / "p")
    seen = {project.pulse()}
    for act in (
        lambda: labels.decide(project, 1, 1, 1),
        lambda: edits.rename(project, 1, "AA"),
        lambda: actions.undo(project),
        lambda: documents.add(project, [("new", "text")]),
    ):
        act()
        assert project.pulse() not in seen
        seen.add(project.pulse())
    project.close()


def test_the_file_alone_is_a_backup_while_the_project_is_open(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    documents.add(project, [("a", "one"), ("b", "two")])
    edits.add(project, None, "Topic")
    shutil.copy(project.path, tmp_path / "copy.hierseed")
    copy = Project(tmp_path / "copy")
    assert documents.count(copy) == 2
    assert len(topics.current(copy).ids) == 1
    copy.close()
    project.close()


def test_opening_at_once_makes_the_tables_once(tmp_path: Path) -> None:
    # Sixty times: a file half made by another thread was once taken for a stranger's, and two
    # who changed the journal's mode at once met "database is locked".
    for turn in range(60):
        opened: list[Project] = []
        gate = threading.Barrier(6)

        def join(name: str, opened: list[Project] = opened, gate: threading.Barrier = gate) -> None:
            gate.wait()
            opened.append(Project(tmp_path / name))

        threads = [threading.Thread(target=join, args=(f"p{turn}",)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(opened) == 6
        for project in opened:
            project.close()


SAYING = """
import os, sys
from hierseed.app.project import Project
from hierseed.app.store import labels
project = Project(sys.argv[1])
row = int(sys.argv[2])
while True:
    verdict = 1 if row // 80 % 2 == 0 else 0
    labels.decide(project, row % 40, 1 + row // 40 % 2, verdict, several=True)
    row += 1
    os.write(1, b"%d\\n" % row)
"""


@pytest.mark.slow
def test_twenty_kills_at_any_moment_lose_nothing(tmp_path: Path) -> None:
    """A process labels as fast as it can and is killed: what it told and what is there agree."""
    project = small(tmp_path / "p")
    told = 0
    for number in range(20):
        run = subprocess.Popen(
            [sys.executable, "-c", SAYING, str(project.path), str(told)], stdout=subprocess.PIPE
        )
        assert run.stdout is not None
        for _ in range(30 + 17 * number):
            told = int(run.stdout.readline())
        run.kill()
        rest = run.stdout.read().splitlines(keepends=True)
        told = int(next((line for line in reversed(rest) if line.endswith(b"\n")), told))
        run.wait()
        run.stdout.close()
        kept = project.db.execute("SELECT count(*) FROM label_event").fetchone()[0]
        assert kept - told in (0, 1)  # the last one may be on disk before it was told
        if kept > told:
            told = kept
        assert project.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    print(f"{told:,} decisions told, all of them kept, over 20 kills")
    project.close()


def test_closing_waits_for_no_thread_and_cuts_none_off(tmp_path: Path) -> None:
    """A query that runs in another thread while the project is closed gives its answer."""
    project = small(tmp_path / "p")
    inside, go, found = threading.Event(), threading.Event(), []

    def pause() -> int:
        inside.set()
        return int(go.wait(60))

    def ask() -> None:
        db = project.db
        db.create_function("pause", 0, pause)
        found.append(db.execute("SELECT pause() + count(*) FROM document").fetchone()[0])

    thread = threading.Thread(target=ask)
    thread.start()
    assert inside.wait(60)
    project.close()
    go.set()
    thread.join(60)
    assert found == [41]
    assert documents.count(project) == 40  # a closed project opens again when asked
    project.close()


def test_copies_are_made_by_themselves_and_the_oldest_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "KEPT", 3)
    project = small(tmp_path / "p")
    assert backups.make(project) is not None
    assert backups.make(project) is None  # nothing changed
    made = []
    for row in range(4):
        labels.decide(project, row, 1, labels.YES)
        made.append(backups.make(project))
    kept = sorted(backups.folder(project).glob("*.hierseed"))
    assert kept == made[-3:]
    copy = Project(kept[-1])
    assert labels.seeds(copy) == labels.seeds(project)
    copy.close()
    with backups.running(project, every=0.01):
        labels.decide(project, 9, 1, labels.YES)
        deadline = time.monotonic() + 30
        while len(list(backups.folder(project).glob("*.hierseed"))) and time.monotonic() < deadline:
            newest = Project(sorted(backups.folder(project).glob("*.hierseed"))[-1])
            found = 9 in labels.seeds(newest)
            newest.close()
            if found:
                break
            time.sleep(0.05)
        assert found
    project.close()
