"""The table of docs/workbench.md: milliseconds of clicks, from results/workbench.json."""

from __future__ import annotations

import json
from collections.abc import Callable

from hierseed_bench.repository import RESULTS
from hierseed_bench.tables.markdown import grid


def clicks() -> str:
    """One row per kind of click."""
    record = json.loads((RESULTS / "workbench.json").read_text(encoding="utf-8"))
    about = (
        f"{record['documents']:,} documents, {record['topics']} topics, on "
        f"{record['machine']['cores']} cores (load {record['machine']['load'][0]}). All clicks: "
        f"median {record['all_clicks_median_ms']} ms, 95th percentile "
        f"{record['all_clicks_p95_ms']} ms. First paint after {record['first_paint_ms']} ms, tree "
        f"and documents after {record['tree_and_documents_ms']} ms."
    )
    rows = [(name, v["median"], v["worst"]) for name, v in record["click_ms"].items()]
    return f"{about}\n\n" + grid(("click", "median, ms", "worst, ms"), rows)


TABLES: dict[str, Callable[[], str]] = {"workbench-clicks": clicks}
