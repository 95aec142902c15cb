"""Tables of docs/scale.md on one machine: passes, fits, prediction, memory, disk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from hierseed.progress import amount
from hierseed_bench.pages.scale import source
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
    return f"{grid(head, rows)}\n\n{source(record['machine'])}"


def fit() -> str:
    """A whole fit beside scikit-learn's k-means: one thread, and two by the clock."""
    record = read("bench_pass.json")
    parts = [record[name] for name in ("fit-1", "fit-2") if name in record]
    parts = [part for part in parts if "systems" in part]
    if not parts:
        return NOT_RUN.format("bench_pass.py fit-1 fit-2")
    head = [f"{parts[0]['documents']:,} x {parts[0]['width']}, {parts[0]['topics']} topics"]
    for part in parts:
        kind = "processor seconds" if part["threads"] == 1 else "seconds by the clock"
        head += [f"{amount(part['threads'], 'thread')}, {kind}", "times KMeans"]
    rows: list[list[Any]] = []
    for name in parts[0]["systems"]:
        rows.append([name])
        for part in parts:
            found = part["systems"][name]
            took = found["processor_seconds" if part["threads"] == 1 else "seconds"]
            rows[-1] += [f"{took:.3g}", f"{found['times_kmeans']:.2f}"]
    return f"{grid(head, rows)}\n\n{source(parts[-1]['machine'])}"


def predict() -> str:
    """One document on a warm model."""
    record = read("bench_pass.json")
    part = record.get("predict")
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
    return f"{grid(head, rows)}\n\n{source(record['machine'])}"


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
    if not rows:
        return NOT_RUN.format("bench_out_of_core.py")
    return f"{grid(head, rows)}\n\n{source(record['machine'])}"


PARTS = (passes, fit, predict, disk)
TABLES: dict[str, Callable[[], str]] = {f"machine-{part.__name__}": part for part in PARTS}


def read(name: str) -> dict[str, Any]:
    """Read a record of results/, empty where it was not made."""
    path = RESULTS / name
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return record
