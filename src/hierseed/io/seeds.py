"""Seeds: documents of the corpus, or separate texts, with a known topic, found by `TopicFinder`."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import CorpusError, SeedError, TaxonomyError, name_some
from hierseed.io.documents import Labels, SeedDocuments, as_labels
from hierseed.io.records import (
    Records,
    as_text,
    best_column,
    choose_columns,
    filled_cells,
    guess_id,
    open_records,
    other_sheets,
    refuse_data,
    warn_of_guess,
)
from hierseed.io.records.rows import Fault, Faults
from hierseed.progress import amount
from hierseed.taxonomy import Taxonomy
from hierseed.topics import SEPARATOR, Topics

OTHER_MARKS = ("->", "→", "::", "--", "/", "|", "\\")  # what people write in place of >


class TopicFinder:
    """Finds topics by path, then by a code or last name that only one topic has.

    Capitals and the spaces around `>` matter only where they distinguish two topics. Other marks
    between the names of a path, as in `A/B` or `A -- B`, are understood if no topic is called so.
    With `none`, the text `None` stands for no topic.
    """

    def __init__(self, taxonomy: Topics, *, none: bool = False) -> None:
        self.taxonomy, self.none = taxonomy, none
        self.shared: set[int] = set()  # topics of level 1 found by a name that others share
        self._known: dict[str, int] = {}
        self._named = _group(enumerate(taxonomy.names), _loose)
        paths = list(enumerate(taxonomy.paths))
        short = [*enumerate(taxonomy.codes), *enumerate(taxonomy.names)]
        self._steps: list[tuple[Callable[[str], str], dict[str, set[int]]]] = [
            (str, _group(paths, str)),
            (str, _group(short, str)),
            (_loose, _group(paths, _loose)),
            (_loose, _group(short, _loose)),
            (_whole, _group(enumerate(taxonomy.codes), str)),
        ]

    def find(self, text: str) -> int:
        """Return the id; raise if no topic matches, or more than one."""
        if text not in self._known:
            self._known[text] = self._search(text.strip())
        return self._known[text]

    def find_all(self, text: str) -> list[int]:
        """Return the ids of one topic, or of several that `;` or `|` separates."""
        if self.none and _loose(text) == "none" and "none" not in self._named:
            return []
        try:
            return [self.find(text)]
        except TaxonomyError:
            for mark in ";|":
                parts = [part for part in text.split(mark) if part.strip()]
                if len(parts) > 1:
                    with suppress(TaxonomyError):
                        return list(dict.fromkeys(map(self.find, parts)))
            raise

    def _search(self, text: str) -> int:
        for spell, topics in self._steps:
            found = topics.get(spell(text), set())
            if len(found) == 1:
                topic = next(iter(found))
                if self.others(topic):
                    self.shared.add(topic)
                return topic
            if found:
                matches = [self.taxonomy.paths[topic] for topic in sorted(found)]
                raise TaxonomyError(
                    f"{text!r} matches {len(matches)} topics: {name_some(matches)}; "
                    "write the whole path"
                )
        paths = self._steps[2][1]
        for mark in OTHER_MARKS:  # no topic has this name, so that the mark can be a separator
            if len(found := paths.get(_loose(text.replace(mark, ">")), set())) == 1:
                return next(iter(found))
        raise TaxonomyError(f"no topic {text!r}{self.nearest(text)}")

    def others(self, topic: int) -> list[str]:
        """Paths of deeper topics with the same name as this one, which is of level 1."""
        if self.taxonomy.tree.parent[topic] >= 0:
            return []
        named = self._named[_loose(self.taxonomy.names[topic])]
        return [self.taxonomy.paths[other] for other in sorted(named - {topic})]

    def nearest(self, text: str) -> str:
        """`; did you mean …?` with similar names or paths; empty if there are none."""
        wanted = _loose(text)
        by_name = defaultdict(list)
        for path, name in zip(self.taxonomy.paths, self.taxonomy.names):
            by_name[_loose(name)].append(path)
            by_name[_loose(path)].append(path)
        close = difflib.get_close_matches(wanted, list(by_name), n=3, cutoff=0.6)
        paths = list(dict.fromkeys(path for name in close for path in by_name[name]))[:3]
        return f"; did you mean {' or '.join(map(repr, paths))}?" if paths else ""


def _group(
    spellings: Iterable[tuple[int, str]], spell: Callable[[str], str]
) -> dict[str, set[int]]:
    """Topics by spelling; empty texts are left out."""
    groups: dict[str, set[int]] = defaultdict(set)
    for topic, text in spellings:
        if text:
            groups[spell(text)].add(topic)
    return groups


def _loose(text: str) -> str:
    parts = (" ".join(part.split()) for part in text.split(">"))
    return SEPARATOR.join(parts).casefold()


def _whole(text: str) -> str:
    """A code 105 that pandas wrote as 105.0, because its column has gaps."""
    number = text.removesuffix(".0")
    return number if number.isdigit() else text


def guess_topic(records: Records, finder: TopicFinder) -> str | None:
    """The column whose cells are topics; of columns for several levels the deepest."""
    found = {
        name: [_levels(finder, cell) for cell in some]
        for name, some in filled_cells(records).items()
    }
    known = {name: [level > 0 for level in levels] for name, levels in found.items()}
    name = best_column(known, {name: sum(levels) for name, levels in found.items()})
    if name is not None and _levels(finder, name):
        refuse_data(records, name, "id,topic")
    return name


def _levels(finder: TopicFinder, cell: str) -> int:
    """The deepest level among the topics of a cell, 0 if one is unknown."""
    try:
        topics = finder.find_all(cell)
    except TaxonomyError:
        return 0
    return max(int(finder.taxonomy.tree.level[topic]) for topic in topics)


WIDTHS = range(2, 21)  # digits of an id with leading zeros


@dataclass
class Seeds:
    """Topics of corpus documents by id, and separate texts with a topic each."""

    by_id: dict[str, list[int]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    text_topics: list[int] = field(default_factory=list)
    n_names: int = 0  # of the texts, at their end: names of topics
    faults: Faults = field(default_factory=Faults)
    blank: int = 0  # rows without a topic
    shared: dict[str, list[str]] = field(default_factory=dict)  # by name of a topic of level 1:
    # deeper topics with the same name

    @property
    def n_texts(self) -> int:
        """Number of texts that are not names of topics."""
        return len(self.texts) - self.n_names

    def __len__(self) -> int:
        return sum(map(len, self.by_id.values())) + len(self.texts)

    def counts(self, n_topics: int) -> NDArray[np.intp]:
        """Number of seeds of each topic, without its children."""
        every = [topic for topics in self.by_id.values() for topic in topics]
        return np.bincount([*every, *self.text_topics], minlength=n_topics)

    def without(self, taxonomy: Taxonomy) -> list[int]:
        """Leaves without a seed."""
        return [topic for topic in self._empty(taxonomy) if taxonomy.tree.is_leaf[topic]]

    def _empty(self, taxonomy: Taxonomy) -> list[int]:
        return [int(topic) for topic in np.flatnonzero(self.counts(len(taxonomy)) == 0)]

    def add_names(self, taxonomy: Taxonomy, *, inner: bool = False) -> int:
        """Use name and description as the seed of leaves without one; return their number.

        With `inner`, of inner topics too.
        """
        lacking = self._empty(taxonomy) if inner else self.without(taxonomy)
        self.texts += [name_text(taxonomy, topic) for topic in lacking]
        self.text_topics += lacking
        self.n_names += len(lacking)
        return len(lacking)

    def add(self, more: Seeds) -> None:
        """Add the seeds of another file."""
        for id, topics in more.by_id.items():
            self._add_topics(id, topics)
        self.texts += more.texts
        self.text_topics += more.text_topics
        self.shared |= more.shared

    def _add_topics(self, id: str, topics: list[int]) -> None:
        known = self.by_id.setdefault(id, [])
        known += [topic for topic in topics if topic not in known]

    def respell(self, holds: Callable[[str], bool]) -> dict[str, str]:
        """Spell numeric ids as the corpus does; return ids that had lost leading zeros.

        7.0, as pandas and spreadsheets write it, is document 7 unless a document 7.0 exists, and
        vice versa; 288, as Excel writes it, is document 0288 unless a document 288 exists.
        """
        padded = {}
        for id in [id for id in self.by_id if not holds(id)]:
            if holds(respelled(id)):
                self._add_topics(respelled(id), self.by_id.pop(id))
            elif full := with_zeros(id, holds):
                self._add_topics(full, self.by_id.pop(id))
                padded[id] = full
        return padded

    def match(
        self,
        holds: Callable[[str], bool],
        n: int,
        some: Iterable[str],
        *,
        skip: bool = False,
        kind: str = "seed",
    ) -> list[str]:
        """Find every document in a corpus of n, which `holds` ids such as `some`.

        Returns notes. Missing documents are left out with `skip`; otherwise they raise an error.
        `kind` says in messages what these are: "seed" or "rejection".
        """
        notes = []
        if padded := self.respell(holds):
            pairs = [f"{short} is read as {full}" for short, full in padded.items()]
            notes.append(
                f"{len(padded):,} ids of the {kind}s had lost their leading zeros, as in Excel: "
                f"{', '.join(pairs[:3])}{' …' if len(pairs) > 3 else ''}"
            )
        missing = [id for id in self.by_id if not holds(id)]
        if not missing or not skip:
            self._refuse(missing, n, some, kind)
            return notes
        for id in missing:
            del self.by_id[id]
        return [
            *notes,
            f"{amount(len(missing), kind)} not in the corpus and left out: {name_some(missing)}",
        ]

    def _refuse(
        self, missing: Collection[str], n: int, some: Iterable[str] = (), kind: str = "seed"
    ) -> None:
        if missing:
            hint = f", where ids are like {name_some(some)}" if some else ""
            documents = {"rejection": "rejected documents"}.get(kind, f"{kind} documents")
            raise SeedError(
                f"{len(missing):,} of {len(self.by_id):,} {documents} are not in the corpus of "
                f"{n:,}: {name_some(missing)}{hint}.",
                "Check the ids, name their columns with {id} and {seed_id}, or leave these "
                f"{kind}s out with {{on_error:skip}}",
            )

    def rows(self, ids: Iterable[str]) -> Labels:
        """Turn into the `y` of `fit` for a corpus with these ids, in order.

        Raises where an id is not in the corpus, with all of them at once.
        """
        ids = ids if isinstance(ids, Sequence) else list(ids)
        rows = SeedDocuments(self.by_id).rows(ids)
        topics = {row: self.by_id[ids[row]] for row in rows}
        here = {ids[row] for row in rows}
        self._refuse([id for id in self.by_id if id not in here], len(ids))
        return as_labels(topics, len(ids))


@dataclass(frozen=True)
class SeedTable:
    """A file of seeds, and how it is read.

    Parameters
    ----------
    path : the file
    topic, id, text : names of its columns; None for the usual ones, or guessed from the content
    encoding : of lines that are not UTF-8; "auto" detects it
    sheet : of an Excel workbook, by name or number from 1
    """

    path: Path
    topic: str | None = None
    id: str | None = None
    text: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    def open(self) -> Records:
        """Open the rows."""
        return open_records(self.path, encoding=self.encoding, sheet=self.sheet)


class SeedColumns(NamedTuple):
    """The rows of a table of seeds, and the columns to read; id or text may be None."""

    records: Records
    topic: str
    id: str | None
    text: str | None


def open_seeds(
    file: str | PathLike[str] | SeedTable | Records,
    called: str = "the seeds",
    *,
    finder: TopicFinder | None = None,
    holds: Callable[[str], bool] | None = None,
) -> SeedColumns:
    """Open a table of seeds and find its columns.

    A column that lacks its usual name is guessed from its content: topics that `finder` finds, ids
    that `holds` accepts.
    """
    table = SeedTable(Path(file)) if isinstance(file, str | PathLike) else file
    named = table if isinstance(table, SeedTable) else SeedTable(table.path)
    try:
        records = table.open() if isinstance(table, SeedTable) else table
        topic = named.topic or _optional(records, "topic")
        if topic is None and finder is not None and (topic := guess_topic(records, finder)):
            warn_of_guess(records.path.name, f"topics are in {topic!r}", "topic")
        id = named.id or _optional(records, "id")
        if id is None and holds is not None and (id := _guess_seed_id(records, holds)):
            warn_of_guess(records.path.name, f"ids are in {id!r}", "seed_id")
        text = named.text or _optional(records, "text")
        faults = [] if topic else ["no column 'topic'"]
        if id is None and text is None:
            faults.append("no column 'id' or 'text' next to the topics")
        if faults:
            raise CorpusError(
                f"{records.path} has {' and '.join(faults)}; its columns are "
                f"{name_some(records.columns, 12)}.",
                "Name the column of topics with {topic}, and that of ids with {seed_id}"
                + other_sheets(records, "seed_sheet"),
            )
        wanted = [(topic, "{topic}"), (id, "{seed_id}"), (text, "{text}")]
        names = [(name, f"Name a column of the file with {by}") for name, by in wanted if name]
        chosen = iter(choose_columns(records, names, sheet="seed_sheet"))
        return SeedColumns(records, *(next(chosen) if name else None for name, _ in wanted))  # type: ignore[arg-type]
    except CorpusError as fault:
        raise SeedError(f"{called} can't be read: {fault.message}", fault.advice) from None


def read_seeds(
    file: str | PathLike[str] | SeedTable | Records,
    taxonomy: Taxonomy,
    *,
    strict: bool = True,
    on_skip: Callable[[Fault], object] | None = None,
    called: str = "the seeds",
    holds: Callable[[str], bool] | None = None,
    none: bool = False,
) -> Seeds:
    """Read rows of `id,topic`, `text,topic` or both, from a file or from memory.

    A row with an id is a document of the corpus; a row with only a text is a seed outside the
    corpus; a row without a topic is ignored. `strict=False` keeps faults in `Seeds.faults` instead
    of raising, and passes each to `on_skip` with its row. `called` names the table in errors.
    `holds` tests ids, by which their column is found. For `none` see `TopicFinder`.
    """
    guesser = TopicFinder(taxonomy)  # what it finds in columns of other things must not be noted
    records, topic, id, text = open_seeds(file, called, finder=guesser, holds=holds)
    seeds, finder = Seeds(), TopicFinder(taxonomy, none=none)

    def note(fault: Fault) -> None:
        seeds.faults.add(fault)
        if on_skip:
            on_skip(fault)

    columns = [topic, *(column for column in (id, text) if column is not None)]
    for row in records.rows(columns):
        if isinstance(row, Fault):
            note(row)
            continue
        values = dict(zip(columns, (as_text(value) or "" for value in row.values)))
        problem = _add(seeds, finder, values[topic], values.get(id or ""), values.get(text or ""))
        if problem:
            note(Fault(records.path.name, row.line, problem, row=row.whole()))
    seeds.shared = {taxonomy.names[topic]: finder.others(topic) for topic in finder.shared}
    if strict and seeds.faults:
        seeds.faults.refuse(SeedError, f"{len(seeds.faults):,} rows of {records.path}")
    if strict and not len(seeds):
        raise SeedError(f"no seeds in {records.path}. Give rows of id,topic or text,topic")
    return seeds


def seeds_from_mapping(
    examples: Mapping[Any, Any],
    taxonomy: Taxonomy,
    holds: Callable[[str], bool],
    ids: Callable[[], Sequence[str]],
) -> Seeds:
    """Turn a mapping of topic to ids, rows or texts into seeds.

    A value is the id of a document, a row number from 0, or a text of several words, in this order;
    any other string is an unknown id.
    """
    seeds, finder, problems = Seeds(), TopicFinder(taxonomy), {}
    every: Sequence[str] | None = None
    for topic, values in examples.items():
        path = topic if isinstance(topic, str) else SEPARATOR.join(topic)
        for value in [values] if isinstance(values, str | int | np.integer) else values:
            name, text = str(value), None
            if not holds(name) and isinstance(value, int | np.integer):
                every = ids() if every is None else every
                name = every[int(value)] if -len(every) <= value < len(every) else name
            elif not holds(name) and " " in name.strip():
                name, text = "", name
            if problem := _add(seeds, finder, path, name, text):
                problems[problem] = path
    if problems:
        raise SeedError(
            f"{amount(len(problems), 'topic')} of the seeds can't be used: {'; '.join(problems)}"
        )
    return seeds


def name_text(taxonomy: Taxonomy, topic: int) -> str:
    """Text used as the seed of a topic: its name, its parent's name, its description."""
    above = int(taxonomy.tree.parent[topic])
    name = taxonomy.names[topic] + (f", {taxonomy.names[above]}" if above >= 0 else "")
    return f"{name}. {taxonomy.descriptions[topic]}".strip()


def _add(seeds: Seeds, finder: TopicFinder, topic: str, id: str | None, text: str | None) -> str:
    """Add one row; return what is wrong with it, or an empty string."""
    if not topic.strip():
        seeds.blank += 1
        return ""
    try:
        topics = finder.find_all(topic)
    except TaxonomyError as fault:
        return str(fault)
    id = (id or "").strip()
    if id:
        seeds._add_topics(id, topics)
    elif (text or "").strip():
        seeds.texts += [text or ""] * len(topics)
        seeds.text_topics += topics
    else:
        return "neither an id nor a text"
    return ""


def with_zeros(id: str, holds: Callable[[str], bool]) -> str:
    """The same number with leading zeros, if exactly one document has it; else empty."""
    digits = id.removesuffix(".0")
    if not digits.isdecimal():
        return ""
    found = [full for full in (digits.zfill(width) for width in WIDTHS) if holds(full)]
    longer = {full for full in found if full != digits}
    return longer.pop() if len(longer) == 1 else ""


def respelled(id: str) -> str:
    """The other spelling of a whole number: 7 for 7.0, 7.0 for 7; empty for other ids."""
    whole = re.fullmatch(r"(-?\d+)(\.0)?", id)
    return "" if not whole else whole[1] if whole[2] else f"{id}.0"


def _guess_seed_id(records: Records, holds: Callable[[str], bool]) -> str | None:
    """The column that holds ids of documents, as they are or as a spreadsheet left them."""

    def is_near(id: str) -> bool:
        return holds(id) or holds(respelled(id)) or bool(with_zeros(id, holds))

    return guess_id(records, holds) or guess_id(records, is_near)


def _optional(records: Records, name: str) -> str | None:
    found = [column for column in records.columns if column.lower() == name]
    return found[0] if found else None
