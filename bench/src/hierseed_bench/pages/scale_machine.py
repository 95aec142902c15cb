"""Tables on one machine: passes, fits, prediction; clicks in the workbench."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hierseed.progress import amount
from hierseed_bench.pages.scale import source
from hierseed_bench.repository import read_result
from hierseed_bench.tables.markdown import grid


def passes() -> str:
    """A pass of k-means in bare products, ours and the libraries'."""
    record = read_result("bench_pass")
    parts = [part for name, part in record.items() if re.fullmatch(r"\w+-\d", name)]
    parts = [part for part in parts if "product_s" in part]
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
    record = read_result("bench_pass")
    parts = [record[name] for name in ("fit-1", "fit-2") if name in record]
    parts = [part for part in parts if "systems" in part]
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
    made = {source(part["machine"]): part["threads"] for part in parts}
    where = list(made)
    if len(made) > 1:
        where = [f"{amount(threads, 'thread')}: {line}" for line, threads in made.items()]
    return "\n\n".join([grid(head, rows), *where])


def predict() -> str:
    """One document on a warm model."""
    record = read_result("bench_pass")
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
    for found in record["predict"]:
        times = (f"{found[kind]:.2f} ms" if kind in found else "" for kind in kinds)
        rows.append([found["estimator"], found["topics"], *times])
    return f"{grid(head, rows)}\n\n{source(record['machine'])}"


def clicks() -> str:
    """One row per kind of click."""
    record = read_result("workbench")
    load, fit, held = record["load"], record["second_fit"], record["server_memory_mb"]
    about = (
        f"{record['documents']:,} documents, {record['topics']:,} topics, on "
        f"{record['machine']['cores']} cores with a load of {record['machine']['load'][0]} by the "
        "measurement and other programs together; processor time is that of "
        f"server and page together. Load: {load['seconds']:.0f} s on the clock, "
        f"{load['processor_seconds']:.0f} s of processor time. Fit: {fit['seconds']:.0f} s and "
        f"{fit['processor_seconds']:.0f} s; the bar stood at its end for "
        f"{fit['bar_at_end']:.0%} of it. Server: {held['own']} MB of its own, {held['resident']} "
        "MB with the files that it maps. All "
        f"clicks, processor time: median {record['all_clicks_work_median_ms']} ms, 95th percentile "
        f"{record['all_clicks_work_p95_ms']} ms."
    )
    names = ("work_median", "work_worst", "first_work", "median", "worst")
    rows = [(name, *(v[one] for one in names)) for name, v in record["click_ms"].items()]
    titles = ("click", "processor, median ms", "worst", "first", "clock, median ms", "worst")
    return f"{about}\n\n" + grid(titles, rows)


PARTS = (passes, fit, predict)
TABLES: dict[str, Callable[[], str]] = {f"machine-{part.__name__}": part for part in PARTS}
TABLES["workbench-clicks"] = clicks
