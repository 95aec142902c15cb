"""Documents: added in batches, read by page, found by their words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.app.project import Project
from hierseed.errors import CorpusError, name_some

RANKED = 5_000  # with more hits than this, ranking takes too long to wait for
COUNTED = 100_000  # hits are counted up to here
# scripts without spaces between words: each sign counts as a word, and a word as a phrase
UNSPACED = re.compile(
    "([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\U00020000-\U0003ffff])"
)
TERM = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')


class Document(NamedTuple):
    """One text, its name, and its row among the vectors."""

    row: int
    id: str
    text: str


class Found(NamedTuple):
    """One page of a search."""

    rows: list[int]
    total: int
    ranked: bool  # best match first; False: in the order of the corpus


def count(project: Project) -> int:
    """Documents in the project; rows are numbered without gaps."""
    return int(project.db.execute("SELECT coalesce(max(row) + 1, 0) FROM document").fetchone()[0])


def add(
    project: Project,
    batch: Iterable[tuple[str, str]],
    kept: Sequence[Mapping[str, Any]] = (),
) -> int:
    """Add documents behind those already there; return how many were new.

    `kept` has the other columns of each document, which an export gives back.
    One that is there with the same text is passed over, so that a load that was cut off can be
    run again; one that is there with another text is refused, and nothing of the batch is added.
    """
    given = list(batch)
    with project.write() as db:
        texts = "SELECT id, text FROM document WHERE id IN (%s)"
        known = dict(project.some(texts, [id for id, _ in given]))
        changed = [id for id, text in given if known.get(id, text) != text]
        if changed:
            raise CorpusError(
                f"{len(changed):,} documents are in the project with another text: "
                f"{name_some(changed)}. Give a changed document a new id, or start a new project"
            )
        fresh = [i for i, (id, _) in enumerate(given) if id not in known]
        start = count(project)
        rows = [(start + n, *given[i]) for n, i in enumerate(fresh)]
        db.executemany("INSERT INTO document VALUES (?, ?, ?)", rows)
        db.executemany(
            "INSERT INTO document_text (rowid, text) VALUES (?, ?)",
            ((row, spaced(text)) for row, _, text in rows),
        )
        db.executemany(
            "INSERT INTO kept VALUES (?, ?)",
            ((start + n, json.dumps(kept[i])) for n, i in enumerate(fresh) if kept and kept[i]),
        )
    return len(fresh)


def kept(project: Project, start: int, stop: int) -> list[dict[str, Any]]:
    """Other columns of the documents from one row up to another."""
    found = project.db.execute(
        "SELECT row, value FROM kept WHERE row >= ? AND row < ?", (start, stop)
    )
    values = {row: json.loads(value) for row, value in found}
    return [values.get(row, {}) for row in range(start, stop)]


def columns_of(project: Project, rows: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Other columns of some documents, by row."""
    found = project.some("SELECT row, value FROM kept WHERE row IN (%s)", list(map(int, rows)))
    return {row: json.loads(value) for row, value in found}


def remove_from(project: Project, first: int) -> int:
    """Remove all documents from a row on, with the decisions about them; return how many."""
    with project.write() as db:
        gone = db.execute(
            "SELECT row, text FROM document WHERE row >= ? ORDER BY row", (first,)
        ).fetchall()
        db.executemany(
            "INSERT INTO document_text (document_text, rowid, text) VALUES ('delete', ?, ?)",
            ((row, spaced(text)) for row, text in gone),
        )
        for table in ("label", "label_event", "gold", "coding", "sample_document", "kept"):
            db.execute(f"DELETE FROM {table} WHERE row >= ?", (first,))
        db.execute("DELETE FROM memo WHERE kind = 'document' AND target >= ?", (first,))
        db.execute("DELETE FROM document WHERE row >= ?", (first,))
    return len(gone)


def rows_of(project: Project, ids: Sequence[str]) -> dict[str, int]:
    """Rows of the documents with these ids; unknown ids are left out."""
    return dict(project.some("SELECT id, row FROM document WHERE id IN (%s)", ids))


def get(project: Project, rows: Sequence[int]) -> list[Document]:
    """Return documents in the order asked for."""
    wanted = list(map(int, rows))
    query = "SELECT row, id, text FROM document WHERE row IN (%s)"
    found = {row[0]: Document(*row) for row in project.some(query, wanted)}
    return [found[row] for row in wanted if row in found]


def every(project: Project, start: int = 0) -> Iterator[Document]:
    """All documents in order, read a stretch at a time so that no reader is held up."""
    while True:
        part = project.db.execute(
            "SELECT row, id, text FROM document WHERE row >= ? ORDER BY row LIMIT 2000", (start,)
        ).fetchall()
        if not part:
            return
        yield from map(Document._make, part)
        start = part[-1][0] + 1


def search(
    project: Project,
    text: str,
    *,
    offset: int = 0,
    limit: int = 20,
    within: Iterable[int] | None = None,
) -> Found:
    """Find documents by words; an empty text gives the corpus in order.

    `within` leaves only these rows.

    `climate policy` wants both words, `"climate policy"` the phrase, `-policy` leaves out; the
    last word may be unfinished.
    """
    if within is not None:
        return _search_within(project, text, offset, limit, {int(row) for row in within})
    if not text.strip():
        total = count(project)
        return Found(list(range(offset, min(offset + limit, total))), total, False)
    query, total = _query(project, text)
    if not total:
        return Found([], 0, False)
    ranked = total <= RANKED
    order = "rank" if ranked else "rowid"
    rows = project.db.execute(
        f"SELECT rowid FROM document_text WHERE document_text MATCH ? ORDER BY {order} "
        "LIMIT ? OFFSET ?",
        (query, limit, offset),
    )
    return Found([row for (row,) in rows], total, ranked)


def _search_within(project: Project, text: str, offset: int, limit: int, within: set[int]) -> Found:
    """Search some of the documents: the words are looked up, then the rows are compared."""
    rows = sorted(within)
    if text.strip():
        hits = set(rows_with(project, text).tolist())
        rows = [row for row in rows if row in hits]
    return Found(rows[offset : offset + limit], len(rows), bool(text.strip()))


def rows_with(project: Project, text: str) -> NDArray[np.intp]:
    """Rows of all documents that have these words, in order."""
    query, total = _query(project, text)
    if not total:
        return np.zeros(0, dtype=np.intp)
    found = project.db.execute(
        "SELECT rowid FROM document_text WHERE document_text MATCH ? ORDER BY rowid", (query,)
    )
    return np.array([row for (row,) in found], dtype=np.intp)


def _query(project: Project, text: str) -> tuple[str, int]:
    """The query for the index, and the number of hits, up to `COUNTED`."""
    query = match_query(text)
    if total := _hits(project, query):
        return query, total
    # perhaps the last word is not finished; asked second, since it costs more
    query = match_query(text, unfinished=True)
    return query, _hits(project, query)


def _hits(project: Project, query: str) -> int:
    if not query:
        return 0
    found = project.db.execute(
        "SELECT count(*) FROM (SELECT 1 FROM document_text WHERE document_text MATCH ? LIMIT ?)",
        (query, COUNTED),
    )
    return int(found.fetchone()[0])


def spaced(text: str) -> str:
    """Set the signs of Chinese, Japanese, Thai and Lao apart, so that they can be looked for."""
    return text if text.isascii() else UNSPACED.sub(r" \1 ", text)


def match_query(text: str, *, unfinished: bool = False) -> str:
    """Turn what a person types into an FTS5 query that can't be malformed; "" finds nothing."""
    wanted, unwanted = [], []
    terms = TERM.findall(text)
    for number, (minus, phrase, word) in enumerate(terms):
        words = re.findall(r"\w+", spaced(phrase or word))
        if not words:
            continue
        quoted = '"' + " ".join(words) + '"'
        open_end = unfinished and number == len(terms) - 1 and word and not text[-1].isspace()
        if minus:
            unwanted.append(quoted)
        else:
            wanted.append(quoted + ("*" if open_end and len(words[-1]) > 1 else ""))
    if not wanted:
        return ""
    query = " AND ".join(wanted)
    return f"({query})" + "".join(f" NOT {term}" for term in unwanted)
