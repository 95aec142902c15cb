"""`fit --start MODEL` follows topics through edits of the taxonomy, by id and not by path."""

import csv

import pytest
from cli_project import WORDS, Project

from hierseed import Taxonomy

START = ("--embedder", "wordllama:64", "--start", "model", "--set", "other=no")


def placed(model: Project, hierseed, taxonomy: str, *options: str) -> dict[str, str]:
    """Topic of each document by a fit that has topics of an earlier model in place of seeds."""
    done = hierseed("fit", "docs.csv", "--taxonomy", taxonomy, *START, *options, "-o", "later")
    assert done.exit_code == 0, done.stderr
    done = hierseed("assign", "later", "docs.csv", "-o", "later.csv")
    assert done.exit_code == 0, done.stderr
    with (model / "later.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["topic"] for row in csv.DictReader(file)}


EDITS = {
    "rename": (lambda t: t.rename("Animals > Cats", "Felines"), {"cat": "Animals > Felines"}),
    "swap": (
        lambda t: (
            t.rename("Animals > Cats", "none")
            .rename("Animals > Dogs", "Cats")
            .rename("Animals > none", "Dogs")
        ),
        {"cat": "Animals > Dogs", "dog": "Animals > Cats"},
    ),
    "move": (lambda t: t.move("Animals > Dogs", "Food"), {"dog": "Food > Dogs"}),
}
SMALLER = {  # Dogs also gets another name, which nothing but the log knows
    "merge": lambda t: t.merge("Food > Soup", "Food > Bread"),
    "split": lambda t: t.split("Food > Soup", ["Hot", "Cold"]),
    "delete": lambda t: t.delete("Food > Soup"),
}


@pytest.mark.parametrize("name", EDITS)
def test_the_documents_go_where_their_topic_went(model: Project, hierseed, name: str) -> None:
    edit, moved = EDITS[name]
    new = edit(Taxonomy.from_paths(WORDS))
    new.write(model / "new.json")
    found = placed(model, hierseed, "new.json")
    for stem, path in moved.items():
        of_topic = [topic for id, topic in found.items() if id.startswith(stem)]
        right = [topic == path or topic.startswith(f"{path} > ") for topic in of_topic]
        assert sum(right) > 0.8 * len(right), of_topic


@pytest.mark.parametrize("name", SMALLER)
def test_topics_that_are_merged_split_or_deleted_leave_the_others_alone(
    model: Project, hierseed, name: str
) -> None:
    new = SMALLER[name](Taxonomy.from_paths(WORDS)).rename("Animals > Dogs", "Hounds")
    new.write(model / "new.json")
    seeds = [line for line in (model / "seeds.csv").read_text().splitlines() if "dogs" not in line]
    (model / "some.csv").write_text("\n".join(s for s in seeds if "soup" not in s) + "\n")
    found = placed(model, hierseed, "new.json", "--seeds", "some.csv")
    dogs = [topic for id, topic in found.items() if id.startswith("dog")]
    assert dogs.count("Animals > Hounds") > 0.7 * len(dogs), dogs


def test_codes_are_followed_in_a_table_without_a_log(project: Project, hierseed) -> None:
    rows = [("1", "Animals", ""), ("2", "Cats", "1"), ("3", "Dogs", "1")]
    rows += [("4", "Food", ""), ("5", "Bread", "4"), ("6", "Soup", "4")]
    header = "code,name,parent\n"
    (project / "old.csv").write_text(header + "".join(",".join(row) + "\n" for row in rows))
    swapped = [(code, {"Cats": "Dogs", "Dogs": "Cats"}.get(n, n), p) for code, n, p in rows]
    (project / "new.csv").write_text(header + "".join(",".join(row) + "\n" for row in swapped))
    options = ("--seeds", "seeds.csv", "--embedder", "wordllama:64")
    done = hierseed("fit", "docs.csv", "--taxonomy", "old.csv", *options, "-o", "model")
    assert done.exit_code == 0, done.stderr
    found = placed(project, hierseed, "new.csv")
    cats = [topic for id, topic in found.items() if id.startswith("cat")]
    assert cats.count("Animals > Dogs") > 0.8 * len(cats), cats
