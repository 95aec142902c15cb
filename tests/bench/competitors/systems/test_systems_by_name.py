"""Systems by name: unknown ones, a package that is absent, and the way through the catalogue."""

import sys

import numpy as np
import pytest
from small_systems import SMALL

from hierseed.errors import HierSeedError, MissingDependency
from hierseed_bench.competitors.catalogue import METHODS, make_method
from hierseed_bench.competitors.systems import SYSTEMS, make_system
from hierseed_bench.competitors.task import Documents, Task

SUPERVISED = ("hdltex", "hft", "hiagm", "hilap")


def test_an_unknown_system_is_refused_with_those_there_are():
    with pytest.raises(HierSeedError, match=r"no system 'hdl-tex'; known are .*hdltex"):
        make_system("hdl-tex")


def test_every_system_is_a_method_of_the_catalogue():
    assert set(SYSTEMS) <= set(METHODS)
    assert set(SUPERVISED) <= set(SYSTEMS)


@pytest.mark.parametrize("name", SUPERVISED)
def test_an_absent_package_is_named_with_the_line_that_installs_it(name, monkeypatch):
    for module in list(sys.modules):
        if module.startswith("hierseed_bench.competitors.systems."):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
    with pytest.raises(MissingDependency, match=r"pip install 'hierseed-bench\[neural\]'"):
        make_system(name)


@pytest.mark.parametrize("full", [False, True])
def test_the_comparison_runs_a_system_like_any_method(corpus, full):
    pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

    def documents(texts):
        return Documents(np.zeros((len(texts), 2)), texts)

    topics = [[int(topic)] for topic in corpus.topics]
    task = Task(
        corpus.taxonomy,
        documents(corpus.texts[:24]),
        topics[:24],
        documents(corpus.texts[24:]),
        documents(corpus.texts),
        topics,
    )
    options = SMALL["hft"] | {"vectors": "random", "epochs": 1, "seed_epochs": 1, "device": "cpu"}
    method = make_method("hft", full=full, **options).fit(task)
    test = documents(corpus.test_texts)
    assert method.predict(test).shape == corpus.answer.shape
    assert 0 <= method.judge(test, [[int(t)] for t in corpus.test_topics])["product_leaf"] <= 1
    assert method.notes["system"] == "hft"
    assert ("validation" in method.notes) == full
