"""The Python of README and docs runs as it stands, given the names that its text speaks of."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("page", ["README.md", "docs/report.md", "docs/suggest.md"])
def test_the_python_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    vectors = np.random.default_rng(0).normal(size=(60, 8))
    names = {"X": vectors, "ids": list(map(str, range(60))), "texts": ["some words"] * 60}
    for block in [*blocks("README.md"), *blocks(page)]:  # what README fits the others go on with
        exec(compile(block, page, "exec"), names)
    assert list(names["table"]["id"]) == list(range(60))
    if page == "docs/report.md":
        assert (tmp_path / "report.html").stat().st_size > 10_000
