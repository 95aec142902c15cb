"""Model folders: all of a fitted model in one JSON file, its arrays, and the embedder.

Nothing is ever unpickled, and a file that was damaged or edited is refused.

MODEL/
  model.json    estimator, taxonomy, preparation, and what the vectors were made from
  *.npy         arrays, sealed by checksums in model.json
  embedder/     what `load_embedder` needs; absent for a model of vectors

Version 1 kept preparation and embedder in a folder `from_text`; it is still read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.choose import save_embedder
from hierseed.embed.embedder import Embedder
from hierseed.embed.prepare import Preparation
from hierseed.errors import HierSeedError, ModelError, name_some
from hierseed.estimators.parameters import KINDS
from hierseed.files import CHECKSUM, atomic_folder, checked_object, file_sha256, with_checksum
from hierseed.taxonomy import Taxonomy

if TYPE_CHECKING:
    from hierseed.estimators.base import SeededEstimator

FORMAT, VERSION = "hierseed-model", 2
FILE, EMBEDDER, SEED_VECTORS = "model.json", "embedder", "seed_vectors"
REJECTED_VECTORS = "rejected_vectors"
RESTORE = "Restore the folder from a copy, or fit and save again"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # no slash, no leading dot: stays in its folder
FIRST, FIRST_FILE, FIRST_FORMAT = "from_text", "from_text.json", "hierseed-from-text"  # version 1

Arrays = dict[str, NDArray[Any]]


@dataclass
class ModelBundle:
    """What a model folder holds.

    Attributes
    ----------
    kind : name of the estimator's class
    header, arrays : what the estimator learned
    taxonomy : with its Other topics
    preparation : of vectors before `fit`; None for none
    text : embedder, fingerprint, seeds, about and dtype; empty for an estimator saved alone
    """

    kind: str
    header: dict[str, Any]
    arrays: Arrays
    taxonomy: Taxonomy
    preparation: Preparation | None = None
    text: dict[str, Any] = field(default_factory=dict)

    def estimator(self, folder: str | PathLike[str]) -> SeededEstimator:
        """Make the estimator; refuse a kind that this version does not have."""
        if self.kind not in KINDS:
            raise ModelError(
                f"{folder} holds a model of kind {self.kind!r}; known here are {name_some(KINDS)}. "
                "A newer hierseed may know it: pip install --upgrade hierseed"
            )
        with rebuilding(folder):
            return KINDS[self.kind].estimator.from_bundle(self)


@contextmanager
def rebuilding(folder: str | PathLike[str]) -> Iterator[None]:
    """Refuse a model with valid checksums that this version can't read."""
    try:
        yield
    except HierSeedError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as fault:
        raise ModelError(
            f"{folder} was written by a version of hierseed that differs from this one "
            f"({type(fault).__name__}: {fault}). Fit again, or use the version that wrote it"
        ) from fault


def taxonomy_header(taxonomy: Taxonomy) -> dict[str, Any]:
    """Arguments that make the taxonomy again, as JSON."""
    return {
        "names": taxonomy.names,
        "parent": taxonomy.tree.parent,
        "codes": taxonomy.codes,
        "descriptions": taxonomy.descriptions,
        "is_other": np.asarray(taxonomy.is_other, dtype=bool),
        **({"more_parents": taxonomy.more_parents} if any(taxonomy.more_parents) else {}),
        **({"addresses": taxonomy.addresses} if any(taxonomy.addresses) else {}),
        **({"log": taxonomy.log} if taxonomy.log else {}),
    }


def write_bundle(
    bundle: ModelBundle, folder: str | PathLike[str], embedder: Embedder | None = None
) -> None:
    """Write a model folder atomically; an older model there is replaced."""
    from hierseed import __version__

    taxonomy, preparation = bundle.taxonomy, bundle.preparation
    content = {
        "hierseed": __version__,
        "kind": bundle.kind,
        "header": bundle.header,
        "taxonomy": taxonomy_header(taxonomy),
        "preparation": preparation.header if preparation else None,
        "text": bundle.text,
    }
    arrays = bundle.arrays | (preparation.arrays if preparation else {})
    with atomic_folder(folder, marker=FILE) as partial:
        if embedder is not None:
            save_embedder(embedder, partial / EMBEDDER)
        write_sealed(partial / FILE, format=FORMAT, version=VERSION, content=content, arrays=arrays)


def read_bundle(folder: str | PathLike[str]) -> ModelBundle:
    """Read a model folder once; a damaged or newer one is refused."""
    folder = Path(folder)
    content, arrays = read_sealed(folder / FILE, format=FORMAT, version=VERSION)
    with rebuilding(folder):
        header, text = dict(content["header"]), dict(content.get("text", {}))
        options = content.get("preparation") or header.pop("preparation", None)
        if (folder / FIRST).is_dir():
            text, more = read_sealed(folder / FIRST / FIRST_FILE, format=FIRST_FORMAT, version=1)
            options, arrays = text.pop("preparation"), arrays | more
        preparation = Preparation.from_saved(options, arrays) if options else None
        taxonomy = Taxonomy(**content["taxonomy"])
        return ModelBundle(str(content["kind"]), header, arrays, taxonomy, preparation, text)


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
