"""Topics: names and paths over `core.tree`, with checks of all parts; where ids and paths meet."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree, chains_of_cycles
from hierseed.errors import SeedError, TaxonomyError
from hierseed.progress import amount

SEPARATOR = " > "
OTHER = "Other"

# Control characters, line separators, the byte order mark, halves of surrogate pairs and
# non-characters: each is forbidden or changed by at least one of the formats we write.
UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
UNWRITABLE_NAMES = {"\n": "a line break", "\r": "a line break", "\t": "a tab"}

EDITS = ("rename", "move", "merge", "split", "delete")

Path = str | Sequence[str]


def split_path(path: Path) -> tuple[str, ...]:
    """Return the names along a path, stripped of white space at their ends."""
    parts = path.split(SEPARATOR) if isinstance(path, str) else path
    return tuple(str(part).strip() for part in parts)


def name_fault(name: str) -> str:
    """Return what is wrong with a name, or an empty string."""
    if not name.strip():
        return "an empty name"
    if name != name.strip():
        return "white space around the name"
    if SEPARATOR in f" {name} ":
        return f"the separator {SEPARATOR!r}"
    if unwritable := UNWRITABLE.search(name):
        character = unwritable.group()
        called = UNWRITABLE_NAMES.get(character, f"the character U+{ord(character):04X}")
        return f"{called}, which not every file format can hold,"
    return ""


def free_name(taken: set[str]) -> str:
    """Return a name for an Other topic that none of its siblings has."""
    name, number = OTHER, 1
    while name in taken:
        number += 1
        name = f"{OTHER} (unlisted)" if number == 2 else f"{OTHER} (unlisted {number - 1})"
    return name


def checked_texts(what: str, values: Sequence[str]) -> tuple[str, ...]:
    """Return a tuple of texts; refuse anything else."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TaxonomyError(f"{what} is {values!r:.60}, not a sequence of texts")
    texts = tuple(values)
    wrong = [i for i, text in enumerate(texts) if not isinstance(text, str)]
    if wrong:
        raise TaxonomyError(
            f"{what} of {len(wrong):,} topics are no texts: topic {wrong[0]} has "
            f"{texts[wrong[0]]!r:.60}. Give one text per topic."
        )
    return texts


def checked_parents(given: Any, n: int) -> tuple[tuple[int, ...], ...]:
    """Return further parents; refuse those that are not topics."""
    if given is None:
        return ((),) * n
    try:
        found = tuple(tuple(int(parent) for parent in some) for some in given)
    except (TypeError, ValueError) as fault:
        raise TaxonomyError(f"more_parents can't be used: {fault}. Give a list each.") from None
    if wrong := [p for some in found for p in some if not 0 <= p < n]:
        raise TaxonomyError(f"more_parents names the topic {wrong[0]}, outside 0 … {n - 1}")
    return found


def checked_tree(parent: Sequence[int] | NDArray[np.intp]) -> Tree:
    """Return the tree; refuse parents that do not form one."""
    try:
        given = np.asarray(parent)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise ValueError("it is no list of whole numbers")
        return Tree(given.astype(np.intp))
    except (ValueError, TypeError, OverflowError) as fault:
        raise TaxonomyError(
            f"parent can't be used: {fault}. Give the id of each topic's parent, -1 at level 1; "
            "Taxonomy.from_parents takes parents in any order."
        ) from None


class Edit(NamedTuple):
    """One edit: rename, move, merge, split or delete; of which path, and into what."""

    kind: str
    path: str
    to: str = ""


def checked_log(log: Iterable[Sequence[str]]) -> tuple[Edit, ...]:
    """Return a log that holds edits only; one read from a file may hold anything."""
    try:
        made = tuple(Edit(*edit) for edit in log)
    except TypeError:
        made = (Edit("", ""),)
    for edit in made:
        if edit.kind not in EDITS or not all(isinstance(text, str) for text in edit):
            raise TaxonomyError(
                "the log of edits can't be used: each edit is a list of its kind "
                f"({', '.join(EDITS)}), a path, and the path or names that came of it"
            )
    return made


def taxonomy_faults(
    names: Sequence[str], tree: Tree, more_parents: Sequence[Sequence[int]]
) -> list[str]:
    """Find invalid names, repeated paths and topics that are their own ancestors."""
    faults = [
        f"{fault} in topic {i} ({name!r})"
        for i, name in enumerate(names)
        if (fault := name_fault(name))
    ]
    first: dict[tuple[int, str], int] = {}
    for topic, key in enumerate(zip(tree.parent.tolist(), names)):
        if key in first:
            path = SEPARATOR.join([*(names[i] for i in tree.path(key[0])), key[1]])
            faults.append(f"the path {path!r} occurs twice (topics {first[key]} and {topic})")
        first.setdefault(key, topic)
    if any(more_parents):
        every = [[int(p), *more] for p, more in zip(tree.parent, more_parents)]
        for chain in chains_of_cycles([[p for p in some if p >= 0] for some in every]):
            listed = " -> ".join(repr(names[i]) for i in [*chain, chain[0]])
            faults.append(f"a topic is its own ancestor: {listed}")
    return faults


def cycle_text(names: Sequence[str], parent: Sequence[int], start: int) -> str:
    """The topics of a cycle, for a message."""
    chain, topic = [names[start]], parent[start]
    while topic != start:
        chain.append(names[topic])
        topic = parent[topic]
    return " -> ".join(repr(name) for name in [*chain, names[start]])


def refuse_faults(faults: Sequence[str]) -> None:
    """Raise all faults at once, if there are any."""
    if faults:
        count = f"{len(faults)} faults" if len(faults) > 1 else "a fault"
        listed = "".join(f"\n  - {fault}" for fault in faults)
        raise TaxonomyError(f"{count} in the taxonomy:{listed}")


# What a topic has besides name and parent, and what a new topic has of it.
PARTS: dict[str, Any] = {
    "codes": "", "descriptions": "", "is_other": False, "more_parents": (), "addresses": ""
}  # fmt: skip


class Topics:
    """Names and parts of topics, with their queries: the base of `Taxonomy`.

    Examples
    --------
    >>> from hierseed import Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["Health > Mental health", "Safety > Guns"])
    """

    def __init__(
        self,
        names: Sequence[str],
        parent: Sequence[int] | NDArray[np.intp],
        *,
        codes: Sequence[str] | None = None,
        descriptions: Sequence[str] | None = None,
        is_other: Sequence[bool] | NDArray[np.bool_] | None = None,
        more_parents: Sequence[Sequence[int]] | None = None,
        addresses: Sequence[str] | None = None,
        vocabulary: str = "",
        log: Iterable[Sequence[str]] = (),
    ) -> None:
        self.names = checked_texts("names", names)
        n = len(self.names)
        self.tree = checked_tree(parent)
        self.codes = ("",) * n if codes is None else checked_texts("codes", codes)
        self.descriptions = (
            ("",) * n if descriptions is None else checked_texts("descriptions", descriptions)
        )
        self.is_other: NDArray[np.bool_] = np.zeros(n, dtype=bool)
        if is_other is not None:
            self.is_other = np.array(is_other, dtype=bool, ndmin=1)
        self.addresses = ("",) * n if addresses is None else checked_texts("addresses", addresses)
        self.more_parents = checked_parents(more_parents, n)
        self.vocabulary = str(vocabulary)
        self.log = checked_log(log)
        parts: tuple[Any, ...] = (
            self.tree, self.codes, self.descriptions, self.is_other, self.addresses,
            self.more_parents,
        )  # fmt: skip
        if (lengths := set(map(len, parts))) != {n}:
            raise TaxonomyError(
                f"names, parent, codes and the other parts differ in length: {n} names, "
                f"the others {sorted(lengths)}. Give one entry per topic."
            )
        refuse_faults(taxonomy_faults(self.names, self.tree, self.more_parents))

    def __getstate__(self) -> dict[str, Any]:
        derived = {"paths", "_index"}
        return {name: value for name, value in vars(self).items() if name not in derived}

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topics):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.tree.parent, other.tree.parent)
            and all(list(getattr(self, name)) == list(getattr(other, name)) for name in PARTS)
        )

    def __hash__(self) -> int:
        return hash((self.names, self.tree.parent.tobytes()))

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """`A > B > C` for each topic, in order of id.

        Examples
        --------
        >>> taxonomy.paths
        ('Health', 'Health > Mental health', 'Safety', 'Safety > Guns')
        """
        paths: list[str] = []
        for name, parent in zip(self.names, self.tree.parent):
            paths.append(name if parent < 0 else paths[parent] + SEPARATOR + name)
        return tuple(paths)

    def all_paths(self, topic: int, most: int = 20) -> list[str]:
        """Every path to a topic, by all of its parents and theirs; the one in the tree first.

        Examples
        --------
        >>> both = Taxonomy(["A", "B", "C"], [-1, -1, 0], more_parents=[[], [], [1]])
        >>> both.all_paths(2)
        ['A > C', 'B > C']
        """
        found: list[str] = []
        waiting = [(topic, "")]
        while waiting and len(found) < most:
            at, below = waiting.pop()
            path = self.names[at] + (SEPARATOR + below if below else "")
            above = [int(self.tree.parent[at]), *self.more_parents[at]]
            if above[0] < 0:
                found.append(path)
                above = above[1:]
            waiting += [(parent, path) for parent in reversed(above)]
        return found

    @cached_property
    def _index(self) -> dict[str, int]:
        return {path: topic for topic, path in enumerate(self.paths)}

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str | Sequence) and SEPARATOR.join(split_path(path)) in self._index

    def index(self, path: Path) -> int:
        """Return the id of a path; the error for an unknown one names similar paths.

        Examples
        --------
        >>> taxonomy.index("Safety > Guns")
        3
        >>> taxonomy.index("Guns")
        Traceback (most recent call last):
        hierseed.errors.TaxonomyError: no topic 'Guns' in ...; did you mean 'Safety > Guns'?
        """
        text = SEPARATOR.join(split_path(path))
        if text not in self._index:
            raise TaxonomyError(
                f"no topic {text!r} in the taxonomy of {len(self):,} topics{self.nearest(text)}"
            )
        return self._index[text]

    def find(self, path: Path) -> int:
        """The id of a path, or of a last name that only one topic has.

        Examples
        --------
        >>> taxonomy.find("Guns")
        3
        """
        named = [i for i, name in enumerate(self.names) if name == path]
        return named[0] if len(named) == 1 and path not in self else self.index(path)

    def nearest(self, text: str) -> str:
        """`; did you mean 'A > B'?`, by last name or path; empty if there are none.

        Examples
        --------
        >>> taxonomy.nearest("Guns")
        "; did you mean 'Safety > Guns'?"
        """
        named = [path for path, name in zip(self.paths, self.names) if name == text]
        close = named[:3] or difflib.get_close_matches(text, self.paths, n=3, cutoff=0.6)
        return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""

    def labels(
        self, seeds: Mapping[str, Iterable[int]] | Mapping[tuple[str, ...], Iterable[int]], n: int
    ) -> NDArray[np.intp] | list[list[int]]:
        """Turn `{path: [rows]}` into the `y` of `fit`: a topic id per row, -1 for no seed.

        Where a row serves several topics, `y` is a list of lists of ids instead. A topic may be
        named by its last name where only one topic has it.

        Examples
        --------
        >>> taxonomy.labels({"Guns": [1]}, 3).tolist()
        [-1, 3, -1]
        >>> taxonomy.labels({"Guns": [1], "Health": [0, 1]}, 3)
        [[0], [3, 0], []]
        """
        if not isinstance(seeds, Mapping) or not isinstance(n, int | np.integer):
            raise SeedError(
                "labels takes a mapping of paths to rows, and the number of documents; got a "
                f"{type(seeds).__name__} and a {type(n).__name__}. "
                "Write labels({path: [rows]}, n)"
            )
        rows: dict[int, list[int]] = {}
        faults: list[str] = []
        for path, members in seeds.items():
            try:
                topic = self.find(path)
            except TaxonomyError as fault:
                faults.append(str(fault))
                continue
            for row in members if isinstance(members, Iterable) else [members]:
                if not isinstance(row, int | np.integer):
                    faults.append(
                        f"seed {row!r} of {path!r} is no row number: rows count from 0, so a "
                        "document with an id is ids.index(id)"
                    )
                elif not 0 <= row < n:
                    faults.append(f"seed row {row} of {path!r} is outside 0 … {n - 1}")
                elif topic not in rows.setdefault(int(row), []):
                    rows[int(row)].append(topic)
        if faults:
            raise SeedError("; ".join(faults[:5]) + ("; …" if len(faults) > 5 else ""))
        if any(len(topics) > 1 for topics in rows.values()):
            return [rows.get(row, []) for row in range(n)]
        y = np.full(n, -1, dtype=np.intp)
        for row, topics in rows.items():
            y[row] = topics[0]
        return y

    def __repr__(self) -> str:
        levels = amount(self.tree.height, "level")
        return f"Taxonomy({amount(len(self), 'topic')}, {levels})"

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self, counts: Sequence[int] | NDArray[np.integer] | None = None) -> str:
        """Return the tree as collapsible HTML lists, with a count per topic if given.

        Examples
        --------
        >>> "<summary>Health" in taxonomy.to_html()
        True
        """

        def show(topic: int) -> str:
            name = escape(self.names[topic])
            if self.is_other[topic]:
                name = f"<i>{name}</i>"
            if counts is not None:
                name += f" <small style='opacity:.6'>{int(counts[topic]):,}</small>"
            below = self.tree.children(topic)
            if not len(below):
                return f"<li>{name}</li>"
            inner = "".join(show(int(child)) for child in below)
            fold = " open" if len(self) <= 60 else ""
            return f"<li><details{fold}><summary>{name}</summary><ul>{inner}</ul></details></li>"

        inner = "".join(show(int(topic)) for topic in self.tree.children(-1))
        return f"<div><b>{escape(repr(self))}</b><ul>{inner}</ul></div>"
