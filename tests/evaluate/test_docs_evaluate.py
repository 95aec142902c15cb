"""The code in docs/evaluate.md runs and says what the page says."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evaluate.md"


def test_the_page_runs(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    names = {}
    exec(block, names)
    plain, paper, coverage = map(float, capsys.readouterr().out.split())
    assert coverage == 0.75
    assert plain < paper


def test_the_root_is_worth_what_the_page_says():
    assert "(1 + .50 + .50) / 3 = .67" in PAGE.read_text(encoding="utf-8")
