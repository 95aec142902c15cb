"""Taxonomy: names and paths over `core.tree`; the only place where ids and paths meet."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed import taxonomy_edits as edits
from hierseed.core.tree import cycles, parents_first
from hierseed.errors import SeedError, TaxonomyError
from hierseed.names import (
    SEPARATOR,
    Path,
    checked_log,
    checked_parents,
    checked_texts,
    checked_tree,
    cycle_text,
    free_name,
    name_fault,
    refuse_faults,
    split_path,
    taxonomy_faults,
)


class Taxonomy:
    """A forest of topics. A topic keeps its id for life; Other topics are appended.

    Parameters
    ----------
    names : the last name of each topic
    parent : the id of each topic's parent, -1 at level 1; `parent[i] < i`
    codes, descriptions : optional texts per topic, "" where there is none
    is_other : True where a topic was added to catch what the listed children miss
    more_parents : ids of further parents of each topic. The tree has a topic once, under `parent`;
        `all_paths` gives the others
    addresses : the address (URI) of each topic in a vocabulary, "" where there is none
    vocabulary : the file that the topics came from, as N-Triples; writing SKOS and JSON keeps it
    log : the edits made so far, by which a fit finds the topics of an earlier model; JSON keeps it

    Examples
    --------
    >>> taxonomy = Taxonomy.from_paths(["Health > Mental health", "Safety > Guns"])
    >>> len(taxonomy), taxonomy.index("Safety > Guns")
    (4, 3)
    >>> taxonomy.labels({"Health > Mental health": [0, 2]}, 4).tolist()
    [1, -1, 1, -1]
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

    # ---------------------------------------------------------------- construction

    @classmethod
    def from_paths(cls, paths: Iterable[Path]) -> Taxonomy:
        """Build from `"A > B > C"` strings or tuples of names; parents are filled in.

        Examples
        --------
        >>> Taxonomy.from_paths(["Health > Mental health", ("Safety", "Guns")]).paths
        ('Health', 'Health > Mental health', 'Safety', 'Safety > Guns')
        """
        names: list[str] = []
        parent: list[int] = []
        known: dict[tuple[str, ...], int] = {}
        listed: set[tuple[str, ...]] = set()
        faults: list[str] = []
        for path in paths:
            parts = split_path(path)
            if parts in listed:
                faults.append(f"the path {SEPARATOR.join(parts)!r} occurs twice")
                continue
            listed.add(parts)
            faults += [
                f"{fault} in the path {SEPARATOR.join(parts)!r}"
                for fault in map(name_fault, parts)
                if fault
            ]
            if not parts:
                faults.append("a path is empty")
            _grow(names, parent, known, parts)
        refuse_faults(faults)
        return cls(names, parent)

    @classmethod
    def from_parents(
        cls,
        names: Sequence[str],
        parent: Sequence[int],
        *,
        codes: Sequence[str] | None = None,
        descriptions: Sequence[str] | None = None,
        is_other: Sequence[bool] | None = None,
        more_parents: Sequence[Sequence[int]] | None = None,
        addresses: Sequence[str] | None = None,
        vocabulary: str = "",
    ) -> Taxonomy:
        """Build from parents in any order (-1: none); refuses cycles.

        Order is kept where parents already come first; otherwise a topic's children
        follow it, siblings in the order given.
        """
        n = len(names)
        faults = [
            f"topic {i} ({names[i]!r}) has the parent {p}, outside -1 … {n - 1}"
            for i, p in enumerate(parent)
            if not -1 <= p < n
        ]
        refuse_faults(faults)
        order = parents_first(parent)
        if len(order) < n:
            stuck = [cycle_text(names, parent, i) for i in cycles(parent)]
            refuse_faults([f"a topic is its own ancestor: {text}" for text in stuck])
        new_id = {old: new for new, old in enumerate(order)}

        def reorder(values: Sequence[Any] | None) -> list[Any] | None:
            return None if values is None else [values[i] for i in order]

        return cls(
            [names[i] for i in order],
            [new_id[parent[i]] if parent[i] >= 0 else -1 for i in order],
            codes=reorder(codes),
            descriptions=reorder(descriptions),
            is_other=reorder(is_other),
            more_parents=[[new_id[p] for p in more_parents[i]] for i in order]
            if more_parents is not None
            else None,
            addresses=reorder(addresses),
            vocabulary=vocabulary,
        )

    @classmethod
    def read(cls, file: str | PathLike[str], format: str | None = None, **options: Any) -> Taxonomy:
        """Read any supported file; the format is guessed unless it is named."""
        from hierseed.io.taxonomies import read_taxonomy

        return read_taxonomy(file, format, **options)

    def write(self, file: str | PathLike[str], format: str | None = None, **options: Any) -> None:
        """Write in the format of the file's ending, or in the one named."""
        from hierseed.io.taxonomies import write_taxonomy

        write_taxonomy(self, file, format, **options)

    def add(self, paths: Iterable[Path]) -> Taxonomy:
        """Return a taxonomy with more topics; those already here keep their ids."""
        names, parent = list(self.names), [int(p) for p in self.tree.parent]
        known = {split_path(path): i for i, path in enumerate(self.paths)}
        for path in paths:
            parts = split_path(path)
            _grow(names, parent, known, parts)
        return self._extended(names, parent, other=False)

    def with_others(self, parents: Sequence[int]) -> Taxonomy:
        """Append one Other child to each of the given topics (-1: at level 1)."""
        names, parent = list(self.names), [int(p) for p in self.tree.parent]
        taken: dict[int, set[str]] = {int(topic): set() for topic in parents}
        for name, above in zip(self.names, parent):
            if above in taken:
                taken[above].add(name)
        for topic in map(int, parents):
            names.append(free_name(taken[topic]))
            parent.append(topic)
            taken[topic].add(names[-1])
        return self._extended(names, parent, other=True)

    def _extended(self, names: Sequence[str], parent: Sequence[int], *, other: bool) -> Taxonomy:
        """The taxonomy with more topics appended, without codes and descriptions."""
        more = len(names) - len(self)
        return Taxonomy(
            names,
            parent,
            codes=[*self.codes, *[""] * more],
            descriptions=[*self.descriptions, *[""] * more],
            is_other=[*self.is_other, *[other] * more],
            more_parents=[*self.more_parents, *[()] * more],
            addresses=[*self.addresses, *[""] * more],
            vocabulary=self.vocabulary,
            log=self.log,
        )

    def rename(self, path: Path, name: str) -> Taxonomy:
        """Return a taxonomy with another name for one topic.

        Edits do not change this taxonomy. They are recorded in `log` of the new one, by which
        `fit(start=model)` matches the topics of an earlier model.

        Examples
        --------
        >>> old = Taxonomy.from_paths(["Health > Homes", "Care"])
        >>> new = old.rename("Health > Homes", "Nursing").move("Health > Nursing", "Care")
        >>> new.paths
        ('Health', 'Care', 'Care > Nursing')
        >>> [edit.kind for edit in new.log]
        ['rename', 'move']
        """
        return edits.renamed(self, path, name)

    def move(self, path: Path, under: Path | None) -> Taxonomy:
        """Return a taxonomy with a topic, and all below it, under another parent; None: on top."""
        return edits.moved(self, path, under)

    def merge(self, path: Path, into: Path) -> Taxonomy:
        """Return a taxonomy with one topic merged into another, which also gets its children."""
        return edits.merged(self, path, into)

    def split(self, path: Path, names: Sequence[str]) -> Taxonomy:
        """Return a taxonomy with new children for one topic."""
        return edits.split(self, path, names)

    def delete(self, path: Path) -> Taxonomy:
        """Return a taxonomy without one topic and all below it."""
        return edits.deleted(self, path)

    def first(self, n: int) -> Taxonomy:
        """Return the taxonomy of the topics with ids below n."""
        return self._select(range(n))

    def without_others(self) -> Taxonomy:
        """Return the taxonomy as the experts made it, without Other topics."""
        return self._select(np.flatnonzero(~self.is_other).tolist())

    def _select(self, kept: Sequence[int]) -> Taxonomy:
        """The taxonomy of some topics, whose parents are among them."""
        new_id = {old: new for new, old in enumerate(kept)} | {-1: -1}
        return Taxonomy(
            [self.names[i] for i in kept],
            [new_id[int(self.tree.parent[i])] for i in kept],
            codes=[self.codes[i] for i in kept],
            descriptions=[self.descriptions[i] for i in kept],
            is_other=[bool(self.is_other[i]) for i in kept],
            more_parents=[[new_id[p] for p in self.more_parents[i] if p in new_id] for i in kept],
            addresses=[self.addresses[i] for i in kept],
            vocabulary=self.vocabulary,
            log=self.log,
        )

    # ---------------------------------------------------------------- queries

    def __getstate__(self) -> dict[str, Any]:
        derived = {"paths", "_index"}
        return {name: value for name, value in vars(self).items() if name not in derived}

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.tree.parent, other.tree.parent)
            and np.array_equal(self.is_other, other.is_other)
            and self.codes == other.codes
            and self.descriptions == other.descriptions
            and self.more_parents == other.more_parents
            and self.addresses == other.addresses
        )

    def __hash__(self) -> int:
        return hash((self.names, self.tree.parent.tobytes()))

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """`A > B > C` for each topic, in order of id."""
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
        """Return the id of a path; the error for an unknown one names similar paths."""
        text = SEPARATOR.join(split_path(path))
        if text not in self._index:
            raise TaxonomyError(
                f"no topic {text!r} in the taxonomy of {len(self):,} topics{self.nearest(text)}"
            )
        return self._index[text]

    def find(self, path: Path) -> int:
        """The id of a path, or of a last name that only one topic has."""
        named = [i for i, name in enumerate(self.names) if name == path]
        return named[0] if len(named) == 1 and path not in self else self.index(path)

    def nearest(self, text: str) -> str:
        """`; did you mean 'A > B'?`, by last name or path; empty if there are none."""
        named = [path for path, name in zip(self.paths, self.names) if name == text]
        close = named[:3] or difflib.get_close_matches(text, self.paths, n=3, cutoff=0.6)
        return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""

    def labels(
        self, seeds: Mapping[str, Iterable[int]] | Mapping[tuple[str, ...], Iterable[int]], n: int
    ) -> NDArray[np.intp] | list[list[int]]:
        """Turn `{path: [rows]}` into the `y` of `fit`: a topic id per row, -1 for no seed.

        Where a row serves several topics, `y` is a list of lists of ids instead. A topic may be
        named by its last name where only one topic has it.
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

    # ---------------------------------------------------------------- representation

    def __repr__(self) -> str:
        return f"Taxonomy({len(self):,} topics, {self.tree.height} levels)"

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self, counts: Sequence[int] | NDArray[np.integer] | None = None) -> str:
        """Return the tree as collapsible HTML lists, with a count per topic if given."""

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


def _grow(
    names: list[str],
    parent: list[int],
    known: dict[tuple[str, ...], int],
    parts: tuple[str, ...],
) -> None:
    """Append the topics along a path that are not known yet."""
    for depth in range(1, len(parts) + 1):
        if parts[:depth] not in known:
            known[parts[:depth]] = len(names)
            names.append(parts[depth - 1])
            parent.append(known[parts[: depth - 1]] if depth > 1 else -1)
