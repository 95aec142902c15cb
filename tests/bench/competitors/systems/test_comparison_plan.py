"""The runs of the paper's eight systems: which there are, and that two processes share the work."""

from collections import Counter

import pytest

from hierseed_bench.competitors.systems import SYSTEMS, system_class
from hierseed_bench.runs import plan_systems, run
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.records import Records, claimed


def test_every_system_has_all_draws_on_every_set():
    seeded = Counter((each.method, each.data) for each in plan_systems.seeds())
    draws = {data: 3 if data == "arxiv_acm" else 5 for data in plan_systems.DATA}
    assert seeded == {(method, data): draws[data] for method in SYSTEMS for data in draws}
    full = Counter(each.method for each in plan_systems.full())
    assert full == dict.fromkeys(plan_systems.SUPERVISED, len(plan_systems.DATA))


def test_every_system_knows_the_settings_of_its_runs():
    pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")
    for plan in (plan_systems.seeds, plan_systems.full, plan_systems.reduced):
        for each in plan():
            options = dict(each.parameters)
            if each.method == "hlda":  # another library's, which need not be there
                assert options.keys() <= {"sweeps", "infer_sweeps"}
            else:
                options.pop("full", None)
                system_class(each.method).Config(**options)  # refuses what it does not know


def test_a_run_is_one_processs_at_a_time(tmp_path):
    with claimed(tmp_path, "a") as first, claimed(tmp_path, "a") as second:
        assert first
        assert not second
        with claimed(tmp_path, "b") as other:
            assert other
    with claimed(tmp_path, "a") as again:
        assert again


def test_out_of_time_leaves_a_run_to_resume(tmp_path, monkeypatch):
    each = RunConfig("cap", "hft")
    monkeypatch.setattr(run, "model_home", lambda: tmp_path)

    class Method:
        checkpoint = progress = None

    def run_one(config, path, threads, prepare):
        method = Method()
        prepare(method)
        method.checkpoint.mkdir()
        monkeypatch.setattr(run.time, "time", lambda: clock)
        method.progress({"loss": 1.0})
        return run.Outcome({"key": config.key}, None, None)

    monkeypatch.setattr(run, "run_one", run_one)
    monkeypatch.setattr(run.time, "time", lambda: 1.0)
    clock = 3.0  # when the training first reports
    attempt = {"folder": tmp_path / "runs", "path": None, "threads": 1, "renew": False}
    assert run._attempt(each, **attempt, until=2.0) == "stopped, to be resumed"
    kept = tmp_path / "unfinished" / each.key
    assert kept.is_dir()
    kept.rmdir()
    assert run._attempt(each, **attempt, until=4.0).record == {"key": each.key}
    assert not kept.exists()  # a finished run needs it no more
    assert run._attempt(each, **attempt, until=2.0) == "not started: out of time"


def test_what_another_process_made_meanwhile_is_kept(tmp_path, monkeypatch):
    each = RunConfig("cap", "hft")
    monkeypatch.setattr(run, "run_one", lambda *_: pytest.fail("made twice"))
    Records(tmp_path).add({"key": each.key, "setting": each.to_dict()})
    told = run._attempt(each, tmp_path, None, 1, float("inf"), renew=False)
    assert told == "made by another process"
