"""Wheel and sdist in empty environments: they install, run, and weigh what the docs say."""

import os
import re
import resource
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATED = re.compile(
    r"plain install takes about (?P<size>\d+) MB of disk.*?"
    r"first result takes about (?P<seconds>\d+) seconds of processor time",
    re.DOTALL,
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="folders of an environment differ"),
]


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def stated():
    found = STATED.search((ROOT / "docs" / "start.md").read_text(encoding="utf-8"))
    assert found, "docs/start.md does not say what a plain install takes"
    return {name: int(value) for name, value in found.groupdict().items()}


def install(kind: str, package: Path, folder: Path) -> Path:
    """Install into an empty environment with pip or uv; returns its folder of programs."""
    if kind == "pip":
        venv.create(folder, with_pip=True)
        line = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", str(package)]
    else:
        venv.create(folder, with_pip=False)
        uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet"]
        line = [*uv, "--python", str(folder / "bin" / "python"), str(package)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "bin"


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize(("kind", "ending"), [("pip", "*.whl"), ("uv", "*.tar.gz")])
def test_an_empty_environment_gets_to_a_first_result(kind, ending, dist, stated, tmp_path):
    (package,) = dist.glob(ending)
    programs = install(kind, package, tmp_path / "env")
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    own = [f for f in site.rglob("*") if f.is_file() and f.parts[len(site.parts)] != "pip"]
    size = sum(file.stat().st_size for file in own if "__pycache__" not in file.parts) / 1e6
    assert size <= 1.1 * stated["size"], f"{size:.0f} MB"
    began = processor_seconds()
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["HIERSEED_HOME"] = str(tmp_path / "home")
    done = subprocess.run(
        [str(programs / "hierseed"), "demo"],
        cwd=tmp_path, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seconds = processor_seconds() - began
    print(f"{kind}: {size:.0f} MB, {seconds:.1f} s of processor time")
    assert seconds <= 2 * stated["seconds"], f"{seconds:.1f} s"
    assert list(tmp_path.rglob("report.html"))
