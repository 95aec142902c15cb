"""RCV1-v2 (Lewis et al. 2004): 804,414 newswire stories, 103 topics on 4 levels.

The folder holds the files of the LYRL2004 appendices (plain or .gz), under their own names:

    rcv1.topics.hier.orig (or .expanded)    parent, child, description per line
    rcv1-v2.topics.qrels                    topic, story, 1 per line
    lyrl2004_tokens_train.dat               .I story, .W, tokens
    lyrl2004_tokens_test_pt0.dat … pt3.dat

Where the token files are absent, the NIST text is read instead: `*.xml` stories anywhere
below the folder, split by story number as LYRL2004 does. Where the qrels are absent, labels
are taken from scikit-learn's copy (`fetch_rcv1(data_home=FOLDER)` leaves one in `RCV1`), or
from the XML itself.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO
from xml.etree import ElementTree

import numpy as np
from sklearn.datasets import fetch_rcv1

from hierseed.errors import CorpusError
from hierseed.taxonomy import Taxonomy
from hierseed_bench.data.dataset import TEST, TRAIN, Dataset, most_specific
from hierseed_bench.tables.published import differences

LAST_TRAINING_STORY = 26150
HIERARCHIES = ("rcv1.topics.hier.orig", "rcv1.topics.hier.expanded")
QRELS = "rcv1-v2.topics.qrels"
LINE = re.compile(r"parent:\s*(\S+)\s+child:\s*(\S+)\s+child-description:\s*(.*)")
Story = tuple[str, str, str]  # number, text, part


def read_rcv1(path: Path) -> Dataset:
    """Read the corpus from the user's folder."""
    codes, taxonomy = read_hierarchy(path)
    topics = read_qrels(path, codes) or _fetched_before(path, codes)
    stories = list(_token_stories(path)) or list(_xml_stories(path, topics, codes))
    if not stories:
        raise CorpusError(
            f"no lyrl2004_tokens_*.dat and no *.xml stories below {str(path)!r}. "
            "Point --path at the folder with the RCV1-v2 files."
        )
    labels = [most_specific(taxonomy.tree, topics.get(number, [])) for number, _, _ in stories]
    kept = [row for row, topics_ in enumerate(labels) if topics_]
    dataset = Dataset(
        "rcv1",
        taxonomy,
        [labels[row] for row in kept],
        [stories[row][1] for row in kept],
        [stories[row][0] for row in kept],
        part=np.array([stories[row][2] for row in kept]),
    )
    notes = differences("rcv1", dataset)
    if len(kept) < len(stories):
        notes.append(f"{len(stories) - len(kept):,} stories without a topic were left out")
    return replace(dataset, notes=tuple(notes))


def read_hierarchy(folder: Path) -> tuple[dict[str, int], Taxonomy]:
    """Topic ids by code, and the taxonomy; Root and its `None` parent are not topics."""
    file = next((f for name in HIERARCHIES if (f := find(folder, name))), None)
    if file is None:
        raise CorpusError(f"{str(folder)!r} has no {HIERARCHIES[0]} (plain or .gz)")
    rows: list[tuple[str, str, str]] = []
    with open_text(file) as lines:
        rows = [match.groups() for line in lines if (match := LINE.match(line.strip()))]  # type: ignore[misc]
    known = [(parent, child, text) for parent, child, text in rows if child != "Root"]
    codes = {child: position for position, (_, child, _) in enumerate(known)}
    taxonomy = Taxonomy.from_parents(
        [child for _, child, _ in known],
        [codes.get(parent, -1) for parent, _, _ in known],
        codes=[child for _, child, _ in known],
        descriptions=[text for _, _, text in known],
    )
    return {code: topic for topic, code in enumerate(taxonomy.codes)}, taxonomy


def read_qrels(folder: Path, codes: dict[str, int]) -> dict[str, list[int]]:
    """Topics per story; empty where the file is absent."""
    file = find(folder, QRELS)
    topics: dict[str, list[int]] = {}
    if file is not None:
        with open_text(file) as lines:
            for line in lines:
                code, story, *_ = line.split()
                if code in codes:
                    topics.setdefault(story, []).append(codes[code])
    return topics


def _fetched_before(folder: Path, codes: dict[str, int]) -> dict[str, list[int]]:
    """Labels of the copy that scikit-learn keeps, if there is one; nothing is downloaded."""
    if not (folder / "RCV1").is_dir():
        return {}
    return labels_of_sklearn(fetch_rcv1(data_home=folder, download_if_missing=False), codes)


def labels_of_sklearn(bunch: Any, codes: dict[str, int]) -> dict[str, list[int]]:
    """Topics per story from what scikit-learn's `fetch_rcv1` returns: labels without texts."""
    names = [codes.get(str(name), -1) for name in bunch.target_names]
    target = bunch.target.tocsr()
    return {
        str(story): [
            names[column]
            for column in target.indices[target.indptr[row] : target.indptr[row + 1]]
            if names[column] >= 0
        ]
        for row, story in enumerate(bunch.sample_id)
    }


def _token_stories(folder: Path) -> Iterator[Story]:
    parts = [(f"lyrl2004_tokens_test_pt{i}.dat", TEST) for i in range(4)]
    for name, part in [("lyrl2004_tokens_train.dat", TRAIN), *parts]:
        file = find(folder, name)
        if file is None:
            continue
        with open_text(file) as lines:
            for number, words in _blocks(lines):
                yield number, words, part


def _blocks(lines: TextIO) -> Iterator[tuple[str, str]]:
    number = ""
    words: list[str] = []
    for line in lines:
        if line.startswith(".I "):
            if number:
                yield number, " ".join(words)
            number, words = line[3:].strip(), []
        elif not line.startswith(".W"):
            words.extend(line.split())
    if number:
        yield number, " ".join(words)


def _xml_stories(
    folder: Path, topics: dict[str, list[int]], codes: dict[str, int]
) -> Iterator[Story]:
    had_qrels = bool(topics)
    for file in sorted(folder.rglob("*.xml")):
        item = ElementTree.parse(file).getroot()
        number = item.attrib.get("itemid", file.stem)
        words = [" ".join(node.itertext()) for tag in ("title", "text") for node in item.iter(tag)]
        if not had_qrels:
            topics[number] = [
                codes[code.attrib["code"]]
                for group in item.iter("codes")
                if "topics" in group.attrib.get("class", "")
                for code in group.iter("code")
                if code.attrib.get("code") in codes
            ]
        part = TRAIN if int(number) <= LAST_TRAINING_STORY else TEST
        yield number, " ".join(" ".join(words).split()), part


def find(folder: Path, name: str) -> Path | None:
    """Return a file of this name in the folder or below it, plain or .gz."""
    for candidate in (name, f"{name}.gz"):
        for file in [folder / candidate, *sorted(folder.rglob(candidate))]:
            if file.is_file():
                return file
    return None


def open_text(file: Path) -> TextIO:
    """Open a plain or gzipped text."""
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8", errors="replace")
    return file.open(encoding="utf-8", errors="replace")
