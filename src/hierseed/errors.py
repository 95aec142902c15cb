"""The exceptions of hierseed, and its warning.

HierSeedError
├── TaxonomyError        the taxonomy is not a tree, or a path is not in it
├── SeedError            a seed names no topic or no document, or a leaf has none
├── CorpusError          documents or vectors that can't be used
│   ├── StoreInUseError      another process writes these vectors
│   ├── StoreDamagedError    vectors on disk were changed or cut off
│   └── StoreMismatchError   vectors on disk are of another corpus, embedder or version
├── EmbeddingError       text could not be turned into vectors
├── ModelError           a saved model can't be read, or a model is not fitted
├── ParameterError       a parameter has a value that is not allowed
├── InputError           several faults in the inputs of a fit, all of them at once
├── ProjectError         a workbench project can't be opened or changed in this way
└── MissingDependency    an extra is not installed; prints the install line

HierSeedWarning          a file was read on an assumption; the advice says how to correct it

A message says what is wrong and where. The advice says what to do. It names parameters as
`{name}` or `{name:value}`, so that each front end can word them: `on_error='skip'` in Python,
`--on-error skip` on the command line, the name of a field in the workbench.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

SHOWN = 5  # items named in one message; further ones are counted
PARAMETER = re.compile(r"\{\{|\}\}|\{(\w+)(?::([^{}]*))?\}")

Wording = Callable[[str, str], str]  # name and value of a parameter -> how to write it


def python_wording(name: str, value: str) -> str:
    """Word a parameter as Python code: `text=…`, `on_error='skip'`, `columns={'name': …}`."""
    name = "sheet" if name in ("taxonomy_sheet", "seed_sheet") else name
    if name == "columns":
        return f"columns={{{value!r}: …}}"
    shown = value if value.isdigit() or value in ("True", "False") else repr(value)
    return f"{name}={shown}" if value else f"{name}=…"


class Advised(Exception):  # noqa: N818 - base of errors and warnings
    """A message with advice, which each front end words.

    Parameters
    ----------
    message : what is wrong, and where
    advice : what to do; `{name}` or `{name:value}` is a parameter

    Examples
    --------
    >>> fault = Advised("docs.csv has no column 'text'.", "Name the column with {text}")
    >>> print(fault)
    docs.csv has no column 'text'. Name the column with text=…
    >>> fault.worded(lambda name, value: f"--{name} {value}".strip())
    "docs.csv has no column 'text'. Name the column with --text"
    """

    def __init__(self, message: str = "", advice: str = "") -> None:
        super().__init__(message, advice)
        self.message = message
        self.advice = advice

    def worded(self, wording: Wording) -> str:
        """Return message and advice, with parameters as a front end writes them."""
        end, start = self.message[-1:], self.advice[:1]
        if not start or start.isspace() or end.isspace():
            gap = ""
        else:
            gap = " " if end in ".,:;?!" else ". "
        return f"{self.message}{gap}{word(self.advice, wording)}".strip()

    def __str__(self) -> str:
        return self.worded(python_wording)


class HierSeedError(Advised):
    """Base class of all errors that the caller can correct."""


class HierSeedWarning(Advised, UserWarning):
    """A file was read on an assumption that may be wrong."""


def word(advice: str, wording: Wording) -> str:
    """Write the parameters of an advice as a front end does; `{{` is a brace."""
    return PARAMETER.sub(
        lambda found: wording(found[1], found[2] or "") if found[1] else found[0][0], advice
    )


def plain_text(text: str) -> str:
    """Escape the braces of a text that becomes part of an advice."""
    return text.replace("{", "{{").replace("}", "}}")


class TaxonomyError(HierSeedError, ValueError):
    """The taxonomy is faulty, or a path is not in it."""


class SeedError(HierSeedError, ValueError):
    """The seeds do not fit the taxonomy or the corpus."""


class CorpusError(HierSeedError, ValueError):
    """The documents or their vectors can't be used."""


class StoreInUseError(CorpusError):
    """Another process is writing the vector store."""


class StoreDamagedError(CorpusError):
    """Files of a vector store were changed, cut off or lost after they were written."""


class EmbeddingError(HierSeedError, RuntimeError):
    """Text could not be turned into vectors."""


class StoreMismatchError(CorpusError, EmbeddingError):
    """A vector store was made from another corpus, or by another embedder or version."""


class ModelError(HierSeedError, ValueError):
    """A model folder can't be read, or a model is not fitted."""


class ParameterError(HierSeedError, ValueError):
    """A parameter has a value that is not allowed, or a name that is not known."""


class InputError(HierSeedError, ValueError):
    """Several faults in the inputs of a fit; `faults` lists them."""

    def __init__(self, faults: Sequence[HierSeedError]) -> None:
        super().__init__(f"{len(faults):,} faults in the inputs:")
        self.args = (faults,)
        self.faults = faults

    def worded(self, wording: Wording) -> str:
        """Return every fault on a line of its own."""
        return self.message + "".join(f"\n  - {fault.worded(wording)}" for fault in self.faults)


class ProjectError(HierSeedError, ValueError):
    """A workbench project can't be opened, or can't be changed in this way."""


class MissingDependency(HierSeedError, ImportError):  # noqa: N818 - the contract's name
    """An optional package is not installed."""

    def __init__(
        self, package: str, extra: str, purpose: str, distribution: str = "hierseed"
    ) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed. "
            f"Install it with: pip install '{distribution}[{extra}]'"
        )

    def __reduce__(self) -> tuple[type[HierSeedError], tuple[str]]:
        return HierSeedError, (self.message,)  # other processes get the message


@contextmanager
def refusing_damaged(refuse: Callable[[str], NoReturn]) -> Iterator[None]:
    """Refuse a damaged file with a reason, whatever its library raises."""
    try:
        yield
    except (HierSeedError, MemoryError):
        raise
    except Exception as fault:
        if isinstance(fault, OSError) and fault.errno:
            raise
        refuse(str(fault).strip().split("\n")[0] or type(fault).__name__)


def explain_os_error(fault: OSError) -> str:
    """File and reason, as the operating system words them."""
    full = fault.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    reason = fault.strerror or str(fault)
    place = f"{fault.filename}: " if fault.filename is not None else ""
    return f"{place}{reason}{'. Free some space, or write to another disk' if full else ''}"


def name_some(items: Iterable[object], shown: int = SHOWN) -> str:
    """List the first few items and count the others: `'a', 'b' and 3 more`."""
    every: Sequence[object] = list(items)
    text = ", ".join(repr(item) for item in every[:shown])
    return text if len(every) <= shown else f"{text} and {len(every) - shown:,} more"
