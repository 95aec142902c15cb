"""Runs and their plans: small made data, real parts."""

import gzip
import json
import shutil
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

from hierseed import AnchoredHierSeed, HierSeed
from hierseed.embed.tfidf import TfidfSvd
from hierseed_bench.competitors.catalogue import METHODS, make_method
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.plan import PLANS, everything
from hierseed_bench.runs.prepared import make_task, ready
from hierseed_bench.runs.records import Records
from hierseed_bench.runs.run import run_all
from hierseed_bench.runs.run import run_one as make_run


def run_one(config):
    """Make a run; gives its record."""
    return make_run(config).record


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
