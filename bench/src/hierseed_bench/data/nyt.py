"""The New York Times Annotated Corpus (Sandhaus 2008), labelled by its online taxonomy.

The folder holds the corpus as unpacked (NITF `*.xml`, anywhere below) or packed (`*.tgz`),
and the taxonomy of 166 topics: `nyt.taxonomy`, one parent per line, TAB, its children,
topics written as `Top/News/World`. Where `train.txt` and `test.txt` lie next to it, the
document numbers in them choose the documents and fix the split; otherwise every document
with a topic is read (the paper used 36,471 of them and does not say which).
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from hierseed.errors import CorpusError
from hierseed.taxonomy import Taxonomy
from hierseed_bench.data.dataset import TEST, TRAIN, Dataset, most_specific
from hierseed_bench.tables.published import differences

TAXONOMY = "nyt.taxonomy"
ROOT = "Top"


def read_nyt(path: Path) -> Dataset:
    """Read the corpus from the user's folder."""
    taxonomy, topics = read_paths(path / TAXONOMY)
    part_of = _chosen(path)
    ids: list[str] = []
    texts: list[str] = []
    labels: list[list[int]] = []
    for number, text, marks in _articles(path):
        found = most_specific(taxonomy.tree, (topics[mark] for mark in marks if mark in topics))
        if found and (not part_of or number in part_of):
            ids.append(number)
            texts.append(text)
            labels.append(found)
    if not ids:
        raise CorpusError(
            f"no article with a topic below {str(path)!r}. Point --path at the folder that holds "
            f"{TAXONOMY} and the corpus (*.xml or *.tgz)."
        )
    part = np.array([part_of[number] for number in ids]) if part_of else None
    dataset = Dataset("nyt", taxonomy, labels, texts, ids, part=part)
    return replace(dataset, notes=tuple(differences("nyt", dataset)))


def read_paths(file: Path) -> tuple[Taxonomy, dict[str, int]]:
    """Return the taxonomy and the id of each `Top/…` path; `Root` and `Top` are no topics."""
    if not file.is_file():
        raise CorpusError(f"no {file.name} in {str(file.parent)!r}: the tree of the 166 topics")
    marks: dict[str, None] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        marks.update(dict.fromkeys(line.split("\t")[1:]))
    paths = {mark: tuple(mark.split("/")[1:]) for mark in marks if mark.startswith(f"{ROOT}/")}
    taxonomy = Taxonomy.from_paths(paths.values())
    return taxonomy, {mark: taxonomy.index(path) for mark, path in paths.items()}


def _chosen(folder: Path) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for part in (TRAIN, TEST):
        file = folder / f"{part}.txt"
        if file.is_file():
            chosen.update(dict.fromkeys(file.read_text(encoding="utf-8").split(), part))
    return chosen


def _articles(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    for file in sorted(folder.rglob("*.xml")):
        yield _article(file.read_bytes(), file.stem)
    for file in sorted(folder.rglob("*.tgz")):
        with tarfile.open(file) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.name.endswith(".xml") else None
                if stream is not None:
                    yield _article(stream.read(), Path(member.name).stem)


def _article(content: bytes, stem: str) -> tuple[str, str, list[str]]:
    root = ElementTree.fromstring(content)
    number = next((node.attrib["id-string"] for node in root.iter("doc-id")), stem)
    headline = [node.text or "" for node in root.iter("hl1")][:1]
    body = [
        " ".join(block.itertext())
        for block in root.iter("block")
        if block.attrib.get("class") == "full_text"
    ]
    marks = [
        (node.text or "").strip()
        for node in root.iter("classifier")
        if node.attrib.get("type") == "taxonomic_classifier"
    ]
    return number, " ".join(" ".join([*headline, *body]).split()), marks
