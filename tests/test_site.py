"""The site: what a build refuses, and that the pages as they are pass."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "docs" / "site"


@pytest.fixture
def site(monkeypatch):
    monkeypatch.syspath_prepend(str(SITE))
    return import_module


def write(folder, **pages):
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text)


def test_links_and_anchors_that_hold_pass(site, tmp_path):
    first = '<a href="b.html#x">b</a><h1 id="top"></h1><a href="#top">up</a>'
    second = '<p id="x"></p><a href="https://example.org/">out</a><img src="data:image/png,">'
    write(tmp_path, a=first, b=second)
    assert site("check").check(tmp_path) == []


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<a href="c.html">c</a>', "links to c.html"),
        ('<a href="#nowhere">x</a>', "has no such part"),
        ('<script src="https://cdn.example.org/x.js"></script>', "from another host"),
        ('<link rel="stylesheet" href="//fonts.example.org/f.css">', "from another host"),
        ('<img src="gone.png">', "loads gone.png"),
    ],
)
def test_what_is_refused(site, tmp_path, html, fault):
    write(tmp_path, a=html)
    (found,) = site("check").check(tmp_path)
    assert fault in found


def test_a_style_that_loads_from_elsewhere_is_refused(site, tmp_path):
    (tmp_path / "s.css").write_text("@font-face { src: url(https://fonts.example.org/f.woff2) }")
    assert "s.css" in site("check").check(tmp_path)[0]


def test_a_script_becomes_a_page(site, tmp_path):
    script = tmp_path / "one.py"
    script.write_text("# %% [markdown]\n# # A title\n#\n# Words.\n\n# %%\nx = 1\nprint(x)\n")
    text, picture = site("gallery").page_of(script)
    assert text.startswith("# A title\n\nWords.\n\n```python\nx = 1\nprint(x)\n```\n")
    assert picture == ""


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path):
    done = subprocess.run(
        [sys.executable, SITE / "build.py", tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    index = (tmp_path / "html" / "searchindex.js").read_text(encoding="utf-8")
    assert "thesauru" in index  # search finds words of pages, from a file beside them
