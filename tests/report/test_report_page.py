"""The page: one file, no network, nothing in a corpus becomes markup; drawn by a real browser."""

import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from workbench_browser import missing

from hierseed.assignments import Assignments
from hierseed.estimators.hierseed import HierSeed
from hierseed.report.gather import gather
from hierseed.report.page import render, to_json
from hierseed.taxonomy import Taxonomy

ATTACK = (
    "</script><script>document.title='taken'</script><img src=x onerror=alert(1)> & \u2028 $title"
)


class Reader(html.parser.HTMLParser):
    """Collects tags and the text of the data element."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][1].get("id") == "data":
            self.data += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


@pytest.fixture(scope="module")
def page(case) -> str:
    found = gather(case.model, case.X, zip(case.ids, case.texts), assignments=case.assignments)
    return render(found)


@pytest.fixture(scope="module")
def attacked(case) -> str:
    """Every string that a user can bring is an attack."""
    old = case.model.taxonomy
    evil = Taxonomy(
        [f"{ATTACK} {i}".replace("\u2028", "") for i in range(len(old))],
        old.tree.parent,
        codes=[ATTACK] * len(old),
        descriptions=[ATTACK] * len(old),
    )
    model = HierSeed(evil).fit(case.X, case.assignments.is_seed * (case.gold + 1) - 1)
    documents = [(ATTACK + str(i), ATTACK) for i in range(len(case.X))]
    return render(gather(model, case.X, documents, title=ATTACK))


def test_nothing_in_a_corpus_becomes_markup(page, attacked):
    assert [tag for tag, _ in read(attacked).tags] == [tag for tag, _ in read(page).tags]
    assert "<img" not in attacked
    found = json.loads(read(attacked).data)
    assert found["docs"]["text"][0] == " ".join(ATTACK.split())
    assert found["title"] == ATTACK


def test_the_page_names_no_address(page):
    found = re.findall(r"(?:https?:)?//[\w.-]+\.\w+|url\([^#)]*\)|@import", page)
    assert set(found) <= {"http://www.w3.org"}  # the name of SVG, which nobody fetches
    assert not [1 for _, attributes in read(page).tags if {"src", "srcset"} & set(attributes)]
    policy = next(a["content"] for t, a in read(page).tags if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_data_survive_the_journey(case, page):
    found = json.loads(read(page).data)
    again = gather(case.model, case.X, zip(case.ids, case.texts), assignments=case.assignments)
    assert found == json.loads(json.dumps(again))


@pytest.mark.parametrize("value", ["<>&\u2028\u2029", "a\ud800b", {"k": [1, None, "</SCRIPT>"]}])
def test_json_is_safe_and_true(value):
    text = to_json(value)
    assert not set("<>&\u2028\u2029") & set(text)
    if value != "a\ud800b":
        assert json.loads(text) == value
    text.encode("utf-8")


def test_many_documents_give_a_small_page():
    """Placements are made up here: the page's size depends on their number alone."""
    random = np.random.default_rng(0)
    n, taxonomy = (
        300_000,
        Taxonomy.from_paths([f"T{i} > S{j}" for i in range(20) for j in range(9)]),
    )
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    labels = random.choice(leaves, n)
    path = taxonomy.tree.ancestors[labels]
    assignments = Assignments.ungraded(
        taxonomy, n, np.arange(n), labels, path, random.random(path.shape),
        random.random(path.shape), random.choice(leaves, n), np.zeros(n, bool),
    )  # fmt: skip

    model = HierSeed(taxonomy)
    model.vectors_ = random.normal(size=(len(taxonomy), 4))
    X = random.normal(size=(n, 4)).astype(np.float32)
    documents = ((str(i), f"word{i % 5000} " * 60) for i in range(n))
    page = render(gather(model, X, documents, assignments=assignments))
    assert len(page.encode()) < 3_000_000


# ------------------------------------------------------------------ in a browser

CHROMIUM = shutil.which("chromium")


def look(page: str, folder: Path, address: str = "") -> str:
    """Open the page and return the document as the browser left it."""
    file = folder / "report.html"
    file.write_text(page, encoding="utf-8")
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=2000",
        "--enable-logging=stderr",
    ]  # fmt: skip
    ran = subprocess.run(
        [CHROMIUM, *flags, file.as_uri() + address], capture_output=True, text=True, timeout=120
    )
    said = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    assert not said, said
    return ran.stdout


needs_browser = pytest.mark.skipif(bool(missing()), reason=missing() or "ready")


@pytest.mark.browser
@needs_browser
def test_a_browser_draws_every_part(case, page, tmp_path):
    topic = case.model.taxonomy_.names.index("Birds")
    drawn = look(page, tmp_path, f"#topic-{topic}")
    assert re.search(r"<h2[^>]*>Birds</h2>", drawn)
    assert "feather" in drawn.split('id="detail"')[1].split('id="history"')[0]
    assert drawn.count('role="treeitem"') > 5
    assert drawn.split('id="burst"')[1].split('id="map"')[0].count("<path") >= 4
    assert "History of the fit" in drawn.split('id="history"')[1].split("<footer")[0]


@pytest.mark.browser
@needs_browser
def test_a_browser_runs_no_script_of_the_corpus(attacked, tmp_path):
    drawn = look(attacked, tmp_path)
    shown = re.search(r"<title>(.*?)</title>", drawn, re.DOTALL)
    assert shown is not None
    assert shown[1] != "taken"
    assert "<img" not in drawn
