"""docs/taxonomies.md: every example is read, every command is run, the table is the catalogue's."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from taxonomy_cases import branches, save
from typer.testing import CliRunner

from hierseed import Taxonomy
from hierseed.cli.app import make_app
from hierseed.io.taxonomies import FORMATS, read_taxonomy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "taxonomies.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", TEXT, re.DOTALL))
TREE = Taxonomy.from_paths(["Health > Nutrition > Diets", "Health > Guns", "Safety"])


@pytest.mark.parametrize("file", EXAMPLES)
def test_every_example_is_the_same_taxonomy(tmp_path: Path, file: str) -> None:
    options = {"digits": 2} if file == "agendas.csv" else {}
    taxonomy = read_taxonomy(save(tmp_path, file, EXAMPLES[file]), **options)
    assert branches(taxonomy) == branches(TREE)


def test_every_format_has_an_example_and_a_row() -> None:
    endings = {Path(file).suffix for file in EXAMPLES}
    rows = re.findall(r"^\| `(\S+)` \| (.+?) \| (.+?) \| (.+?) \|$", TEXT, re.MULTILINE)
    assert rows == [
        (name, " ".join(form.endings), form.title, ", ".join(form.holds) or "names only")
        for name, form in FORMATS.items()
    ]
    missing = {name for name, form in FORMATS.items() if not endings & set(form.endings)}
    assert missing == {"xlsx"}


def test_python_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path, "topics.txt", EXAMPLES["topics.txt"])
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried > 5
    assert failed == 0


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path, "topics.txt", EXAMPLES["topics.txt"])
    commands = [
        x
        for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
        for x in block.split("\n")
        if x
    ]
    assert len(commands) == 3
    for command in commands:
        done = CliRunner().invoke(make_app(), shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
    assert branches(read_taxonomy(tmp_path / "topics.md")) == branches(TREE)
    assert read_taxonomy(tmp_path / "levels.csv").codes[2] == "111"
    assert '"Diets"@en' in (tmp_path / "topics.ttl").read_text()
