"""A page for each script of examples/: its words, its code, its output, its pictures.

A script is divided by lines `# %%`; a part of comments below `# %% [markdown]` is text, all else is
code. `make test-all` runs the scripts and keeps their pictures in examples/pictures.
"""

from __future__ import annotations

import re
from pathlib import Path

SHOWN = re.compile(r"""show\(.*?,\s*"([\w-]+)"\)""", re.S)


def write_gallery(examples: Path, target: Path) -> dict[Path, Path]:
    """Write a page for each script; return where each is."""
    target.mkdir(parents=True, exist_ok=True)
    home: dict[Path, Path] = {}
    cards = []
    for script in sorted(examples.glob("[!_]*.py")):
        text, first = page_of(script)
        (target / f"{script.stem}.md").write_text(text, encoding="utf-8")
        home[script] = target / f"{script.stem}.md"
        title = text.splitlines()[0].removeprefix("# ")
        cards.append((script.stem, title, first))
    inner = "\n".join(
        f'<a class="card" href="{stem}.html"><img src="../_static/pictures/{first}.png" alt="">'
        f"<span>{title}</span></a>"
        for stem, title, first in cards
        if first
    )
    names = "\n".join(stem for stem, _, _ in cards)
    (target / "index.md").write_text(
        "# Gallery\n\nEach script is in the folder `examples` of the repository and runs as it is. "
        "The tests run all of them and draw these pictures.\n\n"
        f'<div class="cards pictures">\n{inner}\n</div>\n\n'
        f"```{{toctree}}\n:hidden:\n\n{names}\n```\n",
        encoding="utf-8",
    )
    home[examples] = target / "index.md"
    return home


def page_of(script: Path) -> tuple[str, str]:
    """Return the Markdown of a script, and its first picture."""
    parts: list[str] = []
    pictures: list[str] = []
    for cell in re.split(r"^# %%", script.read_text(encoding="utf-8"), flags=re.M)[1:]:
        head, _, body = cell.partition("\n")
        if "[markdown]" in head:
            lines = [re.sub(r"^# ?", "", line) for line in body.strip().splitlines()]
            parts.append("\n".join(lines))
            continue
        code = body.strip()
        parts.append(f"```python\n{code}\n```")
        for name in SHOWN.findall(code):
            if (script.parent / "pictures" / f"{name}.png").exists():
                pictures.append(name)
                parts.append(f"![{name}](pictures/{name}.png)")
    said = script.parent / "pictures" / f"{script.stem}.txt"
    if said.exists() and (printed := said.read_text(encoding="utf-8")).strip():
        parts.append(f"Printed output:\n\n```output\n{printed}```")
    path = f"examples/{script.name}"
    parts.append(f"The whole script is `{path}` in the repository.")
    return "\n\n".join(parts) + "\n", pictures[0] if pictures else ""
