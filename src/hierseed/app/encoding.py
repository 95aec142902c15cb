"""Text files in another encoding than UTF-8: recognised, and rewritten as UTF-8."""

from __future__ import annotations

import codecs
from pathlib import Path

from hierseed.io.atomic import atomic_file

PLAIN = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".txt", ".md", ".yaml", ".yml")
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
TITLES = {"utf-16": "UTF-16", "cp1252": "Windows-1252", "latin-1": "Latin-1"}
CHUNK = 2**20


def to_utf8(file: Path) -> str:
    """Rewrite an uploaded text file as UTF-8 where it is not; return a sentence about it, or ""."""
    if file.suffix.lower() not in PLAIN:
        return ""
    encoding = guess_encoding(file)
    if encoding == "utf-8":
        return ""
    with (
        atomic_file(file) as partial,
        file.open(encoding=encoding, newline="") as source,
        partial.open("w", encoding="utf-8", newline="") as target,
    ):
        while part := source.read(CHUNK):
            target.write(part)
    return (
        f"The file is not UTF-8; it was read as {TITLES[encoding]}. Look at letters with accents "
        "below: if they are wrong, save the file as UTF-8 and bring it again"
    )


def guess_encoding(file: Path) -> str:
    """utf-8, utf-16, cp1252 or latin-1."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with file.open("rb") as source:
        start = source.read(CHUNK)
        for mark, encoding in MARKS.items():
            if start.startswith(mark):
                return encoding
        part = start
        try:
            while part:
                decoder.decode(part)
                part = source.read(CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            # These five bytes are no letters in Windows-1252.
            source.seek(0)
            while part := source.read(CHUNK):
                if any(byte in part for byte in b"\x81\x8d\x8f\x90\x9d"):
                    return "latin-1"
            return "cp1252"
    return "utf-8"
