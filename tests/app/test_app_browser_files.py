"""Files, failures and access in a real browser: faults 6, 13, 15, 17, 19 to 21, and 26 to 28."""

import csv
import zipfile
from pathlib import Path
from typing import Any

import pytest
from workbench_browser import TOKEN, Visit, missing

from hierseed.app.project import Project
from hierseed.app.store import documents, labels, topics
from hierseed.demo.corpus import read_docstrings

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing() or "ready"),
]


def tile(name: str) -> str:
    return f"section[aria-label='{name}']"


def bring(page: Any, name: str, file: Path) -> None:
    page.set_input_files(f"input[aria-label='File with {name}']", file)


def test_files_are_checked_wait_replace_and_say_what_they_lost(
    chrome: Any, served: Any, tmp_path: Path
) -> None:
    path = tmp_path / "files.hierseed"
    visit = Visit(chrome, served(path).address + "/load")
    page = visit.page

    # 21: a workbook that unpacks to far more than it is
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 150_000_000)
    bring(page, "Documents", tmp_path / "bomb.xlsx")
    page.wait_for_selector(f"{tile('Documents')} .faults:has-text('unpacks')")

    # 28: Windows-1252 is read and said; rows left out stay listed
    found = read_docstrings(["email", "random"])
    texts = [document.text.encode("ascii", "ignore").decode() for document in found]
    texts *= 1 + 30_000 // len(texts)  # so that the load takes a while
    rows = [(f"d{i}", f"{text} é") for i, text in enumerate(texts)]
    with (tmp_path / "docs.csv").open("w", newline="", encoding="cp1252", errors="ignore") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        writer.writerows([*rows, ("empty", "")])
    (tmp_path / "topics.txt").write_text("email\nrandom\n")
    (tmp_path / "seeds.csv").write_text("id,topic\nd0,email\nd1,email\n=2+5,random\n")
    bring(page, "Taxonomy", tmp_path / "topics.txt")
    page.wait_for_selector(f"{tile('Taxonomy')} .state:has-text('2 topics')")
    bring(page, "Documents", tmp_path / "docs.csv")
    page.wait_for_selector(".preview .hint:has-text('Windows-1252')")

    # 13: seeds that come while the corpus loads wait for it
    page.click("text=Load these documents")
    page.wait_for_selector(".job")
    bring(page, "Seeds", tmp_path / "seeds.csv")
    page.wait_for_selector(f"{tile('Seeds')} .hint:has-text('waits')")
    page.wait_for_selector(f"{tile('Seeds')} .state:has-text('2 seeds')")
    page.wait_for_selector(f"{tile('Documents')} .report:has-text('1 rows left out')")
    project = Project(path)
    assert documents.get(project, [0])[0].text.endswith("é")

    # 6: a corrected file replaces what the first one said, after a look at what would go
    (tmp_path / "corrected.csv").write_text("id,topic\nd0,email\nd1,random\n")
    bring(page, "Seeds", tmp_path / "corrected.csv")
    page.click(f"{tile('Seeds')} .plan button:has-text('Replace')")
    page.wait_for_selector(f"{tile('Seeds')} .plan", state="detached")
    here = topics.current(project)
    by_name = {name: id for id, name in zip(here.ids, here.taxonomy.names)}
    assert labels.seeds(project) == {0: [by_name["email"]], 1: [by_name["random"]]}
    assert ["400" in fault for fault in visit.faults] == [True]  # the workbook
    project.close()


def test_the_embedder_is_chosen_the_bar_is_true_and_failures_are_said(
    chrome: Any, served: Any, project: Project
) -> None:
    visit = Visit(chrome, served(project.path).address + "/fit")
    page = visit.page

    # 26: the embedder is named and can be chosen
    menu = "label:has-text('Embedder') select"
    page.select_option(menu, "lsa")
    page.wait_for_selector("text=The next fit makes them again")

    # 27: the bar is at its end only when the work is
    page.evaluate(
        """() => {
          window.seen = [];
          setInterval(() => {
            const bar = document.querySelector('.job progress');
            if (bar) seen.push([document.querySelector('.job .phase').textContent, bar.value]);
          }, 20);
        }"""
    )
    page.click("text=Fit now")
    page.wait_for_selector(".fits li:has-text('Fit 2'):has-text('lsa')")
    seen = page.evaluate("seen")
    values = [value for _, value in seen]
    assert values == sorted(values)
    assert all(value < 0.985 for phase, value in seen if phase != "Saving the fit")
    assert len({phase for phase, _ in seen}) > 1  # a fast fit shows few of its phases

    # 17: no cell of seeds.csv or taxonomy.csv is a formula
    visit.step("Taxonomy")
    page.fill("form.panel label:has-text('New top-level topic') input", "=1+2")
    page.press("form.panel label:has-text('New top-level topic') input", "Enter")
    page.wait_for_selector("#side .line:has-text('=1+2')")
    visit.step("Export")
    page.select_option("section[aria-label=Taxonomy] select", "csv")
    page.click("section[aria-label=Taxonomy] button:text-is('Write')")
    with page.expect_download() as waiting:
        page.click(".files a:has-text('taxonomy')")
    assert "'=1+2" in Path(waiting.value.path()).read_text(encoding="utf-8-sig")

    # 29: writing it again makes another file
    page.click("section[aria-label=Taxonomy] button:text-is('Write')")
    page.wait_for_function("document.querySelectorAll('.files li').length === 2")
    written = page.locator(".files a[download]").all_inner_texts()
    assert len(set(written)) == 2

    # 15: where nothing can be written the page says so
    exports = project.folder / "exports"
    exports.rename(project.folder / "moved")
    exports.write_text("in the way")
    page.click("button:has-text('Seeds (')")
    page.wait_for_selector(".notes p.bad")
    exports.unlink()
    (project.folder / "moved").rename(exports)
    page.reload()
    page.wait_for_selector(".files a:has-text('taxonomy')")
    assert visit.faults == []


def test_a_token_is_asked_and_two_projects_stay_open(
    chrome: Any, served: Any, project: Project, tmp_path: Path
) -> None:
    one = served(project.path)
    two = served(tmp_path / "second.hierseed", "--token", "another-token-of-the-tests")
    context = chrome.new_context()
    page = context.new_page()
    # 20: no page without the token, not even on this computer
    assert page.goto(one.address + "/export").status == 401
    assert context.request.get(one.address + "/workbench/document/0").status == 401
    page.goto(f"{one.address}/?token={TOKEN}")
    page.wait_for_selector("#stage h1")
    assert "token" not in page.url
    # 19: a second project on the same host logs nobody out, and a link of another site opens
    page.goto(f"{two.address}/?token=another-token-of-the-tests")
    page.wait_for_selector("#stage h1")
    page.goto("data:text/html," + f"<a href='{one.address}/review'>open</a>")
    page.click("text=open")
    page.wait_for_selector("nav a[aria-current=page]:has-text('Review')")
    assert context.request.get(one.address + "/workbench/document/0").ok
    context.close()
