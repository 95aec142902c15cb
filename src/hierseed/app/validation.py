"""Statistics of coded samples: agreement of coders and accuracy of a fit, with intervals."""

from __future__ import annotations

import math
from collections.abc import Hashable
from itertools import combinations
from typing import Any

import numpy as np

from hierseed.app.placements import Placements
from hierseed.app.project import Project
from hierseed.app.store import codings, topics
from hierseed.app.store.codings import NONE, TOPICS, UNSURE, Code, Sample
from hierseed.app.store.topics import Topics
from hierseed.evaluate.agreement import Estimate, cohen_kappa, krippendorff_alpha, proportion
from hierseed.evaluate.calibration import thresholds

Value = Hashable | None


def value_at(code: Code | None, here: Topics, level: int) -> Value:
    """A code at one level: its topics there, "none", or None where it says nothing."""
    if code is None or code.decision == UNSURE:
        return None
    if code.decision == NONE:
        return NONE
    ancestors = here.taxonomy.tree.ancestors
    found = {int(ancestors[here.place[id], level - 1]) for id in code.topics}
    found.discard(-1)  # coded at a level above
    return frozenset(found) or None


def agreement(project: Project, sample: Sample) -> dict[str, Any]:
    """Alpha, kappa of each pair and the share of equal codes, for each level and each topic."""
    here = topics.current(project)
    rows = [row for row, _ in codings.rows(project, sample.id)]
    by_coder: dict[str, dict[int, Code]] = {}
    for code in codings.codes(project, sample.id):
        if not code.final:
            by_coder.setdefault(code.coder, {})[code.row] = code
    names = sorted(by_coder)
    levels = []
    for level in range(1, here.taxonomy.tree.height + 1):
        lines = [[value_at(by_coder[n].get(row), here, level) for row in rows] for n in names]
        levels.append({"level": level, **_agree(lines, names)})
    by_topic = []
    for i, path in enumerate(here.taxonomy.paths):
        level = int(here.taxonomy.tree.level[i])
        lines = [
            [_has(value_at(by_coder[n].get(row), here, level), i) for row in rows] for n in names
        ]
        if len(names) > 1 and any(value for line in lines for value in line):
            alpha = krippendorff_alpha(lines)
            by_topic.append({"path": path, "level": level, "alpha": _view(alpha)})
    double = sum(sum(row in by_coder[n] for n in names) > 1 for row in rows)
    return {
        "coders": [{"name": n, "coded": len(by_coder[n])} for n in names],
        "double": double,
        "levels": levels,
        "topics": by_topic,
    }


def _has(value: Value, topic: int) -> bool | None:
    if value is None:
        return None
    return isinstance(value, frozenset) and topic in value


def _agree(lines: list[list[Value]], names: list[str]) -> dict[str, Any]:
    pairs = []
    for a, b in combinations(range(len(lines)), 2):
        both = [(x, y) for x, y in zip(lines[a], lines[b]) if x is not None and y is not None]
        pairs.append(
            {
                "coders": [names[a], names[b]],
                "kappa": _plain(cohen_kappa(lines[a], lines[b])),
                "same": _view(proportion([x == y for x, y in both])),
            }
        )
    return {"alpha": _view(krippendorff_alpha(lines)), "pairs": pairs}


def disagreements(project: Project, sample: Sample) -> list[int]:
    """Rows that coders coded differently, or all were unsure of, and nobody has settled."""
    found = []
    by_row, final = _by_row(project, sample)
    for row, _ in codings.rows(project, sample.id):
        codes = by_row.get(row, [])
        if len(codes) > 1 and row not in final and _settled(codes) is None:
            found.append(row)
    return found


def _by_row(project: Project, sample: Sample) -> tuple[dict[int, list[Code]], dict[int, Code]]:
    by_row: dict[int, list[Code]] = {}
    final: dict[int, Code] = {}
    for code in codings.codes(project, sample.id):
        if code.final:
            final[code.row] = code
        else:
            by_row.setdefault(code.row, []).append(code)
    return by_row, final


def _settled(codes: list[Code]) -> Code | None:
    """The code that all agree on; those who were unsure do not count."""
    sure = [code for code in codes if code.decision != UNSURE]
    if not sure or any(
        (code.decision, set(code.topics)) != (sure[0].decision, set(sure[0].topics))
        for code in sure
    ):
        return None
    return sure[0]


def reference(project: Project, sample: Sample) -> dict[int, Code]:
    """The code that counts for each document: the adjudicated one, else what all agree on."""
    by_row, final = _by_row(project, sample)
    found = dict(final)
    for row, codes in by_row.items():
        settled = _settled(codes)
        if row not in found and settled is not None:
            found[row] = settled
    return {row: code for row, code in found.items() if code.decision != UNSURE}


def accuracy(
    project: Project, sample: Sample, placed: Placements, wanted: float = 0.8
) -> dict[str, Any]:
    """How right the fit is: for each level and topic, with intervals, and thresholds.

    Seeds are left out. A document is right at a level where the fit's topic is one of its codes;
    one that belongs to none is right where the fit placed it nowhere.
    """
    here = topics.current(project)
    strata = dict(codings.rows(project, sample.id))
    coded = {
        row: code
        for row, code in reference(project, sample).items()
        if row < placed.n_documents and not placed.is_seed[row]
    }
    rows = sorted(coded)
    weights = _weights(sample, [strata[row] for row in rows])
    path = placed.path[placed.primary[rows]] if rows else np.zeros((0, 1), dtype=int)
    levels = []
    for level in range(1, here.taxonomy.tree.height + 1):
        truth = [value_at(coded[row], here, level) for row in rows]
        known = [i for i, value in enumerate(truth) if value is not None]
        right = [_right(truth[i], int(path[i, level - 1])) for i in known]
        levels.append({"level": level, "accuracy": _view(proportion(right, weights[known]))})
    by_topic = [
        line
        for i, title in enumerate(here.taxonomy.paths)
        if (line := _topic_line(i, title, here, rows, coded, path, weights))
    ]
    return {
        "coded": len(rows),
        "unsettled": len(disagreements(project, sample)),
        "levels": levels,
        "topics": by_topic,
        "wanted": wanted,
        "thresholds": _thresholds(here, rows, coded, placed, wanted),
    }


def _right(truth: Value, topic: int) -> bool:
    if isinstance(truth, frozenset):
        return topic in truth
    return topic < 0


def _topic_line(
    topic: int, title: str, here: Topics, rows: list[int], coded: dict[int, Code],
    path: Any, weights: Any,
) -> dict[str, Any] | None:  # fmt: skip
    level = int(here.taxonomy.tree.level[topic])
    truth = np.array(
        [bool(_has(value_at(coded[row], here, level), topic)) for row in rows], dtype=bool
    )
    predicted = path[:, level - 1] == topic if len(rows) else np.zeros(0, dtype=bool)
    if not truth.any() and not predicted.any():
        return None
    return {
        "path": title,
        "level": level,
        "precision": _view(proportion(truth[predicted], weights[predicted])),
        "recall": _view(proportion(predicted[truth], weights[truth])),
    }


def _thresholds(
    here: Topics, rows: list[int], coded: dict[int, Code], placed: Placements, wanted: float
) -> list[float | None]:
    """The score of each level from which on the wanted share of coded documents is right."""
    kept = [row for row in rows if coded[row].decision in (TOPICS, NONE)]
    if not kept:
        return []
    first = placed.primary[kept]
    height = here.taxonomy.tree.height
    gold = [[here.place[id] for id in coded[row].topics] for row in kept]
    path = np.where(placed.path[first] < len(here.ids), placed.path[first], -1)[:, :height]
    found = thresholds(here.taxonomy, path, placed.score[first][:, :height], gold, wanted)
    return [float(value) if value <= 1 else None for value in found]


def _weights(sample: Sample, strata: list[str]) -> Any:
    """Weight of each document: the size of its stratum for each one that was coded."""
    sizes = sample.facts.get("strata")
    if not sizes:
        return np.ones(len(strata))
    coded = {name: strata.count(name) for name in set(strata)}
    return np.array([sizes[name] / coded[name] for name in strata], dtype=float)


def paragraph(
    sample: Sample, agreed: dict[str, Any], right: dict[str, Any], fit: int, method: str
) -> str:
    """The result in sentences, for a paper."""
    kind = "stratified random" if sample.facts.get("strata") else "simple random"
    text = [
        f"We validated the classification (hierseed, {method}, fit {fit}) on a {kind} sample of "
        f"{sample.facts['size']:,} of {sample.facts['population']:,} documents "
        f"(random seed {sample.facts['random_state']})."
    ]
    names = agreed["coders"]
    settled = "Disagreements were adjudicated."
    if right["unsettled"]:
        settled = f"{right['unsettled']:,} documents without a settled code are left out."
    if len(names) > 1:
        alphas = ", ".join(
            f"{_figure(level['alpha'], 2)} at level {level['level']}" for level in agreed["levels"]
        )
        text.append(
            f"{len(names)} coders coded the sample independently of each other, "
            f"{agreed['double']:,} documents were coded at least twice; Krippendorff's alpha "
            f"(nominal) was {alphas}. {settled}"
        )
    elif names:
        text.append("One coder coded the sample.")
    levels = ", ".join(
        f"{_figure(level['accuracy'], 3)} at level {level['level']}" for level in right["levels"]
    )
    text.append(
        f"Against the {right['coded']:,} settled codes, seeds left out, the accuracy was {levels} "
        "(95% intervals: Wilson for accuracy, bootstrap over documents for alpha)."
    )
    return " ".join(text)


def _figure(view: dict[str, Any], digits: int) -> str:
    if view["value"] is None:
        return "not defined"
    if view["low"] is None:
        return f"{view['value']:.{digits}f}"
    return f"{view['value']:.{digits}f} [{view['low']:.{digits}f}, {view['high']:.{digits}f}]"


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


def _view(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": _plain(estimate.value),
        "low": _plain(estimate.low),
        "high": _plain(estimate.high),
        "n": estimate.n,
    }
