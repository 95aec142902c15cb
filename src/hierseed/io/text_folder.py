"""A folder of .txt files, one document each; the file's name is its id."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from hierseed.errors import CorpusError
from hierseed.io.records.rows import LIMIT, NOT_UTF8, SIGNATURES, Fault, Row, is_unicode


class TextFolder:
    """All .txt files of a folder and of the folders in it, in order of name.

    Hidden files and files with other endings are no documents.
    """

    unit = "file"

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        self.path = path
        self.limit = limit
        self.columns = ["id", "text"]
        self.names = sorted(_text_files(path))
        if not self.names:
            raise CorpusError(
                f"no .txt files in the folder {path}. Give a folder of .txt files, or a file"
            )

    def rows(self, names: Sequence[str]) -> Iterator[Row | Fault]:
        """Yield id and text of each file; the line of a row is the number of its file."""
        for number, name in enumerate(self.names, start=1):
            if not is_unicode(name):
                yield Fault(self._place(name), 0, "the file's name is not UTF-8", "rename the file")
                continue
            text = self._read(name)
            if isinstance(text, Fault):
                yield text
            else:
                values = {"id": name, "text": text}
                whole = partial(str, text)
                yield Row(number, [values[c] for c in names], whole, self._place(name))

    def _place(self, name: str) -> str:
        """The file in messages; bytes of its name that are not UTF-8 are written as \\xe9."""
        place = (Path(self.path.name) / name).as_posix()
        return os.fsencode(place).decode("utf-8", "backslashreplace")

    def _read(self, name: str) -> str | Fault:
        file, place = self.path / name, self._place(name)
        try:
            with file.open("rb") as handle:
                raw = handle.read(self.limit + 1)
        except OSError as fault:
            return Fault(place, 0, "can't be read", fault.strerror or str(fault))
        if len(raw) > self.limit:
            size = f"{file.stat().st_size:,} bytes, at most {self.limit:,} are read as one document"
            return Fault(place, 0, "file too long", size)
        for signature, (kind, _) in SIGNATURES.items():
            if raw.startswith(signature):
                return Fault(place, 0, "not text", f"looks like {kind}")
        if b"\0" in raw:
            return Fault(place, 0, "not text", f"byte {raw.index(0):,} is zero")
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as fault:
            line = raw.count(b"\n", 0, fault.start) + 1
            byte = f"byte 0x{raw[fault.start]:02X}"
            return Fault(place, line, NOT_UTF8, byte, raw.decode("utf-8", "backslashreplace"))


def _text_files(folder: Path) -> Iterator[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if name.lower().endswith(".txt") and not name.startswith("."):
                yield (Path(root) / name).relative_to(folder).as_posix()
