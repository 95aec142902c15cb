"""The workbench by keyboard alone, on a narrow screen, and as a screen reader finds it."""

import json
from pathlib import Path
from typing import Any

import pytest
from workbench_browser import Server, Visit, missing
from workbench_chapters import CHAPTERS

from hierseed.app.project import Project
from hierseed.app.store import labels, topics
from hierseed.demo.corpus import read_docstrings

# Targets of a finger that are less than 44 pixels high or wide; a box counts with its label.
SMALL = """() => [...document.querySelectorAll(
    'button, a[href], input, select, textarea, summary, [role=treeitem]'
  )].filter((part) => part.offsetParent && !part.matches('.skip, dialog:not([open]) *'))
  .map((part) => {
    const box = part.matches('[type=checkbox], [type=radio], [type=file]') && part.closest('label');
    const { width, height } = (box || part).getBoundingClientRect();
    return [part.tagName, (part.innerText || part.ariaLabel || '').trim(), width, height];
  }).filter(([, , width, height]) => Math.min(width, height) < 43.5)"""

# Fields and buttons whose border (or filling) has less than 3:1 against what is around it.
FAINT = """() => {
  const paint = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((x) => x / 255)
      .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, two) => {
    const [dark, bright] = [light(one), light(two)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const behind = (part) => {
    for (; part; part = part.parentElement) {
      const colour = rgba(getComputedStyle(part).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255, 255];
  };
  const fields = 'input:not([type=range], [type=file], [type=checkbox], [type=radio])';
  return [...document.querySelectorAll(fields + ', select, textarea, button, .choose')]
    .filter((part) => part.offsetParent && !part.disabled)
    .filter((part) => getComputedStyle(part).borderTopWidth !== '0px')
    .map((part) => {
      const around = behind(part.parentElement);
      const edge = contrast(rgba(getComputedStyle(part).borderTopColor), around);
      const name = part.innerText || part.ariaLabel || part.tagName;
      return [name, Math.max(edge, contrast(behind(part), around))];
    }).filter(([, ratio]) => ratio < 3);
}"""

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


def test_the_whole_journey_by_keyboard(chrome: Any, served: Any, tmp_path: Path) -> None:
    """From an empty project to an exported table; no mouse at any point."""
    paths = [f"{chapter} > {module}" for chapter, found in CHAPTERS.items() for module in found]
    texts = read_docstrings([path.split(" > ")[1] for path in paths])
    lines = "".join(json.dumps({"id": d.id, "text": d.text}) + "\n" for d in texts)
    (tmp_path / "docs.jsonl").write_text(lines)
    (tmp_path / "topics.txt").write_text("\n".join(paths) + "\n")
    visit = Visit(chrome, served(tmp_path / "journey.hierseed").address)
    page = visit.page
    press, type_in = page.keyboard.press, page.keyboard.type
    page.on("filechooser", lambda chooser: None)  # catches them from now on, as that takes a while

    def tab_to(selector: str) -> None:
        """Walk with Tab, or back with Shift Tab, until a part has the focus."""
        for way in ("Tab", "Shift+Tab"):
            for _ in range(90):
                if page.evaluate("s => document.activeElement.matches(s)", selector):
                    return
                press(way)
        raise AssertionError(f"Tab never reached {selector}")

    def bring(kind: str, file: str) -> None:
        tab_to(f"input[aria-label='File with {kind}']")
        with page.expect_file_chooser() as chooser:
            press("Enter")
        chooser.value.set_files(tmp_path / file)

    def step(name: str) -> None:
        tab_to(f"nav[aria-label=Steps] a[href='/{name}']")
        press("Enter")
        page.wait_for_selector(f"nav a[aria-current=page][href='/{name}']")

    tab_to("button[title='Enter your name']")
    press("Enter")
    type_in("Anna")
    press("Enter")
    page.wait_for_selector("button:text-is('Anna')")
    field = "document.querySelector(\"input[aria-label='File with Taxonomy']\")"
    page.evaluate(f"{field}.mark = true")
    bring("Documents", "docs.jsonl")
    page.wait_for_selector(".preview .state")
    tab_to(".preview button.main")
    press("Enter")
    page.wait_for_selector("section[aria-label=Documents] .state")
    page.wait_for_selector(".job", state="hidden")
    assert page.evaluate(f"{field}.mark")  # never replaced, or Enter would be lost with it
    bring("Taxonomy", "topics.txt")
    page.wait_for_selector("section[aria-label=Taxonomy] .state")
    step("seeds")
    tab_to("[role=treeitem]")
    type_in("zipfile")  # moves in the tree
    page.wait_for_function("document.activeElement.innerText.includes('zipfile')")
    press("Enter")
    page.wait_for_selector("h1:has-text('zipfile')")
    press("/")
    type_in("archive")
    page.wait_for_selector(".card mark")
    tab_to("article.card")
    press("a")
    page.wait_for_selector(".stamp.yes")
    step("fit")
    tab_to("#stage button.main")
    press("Enter")
    page.wait_for_selector(".fits li:has-text('Fit 1')")
    page.wait_for_selector(".job", state="hidden")
    step("review")
    tab_to("[role=treeitem]")
    type_in("tarfile")
    press("Enter")
    page.wait_for_selector("h1:has-text('tarfile')")
    page.wait_for_function("document.activeElement.matches('article.card')")
    press("r")
    page.wait_for_selector(".stamp.no")
    step("code")
    tab_to("form[aria-label='New sample'] input")
    press("Control+A")
    type_in("3")
    press("Enter")
    page.wait_for_selector("article.coding")
    for number in range(3):
        tab_to("article.coding")
        press("m")
        page.wait_for_selector("dialog[open] input")
        type_in("zipf")
        press("Enter")
        page.wait_for_selector(f"#stage >> text={number + 1} of 3 coded by you")
    step("export")
    tab_to("section[aria-label=Documents] button")
    press("Enter")
    page.wait_for_selector(".files a:has-text('journey-fit-1-documents.csv')")
    tab_to(".files a[download]")
    with page.expect_download() as waiting:
        press("Enter")
    table = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    assert table.count("Files > zipfile") > 1
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
    """Every screen, in light and dark colours and on a phone; also borders and targets."""
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
        findings += [f"{address}: faint: {found}" for found in visit.page.evaluate(FAINT)]
        if look == "phone":
            findings += [f"{address}: small: {found}" for found in visit.page.evaluate(SMALL)]
        across = visit.page.evaluate("document.documentElement.scrollWidth")
        assert across <= width, f"{address} is {across} wide"
    assert findings == []
    assert visit.faults == []
