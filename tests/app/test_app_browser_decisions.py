"""What people decide counts, in a real browser: faults 1, 2, 3, 5, 7, 8, 11 and the tree's own."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from workbench_browser import Server, Visit, missing

from hierseed.app import fits
from hierseed.app.project import Project
from hierseed.app.store import documents, labels, topics

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing() or "ready"),
]

ON_A_CARD = "document.activeElement.matches('article.card')"


def id_of(project: Project, path: str) -> int:
    here = topics.current(project)
    return here.ids[here.taxonomy.index(path)]


def row_of(project: Project, id: str) -> int:
    return documents.rows_of(project, [id])[id]


def line(name: str) -> str:
    return f"#side .line:has(.name:text-is('{name}'))"


def exported(page: Any, project: Project) -> pd.DataFrame:
    """Write the flat file by the page, and read what a person would download."""
    before = page.locator(".files li").count()
    page.click("section[aria-label=Documents] button:text-is('CSV')")
    page.wait_for_function(f"document.querySelectorAll('.files li').length === {before + 1}")
    with page.expect_download() as waiting:
        page.click(".files li:first-child a")
    return pd.read_csv(Path(waiting.value.path()), keep_default_na=False)


def test_decisions_count_at_the_next_fit_and_in_every_file(
    chrome: Any, served: Any, project: Project
) -> None:
    server = served(project.path)
    visit = Visit(chrome, server.address + "/review")
    page = visit.page

    # 2: accepting on a parent keeps the subtopic that the document is placed in
    visit.topic("Internet")
    page.wait_for_function(ON_A_CARD)
    seeds = labels.seeds(project)
    while (row := row_of(project, page.inner_text(".card.here .id"))) in seeds:
        page.keyboard.press("ArrowDown")
    page.keyboard.press("a")
    page.wait_for_selector(".card:has(.stamp.yes)")
    fit, here = fits.last(project), topics.current(project)
    assert fit is not None
    (accepted,) = labels.seeds(project)[row]
    assert here.path(accepted).startswith("Internet > ")
    assert accepted == here.ids[fit.placements(here).labels[row]]

    # 7: rivals count only documents less than 50 % sure
    visit.topic("email")
    page.wait_for_function(ON_A_CARD)
    fit, here = fits.last(project), topics.current(project)
    assert fit is not None
    placed, email = fit.placements(here), here.place[id_of(project, "Internet > email")]
    own = placed.labels == email
    torn = own & (placed.final_score[placed.primary] < 0.5)
    told = [int(text.split()[0]) for text in page.locator(".rivals .soft").all_inner_texts()]
    assert sum(told) <= int(torn.sum())

    # 1: R on the odd ones
    page.click(".tabs >> text=Odd")
    page.wait_for_selector(".tabs button[aria-pressed=true]:text-is('Odd')")
    page.focus(".card.here")
    rejected = []
    for _ in range(3):
        rejected.append(row_of(project, page.inner_text(".card.here .id")))
        page.keyboard.press("r")
        page.wait_for_selector(f".stamp.no >> nth={len(rejected) - 1}")

    # 5: M means one thing on both screens: the document is a seed of that topic, and of no other
    for step in ("Review", "Seeds"):
        visit.step(step)
        visit.topic("tarfile")
        page.wait_for_function(ON_A_CARD)
        row = row_of(project, page.inner_text(".card.here .id"))
        for name in ("random", "statistics"):
            # the note of the screen before may still be there, and says the same
            page.evaluate("document.querySelectorAll('.notes button').forEach((b) => b.click())")
            page.wait_for_selector(".notes p", state="detached")
            page.keyboard.press("m")
            page.fill("dialog[open] input", name)
            page.keyboard.press("Enter")
            page.wait_for_selector(f".notes p:has-text('A seed of Numbers › {name} now')")
            page.wait_for_function(ON_A_CARD)
        assert labels.seeds(project)[row] == [id_of(project, "Numbers > statistics")]

    # 8: a decision made while a fit runs waits for the next one, and is told so
    visit.step("Seeds")
    visit.topic("zipfile")
    page.wait_for_function(ON_A_CARD)
    other = Visit(chrome, server.address + "/fit")
    other.page.click("text=Fit now")
    page.wait_for_selector(".job .phase:not(:text-is('Starting'))")
    page.keyboard.press("r")
    page.wait_for_selector(".stamp.no")
    assert page.locator(".job").count() == 1, "the fit ended too soon to test this"
    page.wait_for_selector(".brand span:has-text('Fit 2')")
    visit.step("Review")
    assert page.inner_text(".hint").startswith("1 decision since this fit began")

    # 1: none of the rejected documents is in the topic any more, and the file says why
    fit = fits.last(project)
    assert fit is not None
    placed = fit.placements(topics.current(project))
    assert not any(placed.labels[row] == email for row in rejected)
    visit.step("Export")
    frame = exported(page, project)
    assert (frame.loc[rejected, "rejected"] == "Internet > email").all()
    assert not frame.loc[rejected, "topic"].str.startswith("Internet > email").any()
    assert visit.faults == []


def test_the_tree_is_changed_in_its_place_and_every_file_follows(
    chrome: Any, served: Any, project: Project
) -> None:
    server: Server = served(project.path)
    visit = Visit(chrome, server.address + "/review")
    page = visit.page
    pathlib, shutil = (id_of(project, f"Files > {name}") for name in ("pathlib", "shutil"))
    merged_seeds = [row for row, ids in labels.seeds(project).items() if ids == [shutil]]

    # rename in the tree by F2; Escape leaves it
    page.focus(line("pathlib"))
    page.keyboard.press("F2")
    page.wait_for_selector("#side input.rename")
    page.keyboard.type("nothing")
    page.keyboard.press("Escape")
    page.wait_for_selector("#side input.rename", state="detached")
    page.keyboard.press("F2")
    page.fill("#side input.rename", "paths")
    page.keyboard.press("Enter")
    page.wait_for_selector(line("paths"))

    # merge by the menu, opened with the keyboard
    page.focus(line("shutil"))
    page.keyboard.press("Shift+F10")
    page.wait_for_selector("[role=menu]")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "Merge into …"
    page.keyboard.press("Enter")
    page.fill("dialog[open] input", "paths")
    page.keyboard.press("Enter")
    page.wait_for_selector(line("shutil"), state="detached")

    # drag a topic onto another one; Ctrl Z takes it back
    page.drag_and_drop(line("email"), line("Numbers"))
    page.wait_for_selector(".notes p:has-text('Numbers › email')")
    assert id_of(project, "Numbers > email")
    page.focus("#stage")
    page.keyboard.press("Control+z")
    page.wait_for_selector(".notes p:has-text('Undone: Moved')")
    assert id_of(project, "Internet > email")
    page.drag_and_drop(line("Internet"), line("email"))  # below itself: refused by the tree
    assert id_of(project, "Internet > email")

    # a new topic by the right mouse button, then deleted
    page.click(line("Files"), button="right")
    page.click("[role=menuitem]:text-is('New subtopic')")
    page.wait_for_selector(line("New topic"))
    page.click(line("New topic"), button="right")
    page.click("[role=menuitem]:text-is('Delete')")
    page.wait_for_selector(line("New topic"), state="detached")

    # 11: seeds of a merged topic can be withdrawn
    visit.step("Seeds")
    visit.topic("paths")
    page.click("button:has-text('Its seeds')")
    for row in merged_seeds:
        (document,) = documents.get(project, [row])
        card = f"article[aria-label='Document {document.id}']"
        page.focus(card)
        page.keyboard.press("x")
        page.wait_for_selector(card, state="detached")
    assert page.locator(".notes p.bad").count() == 0
    assert set(labels.of_topic(project, pathlib)).isdisjoint(merged_seeds)

    # 3: the flat file and the map use the names on the screen
    visit.step("Export")
    frame = exported(page, project)
    names = set(frame["topic"])
    assert "Files > paths" in names
    assert not names & {"Files > pathlib", "Files > shutil"}
    visit.step("Review")
    page.click(".tabs >> text=Map")
    page.wait_for_selector("canvas[data-drawn]")
    assert page.get_attribute("canvas", "data-drawn") == str(documents.count(project))
    page.fill(".maptools input", "paths")
    page.wait_for_selector("text=2 islands with “paths”")  # those of the fit, both of one topic now
    page.fill(".maptools input", "shutil")
    page.wait_for_selector("text=0 islands with “shutil”")
    drawn = page.evaluate(
        "() => { const c = document.querySelector('canvas');"
        " return new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size }"
    )
    assert drawn > 20  # islands, points and names, not an empty square
    assert visit.faults == []
