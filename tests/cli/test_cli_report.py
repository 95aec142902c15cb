"""`report` and `suggest` on the small project, and `demo` as a new user runs it."""

import json

import pandas as pd
import pytest

from hierseed.taxonomy import Taxonomy


def test_report_writes_one_page(model, hierseed):
    done = hierseed("report", "model", "docs.csv", "-o", "page.html", "--title", "Pets & food")
    assert done.exit_code == 0, done.stderr
    page = (model / "page.html").read_text()
    assert "<title>Pets &amp; food</title>" in page
    assert "whiskers" in page
    assert "page.html, 48 documents" in done.stderr


def test_report_of_vectors_shows_ids_only_and_says_so(model, hierseed):
    done = hierseed("report", "model", "model.vectors", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["n"] == 48
    assert "vectors have no texts" in done.stderr
    page = (model / "report.html").read_text()
    assert "cats-3" in page
    assert "whiskers" not in page


def test_report_leaves_nothing_behind_when_it_fails(model, hierseed):
    before = model.names()
    assert hierseed("report", "model", "absent.csv", "-o", "page.html").exit_code == 1
    assert hierseed("report", "docs.csv", "docs.csv", "-o", "page.html").exit_code == 1
    assert model.names() == before


def test_suggest_prints_reasons(model, hierseed):
    done = hierseed("suggest", "model", "docs.csv", "-n", "5")
    assert done.exit_code == 0, done.stderr
    said = " ".join(done.stdout.split())  # lines are wrapped
    assert said.count("like it;") + said.count("like it ") == 5
    assert "number" in said  # how the texts go on


def test_suggested_table_becomes_seeds_once_it_is_filled_in(model, hierseed):
    assert hierseed("suggest", "model", "docs.csv", "-n", "6", "-o", "label.csv").exit_code == 0
    table = pd.read_csv(model / "label.csv", keep_default_na=False)
    assert list(table.columns[:2]) == ["id", "topic"]
    assert set(table["topic"]) == {""}
    seeds = pd.read_csv(model / "seeds.csv")
    assert not set(table["id"]) & set(seeds["id"])
    kind = {"cats": "Cats", "dogs": "Dogs", "bread": "Bread", "soup": "Soup"}
    table["topic"] = [kind[name.split("-")[0]] for name in table["id"]]
    both = pd.concat([seeds, table])
    both.to_csv(model / "more.csv", index=False)
    again = hierseed(
        "fit", "docs.csv", "--taxonomy", "topics.txt", "--seeds", "more.csv",
        "--embedder", "wordllama:64", "-o", "again",
    )  # fmt: skip
    assert again.exit_code == 0, again.stderr
    assert f"{len(seeds) + 6} seeds" in again.stderr


def test_suggest_as_json(model, hierseed):
    done = hierseed("suggest", "model", "docs.csv", "-n", "3", "--json")
    records = json.loads(done.stdout)
    assert len(records) == 3
    assert set(records[0]) >= {"id", "placed", "runner_up", "score", "reason", "text"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Run the demo once, as the shell would."""
    from typer.testing import CliRunner

    from hierseed.cli.app import make_app

    folder = tmp_path_factory.mktemp("demo") / "out"
    done = CliRunner().invoke(make_app({"demo"}), ["demo", "-o", str(folder)])
    assert done.exit_code == 0, done.stderr
    return folder, done


def test_demo_leaves_what_it_names(demo):
    folder, done = demo
    for name in ("report.html", "placed.csv", "model", "docs.csv", "taxonomy.txt", "seeds.csv"):
        assert (folder / name).exists()
        assert name in done.stderr
    placed = pd.read_csv(folder / "placed.csv", keep_default_na=False)
    documents = pd.read_csv(folder / "docs.csv")
    assert placed["id"].tolist() == documents["id"].tolist()
    assert placed["is_seed"].sum() == len(pd.read_csv(folder / "seeds.csv"))
    assert Taxonomy.read(folder / "taxonomy.txt").tree.height == 2


def test_demo_is_better_than_the_largest_topic(demo):
    """Not a benchmark: a demo whose labels slipped by one row would score like chance."""
    folder, _ = demo
    placed = pd.read_csv(folder / "placed.csv", keep_default_na=False).set_index("id")["level_1"]
    gold = pd.read_csv(folder / "gold.csv").set_index("id")["topic"].str.split(" > ").str[0]
    largest = gold.value_counts(normalize=True).iloc[0]
    assert (placed == gold).mean() > 1.5 * largest


def test_demo_shows_tree_and_scores(demo):
    _, done = demo
    for words in ("Data Types", "B-cubed F1", "all documents", "as the paper counts"):
        assert words in done.stdout


def test_demo_files_work_with_the_other_commands(demo, hierseed):
    folder, _ = demo
    done = hierseed("suggest", folder / "model", folder / "docs.csv", "-n", "3", "--json")
    assert done.exit_code == 0, done.stderr
    assert len(json.loads(done.stdout)) == 3
