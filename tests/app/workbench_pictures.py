"""Make the pictures of docs/workbench.md: the journey of two coders, in a real browser.

    python tests/app/workbench_pictures.py [FOLDER]

The corpus is the documentation of Python's own library; its column `year` is made up.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from pathlib import Path

from PIL import Image
from workbench_browser import Server, Visit, chromium
from workbench_chapters import CHAPTERS

from hierseed.demo.corpus import read_docstrings

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
WIDTH, COLOURS = 1100, 256  # of a picture: legible, and less than 100 kB
SIZE = 24  # documents of the sample
SEEDS = 3  # of each topic, at first
HEIGHT = 820


def write_files(folder: Path) -> dict[str, str]:
    """Corpus, taxonomy and seeds; return the module of each document."""
    modules = {module: chapter for chapter, found in CHAPTERS.items() for module in found}
    found = read_docstrings(list(modules))
    rows = [(d.id, d.text, 1995 + (5 * i) % 28) for i, d in enumerate(found)]
    paths = [f"{chapter} > {module}" for module, chapter in modules.items()]
    seeds = []
    for module, chapter in modules.items():
        own = [d.id for d in found if d.module == module]
        seeds += [(id, f"{chapter} > {module}") for id in own[len(own) // 6 :: len(own) // SEEDS]]
    for name, title, lines in (
        ("library.csv", ("id", "text", "year"), rows), ("seeds.csv", ("id", "topic"), seeds),
    ):  # fmt: skip
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([title, *lines])
    (folder / "topics.txt").write_text("\n".join(paths) + "\n")
    return {d.id: d.module for d in found}


class Camera:
    """Takes pictures of a page."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def take(self, visit: Visit, name: str) -> None:
        """Write one picture, small."""
        visit.page.evaluate("document.querySelectorAll('.notes button').forEach((b) => b.click())")
        visit.page.wait_for_timeout(400)
        file = self.target / f"workbench-{name}.png"
        visit.page.screenshot(path=file)
        with Image.open(file) as picture:
            height = round(picture.height * WIDTH / picture.width)
            small = picture.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS)
            # Rare colours first, then moved to the means of what they stand for.
            few = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, 3, None, Image.Dither.NONE)
            few.save(file, optimize=True)


def name_coder(visit: Visit, who: str) -> None:
    visit.page.click("button:text-is('Your name')")
    visit.page.fill("dialog[open] input", who)
    visit.page.click("dialog[open] button:text-is('Save')")
    visit.page.wait_for_selector(f"button:text-is('{who}')")


def fit(visit: Visit, number: int) -> None:
    visit.step("Fit")
    visit.page.click("text=Fit now")
    visit.page.wait_for_selector(f".fits li:has-text('Fit {number}')")
    visit.page.wait_for_selector(".job", state="hidden")


def load_and_fit(anna: Visit, folder: Path, camera: Camera) -> None:
    page = anna.page
    page.set_input_files("input[aria-label='File with Documents']", folder / "library.csv")
    page.wait_for_selector(".preview .state")
    camera.take(anna, "load")
    page.click("text=Load these documents")
    page.wait_for_selector("section[aria-label=Documents] .state")
    page.wait_for_selector(".job", state="hidden")
    for kind, name in (("Taxonomy", "topics.txt"), ("Seeds", "seeds.csv")):
        page.set_input_files(f"input[aria-label='File with {kind}']", folder / name)
        page.wait_for_selector(f"section[aria-label={kind}] .state")
    fit(anna, 1)


def decide(anna: Visit, camera: Camera) -> None:
    page = anna.page
    anna.step("Taxonomy")
    anna.topic("statistics")
    page.fill("label:has-text('Definition') textarea", "Means, spreads and other summaries.")
    page.fill("label:has-text('Include') textarea", "Normal distributions, regression")
    page.fill("label:has-text('Exclude') textarea", "Drawing random numbers: random")
    page.click("button:has-text('Save the codebook entry')")
    page.wait_for_selector(".log li:has-text('Wrote')")
    camera.take(anna, "taxonomy")
    anna.step("Seeds")
    anna.topic("urllib")
    page.wait_for_selector(".card.here .reason")
    page.focus(".card.here")
    for _ in range(2):
        page.keyboard.press("a")
        page.wait_for_timeout(1500)
    camera.take(anna, "seeds")
    anna.step("Review")
    anna.topic("shutil")
    page.click("button:text-is('Odd')")
    page.wait_for_selector(".card.here")
    page.focus(".card.here")
    page.keyboard.press("r")
    page.wait_for_selector(".stamp.no")
    page.click("button:text-is('Borderline')")
    page.wait_for_timeout(1500)
    page.focus(".card.here")
    page.keyboard.press("w")
    page.wait_for_selector(".why .rung")
    camera.take(anna, "review")
    fit(anna, 2)
    camera.take(anna, "fit")


def look(anna: Visit, camera: Camera) -> None:
    page = anna.page
    anna.step("Review")
    for tab, name in (("Map", "map"), ("Over time", "time"), ("What changed", "changed")):
        page.click(f".tabs >> text={tab}")
        page.wait_for_timeout(2500)
        camera.take(anna, name)


def code(visits: dict[str, Visit], truth: dict[str, str], camera: Camera) -> None:
    """Both code the sample; Ben says something else now and then."""
    anna = visits["Anna"]
    anna.step("Validate")
    anna.page.fill("form[aria-label='New sample'] label:has-text('Documents') input", str(SIZE))
    anna.page.fill(
        "form[aria-label='New sample'] label:has-text('Name') input", "validation, spring"
    )
    anna.page.click("text=Draw the sample")
    visits["Ben"].page.goto(visits["Ben"].page.url.split("/load")[0] + "/code")
    visits["Ben"].page.click("ul[aria-label=Samples] button")
    anna.topic("statistics")
    for who, visit in visits.items():
        page = visit.page
        for i in range(SIZE):
            page.wait_for_selector(f".coding header:has-text('{i + 1} of {SIZE}')")
            if who == "Anna" and i == 5:
                camera.take(visit, "validate")
            module = truth[page.inner_text(".coding .id")]
            if who == "Ben" and i % 6 == 1:
                module = "email" if module != "email" else "http"
            page.focus(".coding")
            page.keyboard.press("m")
            page.wait_for_selector("dialog.picker[open] li")
            page.keyboard.type(module)
            page.keyboard.press("Enter")
        page.wait_for_selector("text=You have coded all of them")


def conclude(anna: Visit, camera: Camera) -> None:
    page = anna.page
    page.click("button:text-is('Agreement')")
    page.wait_for_selector("td:has-text('Anna and Ben')")
    camera.take(anna, "agreement")
    page.click("button:text-is('Adjudicate')")
    page.wait_for_selector("footer button:has-text('Anna:')")
    camera.take(anna, "adjudicate")
    while page.query_selector("footer button:has-text('Anna:')"):
        page.click("footer button:has-text('Anna:') >> nth=0")
        page.wait_for_timeout(1200)
    page.click("button:text-is('Accuracy')")
    page.wait_for_selector("blockquote.paragraph")
    camera.take(anna, "accuracy")
    anna.step("Export")
    page.click("button:text-is('CSV')")
    page.wait_for_selector(".files a:has-text('documents.csv')")
    page.click("text=Write the bundle")
    page.wait_for_selector(".files a:has-text('bundle.zip')")
    page.evaluate("scrollTo(0, 0)")
    camera.take(anna, "export")


def main(target: Path) -> None:
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        folder, camera = Path(place), Camera(target)
        truth = write_files(folder)
        server = Server(folder / "library.hierseed")
        visits = {}
        for who in ("Anna", "Ben"):
            visits[who] = Visit(browser, server.address + "/load", width=1200, height=HEIGHT)
            name_coder(visits[who], who)
        anna = visits["Anna"]
        load_and_fit(anna, folder, camera)
        decide(anna, camera)
        look(anna, camera)
        code(visits, truth, camera)
        conclude(anna, camera)
        server.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
