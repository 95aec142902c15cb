"""The journey of two coders in a real browser: from a CSV to a replication package."""

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from workbench_browser import Visit, missing
from workbench_chapters import CHAPTERS

from hierseed.app import validation
from hierseed.app.project import Project
from hierseed.app.store import codings, documents, labels
from hierseed.demo.corpus import read_docstrings

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing() or "ready"),
]
SIZE = 12


def name(visit: Visit, who: str) -> None:
    visit.page.click("button:text-is('Your name')")
    visit.page.fill("dialog[open] input", who)
    visit.page.click("dialog[open] button:text-is('Save')")
    visit.page.wait_for_selector(f"button:text-is('{who}')")


def test_two_coders_from_a_csv_to_a_replication_package(
    chrome: Any, served: Any, tmp_path: Path
) -> None:
    modules = {module: chapter for chapter, found in CHAPTERS.items() for module in found}
    found = read_docstrings(list(modules))
    with (tmp_path / "docs.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [
                ("id", "text", "year", "party"),
                *((d.id, d.text, 1990 + i % 30, "AB"[i % 2]) for i, d in enumerate(found)),
            ]
        )
    (tmp_path / "topics.txt").write_text("".join(f"{c} > {m}\n" for m, c in modules.items()))
    truth = {d.id: d.module for d in found}
    server = served(tmp_path / "study.hierseed")
    anna = Visit(chrome, server.address)
    page = anna.page
    name(anna, "Anna")

    # bring both files, fit on names alone
    page.set_input_files("input[aria-label='File with Documents']", tmp_path / "docs.csv")
    page.click("text=Load these documents")
    page.set_input_files("input[aria-label='File with Taxonomy']", tmp_path / "topics.txt")
    page.wait_for_selector("section[aria-label=Taxonomy] .state:has-text('16 topics')")
    page.wait_for_selector(".job", state="hidden")
    anna.step("Fit")
    page.click("text=Fit now")
    page.wait_for_selector(".fits li:has-text('Fit 1')")

    # topics over the years as lines, by party as bars
    anna.step("Review")
    page.click(".tabs >> text=Over time")
    page.wait_for_selector("h1:text-is('Topics over year')")
    assert page.locator(".chart polyline").count() == len(CHAPTERS)
    page.select_option("label:has-text('Column') select", "party")
    page.wait_for_selector("h1:text-is('Topics by party')")
    assert page.locator(".bars th").all_inner_texts() == ["A", "B"]

    # one draws a sample, both code it: Ben disagrees on the second and is unsure of the third
    anna.step("Validate")
    page.fill("label:has-text('Documents') input", str(SIZE))
    page.click("text=Draw the sample")
    ben = Visit(chrome, server.address + "/code")
    name(ben, "Ben")
    ben.page.click("ul[aria-label=Samples] button")
    for visit, who in ((anna, "Anna"), (ben, "Ben")):
        for i in range(SIZE):
            visit.page.wait_for_selector(f".coding header:has-text('{i + 1} of {SIZE}')")
            module = truth[visit.page.inner_text(".coding .id")]
            if who == "Ben" and i == 2:
                visit.page.keyboard.press("e")
                continue
            if who == "Ben" and i == 1:
                module = "email" if module != "email" else "http"
            visit.page.keyboard.press("m")
            visit.page.wait_for_selector("dialog.picker[open] li")
            visit.page.keyboard.type(module)
            visit.page.keyboard.press("Enter")
        visit.page.wait_for_selector("text=You have coded all of them")
        visit.shot(f"7-coded-{who.lower()}")

    # agreement, adjudication, accuracy
    page.click("button:text-is('Agreement')")
    page.wait_for_selector("td:has-text('Anna and Ben')")
    anna.shot("7-agreement")
    page.click("button:text-is('Adjudicate')")
    page.wait_for_selector("text=1 document without a settled code")
    anna.shot("7-adjudicate")
    page.click("footer button:has-text('Anna:')")
    page.wait_for_selector("text=Nothing to settle")
    page.click("button:text-is('Accuracy')")
    page.wait_for_selector("blockquote.paragraph")
    paragraph = page.inner_text("blockquote.paragraph")
    assert f"simple random sample of {SIZE} of {len(found)}" in paragraph
    assert "2 coders" in paragraph
    anna.shot("7-accuracy")

    # the package has it all
    anna.step("Export")
    page.click("text=Write the bundle")
    with page.expect_download() as waiting:
        page.click(".files a:has-text('study-fit-1-bundle.zip')")
    with zipfile.ZipFile(waiting.value.path()) as bundle:
        texts = {n: bundle.read(n).decode() for n in bundle.namelist() if "model-as" not in n}
    codes = list(csv.DictReader(io.StringIO(texts["sample-1-codes.csv"])))
    assert len(codes) == 2 * SIZE + 1
    assert {row["coder"] for row in codes} == {"Anna", "Ben"}
    assert paragraph in re.sub(r"\s+", " ", texts["sample-1-paragraph.txt"])
    project = Project(tmp_path / "study")
    sample = codings.samples(project)[0]
    assert validation.disagreements(project, sample) == []
    result = json.loads(texts["sample-1-results.json"])
    assert result["agreement"]["levels"][1]["alpha"]["n"] == SIZE - 1
    assert result["accuracy"]["coded"] == SIZE
    assert documents.columns_of(project, [0])[0] == {"year": "1990", "party": "A"}
    assert labels.seeds(project) == {}  # coding makes no seeds
    project.close()
    assert anna.faults == ben.faults == []
