"""Ways to damage bytes: as disks, networks, editors and other programs do."""

from __future__ import annotations

import json
import random
from typing import Any

from hierseed.files import CHECKSUM, with_checksum

TOKENS = [
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b'"', b"'", b",", b";",
    b"{", b"}", b"[", b"]", b":", b"\\", b" > ", b"#", b"&", b"<", b"NaN", b"-1", b"1e999",
    b"9" * 30, b"null", b"true", b"\xed\xa0\x80", b"\xc0\x80", b"=1+1", b"A" * 300, b"(" * 200,
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 0, -1, 2**70, 1.5, float("nan"), "", "x", "\ud800", [], {}, [[]], {"a": []},
]  # fmt: skip


def damage(content: bytes, rng: random.Random) -> bytes:
    """One to three changes to the bytes of a file."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice(CHANGES)(changed, rng)
    return bytes(changed)


def _flip(content: bytearray, rng: random.Random) -> None:
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def _set(content: bytearray, rng: random.Random) -> None:
    if content:
        content[rng.randrange(len(content))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, 0x20))


def _cut(content: bytearray, rng: random.Random) -> None:
    del content[rng.randrange(len(content) + 1) :]


def _drop(content: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(content) + 1)
    del content[start : start + rng.choice((1, 2, 8, 64, 500))]


def _repeat(content: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(content) + 1)
    content[start:start] = content[start : start + rng.choice((1, 4, 40, 400))]


def _insert(content: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(content) + 1)
    content[start:start] = rng.choice(TOKENS)


def _swap(content: bytearray, rng: random.Random) -> None:
    size = rng.choice((1, 4, 32))
    a, b = rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)
    content[a : a + size], content[b : b + size] = content[b : b + size], content[a : a + size]


CHANGES = [_flip, _flip, _set, _cut, _drop, _repeat, _insert, _insert, _swap]


def damage_json(content: bytes, rng: random.Random) -> bytes:
    """Change one value of a JSON object of ours and give it the right checksum again."""
    body = json.loads(content)
    body.pop(CHECKSUM, None)
    spots = list(_spots(body))
    holder, key = rng.choice(spots)
    if rng.random() < 0.2 and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = rng.choice(VALUES)
    return json.dumps(with_checksum(body)).encode()


def _spots(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a tree of lists and objects."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            found += _spots(value[key])
    return found
