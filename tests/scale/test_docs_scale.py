"""docs/scale.md says what the records say, and its manifest and script can be read."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest
import yaml

DOCS = Path(__file__).parents[2] / "docs"


def script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def make_scale():
    return script("make_scale")


@pytest.fixture(scope="module")
def page():
    return (DOCS / "scale.md").read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_records(make_scale, page):
    assert make_scale.fill(page) == page, "run: python docs/make_scale.py"
    assert all(f"<!-- capacity {name} -->" in page for name in make_scale.TABLES)


def test_the_readme_says_what_was_measured(make_scale):
    record = make_scale.read("bench_stream.json")
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert f"fitted in {record['fit']['seconds']:.0f} s" in text
    assert f"vectors in {record['assign_vectors']['seconds']:.0f} s" in text


def test_the_tables_of_one_machine_are_those_of_the_records(page):
    machine = script("make_scale_machine")
    assert machine.fill(page) == page, "run: python docs/make_scale_machine.py"
    assert all(f"<!-- machine {name} -->" in page for name in machine.TABLES)


def test_more_documents_and_topics_take_longer_and_more_machines_less(make_scale):
    laptop, large, cluster = make_scale.MACHINES[1:]
    for method in ("anchored", "hierseed"):
        times = [make_scale.seconds(method, n, 1_000, laptop) for n in make_scale.DOCUMENTS]
        assert times == sorted(times)
        assert make_scale.seconds(method, 10**9, 100, large) < times[-1]
        assert make_scale.seconds(method, 10**9, 100, cluster) < times[-1]
    by_topics = [make_scale.seconds("anchored", 10**8, k, laptop) for k in make_scale.TOPICS]
    assert by_topics == sorted(by_topics)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.2, "1 s"), (59, "59 s"), (150, "2 min"), (7_200, "2 h"), (864_000, "10 days")],
)
def test_time_as_people_say_it(make_scale, value, text):
    assert make_scale.spell(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(999, "999 B"), (1_500, "1.5 kB"), (768e9, "768 GB"), (5e12, "5,000 GB")]
)
def test_size_as_people_say_it(make_scale, value, text):
    assert make_scale.size_of(value) == text


def test_the_manifest_holds_together(page):
    parts = list(yaml.safe_load_all(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1]))
    assert [part["kind"] for part in parts] == ["Service", "Deployment", "Deployment", "Job"]
    service, scheduler = parts[:2]
    assert service["spec"]["selector"].items() <= (
        scheduler["spec"]["template"]["metadata"]["labels"].items()
    )
    address = f"tcp://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    for part in parts[2:]:
        command = part["spec"]["template"]["spec"]["containers"][0]["command"]
        assert address in command


def test_the_batch_script_is_a_script(page):
    script = re.search(r"```bash\n(#!/bin/bash\n#SBATCH.*?)```", page, re.DOTALL)[1]
    checked = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True)
    assert checked.returncode == 0, checked.stderr
