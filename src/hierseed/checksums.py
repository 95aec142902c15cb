"""Checksums of files and of JSON objects: how a damaged or edited file is noticed.

A checksum detects damage and careless edits. It is no signature: whoever can write the file can
also write a checksum that fits.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

CHECKSUM = "sha256"  # the key under which a JSON object carries its own checksum


def file_sha256(file: Path) -> str:
    """SHA-256 of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def json_sha256(body: dict[str, Any], before: str = "") -> str:
    """SHA-256 of a JSON object, whatever the order of its keys; `before` chains it to another."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256((before + canonical).encode()).hexdigest()


def with_checksum(body: dict[str, Any], before: str = "") -> dict[str, Any]:
    """The same object with its own checksum."""
    return {**body, CHECKSUM: json_sha256(body, before)}


def checked_object(text: str | bytes, before: str = "") -> dict[str, Any]:
    """Parse what `with_checksum` gave, checksum included; ValueError says what is wrong with it."""
    try:
        body = json.loads(text)
        if not isinstance(body, dict):
            raise ValueError(f"it holds a {type(body).__name__} where an object is expected")
        if CHECKSUM not in body:
            raise ValueError("it has no checksum")
        rest = {name: value for name, value in body.items() if name != CHECKSUM}
        if body[CHECKSUM] != json_sha256(rest, before):
            raise ValueError("its checksum differs")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return body
