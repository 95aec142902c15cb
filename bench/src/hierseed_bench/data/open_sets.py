"""Labelled sets built from files of package registries; no constant was chosen on them.

WordNet (package wordnet-base): one document per noun, its words and gloss. Topics are the
lexicographers' files and below them the hypernyms with enough nouns. Deep, ragged, short texts.

Debian (the index of packages with its tags): one document per program, its description. Topics
are the subject facets of the tag vocabulary and their tags. Several labels a document.

ICD-10-CM, NAICS and emoji: one document per diagnosis, industry or emoji, its name and what
experts list under it. Topics are the two levels above. The emoji are described in German.

GNAD: one document per article of a German newspaper. Topics are its sections.
"""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

LEXNAMES = (  # lexicographer files 3 to 28
    "top", "act", "animal", "artifact", "attribute", "body", "cognition", "communication",
    "event", "feeling", "food", "group", "location", "motive", "object", "person",
    "phenomenon", "plant", "possession", "process", "quantity", "relation", "shape", "state",
    "substance", "time",
)  # fmt: skip
FACETS = {
    "admin", "field", "game", "hardware", "mail", "network", "security", "sound", "use",
    "web", "works-with",
}  # fmt: skip
LEAST = 60  # nouns below a hypernym that makes a topic
DEEPEST = 4  # levels of topics
DOCUMENTS = 12_000

Document = dict[str, Any]


def wordnet(folder: Path) -> Iterator[Document]:
    """Nouns with the path of topics above them."""
    words, gloss, above, file = {}, {}, {}, {}
    for line in (folder / "data.noun").read_text(encoding="latin-1").splitlines():
        if line.startswith(" "):
            continue
        fields, _, meaning = line.partition(" | ")
        part = fields.split()
        key, n_words = part[0], int(part[3], 16)
        words[key] = [part[4 + 2 * i].replace("_", " ") for i in range(n_words)]
        gloss[key], file[key] = meaning.strip(), LEXNAMES[int(part[1]) - 3]
        parents = [part[i + 1] for i, mark in enumerate(part[:-1]) if mark in ("@", "@i")]
        above[key] = next(iter(parents), None)

    def chain(key: str) -> list[str]:
        """Hypernyms in the same lexicographer's file, the broadest first."""
        found, here = [], above[key]
        while here is not None and file[here] == file[key]:
            found.append(here)
            here = above[here]
        return found[::-1]

    below: defaultdict[str, int] = defaultdict(int)
    for key in words:
        for node in chain(key):
            below[node] += 1
    for key in sorted(words):
        path, last = [file[key]], None
        for node in chain(key):
            # a hypernym that holds nearly all of the one above says nothing new
            tight = last is not None and below[node] > 0.8 * below[last]
            if below[node] >= LEAST and not tight and len(path) < DEEPEST:
                path.append(words[node][0])
                last = node
        if file[key] != "top":
            text = f"{', '.join(words[key])}: {gloss[key]}"
            yield {"id": key, "text": text, "labels": [path]}


def debian(packages: Path, descriptions: Path) -> Iterator[Document]:
    """Programs with their tags of subject facets; packages that share a text count once."""
    texts = {
        part["Package"]: part["Description-en"].replace("\n .", " ").replace("\n", " ")
        for part in stanzas(descriptions)
        if "Description-en" in part
    }
    seen = set()
    for part in stanzas(packages):
        tags = [tag.strip() for tag in part.get("Tag", "").split(",")]
        labels = [tag.replace("::", ":").split(":") for tag in tags if tag.split("::")[0] in FACETS]
        text = texts.get(part["Package"], "")
        if "role::program" not in tags or not labels or text in seen:
            continue
        seen.add(text)
        yield {"id": part["Package"], "text": text, "labels": labels}


def icd(file: Path) -> Iterator[Document]:
    """Diagnoses below their chapter and section, with the terms that a coder finds under them."""
    for chapter in ElementTree.parse(file).getroot().findall("chapter"):
        for section in chapter.findall("section"):
            path = [part.findtext("desc", "").strip() for part in (chapter, section)]
            for diagnosis in section.iter("diag"):
                notes = [note.text or "" for note in diagnosis.findall("inclusionTerm/note")]
                text = ". ".join([diagnosis.findtext("desc", ""), *notes])
                yield {"id": diagnosis.findtext("name"), "text": text, "labels": [path]}


def naics(file: Path) -> Iterator[Document]:
    """Industries of four digits and more, below their sector and subsector."""
    entries = json.loads(file.read_text(encoding="utf-8"))
    # a T behind a title marks codes that three countries share
    names = {code: entry["Title"].strip().removesuffix("T") for code, entry in entries.items()}
    sectors = {
        str(number): code
        for code in names
        if len(code.split("-")[0]) == 2
        for number in range(int(code.split("-")[0]), int(code.split("-")[-1]) + 1)
    }
    for code, entry in entries.items():
        if code.isdigit() and len(code) >= 4:
            path = [names[sectors[code[:2]]], f"{code[:3]} {names[code[:3]]}"]
            text = f"{names[code]}. {entry.get('Description') or ''}"
            yield {"id": code, "text": text, "labels": [path]}


def emoji(folder: Path, language: str = "de") -> Iterator[Document]:
    """Emoji with their names and keywords in one language, below their group and subgroup."""
    meta = json.loads((folder / "meta" / "groups.json").read_text(encoding="utf-8"))
    for entry in json.loads((folder / language / "data.json").read_text(encoding="utf-8")):
        if "group" in entry:
            path = [meta["groups"][str(entry["group"])], meta["subgroups"][str(entry["subgroup"])]]
            text = f"{entry['label']}: {', '.join(entry.get('tags', []))}"
            yield {"id": entry["hexcode"], "text": text, "labels": [path]}


def gnad(folder: Path) -> Iterator[Document]:
    """German news articles with the section of their newspaper, below a small tree."""
    lines = (folder / "topics.txt").read_text(encoding="utf-8").splitlines()
    paths = {line.split(" > ")[-1]: line.split(" > ") for line in lines if line.strip()}
    with open(folder / "gold.csv", encoding="utf-8", newline="") as file:
        labels = {row["id"]: paths[row["topic"].split(" > ")[-1]] for row in csv.DictReader(file)}
    with gzip.open(folder / "docs.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield {"id": row["id"], "text": row["text"], "labels": [labels[row["id"]]]}


def stanzas(file: Path) -> Iterator[dict[str, str]]:
    """Read the fields of each paragraph of a Debian control file."""
    opened = lzma.open if file.suffix == ".xz" else open
    part: dict[str, str] = {}
    name = ""
    with opened(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            if not line.strip():
                if part:
                    yield part
                part = {}
            elif line[0] in " \t":
                part[name] += "\n" + line.rstrip()
            else:
                name, _, value = line.rstrip().partition(": ")
                part[name] = value
    if part:
        yield part


def write(documents: Iterable[Document], folder: Path) -> None:
    """Write a folder of the form of the other sets: documents and the tree of their topics."""
    rows = list(documents)
    rows = random.Random(0).sample(rows, min(DOCUMENTS, len(rows)))
    tree: dict[str, Any] = {}
    for path in sorted(path for row in rows for path in row["labels"]):
        here = tree
        for name in path:
            here = here.setdefault(name, {})
    depth = max(len(path) for row in rows for path in row["labels"])
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / "docs.jsonl.gz", "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    levels = [f"level{number + 1}" for number in range(depth)]
    (folder / "taxonomy.json").write_text(
        json.dumps({"levels": levels, "tree": tree}, indent=1), encoding="utf-8", newline="\n"
    )


BUILDERS: dict[str, Callable[..., Iterator[Document]]] = {
    "wordnet": wordnet,
    "debian": debian,
    "icd": icd,
    "naics": naics,
    "emoji": emoji,
    "gnad": gnad,
}
