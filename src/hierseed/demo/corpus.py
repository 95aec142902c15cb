"""The demo's corpus: docstrings, the reference's chapters as taxonomy, gold, and seeds drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hierseed.demo.docstrings import read_docstrings
from hierseed.taxonomy import Taxonomy

REFERENCE = Path(__file__).parent / "library.txt"
MIN_DOCUMENTS = 15  # a topic with fewer is left out: too few to draw seeds from and to score
SEEDS = 4


@dataclass(frozen=True)
class DemoCorpus:
    """Documents with their true topics, and the seeds that the method may see."""

    ids: list[str]
    texts: list[str]
    taxonomy: Taxonomy
    gold: NDArray[np.intp]  # topic id of each document
    y: NDArray[np.intp]  # the same for seeds, -1 elsewhere
    absent: list[str]  # modules in the reference without any document here
    small: list[str]  # modules with too few documents


def load_corpus(
    *, min_documents: int = MIN_DOCUMENTS, seeds: int = SEEDS, random_state: int = 0
) -> DemoCorpus:
    """Read the docstrings, keep modules with enough of them, draw seeds at random."""
    reference = Taxonomy.read(REFERENCE)
    leaves = np.flatnonzero(reference.tree.level == 2)
    path_of = {reference.names[leaf]: reference.paths[leaf] for leaf in leaves}
    documents = read_docstrings(list(path_of))
    counts = Counter(document.module for document in documents)
    kept = {module for module, count in counts.items() if count >= min_documents}
    taxonomy = Taxonomy.from_paths([path for module, path in path_of.items() if module in kept])
    topic_of = {module: taxonomy.index(path_of[module]) for module in kept}

    documents = [document for document in documents if document.module in kept]
    gold = np.array([topic_of[document.module] for document in documents], dtype=np.intp)
    return DemoCorpus(
        ids=[document.id for document in documents],
        texts=[document.text for document in documents],
        taxonomy=taxonomy,
        gold=gold,
        y=draw_seeds(gold, seeds, random_state),
        absent=[module for module in path_of if not counts[module]],
        small=[module for module in path_of if 0 < counts[module] < min_documents],
    )


def draw_seeds(gold: NDArray[np.intp], seeds: int, random_state: int) -> NDArray[np.intp]:
    """Draw so many documents of each topic at random: their topic where drawn, else -1."""
    random = np.random.default_rng(random_state)
    y = np.full(len(gold), -1, dtype=np.intp)
    for topic in np.unique(gold):
        members = np.flatnonzero(gold == topic)
        drawn = random.choice(members, size=min(seeds, len(members)), replace=False)
        y[drawn] = topic
    return y
