"""The table of docs/suggest.md: labels chosen by `suggest`, at random, and by the lowest score."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hierseed_bench.pages.scale import source
from hierseed_bench.repository import read_result
from hierseed_bench.tables.markdown import grid

CHOICES = {"suggest": "suggest", "random": "random choice", "least": "lowest score"}
DATA = {"20newsgroups": "20 Newsgroups", "cap": "CAP speeches"}
METHODS = {"anchored": "AnchoredHierSeed", "hierseed": "HierSeed"}


def gains() -> str:
    """Mean B-cubed F1 over draws, by labels: at the start, half way, and at the end."""
    found: dict[tuple[str, str], dict[int, dict[str, list[float]]]] = {}
    record = read_result("bench_suggest")
    for run in record["runs"]:
        by_labels = found.setdefault((run["method"], run["data"]), {})
        for score in run["scores"]:
            cell = by_labels.setdefault(score["labels"], {}).setdefault(run["choice"], [])
            cell.append(score["bcubed_f1"])
    rows = []
    for method, title in METHODS.items():
        for data, name in DATA.items():
            by_labels = found[method, data]
            labels = sorted(by_labels)
            for count in (labels[0], labels[len(labels) // 2], labels[-1]):
                means = [f"{np.mean(by_labels[count][choice]):.3f}" for choice in CHOICES]
                rows.append((f"{name}, {title}", str(count), *means))
    table = grid(("corpus, method", "labels", *CHOICES.values()), rows)
    return f"{table}\n\n{source(record['machine'])}"


TABLES: dict[str, Callable[[], str]] = {"suggest-gains": gains}
