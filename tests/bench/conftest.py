"""A small made data set in a folder, for runs and records."""

import gzip
import json

import numpy as np
import pytest

TREE = {"A": {"B": {}, "C": {}, "D": {}}, "E": {"F": {}, "G": {}}, "H": {"I": {}, "J": {}}}
PATHS = [["A", "B"], ["A", "C"], ["A", "D"], ["E", "F"], ["E", "G"], ["H", "I"], ["H", "J"]]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Seven leaves of sixty documents each around a point of their own."""
    place = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    tops = {name: rng.normal(size=16) for name in TREE}
    points = [tops[top] + 0.7 * rng.normal(size=16) for top, _ in PATHS]
    which = rng.permutation(np.repeat(np.arange(7), 60))
    X = np.array([points[i] for i in which]) + 0.3 * rng.normal(size=(420, 16))
    with gzip.open(place / "docs.jsonl.gz", "wt") as file:
        for row, i in enumerate(which):
            text = f"word{i} document number {row}"
            file.write(json.dumps({"id": row, "text": text, "labels": [PATHS[i]]}) + "\n")
    (place / "taxonomy.json").write_text(json.dumps({"tree": TREE}))
    np.save(place / "minilm.npy", X.astype(np.float16))
    return str(place)
