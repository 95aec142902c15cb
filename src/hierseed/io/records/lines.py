"""Text lines, read so that no line can fill the memory and each bad byte has an address."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from hierseed.errors import CorpusError
from hierseed.io.faults import NOT_UTF8
from hierseed.io.records.encoding import called, is_wide

LIMIT = 8 * 2**20  # bytes in one document; the Bible has 4.3 million

CONTROL = bytes({*range(32)} - {*b"\t\n\r\f"})  # what text has none of
FEW = 3  # of them among the first bytes are a fault of their lines, not yet of the whole file

SIGNATURES = {  # first bytes of files that people take for text: what it is, what to do
    b"\xff\xfe": ("UTF-16 text", "Read it with {encoding:utf-16}, or save it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "Read it with {encoding:utf-16}, or save it as UTF-8"),
    b"PK\x03\x04": ("a zip archive or an Office file", "Export it as CSV, or unpack it first"),
    b"\xd0\xcf\x11\xe0": ("an old Office file", "Export it as CSV"),
    b"PAR1": ("a Parquet file", "Give its name the ending .parquet"),
    b"%PDF": ("a PDF file", "Extract its text first"),
    b"SQLite format 3": ("an SQLite database", "Export the table as CSV"),
    b"\x28\xb5\x2f\xfd": ("a zstd archive", "Unpack it first"),
    b"BZh": ("a bzip2 archive", "Unpack it first"),
    b"\xfd7zXZ": ("an xz archive", "Unpack it first"),
}


class Line(NamedTuple):
    """One line without its end; `fault` says why it can't be trusted."""

    number: int
    text: str
    fault: tuple[str, str] | None = None


def read_lines(path: Path, limit: int = LIMIT, encoding: str = "utf-8") -> Iterator[Line]:
    """Yield the lines of a text file, plain or gzip; faulty ones carry their fault.

    A line that is valid UTF-8 is read as such, whatever `encoding` says: files that were put
    together from several sources mix encodings line by line.
    """
    number = 0
    try:
        with _open_utf8(path, encoding) as file:
            while raw := file.readline(limit + 1):
                number += 1
                if len(raw) > limit and not raw.endswith(b"\n"):
                    size = len(raw) + _skip_line(file)
                    kept = raw[:1000].decode("utf-8", "replace")
                    yield Line(number, kept, ("line too long", _too_long(size, limit)))
                    continue
                if number == 1 and raw.startswith(codecs.BOM_UTF8):
                    raw = raw[3:]
                yield _decode(number, raw, encoding)
    except (EOFError, gzip.BadGzipFile, zlib.error) as fault:
        raise CorpusError(
            f"{path} is a damaged gzip file: {fault}, after line {number:,}. "
            "Copy or download it again"
        ) from None


@contextmanager
def _open_utf8(path: Path, encoding: str) -> Iterator[BinaryIO]:
    """Open a text file for lines of bytes; UTF-16 and UTF-32 become UTF-8 on the way."""
    with open_bytes(path) as file:
        if is_wide(encoding):
            yield cast(BinaryIO, _Recoded(file, encoding))
            return
        refuse_binary(path, file.read(65536))
        file.seek(0)
        yield file


class _Recoded:
    """Lines of a file in UTF-16 or UTF-32, as UTF-8."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._text = TextIOWrapper(file, encoding=encoding, errors="replace", newline="\n")

    def readline(self, limit: int) -> bytes:
        return self._text.readline(limit).encode("utf-8", "replace")


def open_bytes(path: Path) -> BinaryIO:
    """Open for reading; gzip is known by its first bytes, whatever the name."""
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path) if zipped else path.open("rb"))


def refuse_binary(path: Path, start: bytes) -> None:
    """Raise where the first bytes are not those of a UTF-8 text file."""
    for signature, (kind, advice) in SIGNATURES.items():
        if start.startswith(signature):
            raise CorpusError(f"{path} is not plain text but looks like {kind}.", advice)
    strange = len(start) - len(start.translate(None, CONTROL))
    if b"\0" in start and strange > max(FEW, len(start) // 100):
        raise CorpusError(
            f"{path} is not text: byte {start.index(0):,} is zero. "
            "Give a CSV, TSV, JSONL or Parquet file, or a folder of .txt files"
        )


def _decode(number: int, raw: bytes, encoding: str) -> Line:
    try:
        text = _decoded(raw, encoding)
    except UnicodeDecodeError as fault:
        # Only the first fault of a line is reported: more follow after one wrong byte.
        detail = f"byte 0x{raw[fault.start]:02X} at position {fault.start + 1}"
        kind = NOT_UTF8 if encoding == "utf-8" else f"not {called(encoding)}"
        return Line(number, raw.decode("utf-8", "backslashreplace"), (kind, detail))
    if "\0" in text:
        detail = f"a zero byte at position {text.index(chr(0)) + 1}"
        return Line(number, text, ("not text", detail))
    return Line(number, text)


def _decoded(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        if encoding == "utf-8":
            raise
        return raw.decode(encoding)


def _skip_line(file: BinaryIO) -> int:
    """Read to the end of the line in pieces; return the bytes passed over."""
    passed = 0
    while piece := file.readline(2**20):
        passed += len(piece)
        if piece.endswith(b"\n"):
            break
    return passed


def _too_long(size: int, limit: int) -> str:
    return f"{size:,} bytes, at most {limit:,} are read as one document"
