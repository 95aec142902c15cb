"""What readers of records share: rows, faults of rows that can't be used, and lines of text.

Faults are collected with file and line, reported together, and saved if they are skipped. No line
of a text file can fill the memory, and each wrong byte is reported with its place.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from io import TextIOWrapper
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, cast

from hierseed.errors import CorpusError, HierSeedError, HierSeedWarning
from hierseed.files import atomic_file
from hierseed.progress import Note

KEPT = 100  # faults kept in full; further ones are counted, so that memory stays bounded
SHOWN = 5  # of each kind
NOT_UTF8 = "not UTF-8"
ADVICE = {  # what to do, as in `HierSeedError`
    NOT_UTF8: "It may be Windows-1252, as Excel writes .csv. Use {encoding:auto} or "
    "{encoding:cp1252}; lines in UTF-8 are still read as UTF-8"
}

LIMIT = 8 * 2**20  # bytes in one document; the Bible has 4.3 million

CONTROL = bytes({*range(32)} - {*b"\t\n\r\f"})  # bytes that no text contains
FEW_CONTROL = 3  # this many among the first bytes make their lines faulty, not the whole file

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

AUTO = "auto"  # as the name of an encoding: find out
SAMPLE = 1 << 18  # bytes of lines that are not UTF-8: enough to decide
WIDE = ("utf-16", "utf-32")  # a line break is not the byte \n there
WESTERN = "cp1252"
FEW = 12  # non-ASCII bytes: with fewer, the commonest encoding is assumed
# Encodings like Windows-1252 in most letters of Western Europe: a short text fits several.
LIKE_WESTERN = ("cp1250", "cp1257", "iso8859", "latin", "mac_")
COMMON = [  # encodings in use; others would match by chance
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258",
    "cp874", "koi8_r", "koi8_u", "cp932", "euc_jp", "cp949", "euc_kr", "gb18030", "big5",
]  # fmt: skip
DISPLAY_NAMES = {
    "cp1252": "Windows-1252 (Western Europe)",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp932": "Shift JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "utf-16": "UTF-16",
}


class Row(NamedTuple):
    """The selected values of one row, in the order of the selection."""

    line: int
    values: list[Any]
    whole: Callable[[], str] = str  # returns the whole row as it is in the file
    file: str = ""  # where each row is a file of its own


def as_text(value: Any) -> str | None:
    """Text of a cell, "" for an empty one, None for what is no text (a list, half a letter).

    Whole numbers lose the `.0` that Excel and pandas give them, so that ids still match.
    """
    if isinstance(value, str):
        return value if value.isascii() or is_unicode(value) else None
    if value is None or value != value:  # NaN differs from itself
        return ""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return None


def as_json(columns: Sequence[str], values: Sequence[Any]) -> str:
    """Write a row of a format that has no lines."""
    return json.dumps(dict(zip(columns, values)), ensure_ascii=False, default=str)


def describe(value: Any) -> str:
    """Describe a value that is not a text."""
    return "half of a surrogate pair" if isinstance(value, str) else f"a {type(value).__name__}"


def is_unicode(text: str) -> bool:
    """False for half of a surrogate pair: JSON and file names can contain it, UTF-8 can not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Fault(NamedTuple):
    """One row that can't be used."""

    file: str
    line: int  # 1-based; the row number where a format has no lines; 0 for the file as a whole
    kind: str  # a few words, the same for all faults of a kind
    detail: str = ""
    row: str = ""  # the row as it is in the file, for the list of skipped rows

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        return f"{self.place}: {self.kind}" + (f" ({self.detail})" if self.detail else "")


class Faults:
    """The first faults in full and a count of each kind."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self.kept: list[Fault] = []
        self.counts: Counter[str] = Counter()
        for fault in faults:
            self.add(fault)

    def add(self, fault: Fault) -> None:
        """Count a fault; keep it if there are not too many."""
        self.counts[fault.kind] += 1
        if len(self.kept) < KEPT or self.counts[fault.kind] <= SHOWN:
            self.kept.append(fault._replace(row=""))

    def __len__(self) -> int:
        return self.counts.total()

    def errors(self, kind: type[HierSeedError]) -> list[HierSeedError]:
        """Errors: one for each fault of a kind if they are few, else the first and a count."""
        found: list[HierSeedError] = []
        for name, count in self.counts.items():
            same = [fault for fault in self.kept if fault.kind == name]
            alike = count > 1 and len({(fault.file, fault.detail) for fault in same}) == 1
            if count <= SHOWN and name not in ADVICE and not alike:
                found += [kind(str(fault)) for fault in same]
                continue
            places = ", ".join(fault.place for fault in same[1:SHOWN])
            joint = " The" if str(same[0]).endswith("?") else "; the"
            more = f"{joint} same in {places}" if places else ""
            end = f" and {count - SHOWN:,} more" if count > SHOWN else ""
            found.append(kind(f"{same[0]}{more}{end}", ADVICE.get(name, "")))
        return found

    def describe(self) -> str:
        """All faults as a list, without advice."""
        return "".join(f"\n  - {fault.message}" for fault in self.errors(HierSeedError))

    def refuse(self, kind: type[HierSeedError], rows: str, advice: str = "") -> NoReturn:
        """Raise an error that lists all faults of these rows."""
        kinds = [ADVICE[name] for name in self.counts if name in ADVICE]
        advice = ". ".join(filter(None, [*kinds, advice]))
        raise kind(f"{rows} can't be used:{self.describe()}" + "\n" * bool(advice), advice)

    def note(self, rows: str) -> Note:
        """The note that these rows were left out."""
        kinds = [ADVICE[name] for name in self.counts if name in ADVICE]
        text = f"{rows} left out:{self.describe()}"
        return Note(text + "\n" * bool(kinds), ". ".join(kinds))


class SkippedRows(AbstractContextManager["SkippedRows"]):
    """A CSV file of the rows that were skipped; no file if there are none."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self.count = 0

    @classmethod
    def beside(cls, output: str | PathLike[str]) -> SkippedRows:
        """`table.csv` has its skipped rows in `table.skipped.csv`."""
        return cls(Path(output).with_name(f"{Path(output).stem}.skipped.csv"))

    def __enter__(self) -> SkippedRows:
        self._stack = ExitStack()
        return self

    def write(self, fault: Fault) -> None:
        """Write a row as it is in the file, with the reason; the first one creates the file."""
        if self.count == 0:
            partial = self._stack.enter_context(atomic_file(self.path))
            # a name of a file need not be UTF-8
            stream = partial.open("w", encoding="utf-8", newline="", errors="backslashreplace")
            self._writer = csv.writer(self._stack.enter_context(stream))
            self._writer.writerow(["file", "line", "fault", "detail", "row"])
        self.count += 1
        self._writer.writerow(fault)

    def __exit__(self, kind: Any, fault: Any, trace: Any) -> None:
        if kind is None and self.count == 0:
            self.path.unlink(missing_ok=True)  # of an earlier run
        self._stack.__exit__(kind, fault, trace)


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
    if b"\0" in start and strange > max(FEW_CONTROL, len(start) // 100):
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
        kind = NOT_UTF8 if encoding == "utf-8" else f"not {display_name(encoding)}"
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


def check_encoding(name: str) -> str:
    """Return Python's name of an encoding; refuse an unknown one."""
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    if found is None or not getattr(found, "_is_text_encoding", True):
        raise CorpusError(
            f"no encoding {name!r} is known. Name one such as utf-8, cp1252 (Windows, Western "
            f"Europe), cp1250, cp1251, gb18030, shift_jis, utf-16, or {AUTO} to find out"
        )
    return found.name


def is_wide(name: str) -> bool:
    """True for encodings of several bytes a letter, whose lines must be decoded to be found."""
    return name.startswith(WIDE)


def display_name(name: str) -> str:
    """The name of an encoding for a message."""
    return DISPLAY_NAMES.get(name, name)


def encoding_warning(file: str, encoding: str) -> HierSeedWarning:
    """The warning about an encoding that was detected."""
    return HierSeedWarning(
        f"{file} is not UTF-8: read as {display_name(encoding)}.",
        "If letters look wrong, name the encoding with {encoding}",
    )


def detect_encoding(path: Path) -> str:
    """Encoding of a text file: utf-8 if all of it is, else the likeliest by its odd lines."""
    odd: list[bytes] = []
    size = 0
    with open_bytes(path) as file:
        start = file.read(2)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        file.seek(0)
        while size < SAMPLE and (raw := file.readline(SAMPLE)):
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError:
                odd.append(raw)
                size += len(raw)
    return guess_encoding(b"".join(odd)) if odd else "utf-8"


def guess_encoding(sample: bytes) -> str:
    """The likeliest encoding of bytes that are not UTF-8."""
    from charset_normalizer import from_bytes

    if sum(byte > 127 for byte in sample) < FEW:
        return WESTERN
    found = [match.encoding for match in from_bytes(sample, cp_isolation=COMMON)]
    if not found or (found[0].startswith(LIKE_WESTERN) and WESTERN in found[:3]):
        return WESTERN
    if found[0].startswith(LIKE_WESTERN) and _same(sample, found[0], WESTERN):
        return WESTERN
    return check_encoding(found[0])


def _same(sample: bytes, one: str, other: str) -> bool:
    try:
        return sample.decode(one) == sample.decode(other)
    except UnicodeDecodeError:
        return False
