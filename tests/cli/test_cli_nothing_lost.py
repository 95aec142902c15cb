"""No command replaces what it reads, nor what a person filled in."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest
from cli_project import Project
from typer.testing import Result

Run = Callable[..., Result]


@pytest.mark.parametrize("command", ["assign", "suggest"])
@pytest.mark.parametrize("output", ["docs.csv", "link.csv", "hard.csv"])
def test_the_corpus_is_never_the_output(
    model: Project, hierseed: Run, command: str, output: str
) -> None:
    (model / "link.csv").symlink_to(model / "docs.csv")
    (model / "hard.csv").hardlink_to(model / "docs.csv")
    before = (model / "docs.csv").read_text()
    done = hierseed(command, "model", "docs.csv", "-o", output)
    assert done.exit_code == 1
    assert f"{output} is what this command reads" in done.stderr
    assert (model / "docs.csv").read_text() == before


def test_a_report_is_a_page(model: Project, hierseed: Run) -> None:
    before = (model / "docs.csv").read_text()
    done = hierseed("report", "model", "docs.csv", "-o", "docs.csv")
    assert done.exit_code == 2
    assert ".html" in done.stderr
    assert (model / "docs.csv").read_text() == before


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_topics_that_were_filled_in_are_not_suggested_over(
    model: Project, hierseed: Run, ending: str
) -> None:
    name = f"label.{ending}"
    suggest = ("suggest", "model", "docs.csv", "-n", "4", "-o", name)
    assert hierseed(*suggest).exit_code == 0
    assert hierseed(*suggest).exit_code == 0  # nothing is filled in yet
    read, write = (pd.read_csv, "to_csv") if ending == "csv" else (pd.read_excel, "to_excel")
    table = read(model / name, dtype={"topic": object})
    table.loc[2, "topic"] = "Cats"
    getattr(table, write)(model / name, index=False)
    done = hierseed(*suggest)
    assert done.exit_code == 1
    assert f"{name} has topics filled in, in 1 of 4 rows" in done.stderr
    assert read(model / name).loc[2, "topic"] == "Cats"


@pytest.mark.parametrize("command", ["assign", "suggest"])
def test_what_the_fit_read_is_never_the_output(
    project: Project, hierseed: Run, command: str
) -> None:
    paths = (project / "topics.txt").read_text()
    (project / "topics.csv").write_text("path\n" + paths)
    (project / "seeds.csv").rename(project / "seeds.tsv")
    text = (project / "seeds.tsv").read_text()
    (project / "seeds.tsv").write_text(text.replace(",", "\t"))
    given = ("--taxonomy", "topics.csv", "--seeds", "seeds.tsv", "--embedder", "wordllama:64")
    assert hierseed("fit", "docs.csv", *given, "-o", "model").exit_code == 0
    for name in ("topics.csv", "seeds.tsv"):
        before = (project / name).read_text()
        done = hierseed(command, "model", "docs.csv", "-o", name)
        assert done.exit_code == 1
        assert name in done.stderr
        assert (project / name).read_text() == before


def test_only_what_assign_wrote_is_assigned_over(model: Project, hierseed: Run) -> None:
    hierseed("suggest", "model", "docs.csv", "-n", "4", "-o", "label.csv")
    table = pd.read_csv(model / "label.csv", dtype={"topic": object})
    table.assign(topic="Cats").to_csv(model / "label.csv", index=False)
    done = hierseed("assign", "model", "docs.csv", "-o", "label.csv")
    assert done.exit_code == 1
    assert "label.csv exists and was changed after hierseed wrote it" in done.stderr
    for _ in range(2):
        done = hierseed("assign", "model", "docs.csv", "-o", "placed.csv")
        assert done.exit_code == 0, done.stderr
    assert hierseed("suggest", "model", "docs.csv", "-o", "placed.csv").exit_code == 1


def test_convert_replaces_a_file_only_on_request(project: Project, hierseed: Run) -> None:
    (project / "topics.md").write_text("- made by hand\n")
    done = hierseed("convert", "topics.txt", "topics.md")
    assert done.exit_code == 1
    assert "topics.md exists" in done.stderr
    assert (project / "topics.md").read_text() == "- made by hand\n"
    assert hierseed("convert", "topics.txt", "topics.md", "--overwrite").exit_code == 0
    assert "Cats" in (project / "topics.md").read_text()


def test_the_demo_says_at_once_that_it_can_not_write(project: Project, hierseed: Run) -> None:
    (project / "out").mkdir()
    (project / "out" / "model").write_text("mine")
    done = hierseed("demo", "-o", "out")
    assert done.exit_code == 1
    assert "a file has this name" in done.stderr
    assert "Documents" not in done.stderr  # nothing was read yet
    assert (project / "out" / "model").read_text() == "mine"
