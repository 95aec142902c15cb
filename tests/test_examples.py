"""Every script of examples/ runs as it stands and draws the pictures that the gallery shows.

`HIERSEED_KEEP_PICTURES=1` keeps pictures and outputs in examples/pictures.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("[!_]*.py"))


def pictures_of(script: Path) -> list[str]:
    return re.findall(r'show\(.*?, "(\w+)"\)', script.read_text(encoding="utf-8"))


def run(script: Path, folder: Path) -> str:
    source = os.pathsep.join([str(ROOT / "src"), str(EXAMPLES)])
    env = os.environ | {
        "PYTHONPATH": source,
        "HIERSEED_PICTURES": str(folder),
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-W", "error::DeprecationWarning:__main__", script]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_an_example_runs_and_draws_its_pictures(script: Path, tmp_path: Path) -> None:
    said = run(script, tmp_path)
    drawn = {file.stem for file in tmp_path.glob("*.png")}
    assert drawn == set(pictures_of(script))
    if script.stem == "on_a_plane":
        right = float(re.search(r"right of the listed: (\S+)", said)[1])
        assert right > 0.85
    if script.stem == "tuning_the_dial":
        shares = re.findall(r"false_alarm \S+: (\S+)% of .*? lost, (\S+)% of", said)
        lost, found = zip(*((float(a), float(b)) for a, b in shares))
        assert lost[0] == found[0] == 0  # nothing is rejected at 0
        assert list(found) == sorted(found)
        assert all(b > a for a, b in zip(lost[1:], found[1:]))
    if os.environ.get("HIERSEED_KEEP_PICTURES"):
        from PIL import Image

        (EXAMPLES / "pictures").mkdir(exist_ok=True)
        (EXAMPLES / "pictures" / f"{script.stem}.txt").write_text(said, encoding="utf-8")
        for file in tmp_path.glob("*.png"):
            image = Image.open(file).convert("RGB")
            image.thumbnail((1400, 1400))
            small = image.quantize(256, kmeans=2, dither=Image.Dither.NONE)
            small.save(EXAMPLES / "pictures" / file.name, optimize=True)


def test_every_picture_of_the_gallery_is_kept() -> None:
    wanted = {name for script in SCRIPTS for name in pictures_of(script)}
    kept = {file.stem for file in (EXAMPLES / "pictures").glob("*.png")}
    assert kept == wanted, "run make docs-pictures"
