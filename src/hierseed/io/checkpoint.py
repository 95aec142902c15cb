"""Checkpoints: the state of a fit after its last finished round, so that it can resume.

CHECKPOINT/
  checkpoint.json   which fit it is, and all that is small
  *.npy             vectors and sums

A state is a dataclass of the core. Its arrays become files named by their place in it, and the
rest is JSON; nothing is ever unpickled. Each round replaces the folder as a whole.
"""

from __future__ import annotations

import hashlib
import shutil
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from hierseed.core.block import Block, portable
from hierseed.core.blocks import Blocks
from hierseed.core.exact import Sums
from hierseed.core.tree import Tree
from hierseed.errors import ModelError
from hierseed.files import atomic_folder, check_folder, foreign_files
from hierseed.io.model_bundle import Arrays, read_sealed, write_sealed

if TYPE_CHECKING:
    from hierseed.estimators.base import SeededEstimator

FORMAT, VERSION = "hierseed-checkpoint", 1
FILE = "checkpoint.json"
PLAIN = (bool, int, float, str, list, np.ndarray)
SAMPLED = 64  # rows of the corpus that enter its digest in full

S = TypeVar("S")


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
        check_folder(self.folder, marker=FILE)
        if not (self.folder / FILE).is_file():
            return None
        try:
            content, arrays = read_sealed(self.folder / FILE, format=FORMAT, version=VERSION)
        except ModelError as fault:
            warnings.warn(f"{fault}. The fit starts again", CheckpointWarning, stacklevel=4)
            return None
        saved = content.get("fit")
        saved = saved if isinstance(saved, dict) else {}
        other = [name for name in {**saved, **fit} if saved.get(name) != fit.get(name)]
        if other:
            warnings.warn(
                f"{self.folder} belongs to another fit ({', '.join(other)} differ): it is not "
                "used, and the fit starts again",
                CheckpointWarning,
                stacklevel=4,
            )
            return None
        try:
            state: S = unpack(kind, content["state"], "state", arrays)
            self.rounds = int(content["rounds"])
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            warnings.warn(
                f"{self.folder} is not as this hierseed writes it ({fault}): it is not used, and "
                "the fit starts again",
                CheckpointWarning,
                stacklevel=4,
            )
            return None
        if self._say:
            self._say(f"an earlier fit stopped after round {self.rounds}; it resumes from there")
        return state

    def write(self, state: Any) -> None:
        """Write the state of a finished round."""
        arrays: Arrays = {}
        content = {
            "fit": self._fit,
            "rounds": self.rounds + 1,
            "state": pack(state, "state", arrays),
        }
        with atomic_folder(self.folder, marker=FILE) as partial:
            write_sealed(
                partial / FILE, format=FORMAT, version=VERSION, content=content, arrays=arrays
            )
        self.rounds += 1

    def remove(self) -> None:
        """Delete the folder, once the model is safe elsewhere."""
        if (self.folder / FILE).is_file() and not foreign_files(self.folder, FILE):
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
