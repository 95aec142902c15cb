"""Runs, their records, and the tables and figures made of them: small made data, real parts."""

import gzip
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

from hierseed import AnchoredHierSeed, HierSeed
from hierseed.embed.tfidf import TfidfSvd
from hierseed.errors import CorpusError
from hierseed_bench.competitors.catalogue import METHODS, make_method
from hierseed_bench.repository import RESULTS
from hierseed_bench.runs import check, environment, run
from hierseed_bench.runs.check import check_records, recompute
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.gold import FREE
from hierseed_bench.runs.plan import PLANS, everything
from hierseed_bench.runs.prepared import make_task, ready
from hierseed_bench.runs.records import Records
from hierseed_bench.runs.run import rounded, run_all
from hierseed_bench.runs.run import run_one as make_run
from hierseed_bench.tables.cells import summary
from hierseed_bench.tables.figures import FIGURES
from hierseed_bench.tables.published import TABLE_2, TABLE_4, TABLE_5
from hierseed_bench.tables.tables import TABLES

TREE = {"A": {"B": {}, "C": {}, "D": {}}, "E": {"F": {}, "G": {}}, "H": {"I": {}, "J": {}}}
PATHS = [["A", "B"], ["A", "C"], ["A", "D"], ["E", "F"], ["E", "G"], ["H", "I"], ["H", "J"]]


def run_one(config):
    """Make a run; gives its record."""
    return make_run(config).record


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Seven leaves of sixty documents each around a point of their own."""
    place = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    tops = {name: rng.normal(size=16) for name in TREE}
    points = [tops[top] + 0.7 * rng.normal(size=16) for top, _ in PATHS]
    which = rng.permutation(np.repeat(np.arange(7), 60))
    X = np.array([points[i] for i in which]) + 0.3 * rng.normal(size=(420, 16))
    with gzip.open(place / "docs.jsonl.gz", "wt") as file:
        for row, i in enumerate(which):
            text = f"word{i} document number {row}"
            file.write(json.dumps({"id": row, "text": text, "labels": [PATHS[i]]}) + "\n")
    (place / "taxonomy.json").write_text(json.dumps({"tree": TREE}))
    np.save(place / "minilm.npy", X.astype(np.float16))
    return str(place)


def test_a_record_says_all_that_is_needed_to_make_it_again(folder):
    record = run_one(RunConfig(folder, "logreg", seeds=3, draw=2))
    assert record["scores"]["all"]["mean"]["accuracy"] > 0.9
    assert len(record["scores"]["paper"]["levels"]) == 2
    assert record["sizes"]["seeds"] == 21
    assert record["sizes"]["fitting"] + 21 + record["sizes"]["test"] == 420
    assert record["random"] == {"split": 0, "draw": 2, "method": 2}
    assert record["vectors"]["preparation"] == {"centre": True, "unit": True, "pca": None}
    assert {"python", "numpy", "scikit-learn"} <= set(record["versions"])
    assert set(record["machine"]) == {
        "processor", "cores", "memory_gib", "system", "architecture", "threads"
    }  # fmt: skip
    assert record["memory_mib"]["peak"] > 0
    json.dumps(record, allow_nan=False)
    again = run_one(RunConfig.from_dict(record["setting"]))
    assert again["key"] == record["key"]
    assert again["scores"] == record["scores"]


def test_every_method_of_ours_is_scored_and_calibrated(folder):
    for method in ("hierseed", "unfit"):
        record = run_one(RunConfig(folder, method))
        assert len(record["calibration"]) == 2
        assert 0 <= record["calibration"][0]["error"] <= 1
        assert "rounds" in record["method_notes"]


def test_a_set_with_several_labels_lets_a_method_give_several(folder, tmp_path):
    """Every third document gets a second label; sets without any are scored by one placement."""
    source, place = Path(folder), tmp_path / "several"
    place.mkdir()
    for name in ("taxonomy.json", "minilm.npy"):
        shutil.copy(source / name, place / name)
    with gzip.open(source / "docs.jsonl.gz", "rt") as old:
        documents = [json.loads(line) for line in old]
    with gzip.open(place / "docs.jsonl.gz", "wt") as file:
        for row, document in enumerate(documents):
            labels = document["labels"] + ([["H", "I"]] if row % 3 == 0 else [])
            file.write(json.dumps(document | {"labels": labels}) + "\n")
    one = run_one(RunConfig(str(place), "ridge-all-labels"))
    many = run_one(RunConfig(str(place), "ridge-all-labels", parameters=(("several", True),)))
    wide = run_one(RunConfig(str(place), "hierseed", parameters=(("eccentricity", 1.0),)))
    assert one["sizes"]["placements"] == one["sizes"]["test"]
    assert many["sizes"]["placements"] > one["sizes"]["test"]
    assert wide["sizes"]["placements"] > one["sizes"]["test"]
    recall = [r["scores"]["all"]["hierarchical"]["recall"] for r in (one, many)]
    assert recall[1] > recall[0]
    plain = run_one(RunConfig(folder, "hierseed", parameters=(("eccentricity", 1.0),)))
    assert plain["sizes"]["placements"] == plain["sizes"]["test"]


def test_leaving_topics_out_records_where_their_documents_went(folder):
    record = run_one(RunConfig(folder, "nearest-leaf", leave_out=0.3))
    assert record["catch"]["left_out"] > 0
    assert record["catch"]["listed"] == 1.0  # it knows neither Other nor None
    assert sum(record["sizes"]["topics_per_level"]) < 10
    ours = run_one(RunConfig(folder, "hierseed", leave_out=0.3))["catch"]
    shares = [ours[k] for k in ("home_other", "home_stopped", "none", "elsewhere_other", "listed")]
    assert sum(shares) == pytest.approx(1.0, abs=1e-4)


def test_every_method_sees_the_same_prepared_vectors(folder):
    setting = RunConfig(folder, "logreg")
    data = ready(setting.shape)
    split = data.split(setting)
    task, test, _ = make_task(data, setting, split)
    whole = np.vstack([task.seeds.vectors, task.fitting.vectors, test.vectors])
    assert np.linalg.norm(whole, axis=1) == pytest.approx(1.0, abs=1e-5)
    raw, _, header = make_task(data, RunConfig(folder, "logreg", prepare=False), split)
    assert header == {"centre": False, "unit": False, "pca": None}
    assert raw.fitting.vectors == pytest.approx(data.dataset.vectors[split.fitting], abs=1e-3)


def test_labels_are_handed_only_to_the_ceiling(folder):
    for method, given in (("logreg", False), ("self-training", False), ("ridge-all-labels", True)):
        setting = RunConfig(folder, method)
        data = ready(setting.shape)
        split = data.split(setting)
        task, _, _ = make_task(data, setting, split)
        assert (task.labelled is not None) == given
    assert len(task.labelled) == len(task.labelled_topics) == len(split.train)


def test_limit_takes_fewer_documents(folder):
    assert run_one(RunConfig(folder, "nearest-leaf", limit=300))["sizes"]["documents"] == 300


def test_a_trained_embedder_makes_vectors_on_request(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HIERSEED_HOME", str(tmp_path))
    record = run_one(RunConfig(folder, "nearest-leaf", vectors="tfidf:8"))
    assert record["vectors"]["name"] == "tfidf:8"
    assert record["scores"]["all"]["mean"]["accuracy"] > 0.9  # each leaf has a word of its own
    kept = list(tmp_path.rglob("*.npy"))
    assert len(kept) == 1
    ready.cache_clear()
    with monkeypatch.context() as patch:  # what another process would do: read, not learn again
        patch.setattr(TfidfSvd, "fit", lambda self, texts: pytest.fail("learned twice"))
        again = run_one(RunConfig(folder, "nearest-leaf", vectors="tfidf:8"))
    assert again["scores"] == record["scores"]
    ready.cache_clear()
    run_one(RunConfig(folder, "nearest-leaf", vectors="tfidf:7"))
    assert len(list(tmp_path.rglob("*.npy"))) == 2


# ------------------------------------------------------------------ records


def test_runs_are_made_once_and_resume_after_a_kill(folder, tmp_path):
    records = Records(tmp_path / "runs")
    settings = [RunConfig(folder, method) for method in ("nearest-leaf", "top-down", "logreg")]
    seen = []
    run_all(settings[:2], records, report=lambda setting, outcome: seen.append(setting.method))
    file = next((tmp_path / "runs").glob("*.jsonl"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-40])  # the second record is cut short
    made = run_all(settings, records)
    assert seen == ["nearest-leaf", "top-down"]
    assert [record["setting"]["method"] for record in made] == ["top-down", "logreg"]
    assert len(list(records)) == 3
    assert run_all(settings, records) == []
    assert records.forget([settings[0].key]) == 1
    assert len(records.keys()) == 2


def test_several_processes_give_the_same_scores(folder, tmp_path):
    settings = [RunConfig(folder, method) for method in ("nearest-leaf", "logreg", "hierseed")]
    one, two = Records(tmp_path / "one"), Records(tmp_path / "two")
    run_all(settings, one)
    run_all(settings, two, jobs=2)
    scores = [{r["key"]: r["scores"] for r in records} for records in (one, two)]
    assert scores[0] == scores[1]


def test_a_method_that_fails_is_reported_and_the_others_continue(folder, tmp_path):
    told = {}
    run_all(
        [
            RunConfig(folder, "hierseed", parameters=(("pivot_level", 9),)),
            RunConfig(folder, "logreg"),
        ],
        Records(tmp_path),
        report=lambda setting, outcome: told.update({setting.method: outcome}),
    )
    assert (
        "pivot_level of HierSeed must be a whole number at least 1 and at most 2"
        in told["hierseed"]
    )
    assert isinstance(told["logreg"], dict)


def test_settings_differ_by_all_but_their_tag():
    base = RunConfig("a", "b")
    assert base.key == RunConfig("a", "b", tag="x").key
    others = [
        RunConfig("a", "b", seeds=5),
        RunConfig("a", "b", draw=1),
        RunConfig("a", "b", skew=1.0),
        RunConfig("a", "b", prepare=False),
        RunConfig("a", "b", parameters=(("x", 1),)),
    ]
    assert len({s.key for s in [base, *others]}) == 6
    for setting in others:
        assert RunConfig.from_dict(json.loads(json.dumps(setting.to_dict()))) == setting


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


def test_plans_name_runs_once_and_known_methods():
    settings = everything(parts=PLANS)
    assert len({s.key for s in settings}) == len(settings)
    assert {s.draw for s in settings} == set(range(5))
    assert len(everything(1, ["seeds"])) < len(everything(1, PLANS))
    assert {s.method for s in settings} <= set(METHODS)
    assert {"main", "few-seeds", "systems-seeds", "systems-full"} <= set(PLANS)


def test_every_parameter_of_a_plan_is_one_of_its_method():
    """A misspelt one would only be told hours into the runs."""
    for setting in everything(1, [part for part in PLANS if not part.startswith("systems")]):
        if setting.method in ("hierseed", "anchored"):
            make = {"hierseed": HierSeed, "anchored": AnchoredHierSeed}[setting.method]
            assert {name for name, _ in setting.parameters} <= set(signature(make).parameters)
        elif setting.parameters:
            make_method(setting.method, **dict(setting.parameters))


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


def test_a_method_that_reads_texts_is_given_no_vectors(folder, tmp_path):
    bare = tmp_path / "bare"
    shutil.copytree(folder, bare)
    (bare / "minilm.npy").unlink()
    config = RunConfig(str(bare), "josh")
    data = ready(config.shape)
    task, test, preparation = make_task(data, config, data.split(config))
    assert test.vectors.shape == (len(test), 0)
    assert not preparation
    assert data.dataset.vectors_name.startswith("not used")
    config = RunConfig(folder, "logreg")
    other, _, _ = make_task(ready(config.shape), config, ready(config.shape).split(config))
    assert task.seeds.texts == other.seeds.texts
    assert len(other.seeds.vectors[0])
