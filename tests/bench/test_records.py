"""Records of runs, and the tables and figures made of them."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from hierseed.errors import CorpusError
from hierseed_bench.repository import RESULTS
from hierseed_bench.runs import check, environment, run
from hierseed_bench.runs.check import check_records, recompute
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.predictions import FREE
from hierseed_bench.runs.records import Records
from hierseed_bench.runs.run import rounded, run_all
from hierseed_bench.runs.run import run_one as make_run
from hierseed_bench.tables.cells import summary
from hierseed_bench.tables.figures import FIGURES
from hierseed_bench.tables.published import TABLE_2, TABLE_4, TABLE_5
from hierseed_bench.tables.tables import TABLES


def run_one(config):
    """Make a run; gives its record."""
    return make_run(config).record


def test_a_key_is_kept_once(folder, tmp_path):
    records = Records(tmp_path)
    record = run_one(RunConfig(folder, "nearest-leaf"))
    for _ in range(2):
        records.add(record)
    assert len(list(records)) == 1


# ------------------------------------------------------------------ predictions


@pytest.mark.parametrize("method", ["anchored", "hierseed", "nearest-leaf", "ridge-all-labels"])
def test_scores_come_out_again_from_kept_predictions(folder, tmp_path, method):
    records = Records(tmp_path)
    configs = [RunConfig(folder, method, draw=draw) for draw in (0, 1)]
    run_all(configs, records)
    found = check_records(records)
    assert (found.same, found.without, found.different, found.absent) == (2, 0, [], [])
    record = next(iter(records))
    kept = records.predictions(record)
    assert len(kept.path) == record["sizes"]["test"]
    files = list((tmp_path / "predictions").rglob("*.npz"))
    assert max(file.stat().st_size for file in files) < 3000
    broken = replace(kept, path=np.roll(kept.path, 1, axis=0))
    assert recompute(record, broken) != record["scores"]
    assert records.forget([record["key"]]) == 1
    assert len(list((tmp_path / "predictions").rglob("*.npz"))) == 1


def test_a_score_that_was_changed_by_hand_is_found(folder, tmp_path):
    records = Records(tmp_path)
    run_all([RunConfig(folder, "nearest-leaf")], records)
    file = next(tmp_path.glob("*.jsonl"))
    record = json.loads(file.read_text())
    record["scores"]["all"]["mean"]["bcubed_f1"] += 0.01
    file.write_text(json.dumps(record) + "\n")
    assert len(check_records(records).different) == 1
    record["gold"] = "0" * 16
    file.write_text(json.dumps(record) + "\n")
    assert "other labels" in check_records(records).absent[0]
    next((tmp_path / "predictions").rglob("*.npz")).unlink()
    assert check_records(records).without == 1


def test_committed_records_give_the_same_scores_without_their_corpora(tmp_path, monkeypatch):
    monkeypatch.setenv("HIERSEED_DATA", str(tmp_path / "none"))
    found = check_records(Records(RESULTS / "runs"), data=list(FREE), draw=0)
    assert found.same >= 30
    assert not found.different
    assert not found.absent


def test_kept_gold_labels_are_those_of_the_run(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "FREE", (folder,))
    records = Records(tmp_path)
    run_all([RunConfig(folder, "nearest-leaf")], records)
    file = next((tmp_path / "gold").glob("*.json"))
    assert file.stem == next(iter(records))["gold"]
    monkeypatch.setattr(check, "held_out", lambda config: pytest.fail("the corpus was read"))
    assert check_records(records).same == 1
    numbers = json.loads(file.read_text())
    file.write_text(json.dumps(numbers | {"labels": numbers["labels"][1:]}))
    assert "Restore it" in check_records(records).absent[0]


def test_rounding_leaves_no_numbers_json_lacks():
    assert rounded({"a": [1.23456789, float("nan")], "b": 3}) == {"a": [1.234568, None], "b": 3}


# ------------------------------------------------------------------ plans, tables, figures


@pytest.fixture(scope="module")
def records(folder, tmp_path_factory):
    """Records of real runs, said to be of a known set so that the tables take them."""
    kept = Records(tmp_path_factory.mktemp("results") / "runs")
    settings = [
        RunConfig(folder, method, seeds=seeds, draw=draw)
        for method in ("hierseed", "anchored", "nearest-leaf", "ridge-all-labels")
        for seeds in (2, 4)
        for draw in (0, 1)
    ]
    settings += [RunConfig(folder, "hierseed", parameters=(("les_weight", 0.0),))]
    settings += [
        RunConfig(folder, "hierseed", leave_out=0.15),
        RunConfig(folder, "hierseed", skew=1.0),
    ]
    for setting in settings:
        record = run_one(setting)
        record["setting"]["data"] = "cap"
        kept.add(record)
    return kept


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_markdown_with_its_numbers(records, name):
    for table in TABLES[name](records):
        text = table.markdown()
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) == 1
        assert len(lines) == len(table.rows) + 2
        assert all(len(row) == len(table.header) for row in table.rows)
    assert any(char.isdigit() for char in text)


def test_a_cell_is_mean_and_deviation_over_draws(records):
    runs = records.find(method="nearest-leaf", seeds=4, leave_out=0)
    values = [run["scores"]["all"]["mean"]["bcubed_f1"] for run in runs]
    table = TABLES["main"](records)[0]
    row = next(row for row in table.rows if row[0] == "nearest leaf-seed mean")
    assert row[2] == f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"


def test_the_papers_numbers_are_next_to_ours(records):
    text = TABLES["2"](records)[0].markdown()
    assert f"{TABLE_2['hierseed'][0]:.3f} / - / -" in text
    assert text.count(" / ") >= 2 * 6 * len(TABLE_2)
    for measure, first in ((0, 0), (1, 3)):  # B-cubed F1 and V-measure have columns of their own
        rows = {row[0]: row for row in TABLES["4"](records)[measure].rows}
        assert rows["nyt (paper)"][-1] == f"{TABLE_4[8][first + 1]:.3f}"
        rows = {row[0]: row for row in TABLES["5"](records)[measure].rows}
        assert f"rcv1 {TABLE_5['fastText'][first + 2]:.3f}" in rows["fastText (paper)"][1]


def test_tables_2_and_3_come_out_on_the_open_sets_too(records):
    """Runs with parameters of their own, or with all labels, must not slip into Table 2."""
    plain = records.find(method="hierseed", seeds=4, parameters=(), leave_out=0, skew=0)
    for number in ("2", "3"):
        table = TABLES[number](records)[1]
        row = next(row for row in table.rows if row[0] == "HierSeed")
        means = [
            np.mean([run["scores"][protocol]["mean"]["bcubed_f1"] for run in plain])
            for protocol in ("paper", "all")
        ]
        assert row[2:] == ("2", f"{means[0]:.3f} / {means[1]:.3f}")
    assert "ridge on all labels" in {row[0] for row in table.rows}


def test_the_summary_names_parameters(records):
    text = summary(records.find(leave_out=0)).markdown()
    assert "HierSeed les_weight=0.0" in text


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_the_same_twice(records, name, tmp_path):
    for file in ("one.svg", "two.svg"):
        FIGURES[name](records, tmp_path / file)
    text = (tmp_path / "one.svg").read_bytes()
    assert b"<svg" in text
    assert text == (tmp_path / "two.svg").read_bytes()


def test_no_records_no_figure(tmp_path):
    with pytest.raises(CorpusError, match="bench run"):
        FIGURES["levels"](Records(tmp_path), tmp_path / "x.svg")


def test_records_of_others_are_not_lost_while_some_are_forgotten(tmp_path):
    """Several processes add while this one forgets again and again."""
    script = (
        "import sys; from pathlib import Path; from hierseed_bench.runs.records import Records\n"
        "records = Records(Path(sys.argv[1]))\n"
        "for i in range(60): records.add({'key': f'{sys.argv[2]}-{i}', 'setting': {'data': 'x'}})"
    )
    records = Records(tmp_path)
    records.add({"key": "first", "setting": {"data": "x"}})
    writers = [subprocess.Popen([sys.executable, "-c", script, tmp_path, n]) for n in "ab"]
    while any(writer.poll() is None for writer in writers):
        records.add({"key": "gone", "setting": {"data": "x"}})
        records.forget(["gone"])
    assert len(records.keys()) == 121


def test_records_of_another_machine_are_taken_if_their_source_is_that_of_the_commit(
    folder, tmp_path
):
    ours, theirs = Records(tmp_path / "ours"), Records(tmp_path / "theirs")
    made = run_one(RunConfig(folder, "nearest-leaf"))
    head = environment.commit().rstrip("+")
    if not head:
        pytest.skip("not a git clone")
    proof = environment.committed_digest(head)
    ours.add(made | {"commit": "before"})
    theirs.add(made | {"commit": head, "source": proof})
    assert ours.take_over(theirs) == (1, [])
    assert [record["commit"] for record in ours] == [head]
    for false in ({"commit": head, "source": "0" * 16}, {"commit": "0" * 12, "source": proof}):
        forged = Records(tmp_path / f"forged-{false['commit']}")
        forged.add(made | false)
        taken, refused = ours.take_over(forged)
        assert (taken, len(refused)) == (0, 1)
        assert [record["commit"] for record in ours] == [head]


def test_the_digest_of_the_source_is_that_of_git():
    """Computed from the files and from git's tree: the same, unless files are changed or new."""
    head = environment.commit()
    if not head or head.endswith("+"):
        pytest.skip("no git clone, or uncommitted changes")
    assert environment.source_digest() == environment.committed_digest(head)


def test_renew_replaces_records_that_can_not_be_checked_and_no_others(folder, tmp_path):
    configs = [RunConfig(folder, "nearest-leaf", draw=draw) for draw in range(3)]
    records = Records(tmp_path)
    run_all(configs, records)
    (file,) = tmp_path.glob("*.jsonl")
    read = map(json.loads, file.read_text().splitlines())
    lines = [line | {"commit": "0123456789ab"} for line in read]
    lines[0]["commit"] += "+"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    next((tmp_path / "predictions").rglob(f"{lines[1]['key']}.npz")).unlink()
    made = run_all(configs, records, renew=True)
    assert {record["key"] for record in made} == {lines[0]["key"], lines[1]["key"]}
    assert [r for r in records if r["key"] == lines[2]["key"]] == [lines[2]]
    assert len(list(records)) == 3
    assert all(map(records.has_predictions, records))
