"""The bytes of a taxonomy file, and the faults found in them with their places."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import NoReturn

from hierseed.errors import TaxonomyError, plain_text
from hierseed.io.records.lines import (
    AUTO,
    called,
    check_encoding,
    encoding_warning,
    guess_encoding,
)
from hierseed.names import UNWRITABLE

LIMIT = 256 * 2**20  # bytes; the largest public taxonomies (MeSH, EuroVoc) are below 200 MB
NOT_UTF8 = "save the file as UTF-8, or read it with {encoding:auto}"
LISTED = 50  # faults spelled out in one message; the rest are counted

_BREAKS = re.compile(r"\s*[\t\n\r\f\v\x85\u2028\u2029]\s*")


@dataclass
class Source:
    """One file: its name for messages, its bytes, and the faults found so far."""

    name: str
    data: bytes
    encoding: str | None = None  # of a text that is not UTF-8
    unused: list[str] = field(default_factory=list)  # columns or keys that were passed over
    hint: str = ""  # appended to the faults, before the option that names a sheet
    _faults: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def open(cls, file: str | PathLike[str], encoding: str | None = None) -> Source:
        """Load a file; what is missing, a folder or far too large is refused."""
        path = Path(fspath(file))
        try:
            size = path.stat().st_size
            if path.is_dir():
                raise TaxonomyError(f"{path} is a folder; name the taxonomy file in it")
            if not path.is_file():
                raise TaxonomyError(f"{path} is a pipe or a device; save it as a file first")
            if size > LIMIT:
                raise TaxonomyError(
                    f"{path} holds {size / 2**20:,.0f} MB, a taxonomy at most {LIMIT >> 20} MB; "
                    "is this the corpus?"
                )
            if encoding is not None and encoding != AUTO:
                encoding = check_encoding(encoding)
            return cls(str(path), path.read_bytes(), encoding)
        except (OSError, ValueError) as fault:  # ValueError: a NUL in the name
            if isinstance(fault, TaxonomyError):
                raise
            reason = getattr(fault, "strerror", None) or str(fault)
            raise TaxonomyError(f"can't read the taxonomy {path}: {reason}") from fault

    @cached_property
    def text(self) -> str:
        """The whole file as text: UTF-8, with or without a byte order mark, or as named."""
        wide = self.data[:2] in (b"\xff\xfe", b"\xfe\xff")
        if wide and self.encoding is None:
            self.stop(
                "line 1",
                "this is UTF-16, as Excel's 'Unicode text' is; ",
                "save it as UTF-8, or read it with {encoding:utf-16}",
            )
        try:
            text = self.data.decode("utf-16" if wide else "utf-8-sig")
        except UnicodeDecodeError as fault:
            if self.encoding is not None:
                return self._decoded(self.encoding)
            line = self.data.count(b"\n", 0, fault.start) + 1
            byte = self.data[fault.start]
            self.stop(f"line {line}", f"the byte 0x{byte:02X} is not UTF-8; ", NOT_UTF8)
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            self.stop(f"line {line}", "a NUL character: this is a binary file, not a text")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _decoded(self, encoding: str) -> str:
        """Decode with the encoding given or detected; refuse bytes that do not fit."""
        if encoding == AUTO:
            odd = [line for line in self.data.split(b"\n") if not _is_utf8(line)]
            encoding = guess_encoding(b"\n".join(odd))
            warnings.warn(encoding_warning(self.name, encoding), stacklevel=4)
        try:
            text = self.data.decode(encoding)
        except UnicodeDecodeError as fault:
            line = self.data.count(b"\n", 0, fault.start) + 1
            self.stop(f"line {line}", f"not {called(encoding)}: {fault.reason}")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, split at line breaks only, not at other Unicode separators."""
        return self.text.split("\n")

    def fault(self, where: str, what: str, advice: str = "") -> None:
        """Collect a fault and continue; `advice` may name parameters, as in `HierSeedError`."""
        self._faults.append((where, plain_text(what) + advice))

    def stop(self, where: str, what: str, advice: str = "") -> NoReturn:
        """Collect a fault after which reading can't continue, and raise."""
        self.fault(where, what, advice)
        raise self._error()

    def refuse(self) -> None:
        """Raise one error that lists every fault, if there is any."""
        if self._faults:
            raise self._error()

    def aside(self) -> str:
        """Name the columns that were ignored: with the faults, or as a warning."""
        return (
            f"not used for the taxonomy in {self.name}: {', '.join(self.unused)}. If one has the "
            "parents or codes, rename it to parent or code"
        )

    def _error(self) -> TaxonomyError:
        ordered = sorted(self._faults, key=lambda fault: _number(fault[0]))
        lines = [f"{where}: {what}" if where else what for where, what in ordered]
        aside = plain_text(f"\n{self.aside()}") if self.unused else ""
        if self.hint:
            aside += plain_text(self.hint) + "{taxonomy_sheet}"
        name = plain_text(self.name)
        if len(lines) == 1:
            return TaxonomyError("", f"{name}, {lines[0]}{aside}")
        listed = "".join(f"\n  - {fault}" for fault in lines[:LISTED])
        if len(lines) > LISTED:
            listed += f"\n  … and {len(lines) - LISTED:,} more"
        return TaxonomyError("", f"{name} has {len(lines):,} faults:{listed}{aside}")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _number(where: str) -> int:
    """Line or row of a place, so that faults are listed in the order of the file."""
    found = re.match(r"(?:line|row) (\d+)", where)
    return int(found.group(1)) if found else 0


def tidy(text: str) -> str:
    """Strip a name or code; a line break or tab inside it (Excel, SKOS) becomes a space."""
    if text.isprintable():  # nearly always, and much faster than the pattern
        return text.strip()
    return _BREAKS.sub(" ", text).strip()


def tidy_description(text: str) -> str:
    """Keep line breaks, drop the characters that no format holds."""
    if text.isprintable():
        return text.strip()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ").split("\n")
    return "\n".join(UNWRITABLE.sub(" ", line).rstrip() for line in lines).strip()
