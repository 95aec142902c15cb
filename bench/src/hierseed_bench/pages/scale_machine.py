"""Tables of docs/scale.md on one machine: passes, fits, prediction, memory, disk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from hierseed_bench.repository import RESULTS
from hierseed_bench.tables.markdown import grid

NOT_RUN = "Not measured yet: `python bench/scripts/{}`."


def passes() -> str:
    """A pass of k-means in bare products, ours and the libraries'."""
    record = read("bench_pass.json")
    parts = [part for name, part in record.items() if re.fullmatch(r"\w+-\d", name)]
    parts = [part for part in parts if "product_s" in part]
    if not parts:
        return NOT_RUN.format("bench_pass.py")
    names = ["this package", "scikit-learn KMeans", "faiss Kmeans", "scikit-learn MiniBatchKMeans"]
    rows: list[list[Any]] = []
    head = ("documents", "centres", "threads", "bare product", "full pass", "by the clock", *names)
    for part in sorted(parts, key=lambda part: (part["threads"], part["documents"], part["width"])):
        kind = "processor_seconds" if part["threads"] == 1 else "seconds"
        found = {
            system["name"]: f"{system['round_in_products']:.2f}, {system[kind]:.3g} s"
            for system in part["systems"]
        }
        rows.append(
            [
                f"{part['documents']:,} x {part['width']}",
                part["centres"],
                part["threads"],
                f"{part['product_processor_s']:.3g} s",
                f"**{part['full_pass_in_products']:.2f}**",
                f"{part['full_pass_in_products_by_the_clock']:.2f}",
                *(found.get(name, "not run") for name in names),
            ]
        )
    return grid(head, rows)


def fit() -> str:
    """A whole fit beside scikit-learn's k-means."""
    part = read("bench_core.json").get("whole_fit", {})
    if "systems" not in part:
        return NOT_RUN.format("bench_core.py whole_fit")
    size = f"{part['documents']:,} x {part['width']}, {part['topics']} topics, one thread"
    rows: list[list[Any]] = []
    head = (size, "processor seconds", "times KMeans")
    for name, found in part["systems"].items():
        rows.append([name, f"{found['processor_seconds']:.3g}", f"{found['times_kmeans']:.2f}"])
    return grid(head, rows)


def predict() -> str:
    """One document on a warm model."""
    part = read("bench_pass.json").get("predict")
    if not part:
        return NOT_RUN.format("bench_pass.py predict")
    kinds = ("processor_median_ms", "processor_p99_ms", "median_ms", "p99_ms")
    rows: list[list[Any]] = []
    head = (
        "one document",
        "topics",
        "processor, median",
        "99 of 100 within",
        "by the clock, median",
        "99 of 100 within",
    )
    for found in part:
        times = (f"{found[kind]:.2f} ms" if kind in found else "" for kind in kinds)
        rows.append([found["estimator"], found["topics"], *times])
    return grid(head, rows)


def sphere() -> str:
    """Sorted windows against all triples."""
    rows: list[list[Any]] = []
    head = ("children", "documents", "windows", "all triples, numpy", "all triples, loops")
    for found in read("bench_core.json")["sphere"]["against_triples"]:
        times = (found["windows_s"], found["triples_numpy_s"], found["triples_python_s"])
        rows.append([found["children"], found["documents"], *(f"{1e3 * t:,.2f} ms" for t in times)])
    return grid(head, rows)


def memory() -> str:
    """What a fit holds beyond the matrix."""
    rows: list[list[Any]] = []
    head = ("numbers", "matrix", "beyond it")
    for found in read("bench_core.json")["memory"]:
        rows.append([found["dtype"], f"{found['matrix_mb']:,.0f} MB",
                     f"{found['beyond_mb']:,.0f} MB"])  # fmt: skip
    return grid(head, rows)


def disk() -> str:
    """Mapped from disk under a limit, and the same rows in memory."""
    record = read("bench_out_of_core.json")
    rows: list[list[Any]] = []
    head = (
        "documents",
        "file",
        "step",
        "from",
        "seconds",
        "processor seconds",
        "own memory",
        "limit",
    )
    for documents, found in record.items():
        for name, part in found.get("parts", {}).items() if documents != "machine" else ():
            method, step, how = name.split("-")
            limit = f"{part['limit_mib']:,.0f} MiB" if part["limit_mib"] else "none"
            rows.append(
                [documents, f"{found['vectors_mib']:,} MiB", f"{method}, {step}", how,
                 f"{part['seconds']:,.0f}", f"{part['cpu_seconds']:,.0f}",
                 f"{part['peak_own_mib']:,} MiB", limit]
            )  # fmt: skip
    return grid(head, rows) if rows else NOT_RUN.format("bench_out_of_core.py")


def shares() -> str:
    """The rate from disk as a share of that in memory."""
    lines = [
        f"- {name.replace('-', ', ')}, {documents} documents: {share:.0%}"
        for documents, found in read("bench_out_of_core.json").items()
        for name, share in found.get("mapped_as_share_of_memory", {}).items()
    ]
    return "\n".join(lines) or NOT_RUN.format("bench_out_of_core.py")


PARTS = (passes, fit, predict, sphere, memory, disk, shares)
TABLES: dict[str, Callable[[], str]] = {f"machine-{part.__name__}": part for part in PARTS}


def read(name: str) -> dict[str, Any]:
    """Read a record of results/, empty where it was not made."""
    path = RESULTS / name
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return record
