"""Folders of a JSON file and its arrays: a fitted model, and the state of a fit that may resume.

Nothing is ever unpickled, and a file that was damaged or edited is refused.

MODEL/
  model.json    estimator, taxonomy, preparation, and what the vectors were made from
  *.npy         arrays, sealed by checksums in model.json
  embedder/     what `load_embedder` needs; absent for a model of vectors

CHECKPOINT/
  checkpoint.json   which fit it is, and all that is small
  *.npy             vectors and sums

A state is a dataclass of the core. Its arrays become files named by their place in it, and the rest
is JSON. Each round replaces the folder as a whole.

Version 1 kept preparation and embedder in a folder `from_text`; it is still read.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Block, Blocks, portable
from hierseed.core.exact import Sums
from hierseed.core.tree import Tree
from hierseed.embed.choose import save_embedder
from hierseed.embed.embedder import Embedder
from hierseed.embed.prepare import Preparation
from hierseed.errors import HierSeedError, ModelError, name_some
from hierseed.estimators.parameters import KINDS
from hierseed.files import (
    CHECKSUM,
    atomic_folder,
    check_folder,
    checked_object,
    file_sha256,
    foreign_files,
    with_checksum,
)
from hierseed.taxonomy import Taxonomy

if TYPE_CHECKING:
    from hierseed.estimators.base import SeededEstimator

FORMAT, VERSION = "hierseed-model", 2
FILE, EMBEDDER, SEED_VECTORS = "model.json", "embedder", "seed_vectors"
REJECTED_VECTORS = "rejected_vectors"
RESTORE = "Restore the folder from a copy, or fit and save again"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # no slash, no leading dot: stays in its folder
FIRST, FIRST_FILE, FIRST_FORMAT = "from_text", "from_text.json", "hierseed-from-text"  # version 1
STATE_FORMAT, STATE_VERSION, STATE = "hierseed-checkpoint", 1, "checkpoint.json"
PLAIN = (bool, int, float, str, list, np.ndarray)  # types of a state that become JSON
SAMPLED = 64  # rows of the corpus that enter its digest in full

S = TypeVar("S")
Arrays = dict[str, NDArray[Any]]


@dataclass
class ModelBundle:
    """The content of a model folder.

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


class CheckpointWarning(UserWarning):
    """The checkpoint can't be used, and the fit starts from the beginning."""


class Checkpoint:
    """A folder that a fit writes after each round, and resumes from.

    Parameters
    ----------
    folder : made when the first round is finished
    say : called with a message when a fit resumes

    Attributes
    ----------
    rounds : finished rounds in the folder
    """

    def __init__(
        self, folder: str | PathLike[str], say: Callable[[str], None] | None = None
    ) -> None:
        self.folder = Path(folder)
        self.rounds = 0
        self._say = say
        self._fit: dict[str, Any] = {}

    def open(self, kind: type[S], fit: Mapping[str, Any]) -> S | None:
        """Return the state of the same fit, None where there is none.

        `fit` names all that the result depends on; a state of another fit is not used.
        """
        self._fit = dict(fit)
        check_folder(self.folder, marker=STATE)
        if not (self.folder / STATE).is_file():
            return None
        try:
            content, arrays = read_sealed(
                self.folder / STATE, format=STATE_FORMAT, version=STATE_VERSION
            )
            saved = content.get("fit")
            saved = saved if isinstance(saved, dict) else {}
            other = [name for name in {**saved, **fit} if saved.get(name) != fit.get(name)]
            if other:
                differ = f"belongs to another fit ({', '.join(other)} differ)"
                raise ModelError(f"{self.folder} {differ}: it is not used")
            state: S = unpack(kind, content["state"], "state", arrays)
            self.rounds = int(content["rounds"])
        except ModelError as fault:
            reason = str(fault)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            reason = f"{self.folder} is not as this hierseed writes it ({fault}): it is not used"
        else:
            if self._say:
                stopped = f"an earlier fit stopped after round {self.rounds}"
                self._say(f"{stopped}; it resumes from there")
            return state
        warnings.warn(f"{reason}. The fit starts again", CheckpointWarning, stacklevel=4)
        return None

    def write(self, state: Any) -> None:
        """Write the state of a finished round."""
        arrays: Arrays = {}
        content = {
            "fit": self._fit,
            "rounds": self.rounds + 1,
            "state": pack(state, "state", arrays),
        }
        with atomic_folder(self.folder, marker=STATE) as partial:
            write_sealed(
                partial / STATE, format=STATE_FORMAT, version=STATE_VERSION, content=content,
                arrays=arrays,
            )  # fmt: skip
        self.rounds += 1

    def remove(self) -> None:
        """Delete the folder, once the model is safe elsewhere."""
        if (self.folder / STATE).is_file() and not foreign_files(self.folder, STATE):
            shutil.rmtree(self.folder)


def pack(value: Any, name: str, arrays: Arrays) -> Any:
    """Turn a dataclass into JSON; its arrays go to `arrays`, named by their position in it."""
    if isinstance(value, Tree):
        value = value.parent
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return "array"
    if is_dataclass(value):
        return {
            field.name: pack(getattr(value, field.name), f"{name}.{field.name}", arrays)
            for field in fields(value)
        }
    return value


def unpack(kind: Any, content: Any, name: str, arrays: Arrays) -> Any:
    """Rebuild what `pack` gave, as the class `kind`; a value of another type is refused."""
    if content is None and type(None) in get_args(kind):
        return None
    kind = next((one for one in get_args(kind) if is_dataclass(one) or one is Tree), kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(  # type: ignore[operator]
            **{
                field: unpack(hints[field], value, f"{name}.{field}", arrays)
                for field, value in content.items()
                if field in hints  # an earlier version may have kept more
            }
        )
    if kind is Tree:
        return Tree(arrays[name])
    plain = get_origin(kind) or kind
    value = arrays.get(name, content)
    if plain in PLAIN and not isinstance(value, (int, float) if plain is float else plain):
        raise TypeError(f"{name} is {value!r}")
    if plain is list and not (value and all(map(_is_round, value))):
        raise TypeError(f"{name} is no list of rounds")
    return value


def _is_round(entry: Any) -> bool:
    """Whether this is an entry of a history: an objective and further numbers."""
    return (
        isinstance(entry, dict)
        and "objective" in entry
        and all(isinstance(number, int | float) for number in entry.values())
    )


def digest(*values: Any) -> str:
    """Short hash of arrays and texts."""
    found = hashlib.sha256()
    for one in values:
        if isinstance(one, np.ndarray):
            found.update(f"{one.dtype.str}{one.shape}".encode())
            found.update(np.ascontiguousarray(one).tobytes())
        else:
            found.update(repr(one).encode())
    return found.hexdigest()[:16]


def digest_of_documents(blocks: Blocks) -> str:
    """Identify a corpus: a checksum of all vectors and their positions, and some whole vectors.

    It is the same on every engine, so that a fit may resume on another one.
    """
    (checksum,) = blocks.fold(_checksum)
    rows = np.unique(np.linspace(0, blocks.n - 1, SAMPLED).astype(np.intp))
    return digest(blocks.n, blocks.width, str(blocks.dtype), checksum, blocks.take(rows))


@portable
def _checksum(block: Block) -> Sums:
    xp, words = block.xp, block.xp.words(block.stored)
    place = 2 * (xp.arange(len(block)) + block.start) + 1
    sums = xp.to_numpy((words * place[:, None]).sum(axis=0))  # modulo 2**64
    return Sums((sums.view(np.uint64),))


def checkpoint_arguments(
    estimator: SeededEstimator, checkpoint: Any, state: type, blocks: Blocks, *seeds: Any
) -> dict[str, Any]:
    """Return arguments with which the core's loop resumes, and saves the state of each round.

    Parameters
    ----------
    checkpoint : a folder, or a `Checkpoint`
    state : class of the loop's state
    seeds : as the loop takes them
    """
    from hierseed import __version__

    if not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(checkpoint)
    taxonomy = estimator.taxonomy
    fit = {
        "version": __version__,
        "method": type(estimator).__name__,
        "taxonomy": digest(taxonomy.paths, taxonomy.tree.parent, taxonomy.is_other),
        "seeds": digest(*seeds),
        "documents": digest_of_documents(blocks),
    } | {
        name: np.asarray(value).tolist()
        for name, value in estimator.get_params(deep=False).items()
        if name not in ("taxonomy", "n_jobs")
    }
    return {"resume": checkpoint.open(state, fit), "save": checkpoint.write}
