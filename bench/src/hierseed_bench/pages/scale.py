"""Tables of docs/scale.md: fits by documents and topics, threads, workers, a cluster, a GPU."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hierseed_bench.repository import RESULTS
from hierseed_bench.tables.markdown import grid

FIRST_VERSION = {"2cbadc8", "37a77c3", "38878cb", "39925cf", "c095e28", "cb144eb"}
NOT_RUN = "Not measured yet: `python bench/scripts/bench_machine.py` on such a machine."


def source(machine: dict[str, Any]) -> str:
    """The machine and the commit of a record; those of the first version are marked."""
    version = ", **version 0.1**" if machine["commit"] in FIRST_VERSION else ""
    device = f", {machine['device']}" if "device" in machine else ""
    where = f"{machine['cpu']}, {machine['cores']} cores{device}"
    return f"*{where}, commit {machine['commit']}{version}.*"


def rates() -> str:
    """Fits by method, topics and documents, on one thread."""
    record = read("bench_capacity.json")
    head = ("method", "topics", "documents", "processor seconds", "passes", "memory, MiB", "commit")
    rows = [
        (
            cell["method"], f"{cell['topics']:,}", f"{cell['documents']:,}",
            f"{cell['processor_seconds']:,.1f}", cell["passes"],
            cell["peak_mib"] - cell["mib_before"], cell["commit"],
        )
        for cell in record["cells"].values()
    ]  # fmt: skip
    return f"{grid(head, rows)}\n\n{source(record['machine'])}"


def stream() -> str:
    """A whole run of the command line."""
    record = read("bench_stream.json")
    fit, placed = record["fit"], record["assign_vectors"]
    return (
        f"{record['documents']:,} short documents on {record['machine']['cores']} cores: embedded "
        f"and fitted in {fit['seconds']:.0f} s, of which the fit took "
        f"{fit['facts']['seconds']:.0f} s, with at most {fit['peak_mib']:,} MiB; placed from their "
        f"vectors in {placed['seconds']:.0f} s.\n\n{source(record['machine'])}"
    )


def threads() -> str:
    """Whole fits by the number of threads."""
    parts = measured("threads-")
    if not parts:
        return NOT_RUN
    names = [
        name for name, value in parts[0].items() if isinstance(value, dict) and name != "machine"
    ]
    size = f"{parts[0]['rows']:,} x {parts[0]['dimensions']}, {parts[0]['leaves']} leaves, seconds"
    head = (size, *(f"{part['threads']} threads" for part in parts))
    rows = [(name, *(f"{part[name]['seconds']:.2f}" for part in parts)) for name in names]
    return f"{grid(head, rows)}\n\n{source(parts[0]['machine'])}"


def workers() -> str:
    """Documents a second by the number of workers."""
    parts = measured("workers-")
    if not parts:
        return NOT_RUN
    rows = [
        (part["workers"], f"{part['embed'][-1]['rate']:,.0f}", f"{part['assign'][0]['rate']:,.0f}")
        for part in parts
    ]
    head = ("workers", "embed, documents a second", "assign, documents a second")
    return f"{grid(head, rows)}\n\n{source(parts[0]['machine'])}"


def card() -> str:
    """File to saved model on a GPU, placing, and equality with the processor."""
    rows = []
    for part in measured("gpu-file-"):
        for method in ("anchored", "hierseed"):
            took = part[method]["second"]["whole_process"]
            rows.append(
                (f"fit of {part['rows']:,} from a file to a saved model, {method}", f"{took:.1f} s")
            )
    for part in measured("gpu-assign"):
        rate = f"{part['card']['rows_per_second']:,} a second"
        rows.append((f"placing {part['rows']:,} into a folder of parts", rate))
    for part in measured("gpu-equal-"):
        name = f"labels that differ from the processor's, {part['method']}, {part['rows']:,}"
        rows.append((name, str(part["labels_that_differ"])))
    return grid(("on one GPU", ""), rows) if rows else NOT_RUN


def traffic() -> str:
    """Bytes on the wire in one round, by documents."""
    rows = []
    record = read("bench_cluster.json")
    cells = [value for name, value in record.items() if name.startswith("bytes-")]
    for cell in sorted(cells, key=lambda one: one["documents"]):
        row = [f"{cell['documents']:,}"]
        for name in ("hierseed", "anchored"):
            row += [size_of(cell[name]["bytes_in_round"]), str(cell[name]["steps_in_round"])]
        rows.append(row)
    head = ("HierSeed, a round", "its steps", "AnchoredHierSeed, a round", "its steps")
    return f"{grid(('documents', *head), rows)}\n\n{source(record['machine'])}"


TABLES: dict[str, Callable[[], str]] = {
    "scale-stream": stream,
    "scale-rates": rates,
    "scale-threads": threads,
    "scale-workers": workers,
    "scale-card": card,
    "scale-traffic": traffic,
}


def measured(prefix: str) -> list[dict[str, Any]]:
    """Parts of bench_machine.py that were measured."""
    path = RESULTS / "scale" / "machine.json"
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return [
        part for name, part in record.items() if name.startswith(prefix) and "skipped" not in part
    ]


def size_of(value: float) -> str:
    """`1.5 MB`, `768 GB`."""
    power = min((len(str(int(value))) - 1) // 3, 3)
    value /= 1e3**power
    unit = ("B", "kB", "MB", "GB")[power]
    return f"{value:.1f} {unit}" if value < 10 else f"{value:,.0f} {unit}"


def read(name: str) -> dict[str, Any]:
    """Read a record of results/."""
    record: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return record
