"""Write the tables of docs/embedders.md from results/embed_*.json, between their marks."""

import json
from collections import defaultdict

import numpy as np
from machine import RESULTS, ROOT

from hierseed_bench.runs.records import Records

PAGE = ROOT / "docs" / "embedders.md"
METHODS = {
    "hierseed": "HierSeed",
    "nearest-leaf": "nearest leaf",
    "seeded-kmeans": "seeded k-means",
}
DATA = {"20newsgroups": "20 Newsgroups", "cap": "CAP speeches", "arxiv": "arXiv (10,000)"}
SHOWN = ("hierseed", "seeded-kmeans")  # methods in the table of preparations
EMBEDDERS = ("minilm", "wordllama", "tfidf", "glove", "fasttext")


def load(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def lines_of(head, rows):
    words = len(head) > 2  # names in the first two columns, or in the first alone
    rule = ["---"] * (1 + words) + ["---:"] * (len(head) - 1 - words)
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (head, rule, *rows))


def short(value):
    return f"{value:.3f}".removeprefix("0")


def quality():
    """One row per embedder and method: F1 on each corpus, with the deviation over draws."""
    scores = defaultdict(list)
    for run in Records(RESULTS / "embed_quality"):
        setting = run["setting"]
        key = setting["vectors"], setting["method"], setting["data"]
        scores[key].append(run["mean"]["bcubed_f1"])

    def cell(*key):
        values = scores[key]
        return f"{short(np.mean(values))} ± {short(np.std(values))}" if values else ""

    rows = [
        (name, title, *(cell(name, method, data) for data in DATA))
        for name in EMBEDDERS
        for method, title in METHODS.items()
    ]
    return lines_of(("embedder", "method", *DATA.values()), rows)


def prepare():
    """One row per embedder and way of preparing."""
    found = load("embed_prepare")["rows"]
    ways = list(dict.fromkeys(row["way"] for row in found))
    table = {(row["way"], row["vectors"], row["data"], row["method"]): row["f1"] for row in found}
    head = ("vectors", "preparation", *(f"{DATA[d]}, {METHODS[m]}" for d in DATA for m in SHOWN))
    rows = [
        (vectors, way, *(short(table[way, vectors, d, m]) for d in DATA for m in SHOWN))
        for vectors in dict.fromkeys(row["vectors"] for row in found)
        for way in ways
    ]
    return lines_of(head, rows)


def speed():
    """Documents a second on this machine."""
    rates = load("embed_speed")["speed"]
    rows = [(name, f"{rate['documents_per_core_second']:,.0f}") for name, rate in rates.items()]
    return lines_of(("embedder", "documents per second and core"), rows)


def main():
    page = PAGE.read_text()
    for name, make in {"quality": quality, "prepare": prepare, "speed": speed}.items():
        before, rest = page.split(f"<!-- {name} -->\n")
        page = f"{before}<!-- {name} -->\n{make()}\n<!-- end -->{rest.split('<!-- end -->', 1)[1]}"
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
