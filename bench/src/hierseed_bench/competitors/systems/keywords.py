"""Words that stand for a topic: taken from its documents, or from its name."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from hierseed_bench.competitors.systems.system import Examples, Ints
from hierseed_bench.competitors.systems.text import is_content, plain_words

PATTERN = r"\b\w[\w-]*\w\b"


def keywords(
    examples: Examples, gold: Ints, known: Collection[str], count: int
) -> dict[int, list[str]]:
    """Find the best TF-IDF words of every node, level by level.

    Parameters
    ----------
    gold : node per example and level, -1 where there is none; an inner node thus owns the
        documents of all below it
    known : words that may be chosen
    """
    found: dict[int, list[str]] = {}
    for level in range(gold.shape[1]):
        rows = np.flatnonzero(gold[:, level] >= 0)
        if not len(rows):
            continue
        found |= _of_level([examples.texts[row] for row in rows], gold[rows, level], known, count)
    return found


def _of_level(
    texts: Sequence[str], nodes: Ints, known: Collection[str], count: int
) -> dict[int, list[str]]:
    model = TfidfVectorizer(
        sublinear_tf=True,
        max_df=0.2,
        stop_words="english",
        max_features=10_000,
        token_pattern=PATTERN,
    )
    try:
        weights = model.fit_transform(texts)
    except ValueError:  # no word is left
        return {}
    words = model.get_feature_names_out()
    usable = np.array([word in known for word in words])
    found = {}
    for node in np.unique(nodes):
        mean = np.asarray(weights[nodes == node].mean(axis=0)).ravel() * usable
        best = np.argsort(-mean, kind="stable")[:count]
        found[int(node)] = [str(words[i]) for i in best if mean[i] > 0]
    return {node: chosen for node, chosen in found.items() if chosen}


def name_words(name: str, known: Collection[str]) -> list[str]:
    """Words of a topic's name: the name as one phrase where the corpus has it, else all of its
    words that the corpus knows."""
    words = plain_words(name)
    phrase = "_".join(words)
    if len(words) > 1 and phrase in known:
        return [phrase]
    return list(dict.fromkeys(word for word in words if is_content(word) and word in known))
