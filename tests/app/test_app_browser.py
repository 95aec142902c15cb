"""The workbench in real Chromium: the whole loop, by hand."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from workbench_browser import Server, Visit, missing
from workbench_chapters import CHAPTERS

from hierseed.app import fits
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, labels, topics
from hierseed.demo.corpus import read_docstrings

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing() or "ready"),
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """What a person brings: a table of real texts with two faulty rows, and an outline."""
    modules = [module for chapter in CHAPTERS.values() for module in chapter]
    with (tmp_path / "docs.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "body", "module"])
        found = read_docstrings(modules)
        writer.writerows((d.id, d.text, d.module) for d in found)
        writer.writerow(["empty one", "", "email"])
        writer.writerow([found[0].id, "a second text with the id of another", "email"])
    lines = [f"{chapter} > {module}" for chapter, found in CHAPTERS.items() for module in found]
    (tmp_path / "topics.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "broken.txt").write_text("A > B\nA > B\n")
    return tmp_path


def seeds_on_disk(path: Path) -> dict[int, list[int]]:
    project = Project(path)
    found = labels.seeds(project)
    project.close()
    return found


def largest_topic_but(path: Path, name: str) -> str:
    """The name of the leaf with the most documents in the last fit, one left out."""
    project = Project(path)
    fit, here = fits.last(project), topics.current(project)
    assert fit is not None
    counts = fit.placements(here).own_counts
    leaves = [i for i in range(len(here.ids)) if here.taxonomy.tree.is_leaf[i]]
    leaves = [i for i in leaves if here.taxonomy.names[i] != name]
    best = max(leaves, key=lambda i: counts.get(str(here.ids[i]), 0))
    project.close()
    return here.taxonomy.names[best]


def test_the_whole_loop(chrome: Any, served: Any, files: Path) -> None:
    server = served(files / "walk.hierseed")
    visit = Visit(chrome, server.address)
    page = visit.page

    # 1 load: the faults of both files are told, then the good ones are taken over
    visit.shot("1-start")
    page.set_input_files("input[aria-label='File with Taxonomy']", files / "broken.txt")
    page.wait_for_selector("section[aria-label=Taxonomy] .faults")
    assert "occurs twice" in page.inner_text("section[aria-label=Taxonomy] .faults")
    page.set_input_files("input[aria-label='File with Documents']", files / "docs.csv")
    page.wait_for_selector(".preview .faults")
    faults = page.inner_text(".preview .faults")
    assert "empty text" in faults
    assert "id occurs twice" in faults
    assert page.input_value("label:has-text('Text is in') select") == "body"
    assert page.input_value("label:has-text('Ids are in') select") == "name"
    visit.shot("1-load")
    page.click("text=Load these documents")
    page.wait_for_selector("section[aria-label=Documents] .state")
    page.set_input_files("input[aria-label='File with Taxonomy']", files / "topics.txt")
    page.wait_for_selector("section[aria-label=Taxonomy] .state:has-text('16 topics')")
    page.wait_for_selector(".job", state="hidden")

    # 2 taxonomy: rename, describe, add, move, delete, undo
    visit.step("Taxonomy")
    visit.topic("ftplib")
    page.fill("#stage label:has-text('Name') input", "file transfer")
    page.click("button:text-is('Rename')")
    page.wait_for_selector("#side .line:has-text('file transfer')")
    page.fill("label:has-text('Definition') textarea", "Moving files between computers with FTP")
    page.click("button:has-text('Save the codebook entry')")
    page.wait_for_selector(".log li:has-text('Wrote the description')")
    page.click("text=Move …")
    page.fill("dialog[open] input", "fil")
    page.keyboard.press("Enter")
    page.wait_for_selector(".path.big:has-text('Files')")
    visit.shot("2-taxonomy")
    page.click("[aria-label='Undo your last step']")
    page.wait_for_selector(".path.big:has-text('Internet')")

    # 3 seeds: search, accept two with the keyboard; then suggestions once vectors are there
    visit.step("Seeds")
    visit.topic("random")
    page.fill("input[aria-label='Search the documents']", "random")
    page.wait_for_selector(".card mark")
    page.focus(".card.here")
    page.keyboard.press("a")
    page.wait_for_selector(".stamp.yes")
    page.keyboard.press("a")
    page.wait_for_selector(".stamp.yes >> nth=1")
    page.keyboard.press("r")
    page.wait_for_selector(".stamp.no")
    visit.shot("3-search")
    assert sorted(len(ids) for ids in seeds_on_disk(files / "walk.hierseed").values()) == [1, 1]
    page.click("text=Prepare them now")
    page.wait_for_selector(".offer", state="hidden")
    page.click("button:text-is('Suggested')")
    page.wait_for_selector(".card .reason:has-text('Like the seed')")
    page.focus(".card.here")
    page.keyboard.press("s")
    page.wait_for_selector("text=Similar to")
    page.wait_for_selector(".reason:has-text('alike')")
    page.click("button:text-is('Suggested')")
    visit.shot("3-suggested")

    # 4 fit: names stand in for the topics without seeds
    visit.step("Fit")
    assert "their names are used" in page.inner_text("details.hint")
    page.click("text=Fit now")
    page.wait_for_selector(".fits li:has-text('Fit 1')")
    page.wait_for_selector(".job", state="hidden")
    visit.shot("4-fit")

    # 5 review: why here, a correction, the map, Other
    visit.step("Review")
    visit.topic(largest_topic_but(files / "walk.hierseed", "random"))
    page.wait_for_selector(".words span")
    page.focus(".card.here")
    page.keyboard.press("w")
    page.wait_for_selector(".why .rung.chosen")
    visit.shot("5-review")
    page.keyboard.press("m")
    page.fill("dialog[open] input", "random")
    page.keyboard.press("Enter")
    page.wait_for_selector(".notes p:has-text('It counts at the next fit')")
    assert page.inner_text(".hint").startswith("1 decision since this fit")
    page.click(".tabs >> text=Map")
    page.wait_for_selector("canvas")
    visit.shot("5-map")

    visit.step("Fit")
    page.click("text=Fit now")
    page.wait_for_selector(".fits li:has-text('Fit 2')")
    visit.step("Review")
    page.click("button:has-text('What changed')")
    page.wait_for_selector("text=stayed")
    visit.shot("5-changed")

    # 6 export: the flat file arrives whole
    visit.step("Export")
    page.click("button:text-is('JSONL')")
    with page.expect_download() as waiting:
        page.click(".files a:has-text('walk-fit-2-documents.jsonl')")
    rows = [json.loads(line) for line in Path(waiting.value.path()).read_text().splitlines()]
    project = Project(files / "walk.hierseed")
    assert [row["id"] for row in rows] == [d.id for d in documents.every(project)]
    assert sum(bool(row["your_topic"]) for row in rows) == 3
    project.close()
    page.click("button:has-text('Report page')")
    page.wait_for_selector(".files >> text=walk-fit-2-report.html")
    assert "hierseed fit corpus.jsonl" in page.inner_text("pre")
    visit.shot("6-export")
    assert visit.faults == []


def test_a_label_survives_kill_9_right_after_the_click(
    chrome: Any, served: Any, project: Project
) -> None:
    server = served(project.path, "--token", "let-me-in")
    visit = Visit(chrome, server.address + "/seeds?token=let-me-in")
    assert visit.page.url == server.address + "/seeds"
    visit.topic("zipfile")
    before = labels.seeds(project)
    visit.page.focus(".card.here")
    visit.page.keyboard.press("a")
    visit.page.wait_for_selector(".stamp.yes")  # the page says so: it must be there
    server.kill()
    after = labels.seeds(project)
    assert len(after) == len(before) + 1
    assert project.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_two_tabs_never_overwrite_each_other(chrome: Any, house: tuple[Server, Project]) -> None:
    server, project = house
    one, two = (Visit(chrome, server.address + "/seeds") for _ in range(2))
    start = len(labels.seeds(project))
    # of two branches: no document is offered in both tabs, where the later decision would count
    for visit, topic in ((one, "zipfile"), (two, "decimal")):
        visit.topic(topic)
        visit.page.focus(".card.here")
    for _ in range(3):
        for visit in (one, two):
            visit.page.keyboard.press("a")
    for visit in (one, two):
        visit.page.wait_for_selector(".stamp.yes >> nth=2")
    found = labels.seeds(project)
    here = topics.current(project)
    per_topic = labels.counts(project)
    for path in ("Files > zipfile", "Numbers > decimal"):
        assert per_topic[here.ids[here.taxonomy.index(path)]] == 6
    assert len(found) >= start + 3
    # what one does is seen by the other without a click
    edits.rename(project, here.ids[here.taxonomy.index("Files > shutil")], "copying")
    for visit in (one, two):
        visit.page.wait_for_selector("#side .line:has-text('copying')")
        assert visit.faults == []


def test_hostile_text_is_shown_and_never_run(chrome: Any, served: Any, tmp_path: Path) -> None:
    nasty = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    more = "${window.hacked=1} {{ window.hacked = 1 }} `+alert(1)+` \u2028 </script> &lt;b&gt;"
    project = Project(tmp_path / "nasty")
    documents.add(project, [(f"{nasty}{i}", f"{nasty} {more} number {i}") for i in range(30)])
    topic = edits.add(project, None, nasty)
    edits.describe(project, topic, nasty + more)
    edits.add(project, None, more.replace("\u2028", ""))
    labels.decide(project, 0, topic, 1)
    project.close()
    server = served(tmp_path / "nasty.hierseed")
    visit = Visit(chrome, server.address + "/seeds")
    page = visit.page
    page.click("#side .line >> nth=0")
    page.fill("input[aria-label='Search the documents']", "script <b>")
    page.fill("input[aria-label='Search the documents']", "script number")
    page.wait_for_selector(".card mark")
    assert nasty in page.inner_text(".card .text >> nth=0")
    visit.step("Taxonomy")
    page.wait_for_selector(".path.big")
    page.click("text=Move …")
    page.wait_for_selector("dialog[open] li")
    page.keyboard.press("Escape")
    visit.step("Fit")
    assert page.evaluate("window.hacked") is None
    assert visit.faults == []


def test_a_topic_is_found_below_those_it_belongs_to(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    server, project = house
    visit = Visit(chrome, server.address + "/review")
    page = visit.page
    page.fill("#side input", "zip")
    page.wait_for_selector("#side .line.above")
    lines = page.locator("#side .line")
    assert [name.split("\n")[0] for name in lines.locator(".name").all_inner_texts()] == [
        "Files",
        "zipfile",
    ]
    assert page.inner_text("#side .line.above .name") == "Files"
    page.press("#side input", "Enter")  # the first one found, not the one above it
    page.wait_for_selector("#side .line[aria-selected=true]:has-text('zipfile')")
    here = topics.current(project)
    id = here.ids[here.taxonomy.index("Numbers > decimal")]
    with project.write() as db:
        db.execute("UPDATE topic SET code = '107' WHERE id = ?", (id,))
    edits.describe(project, id, "Numbers as people write them")  # the others learn of it
    page.fill("#side input", "107")
    page.wait_for_selector("#side .line:has-text('decimal')")
    assert lines.count() == 2
    assert visit.faults == []


@pytest.mark.slow
def test_the_sample_is_one_click_away(chrome: Any, served: Any, tmp_path: Path) -> None:
    visit = Visit(chrome, served(tmp_path / "library.hierseed").address)
    page = visit.page
    page.set_default_timeout(240_000)
    page.click("text=Open the sample project")
    page.wait_for_selector("section[aria-label='Expert labels'] .state")
    page.wait_for_selector(".job", state="hidden")
    visit.shot("sample-load")
    visit.step("Fit")
    page.click("text=Fit now")
    page.wait_for_selector(".fits li:has-text('against the experts')")
    visit.shot("sample-fit")
    visit.step("Review")
    page.click(".tabs >> text=Scores")
    page.wait_for_selector("td.n")
    visit.shot("sample-scores")
    assert visit.faults == []
