"""GloVe text files of any dimension (and word2vec's text form): documents as means of word vectors.

A text file can't be looked up in, and may be larger than memory. The first use streams it once
into a matrix on disk beside a sorted table of word hashes; from then on a lookup reads only the
rows it needs.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.embedder import Vectors, as_text_list, fingerprint
from hierseed.embed.store import npy_header
from hierseed.embed.words import mean_of_words
from hierseed.errors import EmbeddingError, name_some
from hierseed.files import file_sha256, model_home

Fault = tuple[int, str]


class Glove:
    """Mean of the vectors of the words that the file holds, as written or else in lower case."""

    def __init__(self, file: str | PathLike[str], name: str | None = None) -> None:
        self.file = Path(file)
        self.name = name or f"glove:{self.file}"
        if not self.file.is_file():
            raise EmbeddingError(
                f"no GloVe file at {str(self.file)!r}. Check the path, or fetch one with: "
                "hierseed embedders get glove"
            )
        index = _index_folder(self.file)
        if not (index / "index.json").is_file():
            build_index(self.file, index)
        header = json.loads((index / "index.json").read_text(encoding="utf-8"))
        self.dimension: int = header["dimension"]
        self.fingerprint: str = fingerprint("glove", header["sha256"])
        self._hashes = np.load(index / "hashes.npy", mmap_mode="r")
        self._rows = np.load(index / "rows.npy", mmap_mode="r")
        self._vectors = np.load(index / "vectors.npy", mmap_mode="r")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Average the known words of each text."""
        return mean_of_words(as_text_list(texts), self.dimension, self._lookup)

    def coverage(self, texts: Sequence[str]) -> float:
        """Share of the texts' words that the file knows."""
        from hierseed.embed.words import split_words

        words = [word for text in as_text_list(texts) for word in split_words(text)]
        return float(self._find(words)[1].mean()) if words else 0.0

    def _lookup(self, words: list[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        rows, known = self._find(words)
        table = np.zeros((len(words), self.dimension), dtype=np.float32)
        table[known] = self._vectors[rows[known]]
        return table, known

    def _find(self, words: list[str]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        rows, known = self._search([_hash(word) for word in words])
        lower, lower_known = self._search([_hash(word.lower()) for word in words])
        return np.where(known, rows, lower), known | lower_known

    def _search(self, hashes: list[int]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        wanted = np.array(hashes, dtype=np.uint64)
        place = np.minimum(np.searchsorted(self._hashes, wanted), len(self._hashes) - 1)
        return self._rows[place].astype(np.intp), self._hashes[place] == wanted


def build_index(file: Path, index: Path) -> None:
    """Stream the text file into `index`; one line is in memory at a time."""
    draft = index.with_name(f"{index.name}.{os.getpid()}.part")
    draft.mkdir(parents=True, exist_ok=True)
    hashes: list[int] = []
    faults: list[Fault] = []
    dimension = 0
    with (draft / "vectors.npy").open("w+b") as matrix:
        for word, vector in _read(file, faults):
            if not hashes:
                dimension = len(vector)
                matrix.write(npy_header(0, dimension, "float32"))
            hashes.append(_hash(word))
            matrix.write(vector.tobytes())
        if faults or not hashes:
            shutil.rmtree(draft)
            _refuse(file, faults)
        matrix.seek(0)
        matrix.write(npy_header(len(hashes), dimension, "float32"))
    # A word that occurs twice keeps its first vector, as in the usual loaders.
    unique, first = np.unique(np.array(hashes, dtype=np.uint64), return_index=True)
    np.save(draft / "hashes.npy", unique)
    np.save(draft / "rows.npy", first.astype(np.uint32))
    header: dict[str, Any] = {"dimension": dimension, "words": len(unique)}
    header["sha256"] = file_sha256(file)
    (draft / "index.json").write_text(json.dumps(header) + "\n", encoding="utf-8", newline="\n")
    shutil.rmtree(index, ignore_errors=True)
    draft.replace(index)


def _read(file: Path, faults: list[Fault]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    dimension = 0
    with file.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            fields = line.rstrip().split(" ")
            if number == 1 and len(fields) == 2:
                continue  # word2vec's form begins with the number of words and of dimensions
            dimension = dimension or len(fields) - 1
            if len(fields) <= dimension:
                faults.append((number, f"{len(fields) - 1} numbers, not {dimension}"))
                continue
            # Words may contain spaces (". . ."), so the numbers are counted from the end.
            try:
                vector = np.array(fields[-dimension:], dtype=np.float32)
            except ValueError:
                faults.append((number, "not all numbers"))
                continue
            yield " ".join(fields[:-dimension]), vector


def _refuse(file: Path, faults: list[Fault]) -> None:
    lines = name_some([f"line {number}: {what}" for number, what in faults])
    raise EmbeddingError(
        f"{str(file)!r} is no GloVe text file ({lines or 'it holds no words'}). Each line is a "
        "word and its numbers, with single spaces between them. Unpack it first if it is packed."
    )


def _index_folder(file: Path) -> Path:
    # Path, size and time stand for the content: hashing gigabytes at each start would take longer
    # than embedding. The content's own hash is in the index, and in the fingerprint.
    about = file.stat()
    key = fingerprint(str(file.resolve()), about.st_size, about.st_mtime_ns)
    return model_home() / "glove-index" / key


def _hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
