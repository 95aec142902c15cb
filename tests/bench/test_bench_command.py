"""`hierseed bench` and `hierseed evaluate` as they are typed."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from hierseed.cli.app import make_app
from hierseed_bench.data.catalogue import load_dataset
from hierseed_bench.runs import environment


@pytest.fixture
def hierseed():
    """Run a command in this process; gives exit code and output."""

    def call(*words):
        return CliRunner().invoke(make_app(set(words)), [str(word) for word in words])

    return call


@pytest.fixture
def folder(tmp_path):
    """A data folder with two leaves that are easy to tell apart."""
    import gzip

    rng = np.random.default_rng(0)
    place = tmp_path / "two"
    place.mkdir()
    X = np.repeat([[3.0, 0, 0], [0, 3.0, 0]], 40, axis=0) + rng.normal(size=(80, 3))
    with gzip.open(place / "docs.jsonl.gz", "wt") as file:
        for row in range(80):
            labels = [["A", "B" if row < 40 else "C"]]
            file.write(json.dumps({"id": row, "text": "words", "labels": labels}) + "\n")
    (place / "taxonomy.json").write_text('{"tree": {"A": {"B": {}, "C": {}}}}')
    np.save(place / "minilm.npy", X)
    return place


def test_run_prints_a_table_and_keeps_records(hierseed, folder, tmp_path):
    words = ("bench", "run", "-d", folder, "-m", "nearest-leaf", "--draws", "2", "--allow-dirty")
    result = hierseed(*words, "--results", tmp_path)
    assert result.exit_code == 0, result.output
    assert "nearest leaf-seed mean" in result.output
    assert len((tmp_path / "runs" / "two.jsonl").read_text().splitlines()) == 2
    again = hierseed(*words, "--results", tmp_path)
    assert "0 to make, 2 on disk" in again.output
    made = hierseed(*words, "--results", tmp_path, "--again")
    assert "2 to make" in made.output
    assert len((tmp_path / "runs" / "two.jsonl").read_text().splitlines()) == 2


def test_run_prints_json_and_takes_parameters(hierseed, folder, tmp_path):
    result = hierseed(
        "bench", "run", "-d", folder, "-m", "logreg", "--draws", "1", "--set", "C=0.5",
        "--allow-dirty", "--results", tmp_path, "--json",
    )  # fmt: skip
    record = json.loads(result.stdout)[0]
    assert record["setting"]["parameters"] == {"C": 0.5}


def test_settings_mean_the_same_in_fit_and_bench(hierseed, folder, tmp_path):
    words = (
        "bench",
        "run",
        "-d",
        folder,
        "-m",
        "hierseed",
        "--draws",
        "1",
        "--json",
        "--allow-dirty",
    )
    result = hierseed(*words, "--set", "other=no", "--results", tmp_path)
    assert json.loads(result.stdout)[0]["setting"]["parameters"] == {"other": False}
    assert hierseed(*words, "--set", "other").exit_code == 2


def test_a_tree_with_uncommitted_changes_makes_no_records(hierseed, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "commit", lambda: "0123456789ab+")
    words = ("bench", "run", "-d", folder, "-m", "nearest-leaf", "--results", tmp_path)
    result = hierseed(*words)
    assert result.exit_code == 1
    assert "--allow-dirty" in result.output
    assert not (tmp_path / "runs").exists()
    monkeypatch.setattr(environment, "commit", lambda: "0123456789ab")
    assert hierseed(*words).exit_code == 0


def test_check_and_errors_read_kept_predictions(hierseed, folder, tmp_path):
    words = ("bench", "run", "-d", folder, "-m", "nearest-leaf", "--draws", "1", "--allow-dirty")
    hierseed(*words, "--results", tmp_path)
    result = hierseed("bench", "check", "--results", tmp_path)
    assert result.exit_code == 0
    assert "1 records give the same scores again" in result.output
    result = hierseed("bench", "errors", "-d", folder, "-m", "nearest-leaf", "--results", tmp_path)
    assert result.exit_code == 0, result.output
    assert "### By level" in result.stdout
    result = hierseed("bench", "errors", "-d", folder, "-m", "logreg", "--results", tmp_path)
    assert "hierseed bench run" in result.output


def test_data_sets_are_listed_and_built(hierseed, tmp_path):
    every = hierseed("bench", "data").stdout
    assert {"20newsgroups", "wordnet", "rcv1"} <= {line.split(":")[0] for line in every.split("\n")}
    packages, texts = tmp_path / "Packages", tmp_path / "Translation-en"
    packages.write_text(
        "".join(f"Package: p{i}\nTag: role::program, game::chess\n\n" for i in "ab")
    )
    texts.write_text(
        "".join(f"Package: p{i}\nDescription-en: Chess {i}\n .\n more\n\n" for i in "ab")
    )
    result = hierseed("bench", "data", "debian", packages, texts, "-o", tmp_path / "set")
    assert result.exit_code == 0, result.output
    built = load_dataset(str(tmp_path / "set"))
    assert sorted(text.split()[1] for text in built.texts) == ["a", "b"]
    assert list(built.taxonomy.paths) == ["game", "game > chess"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "-d", "x", "-m", "nothing"), "nothing"),
        (("table", "99"), "ablations"),
        (("figure", "99"), "levels"),
        (("all", "--part", "99"), "left-out"),
    ],
)
def test_slips_are_usage_errors_that_list_what_there_is(hierseed, words, said):
    result = hierseed("bench", *words)
    assert result.exit_code == 2
    assert said in result.output


def test_an_unknown_data_set_is_reported_and_nothing_is_kept(hierseed, tmp_path):
    result = hierseed(
        "bench", "run", "-d", "nowhere", "-m", "logreg", "--allow-dirty", "--results", tmp_path
    )
    assert "nowhere" in result.output
    assert not (tmp_path / "runs").exists()


def test_methods_are_listed(hierseed):
    result = hierseed("bench", "methods")
    assert "seeded-kmeans" in result.output
    assert "pip install 'hierseed-bench[hiclass]'" in result.output


def test_evaluate_shows_both_protocols(hierseed, tmp_path):
    (tmp_path / "topics.txt").write_text("A > B\nA > C\n")
    rows = pd.DataFrame({"id": ["1", "2", "3"], "topic": ["A > B", "A > C", ""]})
    rows.to_csv(tmp_path / "placed.csv", index=False)
    gold = pd.DataFrame({"id": ["1", "2", "3"], "topic": ["A > B", "A > B", "A > C"]})
    gold.to_csv(tmp_path / "gold.csv", index=False)
    words = ("evaluate", tmp_path / "placed.csv", "--gold", tmp_path / "gold.csv")
    words += ("--taxonomy", tmp_path / "topics.txt")
    result = hierseed(*words)
    assert result.exit_code == 0, result.output
    assert "Protocol all" in result.output
    assert "Protocol paper" in result.output
    record = json.loads(hierseed(*words, "--json", "--quiet").stdout)
    assert record["coverage"] == pytest.approx(2 / 3)
    assert record["all"]["levels"][0]["accuracy"] == pytest.approx(2 / 3)
    assert "placed: share of documents" in result.stderr
    assert "several topics" not in result.stderr
    gold.to_csv(tmp_path / "gold.csv", index=False)
    with (tmp_path / "gold.csv").open("a") as file:
        file.write("1,A > C\n")
    assert "1 document with several topics: V" in hierseed(*words).stderr


@pytest.mark.slow
def test_bench_quick_needs_no_data(tmp_path):
    """From nothing: the demo's corpus and the embedder that is installed with the package."""
    here = {"HIERSEED_HOME": "home", "HIERSEED_DATA": "none"}
    done = subprocess.run(
        [sys.executable, "-c", "from hierseed.cli import main; main()", "bench", "quick"],
        cwd=tmp_path,
        env=os.environ | {key: str(tmp_path / name) for key, name in here.items()},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("| demo") == 6
