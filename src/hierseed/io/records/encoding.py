"""Text that is not UTF-8: which encoding it has, and what may be named as one."""

from __future__ import annotations

import codecs
from pathlib import Path

from hierseed.errors import CorpusError, HierSeedWarning

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
CALLED = {
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


def called(name: str) -> str:
    """The name of an encoding for a message."""
    return CALLED.get(name, name)


def encoding_warning(file: str, encoding: str) -> HierSeedWarning:
    """The warning about an encoding that was detected."""
    return HierSeedWarning(
        f"{file} is not UTF-8: read as {called(encoding)}.",
        "If letters look wrong, name the encoding with {encoding}",
    )


def detect_encoding(path: Path) -> str:
    """Encoding of a text file: utf-8 if all of it is, else the likeliest by its odd lines."""
    from hierseed.io.records.lines import open_bytes

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
