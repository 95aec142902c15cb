"""The codebook as a document: Markdown, HTML or Word."""

from __future__ import annotations

import html
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from hierseed.app.project import Project
from hierseed.app.store import documents, examples, labels, topics
from hierseed.files import atomic_file
from hierseed.report.gather import shorten

FORMATS = ("md", "html", "docx")
QUOTED = 400  # letters of an example
EXAMPLES = 3


class Entry(NamedTuple):
    """One topic of the codebook."""

    level: int
    title: str
    path: str
    texts: list[tuple[str, str]]  # a heading, and what it says
    examples: list[str]


def entries(project: Project) -> Iterator[Entry]:
    """The topics in the order of the tree, each with its texts and first seeds as examples."""
    here = topics.current(project)
    seeds: dict[int, list[int]] = {}
    for row, ids in labels.seeds(project).items():
        for id in ids:
            seeds.setdefault(id, []).append(row)
    own: dict[int, list[str]] = {}
    for id, text in examples.pairs(project):
        own.setdefault(id, []).append(text)
    for i, id in enumerate(here.ids):
        topic = topics.get(project, id)
        texts = [
            ("Definition", topic.description),
            ("Include", topic.include),
            ("Exclude", topic.exclude),
            ("Notes", topic.notes),
        ]
        shown = [d.text for d in documents.get(project, seeds.get(id, [])[:EXAMPLES])]
        quotes = [shorten(text, QUOTED) for text in [*own.get(id, []), *shown][:EXAMPLES]]
        code = f"{topic.code} " if topic.code else ""
        yield Entry(
            int(here.taxonomy.tree.level[i]),
            f"{code}{topic.name}",
            here.taxonomy.paths[i].replace(" > ", " › "),
            [(title, text) for title, text in texts if text],
            quotes,
        )


SKOS = {"Include": "scopeNote", "Exclude": "scopeNote", "Notes": "note"}


def skos_notes(project: Project) -> list[list[tuple[str, str]]]:
    """The texts of each topic as notes of SKOS; its definition is written with the topic."""
    return [
        [
            *(
                (SKOS[heading], f"Not: {text}" if heading == "Exclude" else text)
                for heading, text in entry.texts
                if heading in SKOS
            ),
            *(("example", text) for text in entry.examples),
        ]
        for entry in entries(project)
    ]


def write_codebook(project: Project, target: Path) -> None:
    """Write the codebook; the ending of the file says in which format."""
    title, found = f"Codebook of {project.name}", list(entries(project))
    with atomic_file(target) as partial:
        if target.suffix == ".docx":
            _write_word(partial, title, found)
        else:
            make = {".md": _markdown, ".html": _html}[target.suffix]
            partial.write_text(make(title, found), encoding="utf-8", newline="\n")


def _markdown(title: str, found: list[Entry]) -> str:
    lines = [f"# {_plain(title)}", ""]
    for entry in found:
        lines += [f"{'#' * min(entry.level + 1, 6)} {_plain(entry.title)}", ""]
        for heading, text in entry.texts:
            lines += [f"**{heading}.** {_plain(text)}", ""]
        for example in entry.examples:
            lines += [f"> {_plain(example)}", ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """A text that Markdown shows as it is."""
    for sign in "\\`*_{}[]<>#|":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


def _html(title: str, found: list[Entry]) -> str:
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>{html.escape(title)}</title>",
        "<style>body{font:16px/1.5 Georgia,serif;max-width:46rem;margin:3rem auto;padding:0 1rem}"
        "blockquote{color:#555;border-left:3px solid #ccc;margin:.5rem 0;padding-left:1rem}"
        "</style>",
        f"<h1>{html.escape(title)}</h1>",
    ]
    for entry in found:
        level = min(entry.level + 1, 6)
        parts.append(f"<h{level}>{html.escape(entry.title)}</h{level}>")
        parts += [f"<p><b>{heading}.</b> {html.escape(text)}</p>" for heading, text in entry.texts]
        parts += [f"<blockquote>{html.escape(text)}</blockquote>" for text in entry.examples]
    return "\n".join(parts) + "\n"


def _write_word(file: Path, title: str, found: list[Entry]) -> None:
    """A Word document is a zip file of XML; headings use Word's own styles."""
    body = [_paragraph(title, "Title")]
    for entry in found:
        body.append(_paragraph(entry.title, f"Heading{min(entry.level, 9)}"))
        body += [_paragraph(f"{heading}. {text}") for heading, text in entry.texts]
        body += [_paragraph(f"“{text}”", "Quote") for text in entry.examples]
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{title}"/>'
        f'<w:rPr><w:{"i" if name == "Quote" else "b"}/><w:sz w:val="{size}"/></w:rPr></w:style>'
        for name, title, size in [
            ("Title", "Title", 44),
            ("Quote", "Quote", 20),
            *[(f"Heading{i}", f"heading {i}", max(22, 36 - 4 * i)) for i in range(1, 10)],
        ]
    )
    parts = {
        "[Content_Types].xml": f'{head}<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{kind}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{kind}.styles+xml"/></Types>',
        "_rels/.rels": f'{head}<Relationships xmlns="{package}/relationships"><Relationship '
        f'Id="r1" Type="{office}/relationships/officeDocument" Target="word/document.xml"/>'
        "</Relationships>",
        "word/_rels/document.xml.rels": f'{head}<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/relationships/styles" Target="styles.xml"/>'
        "</Relationships>",
        "word/styles.xml": f"{head}<w:styles {space}>{styles}</w:styles>",
        "word/document.xml": f"{head}<w:document {space}><w:body>{''.join(body)}"
        "</w:body></w:document>",
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)


def _paragraph(text: str, style: str = "") -> str:
    marks = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    clean = "".join(c for c in text if c in "\t\n" or ord(c) >= 32)
    return f'<w:p>{marks}<w:r><w:t xml:space="preserve">{escape(clean)}</w:t></w:r></w:p>'
