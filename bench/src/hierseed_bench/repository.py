"""Where a clone keeps its documentation and results; commands that write pages need a clone."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
RESULTS = ROOT / "results"
