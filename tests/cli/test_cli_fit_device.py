"""fit --device cuda: the engine of a GPU, and what is said where there is none."""

from collections.abc import Callable

import numpy as np
import pytest
from cli_project import FIT, Project
from typer.testing import Result

from hierseed import load
from hierseed.engines import choose
from hierseed.engines.choose import Engine

Run = Callable[..., Result]


def labels(project: Project, name: str) -> list[int]:
    return load(project / name).estimator.labels_.tolist()


def test_without_torch_the_install_line_is_given(
    project: Project, hierseed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose, "find_spec", lambda name: None)
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--device", "cuda")
    assert done.exit_code == 1
    assert "hierseed[gpu]" in done.stderr
    assert "model.vectors" not in project.names()  # said before the long step


def test_a_gpu_and_workers_exclude_each_other(project: Project, hierseed: Run) -> None:
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--device", "cuda", "--workers", "2")
    assert done.exit_code == 2
    assert "not both" in " ".join(done.stderr.split())


def test_without_a_card_the_processor_is_used_with_a_note(model: Project, hierseed: Run) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'gpu' is not installed")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    done = hierseed("fit", "docs.csv", *FIT, "-o", "again", "--device", "cuda")
    assert done.exit_code == 0
    assert "no CUDA device: the fit runs on the processor" in " ".join(done.stderr.split())
    assert labels(model, "again") == labels(model, "model")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_engine_of_the_gpu_makes_the_same_model(
    model: Project, hierseed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="the extra 'gpu' is not installed")
    monkeypatch.setattr(
        Engine, "_device_name", lambda self: "a card"
    )  # torch then takes the processor
    done = hierseed("fit", "docs.csv", *FIT, "-o", "again", "--device", "cuda")
    assert done.exit_code == 0
    assert "a card" in done.stderr
    assert labels(model, "again") == labels(model, "model")
    np.testing.assert_array_equal(
        load(model / "again").estimator.vectors_, load(model / "model").estimator.vectors_
    )
