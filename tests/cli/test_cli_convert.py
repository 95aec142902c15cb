"""`hierseed convert`: what it says, what it loses, how it fails."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hierseed import Taxonomy
from hierseed.cli.app import make_app


def convert(*words: object) -> Result:
    return CliRunner().invoke(make_app({"convert"}), ["convert", *map(str, words)])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "topics.json"
    Taxonomy(["A", "B"], [-1, 0], codes=["1", "2"], descriptions=["", "b"]).write(file)
    return file


def test_says_what_was_written_and_what_was_lost(source: Path, tmp_path: Path) -> None:
    done = convert(source, tmp_path / "t.md")
    assert done.exit_code == 0
    assert "2 topics on 2 levels" in done.stderr
    assert "2 codes can't be stored" in done.stderr
    assert "1 description can't be stored" in done.stderr
    assert done.stdout == ""
    assert (tmp_path / "t.md").read_text() == "- A\n  - B\n"


def test_json_and_quiet(source: Path, tmp_path: Path) -> None:
    done = convert(source, tmp_path / "t.txt", "--json")
    assert json.loads(done.stdout) == {
        "target": str(tmp_path / "t.txt"),
        "format": "paths",
        "topics": 2,
        "levels": 2,
        "lost": {"descriptions": 1},
    }
    assert convert(source, tmp_path / "u.txt", "--quiet").stderr == ""


def test_formats_by_name(source: Path, tmp_path: Path) -> None:
    assert convert(source, tmp_path / "t", "--to", "outline").exit_code == 0
    assert (tmp_path / "t").read_text() == "A\n  B\n"
    assert convert(tmp_path / "t", tmp_path / "u.csv", "--from", "outline").exit_code == 0
    assert Taxonomy.read(tmp_path / "u.csv").paths == ("A", "A > B")


def test_options_reach_reader_and_writer(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("Nr,Begriff\n1,A\n10,B\n105,C\n")
    told = ["--column", "code=Nr", "--column", "name=Begriff", "--digits", "2"]
    assert convert(table, tmp_path / "t.xlsx", *told, "--layout", "levels").exit_code == 0
    assert Taxonomy.read(tmp_path / "t.xlsx").paths == ("A", "B", "A > C")
    told = ["--layout", "codes", "--renumber", "--overwrite"]
    renumbered = convert(tmp_path / "t.xlsx", table, *told)
    assert renumbered.exit_code == 0
    assert Taxonomy.read(table).codes == ("1", "2", "1.1")
    assert convert(table, tmp_path / "t.ttl", "--language", "pt-BR").exit_code == 0
    assert '"C"@pt-BR' in (tmp_path / "t.ttl").read_text()
    done = convert(tmp_path / "t.ttl", tmp_path / "t.txt", "--language", "de")
    assert done.exit_code == 1
    assert "no label in 'de' (it has: pt-br)" in done.stderr


def test_options_of_single_formats(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("A/B\n")
    assert convert(tmp_path / "t.txt", tmp_path / "t.ttl", "--separator", "/").exit_code == 0
    assert convert(tmp_path / "t.ttl", tmp_path / "t.csv", "--code", "uri").exit_code == 0
    assert Taxonomy.read(tmp_path / "t.csv").codes == ("urn:hierseed:1", "urn:hierseed:2")
    (tmp_path / "t.yaml").write_text("A: [x*, y*]\n")
    assert convert(tmp_path / "t.yaml", tmp_path / "t.json", "--lists", "words").exit_code == 0
    assert Taxonomy.read(tmp_path / "t.json").descriptions == ("x*, y*",)


@pytest.mark.filterwarnings("always::UserWarning")
def test_first_of_several_parents_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "t.taxonomy"
    source.write_text("Root\tA\tB\nA\tC\nB\tC\n")
    refused = convert(source, tmp_path / "t.txt", "--parent", "only")
    assert refused.exit_code == 1
    assert "--parent all" in refused.stderr
    assert not (tmp_path / "t.txt").exists()
    done = convert(source, tmp_path / "t.txt", "--parent", "first")
    assert done.exit_code == 0
    assert "only the first is kept for 'C'" in done.stderr


def test_faults_leave_the_target_alone(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "t.csv"
    target.write_text("precious")
    for words in ([tmp_path / "none.txt", target], [source, target, "--layout", "tall"]):
        done = convert(*words, "--overwrite")
        assert done.exit_code == 1
        assert done.stderr.startswith("hierseed convert: ")
        assert target.read_text() == "precious"
    assert convert(source, tmp_path / "t.doc").exit_code == 1
    assert convert(source, target, "--column", "name").exit_code == 2
    assert convert(source, target, "--parent", "last").exit_code == 2
