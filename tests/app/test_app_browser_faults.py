"""Faults that people met in a real browser: each stays mended."""

from pathlib import Path
from typing import Any

import pytest
from workbench_browser import Server, Visit, missing

from hierseed.app import fits
from hierseed.app.project import Project
from hierseed.app.serving import own_address
from hierseed.app.store import documents, edits, labels, topics
from hierseed.taxonomy import Taxonomy

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing() or "ready"),
]


def focused(page: Any, selector: str) -> bool:
    return bool(page.evaluate("s => document.activeElement.matches(s)", selector))


def test_typing_in_the_tree_labels_nothing_and_moves_to_the_topic(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    server, project = house
    visit = Visit(chrome, server.address + "/seeds")
    page = visit.page
    visit.topic("zipfile")
    page.wait_for_function("document.activeElement.matches('article.card')")
    before = labels.last_event(project)
    page.focus("#side [role=treeitem][tabindex='0']")
    page.keyboard.type("random")
    page.wait_for_function("document.activeElement.innerText.includes('random')")
    for key in ("a", "r", "n", "x", "u"):
        page.keyboard.press(key)
    # then by the field above the tree: Enter leads to the cards, and letters act there only
    page.fill("#side input", "zip")
    page.keyboard.type("a")
    assert page.input_value("#side input") == "zipa"
    page.fill("#side input", "tarf")
    page.press("#side input", "Enter")
    page.wait_for_selector("h1:has-text('tarfile')")
    page.wait_for_function("document.activeElement.matches('article.card')")
    assert labels.last_event(project) == before
    page.keyboard.press("?")
    page.wait_for_selector("dialog[aria-label=Keys][open]")
    page.click("dialog[aria-label=Keys] input[type=checkbox]")  # keys off
    page.click("dialog[aria-label=Keys] button:has-text('Close')")
    page.focus(".card.here")
    page.keyboard.press("a")
    page.keyboard.press("ArrowDown")  # arrows stay
    page.wait_for_selector("article.card:nth-child(2).here")
    assert labels.last_event(project) == before
    assert visit.faults == []


def test_a_on_the_last_card_turns_the_page_and_twice_is_once(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    server, project = house
    visit = Visit(chrome, server.address + "/review")
    page = visit.page
    visit.topic("statistics")
    page.wait_for_function("document.activeElement.matches('article.card')")
    last = page.locator("article.card").count() - 1
    for _ in range(last):
        page.keyboard.press("ArrowDown")
    page.wait_for_selector(f"article.card:nth-child({last + 1}).here")
    before = labels.last_event(project)
    page.keyboard.press("a")
    page.keyboard.press("a")
    page.wait_for_selector(".pager >> text=2 of")
    page.wait_for_function("document.activeElement.matches('article.card')")
    assert page.locator(".notes p.bad").count() == 0
    events = project.db.execute(
        "SELECT row, verdict FROM label_event WHERE event > ? AND verdict = 1", (before,)
    ).fetchall()
    assert len(events) == len({row for row, _ in events})
    while (
        labels.last_event(project) > before and page.locator("[aria-label^=Undo]:enabled").count()
    ):
        page.click("[aria-label='Undo your last step']")
        page.wait_for_selector(".notes p:has-text('Undone')")
        break
    assert visit.faults == []


def test_undo_of_one_person_leaves_the_others_alone(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    server, project = house
    one, two = (Visit(chrome, server.address + "/seeds") for _ in range(2))
    for visit, name in ((one, "Anna"), (two, "Ben")):
        visit.page.click("button:text-is('Your name')")
        visit.page.fill("dialog[open] input", name)
        visit.page.click("dialog[open] button:text-is('Save')")
        visit.page.wait_for_selector(f"button:text-is('{name}')")
    before = labels.seeds(project)
    one.topic("smtplib")
    one.page.wait_for_function("document.activeElement.matches('article.card')")
    one.page.keyboard.press("a")
    one.page.wait_for_selector(".stamp.yes")
    two.topic("smtplib")
    two.page.wait_for_function("document.activeElement.matches('article.card')")
    for _ in range(3):
        two.page.keyboard.press("u")
    two.page.wait_for_selector(".notes p")
    fresh = {row: ids for row, ids in labels.seeds(project).items() if row not in before}
    assert len(fresh) == 1
    one.page.keyboard.press("Control+z")
    one.page.wait_for_selector(".notes p:has-text('Undone: Accepted')")
    assert labels.seeds(project) == before
    one.page.keyboard.press("Control+y")
    one.page.wait_for_selector(".notes p:has-text('Done again')")
    one.page.keyboard.press("u")
    one.page.wait_for_function("document.querySelectorAll('.stamp.yes').length === 0")
    assert one.faults == two.faults == []


def test_a_draft_survives_what_another_tab_saves(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    server, project = house
    visit = Visit(chrome, server.address + "/taxonomy")
    page = visit.page
    visit.topic("shutil")
    page.fill("label:has-text('Definition') textarea", "my long draft")
    here = topics.current(project)
    id = here.ids[here.taxonomy.index("Files > shutil")]
    edits.describe(project, id, "theirs")
    page.wait_for_selector(".hint.bad:has-text('theirs')")
    assert page.input_value("label:has-text('Definition') textarea") == "my long draft"
    page.click("button:has-text('Save the codebook entry')")
    page.wait_for_selector(".hint.bad", state="detached")
    assert topics.get(project, id).description == "my long draft"
    assert visit.faults == []


def test_the_address_remembers_topic_search_page_and_fit(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    server, _ = house
    visit = Visit(chrome, server.address + "/seeds")
    page = visit.page
    visit.topic("random")
    page.fill("input[aria-label='Search the documents']", "return")
    page.wait_for_selector(".card mark")
    page.click(".pager >> text=Next")
    page.wait_for_selector(".pager >> text=2 of")
    page.wait_for_function("location.search.includes('page=1')")
    page.reload()
    page.wait_for_selector(".pager >> text=2 of")
    assert page.input_value("input[aria-label='Search the documents']") == "return"
    page.wait_for_selector("#side .line[aria-selected=true]:has-text('random')")
    visit.step("Review")
    page.click(".tabs >> text=Map")
    page.wait_for_function("location.search.includes('tab=map')")
    page.go_back()
    page.wait_for_selector("nav a[aria-current=page]:has-text('Seeds')")
    page.wait_for_selector("h1:has-text('random')")
    page.fill("input[aria-label='Search the documents']", "zzyzx")
    page.wait_for_selector("text=No document has these words")
    assert page.locator("text=Many hits").count() == 0
    assert visit.faults == []


def test_when_the_server_dies_keys_are_refused_and_the_topic_comes_back(
    chrome: Any, served: Any, project: Project
) -> None:
    server = served(project.path)
    visit = Visit(chrome, server.address + "/seeds")
    page = visit.page
    visit.topic("zipfile")
    page.wait_for_function("document.activeElement.matches('article.card')")
    server.kill()
    page.wait_for_selector("[role=alert]:has-text('No connection')")
    page.keyboard.press("a")
    page.wait_for_selector("[role=alert]:has-text('1 click refused')")
    assert page.locator(".stamp.yes").count() == 0
    again = Server(project.path, port=server.port)
    try:
        page.wait_for_selector("[role=alert]", state="detached")
        page.wait_for_selector("h1:has-text('zipfile')")
        page.wait_for_selector("#side .line[aria-selected=true]:has-text('zipfile')")
    finally:
        again.close()


def test_after_preparing_the_suggestions_are_there(
    chrome: Any, served: Any, tmp_path: Path
) -> None:
    project = Project(tmp_path / "p")
    words = ["bread", "guns", "rain", "paint", "steel"]
    documents.add(project, [(f"d{i}", f"about {words[i % 5]} number {i}") for i in range(60)])
    documents.add(project, [("long", "begin " + "word " * 2_000 + "the very end")])
    edits.replace_all(project, Taxonomy.from_paths(["Bread", "Guns"]), "t")
    here = topics.current(project)
    labels.load(project, [(0, here.ids[0]), (5, here.ids[0])], "file")
    visit = Visit(chrome, served(project.path).address + "/seeds")
    page = visit.page
    visit.topic("Bread")
    page.click("text=Prepare them now")
    page.wait_for_selector(".card .reason")  # without another click
    # a long text can be read to its end
    page.fill("input[aria-label='Search the documents']", "begin")
    page.wait_for_selector(".card mark:has-text('begin')")
    page.focus(".card.here")
    page.keyboard.press("o")
    page.wait_for_selector(".card .text:has-text('the very end')")
    assert visit.faults == []
    project.close()


def test_the_header_shows_the_expected_accuracy(chrome: Any, house: tuple[Server, Project]) -> None:
    server, project = house
    visit = Visit(chrome, server.address + "/fit")
    visit.page.wait_for_selector(".fits li:has-text('Expected accuracy')")
    fit = fits.last(project)
    assert fit is not None
    levels = ", ".join(f"{share:.0%}" for share in fit.facts["expected"])
    assert visit.page.inner_text(".brand span") == f"Fit 1 · about {levels} right"
    assert "at levels 1, 2" in visit.page.get_attribute(".brand span", "title")
    assert visit.faults == []


def test_of_two_renames_at_once_the_second_person_is_asked(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    server, project = house
    here = topics.current(project)
    id = here.ids[here.taxonomy.index("Numbers > fractions")]
    visit = Visit(chrome, server.address + "/taxonomy")
    page = visit.page
    visit.topic("fractions")
    page.fill("#stage label:has-text('Name') input", "my name")
    edits.rename(project, id, "their name")
    page.wait_for_selector(".hint.bad:has-text('their name')")
    assert page.input_value("#stage label:has-text('Name') input") == "my name"
    page.click(".hint.bad button:text-is('Use theirs')")
    page.wait_for_selector(".hint.bad", state="detached")
    assert page.input_value("#stage label:has-text('Name') input") == "their name"
    edits.rename(project, id, "fractions")
    assert visit.faults == []


def test_a_topic_that_another_person_deletes_is_not_left_without_a_word(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    server, project = house
    id = edits.add(project, None, "short-lived")
    visit = Visit(chrome, server.address + "/taxonomy")
    visit.topic("short-lived")
    edits.delete(project, id)
    visit.page.wait_for_selector(".notes p:has-text('short-lived was deleted')")
    visit.page.wait_for_selector("text=Select a topic in the tree")
    assert visit.faults == []


def test_the_address_of_this_computer_works_and_commands_can_be_copied_there(
    chrome: Any, served: Any, project: Project
) -> None:
    host = own_address("0.0.0.0")
    if host == "127.0.0.1":
        pytest.skip("this computer has no address but loopback")
    server = served(project.path, "--host", "0.0.0.0")
    assert f"http://{host}:{server.port}" in server.said()  # the address that it prints
    visit = Visit(chrome, f"http://{host}:{server.port}/export")
    page = visit.page
    assert page.evaluate("navigator.clipboard === undefined")
    page.click("text=Copy the commands")
    page.wait_for_selector("button:text-is('Copied')")
    assert [text for text in visit.faults if "Cross-Origin-Opener-Policy" not in text] == []


def test_tree_and_review_show_where_few_documents_are_expected_to_be_right(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    server, project = house
    fit = fits.last(project)
    assert fit is not None
    known = fit.model.expected_accuracy()
    visit = Visit(chrome, server.address + "/review")
    page = visit.page
    page.wait_for_selector("section[aria-label='Topics to review first'] li")
    assert "are in a topic" not in page.inner_text(".lead")
    first = page.locator("section[aria-label='Topics to review first'] button").first
    path = first.inner_text().replace(" › ", " > ")
    first.click()
    page.wait_for_selector("h1.path")
    assert f"expected right: {known[path]}" in page.inner_text("h1.path + p")
    line = page.locator("#side .line[aria-selected=true]")
    assert line.locator(".right").inner_text() == f"{known[path].value:.0%}"
    assert f"expected right {known[path]}" in line.get_attribute("title")
    assert visit.faults == []
