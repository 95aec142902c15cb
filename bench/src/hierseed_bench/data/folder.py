"""Read a folder of the open form: `docs.jsonl.gz`, `taxonomy.json`, and `minilm.npy` if there.

`docs.jsonl.gz` has one JSON a line with `id`, `text` and `labels` (paths as lists of names);
`split` may say "train" or "test". A folder can hold variants: `docs_passages.jsonl.gz` and
`minilm_passages.npy` are the variant `passages`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hierseed.errors import CorpusError, name_some
from hierseed.taxonomy import Taxonomy
from hierseed_bench.data.dataset import Dataset, most_specific


def read_folder(folder: Path, variant: str = "", name: str = "") -> Dataset:
    """Read documents, taxonomy and MiniLM vectors if they are there."""
    tail = f"_{variant}" if variant else ""
    files = {part: folder / file for part, file in _files(tail).items()}
    absent = [file.name for part, file in files.items() if part != "vectors" and not file.is_file()]
    if absent:
        raise CorpusError(
            f"{str(folder)!r} lacks {name_some(absent)}. A data folder holds docs.jsonl.gz (id, "
            "text, labels per line) and taxonomy.json (a nested `tree`)."
        )
    nested = json.loads(files["taxonomy"].read_text(encoding="utf-8"))["tree"]
    taxonomy = Taxonomy.from_paths(walk(nested))
    with gzip.open(files["docs"], "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    labels = [
        most_specific(taxonomy.tree, (taxonomy.index(path) for path in document["labels"]))
        for document in documents
    ]
    has_split = bool(documents) and all("split" in document for document in documents)
    has_vectors = files["vectors"].is_file()
    return Dataset(
        name or folder.name + (f":{variant}" if variant else ""),
        taxonomy,
        labels,
        [document["text"] for document in documents],
        [str(document["id"]) for document in documents],
        np.load(files["vectors"], mmap_mode="r") if has_vectors else None,
        "minilm" if has_vectors else "",
        np.array([document["split"] for document in documents]) if has_split else None,
    )


def walk(tree: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of a nested mapping, parents first."""
    for name, below in tree.items():
        yield (*above, name)
        yield from walk(below, (*above, name))


def _files(tail: str) -> dict[str, str]:
    return {
        "docs": f"docs{tail}.jsonl.gz",
        "taxonomy": "taxonomy.json",
        "vectors": f"minilm{tail}.npy",
    }
