"""Folders of documentation and results in a clone; commands that write pages need a clone."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
RESULTS = ROOT / "results"


def read_result(name: str) -> Any:
    """Read a record of results/ by its path there, without the ending."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
