"""Tables of docs/scale.md on capacity: time and memory of fits, and of a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from hierseed_bench.repository import RESULTS
from hierseed_bench.tables.markdown import grid

DOCUMENTS = (1_000_000, 100_000_000, 1_000_000_000)
TOPICS = (100, 1_000, 10_000)
WIDTH, BYTES = 384, 2  # numbers of a document, and bytes of a number
NETWORK = 1.25e9  # bytes a second: 10 Gbit/s, all through the scheduler's one cable


class Machine(NamedTuple):
    """What a table assumes of a machine; `disk` is bytes a second, of each."""

    name: str
    machines: int
    cores: int
    memory: float
    disk: float


MACHINES = (
    Machine("2 cores", 1, 2, 8e9, 1e9),
    Machine("laptop", 1, 8, 16e9, 2e9),
    Machine("64 cores", 1, 64, 512e9, 5e9),
    Machine("20 machines", 20, 16, 64e9, 1e9),
)
HOST = MACHINES[2]  # the card's
NAMES = {"anchored": "AnchoredHierSeed", "hierseed": "HierSeed"}


class Rate(NamedTuple):
    """What a fit with so many topics costs a core."""

    document: float  # processor seconds of one
    fixed: float  # processor seconds of no document at all
    passes: int
    memory: float  # bytes that a thread works with
    measured: bool = True


def rate(method: str, topics: int) -> Rate:
    """Learned from two sizes of corpus; where they were not run, from fewer topics."""
    cells = [
        cell
        for cell in read("bench_capacity.json")["cells"].values()
        if cell["method"] == method and cell["topics"] == topics
    ]
    if len(cells) < 2:
        return further(rate(method, topics // 100), rate(method, topics // 10))
    cells.sort(key=lambda cell: cell["documents"])
    few, many = cells[0], cells[-1]
    more = many["documents"] - few["documents"]
    document = (many["processor_seconds"] - few["processor_seconds"]) / more
    fixed = max(few["processor_seconds"] - document * few["documents"], 0.0)
    memory = 2**20 * max(cell["peak_mib"] - cell["mib_before"] for cell in cells)
    return Rate(document, fixed, max(cell["passes"] for cell in cells), memory)


def further(one: Rate, ten: Rate) -> Rate:
    """Go on along the line from so many topics, and ten times as many, to a hundred times."""
    line = [b + 10 * (b - a) for a, b in zip(one, ten)]
    return Rate(line[0], max(line[1], 0.0), ten.passes, max(line[3], ten.memory), measured=False)


def seconds(method: str, documents: int, topics: int, machine: Machine) -> float:
    """Of a whole fit: computing or reading, whichever takes longer, and talking."""
    cost = rate(method, topics)
    threads = min(machine.cores, max(int(0.8 * machine.memory / max(cost.memory, 1)), 1))
    cores = machine.machines * threads
    computing = cost.fixed + cost.document * documents / cores
    size = documents * WIDTH * BYTES / machine.machines
    reads = cost.passes if size > 0.8 * machine.memory else 1
    reading = reads * size / machine.disk
    return max(computing, reading) + (talking(cost, topics, machine) if machine.machines > 1 else 0)


def talking(cost: Rate, topics: int, machine: Machine) -> float:
    """Seconds that steps and bytes take on a cluster, by what two workers wrote."""
    record = read("bench_cluster.json")
    one = next(value for name, value in record.items() if name.startswith("bytes-"))["hierseed"]
    per_step = one["bytes_in_round"] / one["steps_in_round"] / (2 * one["model_bytes"])
    model = 1.11 * topics * WIDTH * 8  # inner topics too, in float64
    steps = {int(workers): step["least_ms"] / 1e3 for workers, step in record["steps"].items()}
    a_worker = (steps[4] - steps[1]) / 3
    delay = steps[1] + max(a_worker, 0.0) * (machine.machines - 1)
    return cost.passes * (delay + per_step * machine.machines * model / NETWORK)


def card_seconds(method: str, documents: int, topics: int) -> float:
    """On one H200 in `HOST`: what a document took there, or reading what the card can't hold."""
    size = documents * WIDTH * BYTES
    seconds = card_rate(method, topics) * documents
    if size <= 0.8 * 1e9 * read("bench_gpu.json")["machine"]["memory_gb"]:
        return seconds
    speed = card_bus() if size <= 0.8 * HOST.memory else min(card_bus(), HOST.disk)
    return max(seconds, rate(method, topics).passes * size / speed)


def card_rate(method: str, topics: int) -> float:
    """Seconds a document of the largest fit with about so many topics; beyond, along the line."""
    few, many = (
        fit[NAMES[method]]["seconds"] / rows
        for fit, rows in (
            (record["fit"], record["rows"])
            for record in (read("gpu/100m.json"), read("gpu/1000_topics.json"))
        )
    )
    return {100: few, 1_000: many, 10_000: many + 10 * (many - few)}[topics]


def card_bus() -> float:
    """Bytes a second that reach the card, by how much longer a fit takes that has to fetch them."""
    streamed = read("bench_gpu.json")["streamed"]
    fetched = streamed["rows"] * WIDTH * BYTES * rate("anchored", 100).passes
    return float(fetched / (streamed["fetched"] - streamed["resident"]))


# ------------------------------------------------------------------ tables


def fits(method: str) -> str:
    """Time of a fit for every size and machine; what was measured is bold."""
    known = {
        (cell["documents"], cell["topics"]): cell["processor_seconds"]
        for cell in read("bench_capacity.json")["cells"].values()
        if cell["method"] == method
    }
    heads = [machine.name for machine in MACHINES] + ["one H200"]
    rows = []
    for documents in DOCUMENTS:
        for topics in TOPICS:
            mark = "" if rate(method, topics).measured else "~"
            cells = [mark + spell(seconds(method, documents, topics, one)) for one in MACHINES]
            if (documents, topics) in known:
                cells[0] = f"**{spell(known[documents, topics] / MACHINES[0].cores)}**"
            card = "~" * (topics == TOPICS[-1]) + spell(card_seconds(method, documents, topics))
            whole = (documents, topics) == (read("gpu/100m.json")["rows"], 100)
            rows.append([f"{documents:,}", f"{topics:,}", *cells, f"**{card}**" if whole else card])
    return grid(("documents", "topics", *heads), rows)


def rates() -> str:
    """What was measured: the cells that the tables are made of."""
    head = ("method", "topics", "documents", "processor seconds", "passes")
    rows = []
    for cell in read("bench_capacity.json")["cells"].values():
        slope = rate(cell["method"], cell["topics"]).document * 1e6
        row = (
            cell["method"], f"{cell['topics']:,}", f"{cell['documents']:,}",
            f"{cell['processor_seconds']:,.1f}", cell["passes"], f"{slope:,.0f}",
            cell["peak_mib"] - cell["mib_before"],
        )  # fmt: skip
        rows.append(row)
    return grid((*head, "a document, microseconds", "of its own memory, MiB"), rows)


def memory() -> str:
    """What the vectors take, and what a thread works with."""
    sizes = ", ".join(f"{size_of(n * WIDTH * BYTES)} for {n // 10**6:,} million" for n in DOCUMENTS)
    rows = []
    for topics in TOPICS:
        costs = [rate(method, topics) for method in ("anchored", "hierseed")]
        mark = "" if all(cost.measured for cost in costs) else "~"
        own = mark + size_of(max(cost.memory for cost in costs))
        rows.append((f"{topics:,}", size_of(1.11 * topics * WIDTH * 8), own))
    head = ("topics", "the model", "a thread works with")
    return f"Vectors take {sizes} documents.\n\n{grid(head, rows)}"


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
    return grid(("documents", *head), rows)


def growth() -> str:
    """Time of one fit in one process and on workers."""
    record = read("bench_cluster.json")
    rows = []
    runs = [value for name, value in record.items() if name.startswith("growth-")]
    for run in sorted(runs, key=lambda one: one["workers"]):
        name, step = "one process, one thread", ""
        if run["workers"]:
            name = f"cluster, {run['workers']} worker{'s' * (run['workers'] > 1)} of one thread"
            step = f"{record['steps'][str(run['workers'])]['least_ms']:.0f} ms"
        rows.append((name, f"{run['seconds']:.1f}", f"{run['processor_seconds']:.1f}", step))
    assert len({run["result"] for run in runs}) == 1, "the same bits, whoever computes"
    head = ("", "seconds", "processor seconds, all processes", "a step with nothing in it")
    return grid(head, rows)


def stream() -> str:
    """A whole run of the command line that was measured."""
    record = read("bench_stream.json")
    fit, placed = record["fit"], record["assign_vectors"]
    return (
        f"Measured whole, by the command line on {record['machine']['cores']} cores: "
        f"{record['documents']:,} short documents embedded and fitted in "
        f"{spell(fit['seconds'])}, of which the fit itself took "
        f"{spell(fit['facts']['seconds'])}, with at most "
        f"{fit['peak_mib']:,} MiB; placed from their vectors in {spell(placed['seconds'])} "
        "(`bench/scripts/bench_stream.py`)."
    )


TABLES: dict[str, Callable[[], str]] = {
    "capacity-stream": stream,
    "capacity-anchored": lambda: fits("anchored"),
    "capacity-hierseed": lambda: fits("hierseed"),
    "capacity-rates": rates,
    "capacity-memory": memory,
    "capacity-traffic": traffic,
    "capacity-growth": growth,
}


def spell(value: float) -> str:
    """`12 s`, `3 min`, `2.5 h`, `4 days`: two digits are plenty for an estimate."""
    for limit, unit, word in ((100, 1, "s"), (6_000, 60, "min"), (2 * 86_400, 3_600, "h")):
        if value < limit:
            return f"{max(value / unit, 1):.0f} {word}"
    return f"{value / 86_400:,.0f} days"


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
