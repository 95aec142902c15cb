"""The page under a person's hands: search, arrows, themes, map; in a real Chromium."""

import shutil
import warnings

import numpy as np
import pytest
from workbench_browser import missing

from hierseed import AnchoredHierSeed, Taxonomy
from hierseed.report.gather import gather
from hierseed.report.page import render

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the package playwright is not installed"
)
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing() or "ready"),
]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="module")
def address(case, tmp_path_factory):
    found = gather(case.model, case.X, zip(case.ids, case.texts), assignments=case.assignments)
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(render(found), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as player:
        opened = player.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, address):
    """Open the page; whatever it complains of or asks the network for fails the test."""
    heard, asked, opened = [], [], []

    def go(width=1400, hash="", **options):
        page = browser.new_page(viewport={"width": width, "height": 900}, **options)
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda fault: heard.append(str(fault)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address + hash)
        opened.append(page)
        return page

    yield go
    for page in opened:
        page.close()
    assert not heard
    assert {url.split("#")[0] for url in asked} == {address}


def title(page):
    return page.locator("#detail h2").inner_text()


def test_search_and_keys(visit):
    page = visit()
    assert title(page) == "Whole corpus"
    page.keyboard.press("/")
    page.keyboard.type("fish")
    page.wait_for_selector("#found mark")
    assert not page.locator("#tree").is_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert title(page) == "Fish"
    page.keyboard.press("Escape")
    assert page.locator("#tree").is_visible()
    page.locator("#tree li[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert title(page) == "Ships"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert title(page) == "Sea"
    assert page.url.endswith("#topic-0")


def test_a_topic_can_be_chosen_in_both_figures(visit):
    page = visit()
    page.locator("#burst path").first.click()
    assert title(page) == "Sea"
    page.locator("#burst .centre").click(force=True)
    assert title(page) == "Whole corpus"
    box = page.locator("#map canvas").bounding_box()
    names = set()
    for x in range(10, 95, 6):
        for y in range(10, 95, 12):
            page.mouse.click(box["x"] + box["width"] * x / 100, box["y"] + box["height"] * y / 100)
            names.add(title(page))
    assert {"Birds", "Fish"} <= names


@pytest.fixture
def many_topics(tmp_path):
    """A page of a corpus with sixty topics, most of which nothing was placed in."""
    taxonomy = Taxonomy.from_paths([f"Topic {i}" for i in range(60)])
    X = np.random.default_rng(0).normal(size=(90, 4)).astype(np.float32)
    y = np.full(90, -1)
    y[:3] = range(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AnchoredHierSeed(taxonomy, other=False, max_iter=3, tol=0.0).fit(X, y)
    model.history_[:] = [
        {"round": i, "objective": -558.1 - 1e-3 * i, "coverage": 1.0} for i in (1, 2, 3)
    ]
    documents = [(f"document-{i}-" + "x" * 80, f"text {i}") for i in range(90)]
    file = tmp_path / "many.html"
    file.write_text(render(gather(model, X, documents)), encoding="utf-8")
    return file.as_uri()


def test_what_is_left_out_of_a_list_can_be_opened(browser, many_topics):
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto(many_topics)
    assert not page.get_by_role("button", name="Topic 50").is_visible()
    bare = page.locator("#detail div", has=page.get_by_text("Topics without a document")).last
    assert "no seed either" in bare.inner_text()
    bare.locator("summary").click()
    page.locator("#detail details button", has_text="Topic 50").click()
    assert title(page) == "Topic 50"
    page.close()


def test_rounds_that_differ_are_written_differently(browser, many_topics):
    page = browser.new_page()
    page.goto(many_topics)
    rows = page.locator("#history tbody tr")
    told = [rows.nth(i).locator("td").nth(1).inner_text() for i in range(rows.count())]
    assert len(told) == len(set(told)) == 3
    page.close()


def test_long_ids_do_not_widen_a_narrow_page(browser, many_topics):
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto(many_topics + "#topic-0")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.close()


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_in_either_theme(visit, width, scheme):
    page = visit(width, "#topic-0", color_scheme=scheme)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") != scheme


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_topic_shows_its_expected_accuracy_and_the_lowest_come_first(
    browser, case, tmp_path, scheme
):
    X = case.X + np.random.default_rng(0).normal(size=case.X.shape) * 2.0
    y = np.full(len(X), -1)
    for leaf in np.unique(case.gold):
        y[np.flatnonzero(case.gold == leaf)[:6]] = leaf
    model = AnchoredHierSeed(case.model.taxonomy, other=False).fit(X, y)
    file = tmp_path / "expected.html"
    found = gather(model, X, zip(case.ids, case.texts))
    file.write_text(render(found), encoding="utf-8")
    names, shares = model.taxonomy_.names, model.expected_topic_accuracy_
    page = browser.new_page(viewport={"width": 400, "height": 900}, color_scheme=scheme)
    page.goto(file.as_uri())
    table = page.locator("#detail div", has=page.get_by_text("Lowest expected accuracy")).last
    rows = table.locator("tr").all_inner_texts()
    lowest = sorted(np.flatnonzero(model.taxonomy_.tree.is_leaf), key=lambda t: shares[t].value)
    assert [row.split()[0] for row in rows] == [names[t] for t in lowest]
    assert str(shares[lowest[0]]) in rows[0]
    page.goto(file.as_uri() + f"#topic-{lowest[0]}")
    page.reload()
    assert (
        f"expected right {shares[lowest[0]]}" in page.locator("#detail .facts").first.inner_text()
    )
    row = page.locator("#tree .row", has_text=names[lowest[0]]).last
    assert row.locator(".count").first.inner_text() == f"{shares[lowest[0]].value:.0%}"
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.close()


def test_on_a_phone_the_topics_to_look_at_follow_the_chosen_topic(browser, many_topics, tmp_path):
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto(many_topics)
    page.evaluate("document.getElementById('look').append('One topic')")
    tops = [page.locator(part).bounding_box()["y"] for part in ("header", "#detail", "#look")]
    assert tops == sorted(tops)
    page.close()
