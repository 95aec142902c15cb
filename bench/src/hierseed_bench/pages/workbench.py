"""The table of docs/workbench.md: milliseconds of clicks, from results/workbench.json."""

from __future__ import annotations

import json
from collections.abc import Callable

from hierseed.errors import CorpusError
from hierseed_bench.repository import RESULTS
from hierseed_bench.tables.markdown import grid


def clicks() -> str:
    """One row per kind of click."""
    record = json.loads((RESULTS / "workbench.json").read_text(encoding="utf-8"))
    if "load" not in record:
        raise CorpusError("the record is of an older script. Run bench/scripts/bench_workbench.py")
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


TABLES: dict[str, Callable[[], str]] = {"workbench-clicks": clicks}
