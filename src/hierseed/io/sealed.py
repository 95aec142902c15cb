"""A folder of one JSON file and its arrays, sealed by checksums; nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import ModelError, name_some

Arrays = dict[str, NDArray[Any]]

NAME = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
)  # no slash and no leading dot: stays in its folder


def write_sealed(
    file: Path, *, format: str, version: int, content: dict[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write the arrays beside `file`, then the JSON that names and seals them."""
    listed = {}
    for name, given in arrays.items():
        array = np.ascontiguousarray(given) if np.ndim(given) else np.asarray(given)
        if not NAME.fullmatch(name) or array.dtype.hasobject:
            raise ModelError(
                f"the array {name!r} of type {array.dtype} can't be saved in {file.parent}: "
                "a name has letters, digits, '_', '-' and '.', and Python objects are not arrays"
            )
        path = file.parent / f"{name}.npy"
        np.save(path, array, allow_pickle=False)
        listed[name] = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "sha256": _digest(path),
        }
    body = {"format": format, "version": version, **content, "arrays": listed}
    body = json.loads(json.dumps(body, default=_plain))
    text = json.dumps(body | {"sha256": _seal(body)}, indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


def read_sealed(file: Path, *, format: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """Read what `write_sealed` wrote; all that is missing, cut off or edited is named at once."""
    body = _read_json(file)
    if body.get("format") != format:
        raise ModelError(f"{file} is no {format} file: its format is {body.get('format')!r}")
    found = body.get("version")
    if not isinstance(found, int) or found > version:
        raise ModelError(
            f"{file} has version {found!r} and this hierseed reads up to version {version}: "
            "a newer one wrote it. Upgrade with: pip install --upgrade hierseed"
        )
    seal = body.pop("sha256", None)
    if seal != _seal(body):
        raise ModelError(
            f"{file} was changed after it was saved (its checksum differs). "
            "Restore the folder from a copy, or fit and save again"
        )
    arrays: Arrays = {}
    faults = []
    for name, entry in body.pop("arrays").items():
        try:
            arrays[name] = _read_array(file.parent, name, entry)
        except (OSError, ValueError) as fault:
            faults.append(f"{name}.npy {fault}")
    if faults:
        raise ModelError(
            f"{len(faults)} of the arrays in {file.parent} can't be trusted: "
            f"{name_some(faults)}. Restore the folder from a copy, or fit and save again"
        )
    return body, arrays


def _read_json(file: Path) -> dict[str, Any]:
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ModelError(
            f"no {file.name} in {file.parent}: not a folder that hierseed saved. "
            "Give the folder that was named with -o"
        ) from None
    except (ValueError, RecursionError) as fault:
        raise ModelError(
            f"{file} can't be read as JSON ({fault}): it was cut off or edited. "
            "Restore the folder from a copy, or fit and save again"
        ) from None
    if not isinstance(body, dict):
        raise ModelError(f"{file} holds a {type(body).__name__} where an object is expected")
    return body


def _read_array(folder: Path, name: str, entry: dict[str, Any]) -> NDArray[Any]:
    if not NAME.fullmatch(name):
        raise ValueError("has a name that leads out of the folder")
    path = folder / f"{name}.npy"
    if not path.is_file():
        raise ValueError("is missing")
    if _digest(path) != entry["sha256"]:
        raise ValueError("was cut off or changed (its checksum differs)")
    array = np.load(path, allow_pickle=False)
    if array.dtype.str != entry["dtype"] or list(array.shape) != entry["shape"]:
        raise ValueError(f"has the shape {array.shape}, not {tuple(entry['shape'])}")
    return array


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _seal(body: dict[str, Any]) -> str:
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Turn numpy values into what JSON knows."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r} can't be saved as JSON")
