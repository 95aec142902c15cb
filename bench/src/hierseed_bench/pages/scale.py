"""Tables of docs/scale.md, and of clicks in the workbench for docs/workbench.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hierseed.progress import amount
from hierseed_bench.repository import read_result
from hierseed_bench.tables.markdown import grid

FIRST_VERSION = {"2cbadc8", "37a77c3", "38878cb", "39925cf", "c095e28", "cb144eb"}


def source(machine: dict[str, Any]) -> str:
    """The machine and the commit of a record; those of the first version are marked."""
    version = ", **version 0.1**" if machine["commit"] in FIRST_VERSION else ""
    device = f", {machine['device']}" if "device" in machine else ""
    where = f"{machine['cpu']}, {machine['cores']} cores{device}"
    return f"*{where}, commit {machine['commit']}{version}.*"


def rates() -> str:
    """Fits by method, topics, documents and dimensions, on one thread."""
    record = read_result("bench_capacity")
    head = ("method", "topics", "documents", "dimensions", "processor seconds", "passes",
            "memory, MiB", "commit")  # fmt: skip
    rows = [
        (
            cell["method"], f"{cell['topics']:,}{', flat' * cell.get('flat', False)}",
            f"{cell['documents']:,}", cell["dimensions"],
            f"{cell['processor_seconds']:,.1f}", cell["passes"],
            cell["peak_mib"] - cell["mib_before"], cell["commit"],
        )
        for cell in record["cells"].values()
    ]  # fmt: skip
    return f"{grid(head, rows)}\n\n{source(record['machine'])}"


def stream() -> str:
    """A whole run of the command line."""
    record = read_result("bench_stream")
    fit, placed = record["fit"], record["assign_vectors"]
    return (
        f"{record['documents']:,} short documents on {record['machine']['cores']} cores: embedded "
        f"and fitted in {fit['seconds']:.0f} s, of which the fit took "
        f"{fit['facts']['seconds']:.0f} s, with at most {fit['peak_mib']:,} MiB; placed from their "
        f"vectors in {placed['seconds']:.0f} s.\n\n{source(record['machine'])}"
    )


def threads() -> str:
    """Whole fits by the number of threads."""
    parts = sorted(measured("threads-"), key=lambda part: int(part["threads"]))
    commit = parts[-1]["machine"]["commit"]  # others may have been measured earlier
    parts = [part for part in parts if part["machine"]["commit"] == commit]
    names = [
        name for name, value in parts[0].items() if isinstance(value, dict) and name != "machine"
    ]
    size = f"{parts[0]['rows']:,} x {parts[0]['dimensions']}, {parts[0]['leaves']} leaves, seconds"
    head = (size, *(amount(part["threads"], "thread") for part in parts), "times faster")
    rows = []
    for name in names:
        seconds = [part[name]["seconds"] for part in parts]
        rows.append((name, *(f"{s:.2f}" for s in seconds), f"{seconds[0] / seconds[-1]:.1f}"))
    return f"{grid(head, rows)}\n\n{source(parts[0]['machine'])}"


def workers() -> str:
    """Documents a second by the number of workers."""
    (part,) = measured("workers")
    rows = []
    for step in ("embed", "assign"):
        of_one = next(row for row in part[step] if row["workers"] == 1)
        rows += [
            (step, row["workers"], f"{row['rate']:,.0f}", f"{row['rate'] / of_one['rate']:.2f}")
            for row in part[step]
            if row["workers"] and row.get("method") == of_one.get("method")
        ]
    head = ("step", "workers", "documents a second", "times one worker")
    return f"{grid(head, rows)}\n\n{source(part['machine'])}"


def assign() -> str:
    """`assign` with a process for each core."""
    (cores,), (many,) = measured("assign-cores"), measured("assign-many")
    found = [({"method": name} | cores | cores[name]) for name in ("anchored", "hierseed")]
    rows = [
        (
            one["method"], f"{one['rows']:,} x {one['dimensions']}", one["workers"],
            f"{one['seconds']:.1f}", f"{one['rows_per_second']:,}",
            size_of(one["bytes_read"]), size_of(one["bytes_written"]),
        ) for one in (*found, many)
    ]  # fmt: skip
    head = ("method", "vectors", "workers", "seconds", "documents a second", "read", "written")
    return f"{grid(head, rows)}\n\n{source(cores['machine'])}"


def card() -> str:
    """File to saved model on a GPU, placing, and equality with the processor."""
    rows: list[tuple[str, str, str]] = []

    def add(part: dict[str, Any], name: str, value: str) -> None:
        rows.append((name, value, part["machine"]["commit"]))

    (start,) = measured("gpu-start")
    add(start, "Python alone: import torch, open the card, end", f"{start['whole_command']:.1f} s")
    add(start, "of this, importing torch", f"{start['import_torch']:.1f} s")
    for part in measured("gpu-file-"):
        for method in ("anchored", "hierseed"):
            took = part[method]["second"]["whole_command"]
            name = f"`hierseed fit` of {part['rows']:,} x {part['dimensions']}, {method}"
            add(part, f"{name}, from a file to a saved model", f"{took:.1f} s")
    for part in measured("gpu-assign"):
        for where, name in (("card", "on the card"), ("processor", "on 16 threads")):
            rate = f"{part[where]['rows_per_second']:,} a second"
            size = f"{part['rows']:,} x {part['dimensions']}"
            add(part, f"placing {size} into a folder of parts, {name}", rate)
    for part in measured("gpu-equal-"):
        name = f"labels that differ from the processor's, {part['method']}, {part['rows']:,}"
        add(part, name, str(part["labels_that_differ"]))
        add(part, f"topic vectors, {part['method']}, {part['rows']:,}", part["vectors"])
    return f"{grid(('on one NVIDIA H200', '', 'commit'), rows)}\n\n{source(start['machine'])}"


PHASES = {  # of the command's main thread, from what bench/scripts/sampler.py distinguishes
    "importing packages, torch most of all": (
        "importing", "importing torch", "waiting for the card", "opening the card"
    ),
    "reading, and bringing rows to the card": ("reading inputs", "bringing rows to the card"),
    "preparing vectors and passes": ("preparing", "passes", "passes of a card"),
    "the rest of the fit": ("the rest of the fit", "the rest"),
    "saving": ("saving",),
}  # fmt: skip


def phases() -> str:
    """Time of each part of a fit on a GPU."""
    (part,) = measured("gpu-file-5m")
    rows = []
    for name, kinds in PHASES.items():
        times = [part[method]["phases"] for method in ("hierseed", "anchored")]
        rows.append((name, *(f"{sum(one.get(kind, 0) for kind in kinds):.1f}" for one in times)))
    head = (f"`hierseed fit` of {part['rows']:,} x {part['dimensions']}, seconds", "hierseed",
            "anchored")  # fmt: skip
    return f"{grid(head, rows)}\n\n{source(part['machine'])}"


def embedding() -> str:
    """Transformers on a GPU."""
    (part,) = measured("gpu-embed")
    head = (f"{part['words']} words, {part['max_tokens']} tokens at most, {part['device']}",
            "documents a second", "least cosine with the processor's vector")  # fmt: skip
    rows = [
        (f"encoder of {row['size']}'s size", f"{row['documents_per_second']:,}",
         row["least_cosine"]) for row in part["rows"]
    ]  # fmt: skip
    return f"{grid(head, rows)}\n\n{source(part['machine'])}"


def outside() -> str:
    """Time of whole commands that is spent in passes over the corpus."""
    rows = []
    for method in ("hierseed", "anchored"):
        record = read_result(f"scale/passes-{method}")
        rows.append((method, f"{record['in_passes']:.1%}", f"{record['samples']:,}"))
    head = ("`hierseed fit` of 1,000,000 x 384, one thread", "of its time in passes", "samples")
    return f"{grid(head, rows)}\n\n{source(record['machine'])}"


def traffic() -> str:
    """Bytes on the wire in one round, by documents."""
    rows = []
    record = read_result("bench_cluster")
    cells = [value for name, value in record.items() if name.startswith("bytes-")]
    for cell in sorted(cells, key=lambda one: one["documents"]):
        row = [f"{cell['documents']:,}"]
        for name in ("hierseed", "anchored"):
            row += [size_of(cell[name]["bytes_in_round"]), str(cell[name]["steps_in_round"])]
        rows.append(row)
    head = ("HierSeed, a round", "its steps", "AnchoredHierSeed, a round", "its steps")
    machine = cells[0].get("machine", record["machine"])
    return f"{grid(('documents', *head), rows)}\n\n{source(machine)}"


def measured(prefix: str) -> list[dict[str, Any]]:
    """Parts of bench_machine.py that were measured."""
    record = read_result("scale/machine")
    return [
        part for name, part in record.items() if name.startswith(prefix) and "skipped" not in part
    ]


def size_of(value: float) -> str:
    """`1.5 MB`, `768 GB`."""
    power = min((len(str(int(value))) - 1) // 3, 3)
    value /= 1e3**power
    unit = ("B", "kB", "MB", "GB")[power]
    return f"{value:.1f} {unit}" if value < 10 else f"{value:,.0f} {unit}"


# ------------------------------------------------------------------ a k-means pass on a GPU


WORDS = {
    "assign_own": "nearest centre, its own settings",
    "assign_by_hand": "nearest centre, settings picked by hand",
    "update": "sums",
}


def timings() -> str:
    """The passes and fits that were timed on a card, or that none were."""
    record = read_result("bench_gpu")
    card, one = record["machine"]["device"], record["pass"]
    size = f"{record['rows']:,} x {record['dimensions']} {record['type']}"
    rows = [
        ("reading the rows once", record["limits"]["seconds_to_read_rows_once"]),
        ("plain torch: product, arg-max, one-hot product", one["plain_torch"]),
        ("ours: nearest centre, near ties in float64", one["nearest"]),
        ("ours: exact sums", one["sums"]),
        ("ours: the whole pass", one["whole"]),
    ]
    peer = one["flash_kmeans"]
    if isinstance(peer, dict):
        rows += [
            (
                f"flash-kmeans: {WORDS[name]}",
                took if isinstance(took, float) else str(took).split(".")[0],
            )
            for name, took in peer.items()
        ]
    rows += [(f"whole fit, {name}", fit["seconds"]) for name, fit in record["fit"].items()]
    part, some = record["streamed"], f"AnchoredHierSeed, {record['streamed']['rows']:,} of the rows"
    rows += [(f"{some}, on the card", part["resident"])]
    rows += [(f"{some}, fetched from a file at every pass", part["fetched"])]
    table = grid((f"{size}, {record['centres']} centres, {card}", "seconds"), rows)
    return f"{table}\n\n{source(record['machine'])}"


# ------------------------------------------------------------------ passes, fits, clicks


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


TABLES: dict[str, Callable[[], str]] = {
    "scale-stream": stream,
    "scale-rates": rates,
    "scale-threads": threads,
    "scale-workers": workers,
    "scale-assign": assign,
    "scale-outside": outside,
    "scale-card": card,
    "scale-phases": phases,
    "scale-embed": embedding,
    "scale-traffic": traffic,
    "gpu-timings": timings,
    "machine-passes": passes,
    "machine-fit": fit,
    "machine-predict": predict,
    "workbench-clicks": clicks,
}
