"""The workbench by keyboard alone, on a narrow screen, and as a screen reader finds it."""

from typing import Any

import pytest
from workbench_browser import Server, Visit, missing

from hierseed.app.project import Project
from hierseed.app.store import labels, topics

SCREENS = ("Load", "Taxonomy", "Seeds", "Fit", "Review", "Validate", "Export")
WITH_TOPIC = ("Taxonomy", "Seeds", "Review")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing() or "ready"),
]


def test_by_keyboard_alone(chrome: Any, house: tuple[Server, Project]) -> None:
    """From the header to the tree, to a document, accepted; then put into another topic."""
    server, project = house
    visit = Visit(chrome, server.address + "/review")
    page = visit.page

    def at() -> str:
        return str(page.evaluate("document.activeElement.className + document.activeElement.id"))

    def tab_to(selector: str, most: int = 40) -> None:
        for _ in range(most):
            page.keyboard.press("Tab")
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"Tab never reached {selector}; it is at {at()}")

    tab_to(".skip")
    tab_to("nav a:has(i)")
    while "Seeds" not in page.evaluate("document.activeElement.innerText"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("nav a[aria-current=page]:has-text('Seeds')")
    tab_to("[role=treeitem]")
    page.keyboard.press("End")
    while "zipfile" not in page.evaluate("document.activeElement.innerText"):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")  # to its parent
    page.keyboard.press("ArrowLeft")  # which closes
    page.wait_for_selector("[role=treeitem][aria-expanded=false]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    while "zipfile" not in page.evaluate("document.activeElement.innerText"):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('zipfile')")
    before = dict(labels.seeds(project))
    page.wait_for_function("document.activeElement.matches('article.card')")
    page.keyboard.press("/")
    page.keyboard.type("archive")
    page.wait_for_selector(".card mark")
    tab_to("article.card")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("a")
    page.wait_for_selector(".stamp.yes")
    page.keyboard.press("m")
    page.wait_for_selector("dialog[open]")
    page.keyboard.type("tarf")
    page.keyboard.press("Enter")
    page.wait_for_selector(".notes p:has-text('tarfile')")
    page.wait_for_selector("dialog[open]", state="detached")
    assert "card" in at()  # back where the hand was
    page.keyboard.press("u")
    page.wait_for_selector(".notes p:has-text('Undone')")
    assert len(labels.seeds(project)) == len(before) + 1
    assert visit.faults == []


def test_a_selected_topic_hands_the_focus_to_its_cards(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    server, project = house
    visit = Visit(chrome, server.address + "/seeds")
    page = visit.page
    visit.topic("pathlib")
    page.wait_for_function("document.activeElement.matches('article.card')")
    before = len(labels.seeds(project))
    page.keyboard.press("Shift+A")  # capitals, as with Caps Lock
    page.wait_for_selector("article.card:nth-child(1) .stamp.yes")
    assert len(labels.seeds(project)) == before + 1
    page.keyboard.press("u")
    page.wait_for_selector(".notes p:has-text('Undone')")
    visit.step("Review")
    page.wait_for_selector(".card.here")
    page.focus(".card.here")
    page.keyboard.press("w")
    page.wait_for_selector(".card.here .why")
    page.keyboard.press("m")
    page.wait_for_selector("dialog[open]")
    page.keyboard.type("w")  # a letter of a topic, not a key of the page
    assert page.input_value("dialog.picker[open] input") == "w"
    page.keyboard.press("Escape")
    assert visit.faults == []


def test_no_screen_scrolls_sideways_at_400_pixels(
    chrome: Any, house: tuple[Server, Project]
) -> None:
    visit = Visit(chrome, house[0].address, width=400, height=800)
    for name in SCREENS:
        visit.step(name)
        if name in WITH_TOPIC:
            visit.page.click("text=Topics")
            visit.page.click("#side .line:has(.name:text-is('pathlib'))")
            visit.page.wait_for_selector("#stage .path:has-text('pathlib')")
        across = visit.page.evaluate("document.documentElement.scrollWidth")
        assert across <= 400, f"{name} is {across} wide"
        visit.shot(f"narrow-{name.lower()}")
    assert visit.faults == []


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_axe_finds_nothing(chrome: Any, house: tuple[Server, Project], look: str) -> None:
    """Every screen, in light and dark colours and on a phone."""
    width = 390 if look == "phone" else 1360
    visit = Visit(chrome, house[0].address, width=width)
    if look == "dark":
        visit.page.click("[aria-label='Dark colours']")
    here = topics.current(house[1])
    topic = here.ids[here.taxonomy.index("Files > pathlib")]
    findings: list[str] = []
    for address in (
        "load", f"taxonomy?topic={topic}", f"seeds?topic={topic}", "seeds?mode=queue", "fit",
        f"review?topic={topic}", "review?tab=map", "review?tab=time", "review?tab=changes",
        "review?tab=scores", "code", "export",
    ):  # fmt: skip
        visit.page.goto(f"{house[0].address}/{address}")
        visit.page.wait_for_selector("#stage h1")
        findings += [f"{address}: {found}" for found in visit.findings()]
        across = visit.page.evaluate("document.documentElement.scrollWidth")
        assert across <= width, f"{address} is {across} wide"
    assert findings == []
    assert visit.faults == []
