"""Loads that are cut off, wrong files, damage and full disks, in a real browser."""

import time
from pathlib import Path
from typing import Any

import pytest
from workbench_browser import Server, Visit, missing

from hierseed.app import jobs
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, labels, topics
from hierseed.taxonomy import Taxonomy

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing() or "ready"),
]

ROWS = 60_000


def start_large_load(page: Any, project: Project, tmp_path: Path) -> None:
    """Load a file, and return after its first documents are in."""
    big = tmp_path / "big.csv"
    big.write_text("id,text\n" + "".join(f"b{i},some text {i}\n" for i in range(ROWS)))
    before = documents.count(project)
    page.set_input_files("input[aria-label='File with Documents']", big)
    page.click("text=Load these documents")
    page.wait_for_selector(".job button:has-text('Cancel')")
    deadline = time.monotonic() + 60
    while documents.count(project) == before and time.monotonic() < deadline:
        time.sleep(0.02)


def test_a_wrong_taxonomy_removes_nothing_unasked(
    chrome: Any, served: Any, empty: Project, tmp_path: Path
) -> None:
    documents.add(empty, [("d0", "bread and butter"), ("d1", "guns and roses")])
    edits.replace_all(empty, Taxonomy.from_paths(["Bread", "Guns"]), "t")
    here = topics.current(empty)
    labels.load(empty, [(0, here.ids[0]), (1, here.ids[1])], "file")
    seeds = labels.seeds(empty)
    visit = Visit(chrome, served(empty.path).address + "/load")
    page = visit.page
    (tmp_path / "wrong.txt").write_text("X\nY\n")
    page.set_input_files("input[aria-label='File with Taxonomy']", tmp_path / "wrong.txt")
    page.wait_for_selector(".plan:has-text('2 not in this file')")
    assert list(topics.current(empty).taxonomy.names) == ["Bread", "Guns"]
    page.click(".plan button:has-text('Cancel')")
    page.wait_for_selector(".plan", state="detached")
    assert list(topics.current(empty).taxonomy.names) == ["Bread", "Guns"]
    assert labels.seeds(empty) == seeds
    assert visit.faults == []


def test_a_load_that_was_cut_off_does_not_look_complete(
    chrome: Any, served: Any, empty: Project, tmp_path: Path
) -> None:
    """Cancelled, it can be discarded; after kill -9 it can be resumed, and misses nothing."""
    server = served(empty.path)
    visit = Visit(chrome, server.address + "/load")
    page = visit.page
    start_large_load(page, empty, tmp_path)
    page.click(".job button:has-text('Cancel')")
    page.wait_for_selector(".banner:has-text('was interrupted')")
    page.click("button:text-is('Discard them')")
    page.wait_for_selector(".banner", state="detached")
    assert documents.count(empty) == 0
    assert jobs.active(empty) is None

    start_large_load(page, empty, tmp_path)
    jobs.cancel(empty)  # the worker too, as when the power fails
    server.kill()
    loaded = documents.count(empty)
    assert 0 < loaded < ROWS
    again = Server(empty.path, port=server.port)
    try:
        page.wait_for_selector(f".banner:has-text('{loaded:,} of')")
        page.click("button:text-is('Resume')")
        page.wait_for_selector(f"section[aria-label=Documents] .state:has-text('{ROWS:,}')")
        page.wait_for_selector(".banner", state="detached")
    finally:
        again.close()
    ids = {document.id for document in documents.every(empty)}
    assert len(ids) == documents.count(empty) == ROWS


def test_damage_and_a_full_disk_reach_the_page_in_words(
    chrome: Any, served: Any, project: Project, tmp_path: Path
) -> None:
    visit = Visit(chrome, served(project.path).address + "/load")
    page = visit.page
    # no file can be written: an upload is refused with the reason
    uploads = project.folder / "uploads"
    uploads.write_text("in the way")
    (tmp_path / "seeds.csv").write_text("id,topic\na,b\n")
    page.set_input_files("input[aria-label='File with Seeds']", tmp_path / "seeds.csv")
    page.wait_for_selector("section[aria-label=Seeds] .faults")
    refused = page.inner_text("section[aria-label=Seeds] .faults")
    assert "Internal Server Error" not in refused
    assert "uploads" in refused
    uploads.unlink()
    # damage in the project file: Fit says so
    visit.step("Fit")
    project.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with project.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (project.path.stat().st_size - 4096))
    page.click("text=Fit now")
    page.wait_for_selector(".notes p.bad:has-text('damaged')")
    assert [fault for fault in visit.faults if "507" not in fault] == []
