"""Make the pictures of the demo and its report for the documentation.

    python bench/scripts/pictures.py

Runs `hierseed demo` into a temporary folder and photographs its terminal and its page with
Chromium. Needs chromium, and the packages playwright and pillow.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

from hierseed_bench.repository import DOCS

IMAGES = DOCS / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
COLUMNS = 100
MOST = 300_000  # bytes of a picture
TOPIC = "collections"


def run_demo(folder):
    """Return what the demo prints, colours and all."""
    colours = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-c", "from hierseed.cli import main; main()", "demo"]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | colours, check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.stdout


def as_svg(printed, file):
    """Draw the first lines of the tree and all that follows it, as a terminal shows them."""
    lines = printed.splitlines()
    scores = next(i for i, line in enumerate(lines) if "B-cubed F1" in line)
    shown = [*lines[:30], " …", "", *lines[scores:]]
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"))  # noqa: SIM115
    for line in shown:
        console.print(Text.from_ansi(line.rstrip()), soft_wrap=True)
    svg = console.export_svg(title="hierseed demo")
    file.write_text(f"<body style='margin:0;background:#fff'>{svg}</body>", encoding="utf-8")


def save(page, name, **options):
    """Photograph, and halve the colours until the picture is small enough."""
    file = IMAGES / f"{name}.png"
    page.screenshot(path=file, **options)
    for colours in (256, 128, 64):
        picture = Image.open(file).convert("RGB").quantize(colours, dither=Image.Dither.NONE)
        picture.save(file, optimize=True)
        if file.stat().st_size < MOST:
            break
    print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")


def main():
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        printed = run_demo(folder)
        report = (Path(folder) / "demo-output" / "report.html").as_uri()
        terminal = Path(folder) / "terminal.html"
        as_svg(printed, terminal)
        browser = player.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)

        page = browser.new_page(viewport={"width": 1100, "height": 800})
        page.goto(terminal.as_uri())
        page.wait_for_timeout(300)
        picture = page.locator("svg").first
        save(picture, "demo-terminal")

        page = browser.new_page(viewport={"width": 1400, "height": 940})
        page.goto(report)
        save(page, "report")
        page.keyboard.press("/")
        page.keyboard.type(TOPIC)
        page.wait_for_selector("#found button")
        page.locator("#found button.hit").first.click()
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        page.mouse.move(700, 5)
        page.locator("#detail").scroll_into_view_if_needed()
        page.evaluate("window.scrollTo(0, document.getElementById('detail').offsetTop - 30)")
        page.wait_for_timeout(600)
        save(page, "report-topic")

        page = browser.new_page(viewport={"width": 400, "height": 1500}, color_scheme="dark")
        page.goto(report)
        page.wait_for_timeout(300)
        save(page, "report-narrow")
        browser.close()


if __name__ == "__main__":
    main()
