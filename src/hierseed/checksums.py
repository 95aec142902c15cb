"""Files with checksums: how a damaged or edited one is noticed. Nothing is ever unpickled.

A checksum detects damage and careless edits. It is no signature: whoever can write the file can
also write a matching checksum.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import ModelError, name_some

CHECKSUM = "sha256"  # the key under which a JSON object carries its own checksum
RESTORE = "Restore the folder from a copy, or fit and save again"
NAME = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
)  # no slash and no leading dot: stays in its folder


def file_sha256(file: Path) -> str:
    """SHA-256 of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def json_sha256(body: dict[str, Any], before: str = "") -> str:
    """SHA-256 of a JSON object, whatever the order of its keys; `before` chains it to another."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256((before + canonical).encode()).hexdigest()


def with_checksum(body: dict[str, Any], before: str = "") -> dict[str, Any]:
    """The same object with its own checksum."""
    return {**body, CHECKSUM: json_sha256(body, before)}


def checked_object(text: str | bytes, before: str = "") -> dict[str, Any]:
    """Parse the result of `with_checksum`; ValueError says what is wrong with it."""
    try:
        body = json.loads(text)
        if not isinstance(body, dict):
            raise ValueError(f"it holds a {type(body).__name__} where an object is expected")
        if CHECKSUM not in body:
            raise ValueError("it has no checksum")
        content = {name: value for name, value in body.items() if name != CHECKSUM}
        if body[CHECKSUM] != json_sha256(content, before):
            raise ValueError("its checksum differs")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return body


Arrays = dict[str, NDArray[Any]]


def write_sealed(
    file: Path,
    *,
    format: str,
    version: int,
    content: dict[str, Any],
    arrays: Mapping[str, Any],
    files: Iterable[str] = (),
) -> None:
    """Write the arrays beside `file`, then the JSON that names them with their checksums.

    `files` are names of further files beside it, already written, which it names too.
    """
    listed = {}
    for name, values in arrays.items():
        array = np.ascontiguousarray(values) if np.ndim(values) else np.asarray(values)
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
            "sha256": file_sha256(path),
        }
    body = {"format": format, "version": version, **content, "arrays": listed}
    if digests := {name: file_sha256(file.parent / name) for name in files}:
        body["files"] = digests
    body = json.loads(json.dumps(body, default=_plain))
    text = json.dumps(with_checksum(body), indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8", newline="\n")


def read_sealed(file: Path, *, format: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """Read what `write_sealed` wrote; an error names all files that are missing or changed."""
    body = _read_json(file, format, version)
    arrays: Arrays = {}
    faults = []
    listed, files = body.pop("arrays", None), body.pop("files", {})
    if not isinstance(listed, dict) or not isinstance(files, dict):
        raise ModelError(f"{file} does not list its arrays. Fit and save again")
    for name, entry in listed.items():
        try:
            arrays[name] = _read_array(file.parent, name, entry)
        except (OSError, ValueError, EOFError) as fault:
            faults.append(f"{name}.npy {fault}")
    for name, digest in files.items():
        if not NAME.fullmatch(name) or not (file.parent / name).is_file():
            faults.append(f"{name} is missing")
        elif file_sha256(file.parent / name) != digest:
            faults.append(f"{name} was cut off or changed (its checksum differs)")
    if faults:
        raise ModelError(
            f"{len(faults)} of the files in {file.parent} can't be trusted: "
            f"{name_some(faults)}. {RESTORE}"
        )
    return body, arrays


def _read_json(file: Path, format: str, version: int) -> dict[str, Any]:
    """Read the JSON; another format or a newer version is refused before checksums are compared."""
    try:
        content = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise ModelError(
            f"no {file.name} in {file.parent}: not a folder that hierseed saved. "
            "Give the folder that was named with -o"
        ) from None
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as fault:
        raise ModelError(
            f"{file} can't be read as JSON ({fault}): it was cut off or edited. {RESTORE}"
        ) from None
    if not isinstance(body, dict):
        raise ModelError(f"{file} holds a {type(body).__name__} where an object is expected")
    if body.get("format") != format:
        raise ModelError(f"{file} is no {format} file: its format is {body.get('format')!r}")
    found = body.get("version")
    if not isinstance(found, int) or found > version:
        raise ModelError(
            f"{file} has version {found!r} and this hierseed reads up to version {version}: "
            "a newer one wrote it. Upgrade with: pip install --upgrade hierseed"
        )
    try:
        body = checked_object(content)
    except ValueError as fault:
        raise ModelError(f"{file} was changed after it was saved ({fault}). {RESTORE}") from None
    del body[CHECKSUM]
    return body


def _read_array(folder: Path, name: str, entry: Any) -> NDArray[Any]:
    if not NAME.fullmatch(name):
        raise ValueError("has a name that leads out of the folder")
    if not isinstance(entry, dict) or not {"sha256", "dtype", "shape"} <= set(entry):
        raise ValueError("is listed without its checksum")
    path = folder / f"{name}.npy"
    if not path.is_file():
        raise ValueError("is missing")
    if file_sha256(path) != entry["sha256"]:
        raise ValueError("was cut off or changed (its checksum differs)")
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except Exception as fault:  # numpy parses the header as Python, which can raise anything
        raise ValueError(f"is no array ({fault})") from None
    if array.dtype.str != entry["dtype"] or list(array.shape) != entry["shape"]:
        raise ValueError(f"has the shape {array.shape} and type {array.dtype.str}, not as listed")
    return array


def _plain(value: Any) -> Any:
    """Turn numpy values into what JSON knows."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r} can't be saved as JSON")
