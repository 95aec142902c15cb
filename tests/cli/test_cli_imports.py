"""The command line starts quickly: slow libraries are imported where they are used."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import hierseed
from hierseed.embed import Preparation
from hierseed.parametrized import Parametrized

SLOW = (
    "sklearn",
    "pandas",
    "scipy.stats",
    "pyarrow",
    "numba",
    "torch",
    "distributed",
    "joblib",
    "yaml",
    "ssl",
    "http.client",
)
RUN = """
import json, os, sys
from hierseed.cli import main
try:
    main()
finally:
    json.dump(sorted(sys.modules), open(os.environ["MODULES"], "w"))
"""


@pytest.fixture
def project(tmp_path):
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((6, 16))
    topic = np.arange(300) % 6
    np.save(tmp_path / "x.npy", (centres[topic] + 0.3 * rng.standard_normal((300, 16))))
    paths = [f"Topic {i // 3} > Part {i}" for i in range(6)]
    (tmp_path / "topics.txt").write_text("\n".join(paths))
    rows = [f"{i},{paths[topic[i]]}" for i in range(24)]
    (tmp_path / "seeds.csv").write_text("\n".join(["id,topic", *rows]))
    return tmp_path


@pytest.mark.parametrize("method", ["anchored", "hierseed"])
def test_a_small_fit_imports_no_slow_library(project, method):
    command = ["fit", "x.npy", "--taxonomy", "topics.txt", "--seeds", "seeds.csv", "-o", "model",
               "--method", method, "--quiet"]  # fmt: skip
    listed = project / "modules.json"
    subprocess.run(
        [sys.executable, "-c", RUN, *command],
        env=os.environ | {"MODULES": str(listed)}, cwd=project, check=True,
    )  # fmt: skip
    imported = json.loads(listed.read_text())
    assert "hierseed.pipeline" in imported
    assert not [name for name in SLOW if name in imported]


def test_a_model_of_the_command_line_is_that_of_python(project):
    command = ["fit", "x.npy", "--taxonomy", "topics.txt", "--seeds", "seeds.csv", "-o", "model"]
    subprocess.run([sys.executable, "-m", "hierseed", *command, "-q"], cwd=project, check=True)
    seeds = {}
    for line in (project / "seeds.csv").read_text().splitlines()[1:]:
        row, topic = line.split(",")
        seeds.setdefault(topic, []).append(row)
    here = hierseed.fit(str(project / "x.npy"), list(seeds), seeds)
    there = hierseed.load(project / "model")
    assert there.estimator.get_params().keys() == here.estimator.get_params().keys()
    np.testing.assert_array_equal(there.estimator.vectors_, here.estimator.vectors_)


@pytest.mark.parametrize("name", ["HierSeed", "AnchoredHierSeed", "UnfitHierSeed"])
def test_the_light_base_class_finds_the_parameters_that_scikit_learn_finds(name):
    model = getattr(hierseed, name)(hierseed.Taxonomy.from_paths(["A", "B"]))
    assert Parametrized.get_params(model) == model.get_params(deep=False)
    preparation = Preparation(unit=False)
    assert Parametrized.get_params(preparation) == preparation.get_params(deep=False)
