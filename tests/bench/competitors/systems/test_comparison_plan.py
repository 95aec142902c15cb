"""The command that fills the comparison: what it runs, and that two of it share the work."""

import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.competitors.systems.choose import SYSTEMS, system_class

PARTS = ("plain", "seeds", "full", "unlabelled", "ablations")  # checks read a data set


@pytest.fixture(scope="module")
def systems():
    """The script; its folder is on the path while it is looked at."""
    folder = str(Path(__file__).parents[4] / "bench" / "scripts")
    sys.path.insert(0, folder)
    import systems

    yield systems
    sys.path.remove(folder)


def test_every_system_has_three_draws_on_four_sets_and_settings_it_knows(systems):
    every = list(systems.comparison(PARTS, systems.DATA, [0, 1, 2]))
    plain = [each for each in every if each.tag in ("", "shorter")]
    seeded = Counter((each.method, each.data) for each in plain)
    wanted = ("hierseed", "unfit", "seeded-kmeans", "logreg", *SYSTEMS)
    assert {seeded[method, data] for method in wanted for data in systems.DATA} == {3}
    full = Counter(each.method for each in every if each.tag == "full")
    assert full == dict.fromkeys(systems.SYSTEMS, 4)
    assert len({each.key for each in every}) == len(every)
    for each in every:
        options = dict(each.parameters)
        if each.method == "hlda":  # another library's, which need not be there
            assert options.keys() <= {"sweeps", "infer_sweeps"}
        elif each.method in SYSTEMS:
            options.pop("full", None)
            options.pop("names", None)
            system_class(each.method).Config(**options)  # refuses what it does not know
        else:
            assert each.method in METHODS


def test_a_run_is_one_processs_at_a_time(systems, tmp_path):
    with systems.claimed(tmp_path, "a") as first, systems.claimed(tmp_path, "a") as second:
        assert first
        assert not second
        with systems.claimed(tmp_path, "b") as other:
            assert other
    with systems.claimed(tmp_path, "a") as again:
        assert again


def test_out_of_time_leaves_a_run_to_go_on(systems, tmp_path, monkeypatch):
    each = next(iter(systems.wanted(["seeds"], ["cap"], [0])))
    monkeypatch.setattr(systems, "model_home", lambda: tmp_path)

    class Method:
        checkpoint = progress = None

    def run_one(setting, prepare):
        method = Method()
        prepare(method)
        method.checkpoint.mkdir()
        method.progress({"loss": 1.0})
        return {"key": setting.key}

    monkeypatch.setattr(systems, "run_one", run_one)
    assert systems.attempt(each, deadline=0.0) == "cut off, to go on"
    kept = tmp_path / "unfinished" / each.key
    assert kept.is_dir()
    kept.rmdir()
    assert systems.attempt(each) == {"key": each.key}
    assert not kept.exists()  # a finished run needs it no more


def test_without_a_part_all_are_run_and_what_is_done_is_passed_over(
    systems, tmp_path, monkeypatch, capsys
):
    asked = []
    monkeypatch.setattr(systems, "comparison", lambda *given: asked.append(given) or [])
    systems.main(["-o", str(tmp_path), "--data", "cap", "--minutes", "1"])
    assert asked == [(systems.PARTS, ["cap"], [0, 1, 2])]
    with pytest.raises(SystemExit):
        systems.main(["sedes"])
    assert "no part sedes" in capsys.readouterr().err
