"""docs/scale.md says what the records say, and its manifest and script can be read."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from hierseed_bench.pages import scale
from hierseed_bench.repository import read_result

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def page():
    return (DOCS / "scale.md").read_text(encoding="utf-8")


def test_the_readme_says_what_was_measured():
    record = read_result("bench_stream")
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert f"fitted in {record['fit']['seconds']:.0f} s" in text
    assert f"vectors in {record['assign_vectors']['seconds']:.0f} s" in text


@pytest.mark.parametrize(
    ("value", "text"), [(999, "999 B"), (1_500, "1.5 kB"), (768e9, "768 GB"), (5e12, "5,000 GB")]
)
def test_size_as_people_say_it(value, text):
    assert scale.size_of(value) == text


def test_records_of_the_first_version_are_marked():
    machine = {"cpu": "a processor", "cores": 2, "commit": "c095e28"}
    assert "version 0.1" in scale.source(machine)
    assert "version 0.1" not in scale.source(machine | {"commit": "0000000"})


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
