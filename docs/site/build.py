"""Build the documentation site, offline: collect the pages, run Sphinx, check the result.

    python docs/site/build.py [FOLDER]

Pages are those of docs/, the tables of results/, the files at the root that people look for, and
one page for each script in examples/. A warning of Sphinx, a link to nothing, or a page that loads
anything from another host fails the build.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from check import check
from gallery import write_gallery

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(__file__).resolve().parent
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s#]*)(#[^)\s]*)?\)")
AT_ROOT = ["ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY"]


def collect(target: Path) -> None:
    """Copy all pages and pictures into one tree, with links that hold there."""
    home: dict[Path, Path] = {}  # in the repository -> on the site
    for file in sorted((ROOT / "docs").rglob("*")):
        if file.is_file() and SITE not in file.parents:
            home[file] = target / file.relative_to(ROOT / "docs")
    for name in AT_ROOT:
        home[ROOT / f"{name}.md"] = target / "project" / f"{name.lower()}.md"
    home[ROOT / "README.md"] = target / "index.md"
    for file in sorted((ROOT / "results").glob("*.svg")):
        home[file] = target / "figures" / file.name
    tables = sorted((ROOT / "results" / "tables").glob("*.md"))
    home |= {file: target / "tables" / file.name for file in tables}
    home[ROOT / "results" / "tables"] = target / "tables" / "index.md"
    for file in sorted((ROOT / "examples" / "pictures").glob("*.png")):
        home[file] = target / "examples" / "pictures" / file.name
    home |= write_gallery(ROOT / "examples", target / "examples")
    for file, place in home.items():
        if not file.is_file() or file.name == "README.md" or file.suffix == ".py":
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix != ".md":
            shutil.copyfile(file, place)
            continue
        text = _relink(file, place, home)
        if file in tables:  # they begin with a heading of a lower level
            text = f"# Table: {file.stem}\n\n{text}"
        place.write_text(text, encoding="utf-8")
    names = "\n".join(file.stem for file in tables)
    (target / "tables" / "index.md").write_text(
        "# All tables\n\nMade by `hierseed bench docs` out of the records of all runs.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n",
        encoding="utf-8",
    )


def _relink(file: Path, place: Path, home: dict[Path, Path]) -> str:
    """Point links to where pages are on the site; name other files of the repository."""

    def point(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        meant = Path(os.path.normpath(file.parent / target))
        if meant in home:
            there = os.path.relpath(home[meant], place.parent)
            return f"{text}({Path(there).as_posix()}{anchor})"
        if not meant.exists():
            raise SystemExit(f"{file.relative_to(ROOT)}: no {target}")
        inside = text[1:-1].strip("`")
        path = meant.relative_to(ROOT).as_posix()
        return f"`{path}`" if inside in path else f"{inside} (`{path}`)"

    return LINK.sub(point, file.read_text(encoding="utf-8"))


def main(folder: Path) -> None:
    """Build into a folder, which is emptied first."""
    source, html = folder / "source", folder / "html"
    for part in (source, html):
        shutil.rmtree(part, ignore_errors=True)
    collect(source)
    shutil.copytree(SITE / "static", source / "static")
    shutil.copytree(ROOT / "examples" / "pictures", source / "static" / "pictures")
    shutil.copyfile(SITE / "conf.py", source / "conf.py")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    subprocess.run([*command, "-d", folder / "doctrees", source, html], check=True)
    faults = check(html)
    if faults:
        raise SystemExit("\n".join(faults))
    pages = sum(1 for _ in html.rglob("*.html"))
    print(f"{pages} pages in {html}; open {html / 'index.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site")
