"""check and fit find the same, all of it at once, and before the long step."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from cli_project import FIT, Project
from typer.testing import Result

from hierseed import load

Run = Callable[..., Result]


def test_fit_finds_everything_before_it_embeds(project: Project, hierseed: Run) -> None:
    with (project / "seeds.csv").open("a") as file:
        file.write("ghost,Cats\ncats-5,Cat\n")
    with (project / "docs.csv").open("a") as file:
        file.write("last,\n")
    done = hierseed("fit", "docs.csv", *FIT[:4], "--embedder", "wordlama", "-o", "model")
    assert done.exit_code == 1
    assert "no embedder 'wordlama'; did you mean 'wordllama'?" in done.stderr
    assert "seeds.csv:15: no topic 'Cat'" in done.stderr
    assert "docs.csv:50: empty text (id 'last')" in done.stderr
    assert "not in the corpus of 48: 'ghost', where ids are like 'cats-0'" in done.stderr
    assert "Embedded" not in done.stderr
    assert "model.vectors" not in project.names()


def test_one_document_is_refused_by_check_and_by_fit_at_once(
    project: Project, hierseed: Run
) -> None:
    (project / "one.csv").write_text("id,text\ncats-0,the cat\n")
    (project / "seeds.csv").write_text("id,topic\ncats-0,Cats\n")
    for done in (
        hierseed("fit", "one.csv", *FIT, "-o", "model"),
        hierseed("check", *FIT[:4], "-c", "one.csv"),
    ):
        assert done.exit_code == 1
        assert "one.csv has one document" in done.stderr
        assert "Embedded" not in done.stderr


def test_files_that_are_not_there_are_all_named(project: Project, hierseed: Run) -> None:
    missing = ("--taxonomy", "no.txt", "--seeds", "no.csv")
    done = hierseed("fit", "none.csv", *missing, "-o", "model")
    assert done.exit_code == 1
    for name in ("no.txt", "no.csv", "none.csv"):
        assert name in done.stderr


def test_check_of_a_part_does_not_promise_the_rest(project: Project, hierseed: Run) -> None:
    done = hierseed("check", "-t", "topics.txt", "--json")
    assert done.exit_code == 0
    assert "ready" not in done.stderr
    assert "no fault here; seeds and corpus not checked" in done.stderr
    assert json.loads(done.stdout)["ready"] is False


def test_the_folder_one_is_in_has_a_name(project: Project, hierseed: Run) -> None:
    (project / "a.txt").write_text("a cat")
    (project / "b.txt").write_text("a dog")
    done = hierseed("check", "--corpus", ".")
    assert f"Corpus     {project.folder.name}, 3 documents" in done.stderr  # and topics.txt
    (project / "c.txt").write_text("")
    assert " c.txt: empty text" in hierseed("check", "--corpus", ".").stderr


def test_several_files_of_seeds_count_together(project: Project, hierseed: Run) -> None:
    lines = (project / "seeds.csv").read_text().split("\n")
    (project / "a.csv").write_text("\n".join(lines[:5]))
    (project / "b.csv").write_text("\n".join([lines[0], *lines[4:]]))  # one seed is in both
    seeds = ("--seeds", "a.csv", "--seeds", "b.csv")
    done = hierseed("check", *FIT[:2], *seeds, "-c", "docs.csv")
    assert "a.csv, b.csv, 12 seeds for 4 of 6 topics" in done.stderr
    assert hierseed("fit", "docs.csv", *FIT[:2], *seeds, *FIT[4:], "-o", "model").exit_code == 0
    assert len(load(project / "model").seeds) == 12


def test_seeds_as_pandas_writes_numbers_are_found(project: Project, hierseed: Run) -> None:
    text = (project / "docs.csv").read_text().split("\n")
    rows = [f"{i},{row.split(',', 1)[1]}" for i, row in enumerate(text[1:-1])]
    (project / "docs.csv").write_text("\n".join([text[0], *rows]) + "\n")
    seeds = [f"{12 * k + i}.0,{name}" for k, name in enumerate(("Cats", "Dogs")) for i in (0, 1, 2)]
    (project / "seeds.csv").write_text("\n".join(["id,topic", *seeds]) + "\n")
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "-q")
    assert done.exit_code == 0, done.stderr
    assert sorted(load(project / "model").seeds.topics) == ["0", "1", "12", "13", "14", "2"]


def test_rows_that_are_not_filled_in_yet_are_passed_over(project: Project, hierseed: Run) -> None:
    with (project / "seeds.csv").open("a") as file:
        file.write("cats-5,\ncats-6, \n")
    done = hierseed("check", *FIT[:4], "-c", "docs.csv")
    assert done.exit_code == 0, done.stderr
    assert "2 rows of the seeds without a topic: ignored" in done.stderr
    (project / "seeds.csv").write_text("id,topic\ncats-5,\n")
    done = hierseed("check", *FIT[:4])
    assert done.exit_code == 1
    assert "no seeds in" in done.stderr


def test_seeds_that_can_not_be_used_may_be_left_out_too(project: Project, hierseed: Run) -> None:
    with (project / "seeds.csv").open("a") as file:
        file.write("cats-5,Cat\n")
    with (project / "docs.csv").open("a") as file:
        file.write("last,\n")
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--on-error", "skip")
    assert done.exit_code == 0, done.stderr
    kept = (project / "model.skipped.csv").read_text()
    assert '"cats-5,Cat"' in kept
    assert '"last,"' in kept


def test_names_alone_are_seeds_enough(project: Project, hierseed: Run) -> None:
    names = ("-t", "topics.txt", "--seeds-from-names", *FIT[4:])
    done = hierseed("fit", "docs.csv", *names, "-o", "model")
    assert done.exit_code == 0, done.stderr
    assert hierseed("fit", "docs.csv", "-t", "topics.txt", "-o", "m").exit_code == 2


@pytest.mark.parametrize("command", ["fit", "assign", "embed"])
def test_the_list_of_skipped_rows_does_not_replace_the_corpus(
    model: Project, hierseed: Run, command: str
) -> None:
    """Rows left out of OUT.csv go to OUT.skipped.csv, which may be what is read."""
    name = "out.skipped.csv"
    (model / name).write_text((model / "docs.csv").read_text())
    words = {
        "fit": ("fit", name, *FIT, "-o", "out"),
        "assign": ("assign", "model", name, "-o", "out.csv"),
        "embed": ("embed", name, "--embedder", "wordllama:64", "-o", "out"),
    }
    done = hierseed(*words[command])
    assert done.exit_code == 1
    assert "is what this command reads" in done.stderr
    assert (model / name).read_text() == (model / "docs.csv").read_text()


def test_check_and_fit_name_columns_of_the_taxonomy_that_are_not_used(
    project: Project, hierseed: Run
) -> None:
    rows = "".join(f"{name},{above}\n" for name, above in [("Cats", "Animals"), ("Dogs", "")])
    (project / "topics.csv").write_text(f"name,Oberbegriff\n{rows}")
    (project / "seeds.csv").write_text("id,topic\ncats-0,Cats\ndogs-0,Dogs\n")
    given = ("--taxonomy", "topics.csv", "--seeds", "seeds.csv")
    done = hierseed("check", *given, "--corpus", "docs.csv", "--json")
    assert any("'Oberbegriff'" in note for note in json.loads(done.stdout)["notes"])
    done = hierseed("fit", "docs.csv", *given, "--embedder", "wordllama:64", "-o", "model")
    assert done.stderr.count("'Oberbegriff'") == 1


def test_a_name_that_is_also_a_whole_path_is_noted_with_its_other_places(
    project: Project, hierseed: Run
) -> None:
    (project / "topics.txt").write_text("Health > Guns\nHealth > General\nGuns\nSafety > Guns\n")
    (project / "seeds.csv").write_text("id,topic\ncats-0,guns\ndogs-0,Guns\nsoup-0,General\n")
    done = hierseed("check", "--taxonomy", "topics.txt", "--seeds", "seeds.csv", "--json")
    notes = [note for note in json.loads(done.stdout)["notes"] if "read as" in note]
    assert notes == [
        "the seeds' topic 'Guns' is read as the topic of level 1; "
        "'Health > Guns', 'Safety > Guns' has the same name: write the whole path where it is meant"
    ]
