"""The Python of README and docs runs as it stands, given the names that its text speaks of."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize(
    "page", ["README.md", "docs/report.md", "docs/suggest.md", "docs/method.md"]
)
def test_the_python_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [f"{['guns', 'hospitals', 'minds'][i % 3]} and words {i}" for i in range(60)]
    names: dict[str, Any] = {"ids": list(map(str, range(60))), "texts": texts}
    names |= {"rows": range(10, 40), "gold": [4, 1, 2] * 10}
    for block in [*blocks("README.md"), *blocks(page)]:  # what README fits the others go on with
        exec(compile(block, page, "exec"), names)
    assert names["table"].equals(names["again"])  # of the model that was loaded
    assert list(names["table"]["id"]) == list(map(str, range(60)))
    if page == "docs/report.md":
        assert (tmp_path / "report.html").stat().st_size > 10_000
