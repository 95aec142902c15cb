"""The code of README and of every page runs as it stands, in order, and leaves the pictures shown.

`HIERSEED_KEEP_PICTURES=1` keeps the pictures in docs/images, and outputs on the pages.
"""

import ast
import io
import os
import re
import shutil
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from difflib import SequenceMatcher
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hierseed.errors import MissingDependency

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
DOORS = ["frames", "databases", "scikit_learn"]  # ways to tools that every developer has
HOW_TO = [
    *sorted((DOCS / "howto").glob("*.md")),
    *(DOCS / "doors" / f"{name}.md" for name in DOORS),
]
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
AFTER_README = ["report.md", "suggest.md", "files.md"]
ALONE = ["evaluate.md", "embedders.md"]
ELSEWHERE = {  # what can't run here, and where the same calls are tested
    "docs/scale.md": "needs a cluster and a GPU: tests/engines",
    "docs/baselines.md": "needs PyTorch: tests/bench/competitors",
    "docs/taxonomies.md": "tests/io/test_taxonomies_docs.py",
    "docs/doors/service.md": "tests/doors/test_service.py",
    "docs/doors/bertopic.md": "tests/doors/test_bertopic.py",
}
WIDTH, LINES = 96, 28  # of what a page shows of an output
KEEP = bool(os.environ.get("HIERSEED_KEEP_PICTURES"))


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    fences = re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
    return [(name, code) for name, code in fences if name in languages]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def run(page: Path, names: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run Python and shell blocks in order, and compare what they print with the page.

    What a block prints stands below it as ```output. Numbers may differ between machines.
    """
    said, found = "", []
    for language, code in blocks(page, "python", "sh", "output"):
        if language == "sh":
            said = run_shell(code, folder)
        elif language == "python":
            said = run_python(code, name_of(page), names)
        else:
            found.append(shortened(said))
            alike = SequenceMatcher(None, words(code), words(found[-1]), autojunk=False).ratio()
            assert KEEP or alike > 0.5, f"{page.name} shows\n{code}\nand now it is\n{found[-1]}"
    for picture in pictures_of(page):
        assert (folder / picture).stat().st_size > 1_000
        if KEEP:
            keep(folder / picture)
    if KEEP:
        fresh = iter(found)
        text = page.read_text(encoding="utf-8")
        filled = re.sub(
            r"^```output\n.*?^```",
            lambda _: f"```output\n{next(fresh)}```",
            text,
            flags=re.S | re.M,
        )
        page.write_text(filled, encoding="utf-8")
    return names


def shortened(said: str) -> str:
    """What a page shows of an output: … stands where a line, or the rest, is cut."""
    lines = [line.rstrip() for line in said.strip("\n").splitlines()]
    lines = [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines]
    cut = lines if len(lines) <= LINES else [*lines[: LINES - 1], "…"]
    return "".join(f"{line}\n" for line in cut)


def words(text: str) -> list[str]:
    """The words of an output without its numbers, and whether it is empty."""
    found = [word for word in text.split() if not re.search(r"\d", word)]
    return ["(nothing)"] if not text.strip() else ["(something)", *found]


def run_python(code: str, name: str, names: dict[str, Any]) -> str:
    stream = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(stream):
        warnings.simplefilter("ignore", UserWarning)  # notes of a fit, which people read
        exec(compile(code, name, "exec"), names)
    return stream.getvalue()


def run_shell(code: str, folder: Path) -> str:
    shim = folder / "bin"
    shim.mkdir(exist_ok=True)
    (shim / "hierseed").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hierseed "$@"\n')
    (shim / "hierseed").chmod(0o755)
    env = os.environ | {
        "PATH": f"{shim}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "bench" / "src")]),
        "COLUMNS": str(WIDTH),
    }
    done = subprocess.run(
        ["bash", "-eu", "-c", code],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{code}\n{done.stdout}"
    return done.stdout


def pictures_of(page: Path) -> list[str]:
    return re.findall(r'savefig\("([\w-]+\.png)"\)', page.read_text(encoding="utf-8"))


def keep(picture: Path) -> None:
    """Copy a picture with few colours, which takes a third of the space."""
    from PIL import Image

    image = Image.open(picture).convert("RGB")
    image.thumbnail((1400, 2200))
    image.quantize(256, kmeans=2, dither=Image.Dither.NONE).save(
        IMAGES / picture.name, optimize=True
    )


@pytest.mark.parametrize("page", AFTER_README)
def test_a_page_continues_where_readme_ends(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [f"{['guns', 'hospitals', 'minds'][i % 3]} and words {i}" for i in range(60)]
    names: dict[str, Any] = {"ids": list(map(str, range(60))), "texts": texts}
    for file in (ROOT / "README.md", DOCS / page):
        for _, code in blocks(file, "python"):
            exec(compile(code, page, "exec"), names)
    assert names["again"].equals(names["model"].assign(texts).to_frame())  # that was loaded
    assert list(names["again"]["id"]) == list(map(str, range(60)))
    if page == "report.md":
        assert (tmp_path / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("page", ALONE)
def test_a_page_runs_alone(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _, code in blocks(DOCS / page, "python"):
        exec(compile(code, page, "exec"), {})


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Where the page Start leaves a reader, and the names it leaves."""
    folder = tmp_path_factory.mktemp("start")
    before = Path.cwd()
    os.chdir(folder)
    try:
        return folder, run(DOCS / "start.md", {}, folder)
    finally:
        os.chdir(before)


def test_start(started: tuple[Path, dict[str, Any]]) -> None:
    folder, names = started
    assert (folder / "demo-output" / "report.html").stat().st_size > 100_000
    assert len(names["table"]) > 3_000
    assert names["table"].topic.str.startswith("File and Directory Access").any()


@pytest.mark.slow
@pytest.mark.parametrize("page", HOW_TO, ids=[page.stem for page in HOW_TO])
def test_a_how_to_continues_where_start_ends(
    page: Path,
    started: tuple[Path, dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, names = started
    shutil.copytree(folder / "demo-output", tmp_path / "demo-output")
    monkeypatch.chdir(tmp_path)
    run(page, dict(names), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=[page.stem for page in TUTORIALS])
def test_a_tutorial_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if (data := ROOT / "examples" / "data" / page.stem).is_dir():
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    names = run(page, {}, tmp_path)
    if page.stem == "speeches":  # what the page says of its own run
        assert 0.6 < names["scores"].all.levels[0].accuracy < 0.8
        assert names["right"] > 0.85
        assert names["none"] > len(names["rhetoric"]) / 2
    if page.stem == "millions":
        assert names["right"] > 0.5


def test_every_page_with_code_is_run() -> None:
    run_here = {*(name_of(DOCS / page) for page in AFTER_README + ALONE), "README.md"}
    run_here |= {name_of(page) for page in [*HOW_TO, *TUTORIALS, DOCS / "start.md"]}
    with_code = {name_of(page) for page in PAGES if blocks(page, "python")}
    assert with_code <= run_here | set(ELSEWHERE)


@pytest.mark.parametrize("page", [page for page, why in ELSEWHERE.items() if "needs" in why])
def test_what_can_not_run_here_names_things_that_exist(page: str) -> None:
    for _, code in blocks(ROOT / page, "python"):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module:
                try:
                    module = import_module(node.module)
                except MissingDependency:  # its tests run where the package is
                    continue
                for alias in node.names:
                    assert hasattr(module, alias.name), f"{node.module}.{alias.name}"


def options() -> dict[str, set[str]]:
    """The options of each command, as the generated reference has them."""
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    sections = re.split(r"^## hierseed ", text, flags=re.M)[1:]
    return {
        section.split("\n")[0].strip(): set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", section))
        for section in sections
    }


@pytest.mark.parametrize("page", PAGES, ids=map(name_of, PAGES))
def test_commands_on_a_page_exist(page: Path) -> None:
    known = options()
    for _, code in blocks(page, "sh", "bash"):
        for line in re.sub(r"\\\n", " ", code).splitlines():
            found = re.match(r"\s*hierseed (\w+)(.*)", line.split(" #")[0])
            if found and found[1] != "bench":
                assert found[1] in known, line
                used = set(re.findall(r"(?<!\S)--?[a-z][\w-]*", found[2]))
                assert used <= known[found[1]] | {"--help"}, line


@pytest.mark.parametrize("page", PAGES, ids=map(name_of, PAGES))
def test_the_pictures_that_a_page_draws_are_kept(page: Path) -> None:
    shown = set(re.findall(r"images/([\w-]+\.png)\)", page.read_text(encoding="utf-8")))
    for picture in shown & set(pictures_of(page)):
        assert (IMAGES / picture).exists(), "run with HIERSEED_KEEP_PICTURES=1"
