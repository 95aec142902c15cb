"""A small corpus with known topics, fitted once for all tests of the report."""

from dataclasses import dataclass

import numpy as np
import pytest

from hierseed.assignments import Assignments
from hierseed.estimators.hierseed import HierSeed
from hierseed.taxonomy import Taxonomy

PATHS = ["Sea > Fish", "Sea > Ships", "Sky > Birds", "Sky > Stars", "Sky > Rain"]
WORDS = {
    "Fish": "salmon gills",
    "Ships": "mast harbour",
    "Birds": "feather nest",
    "Stars": "comet orbit",
    "Rain": "puddle umbrella",
}


@dataclass
class Case:
    model: HierSeed
    X: np.ndarray
    ids: list[str]
    texts: list[str]
    gold: np.ndarray
    assignments: Assignments


@pytest.fixture(scope="session")
def case() -> Case:
    random = np.random.default_rng(4)
    taxonomy = Taxonomy.from_paths(PATHS)
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    broad = random.normal(size=(len(taxonomy), 12))
    centres = broad + 2 * broad[np.maximum(taxonomy.tree.parent, 0)]
    gold = np.repeat(leaves, [60, 40, 80, 30, 20])
    X = centres[gold] + 0.6 * random.normal(size=(len(gold), 12))
    y = np.full(len(gold), -1)
    for leaf in leaves:
        y[np.flatnonzero(gold == leaf)[:3]] = leaf
    filler = ["the", "of", "and", "about", "this", "that"]
    texts = []
    for topic in gold:
        special = random.choice(WORDS[taxonomy.names[topic]].split(), 2)
        texts.append(" ".join([*random.permutation(filler), *special]))
    model = HierSeed(taxonomy).fit(X, y)
    ids = [f"d{i}" for i in range(len(gold))]
    return Case(model, X, ids, texts, gold, model.assign(X, y))
