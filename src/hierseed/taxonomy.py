"""Taxonomy: how a forest of topics is built, read, written and edited."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from hierseed.core.tree import cycles, parents_first
from hierseed.errors import TaxonomyError
from hierseed.topics import (
    PARTS,
    SEPARATOR,
    Edit,
    Path,
    Topics,
    cycle_text,
    free_name,
    name_fault,
    refuse_faults,
    split_path,
)


class Taxonomy(Topics):
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

    The examples of the methods continue this one.
    """

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

        Examples
        --------
        >>> Taxonomy.from_parents(["Guns", "Safety"], [1, -1]).paths
        ('Safety', 'Safety > Guns')
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
        """Read any supported file; the format is guessed unless it is named.

        Examples
        --------
        >>> taxonomy.write("topics.txt")
        >>> Taxonomy.read("topics.txt").paths
        ('Health', 'Health > Mental health', 'Safety', 'Safety > Guns')
        """
        from hierseed.io.taxonomies import read_taxonomy

        return read_taxonomy(file, format, **options)

    def write(self, file: str | PathLike[str], format: str | None = None, **options: Any) -> None:
        """Write in the format of the file's ending, or in the one named.

        Examples
        --------
        >>> taxonomy.write("topics.csv")
        >>> Taxonomy.read("topics.csv") == taxonomy
        True
        """
        from hierseed.io.taxonomies import write_taxonomy

        write_taxonomy(self, file, format, **options)

    def add(self, paths: Iterable[Path]) -> Taxonomy:
        """Return a taxonomy with more topics; those already here keep their ids.

        Examples
        --------
        >>> taxonomy.add(["Safety > Fire"]).paths[4:]
        ('Safety > Fire',)
        """
        names, parent = list(self.names), [int(p) for p in self.tree.parent]
        known = {split_path(path): i for i, path in enumerate(self.paths)}
        for path in paths:
            parts = split_path(path)
            _grow(names, parent, known, parts)
        return self._extended(names, parent, other=False)

    def with_others(self, parents: Sequence[int]) -> Taxonomy:
        """Append one Other child to each of the given topics (-1: at level 1).

        Examples
        --------
        >>> taxonomy.with_others([0, -1]).paths[4:]
        ('Health > Other', 'Other')
        """
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
        parts = {name: [*getattr(self, name), *[none] * more] for name, none in PARTS.items()}
        parts["is_other"] = [*self.is_other, *[other] * more]
        return Taxonomy(names, parent, vocabulary=self.vocabulary, log=self.log, **parts)

    def first(self, n: int) -> Taxonomy:
        """Return the taxonomy of the topics with ids below n.

        Examples
        --------
        >>> taxonomy.first(2).paths
        ('Health', 'Health > Mental health')
        """
        return self._select(range(n))

    def without_others(self) -> Taxonomy:
        """Return the taxonomy as the experts made it, without Other topics.

        Examples
        --------
        >>> taxonomy.with_others([0]).without_others() == taxonomy
        True
        """
        return self._select(np.flatnonzero(~self.is_other).tolist())

    def _select(self, kept: Sequence[int]) -> Taxonomy:
        """The taxonomy of some topics, whose parents are among them."""
        new_id = {old: new for new, old in enumerate(kept)} | {-1: -1}
        parts = {name: [getattr(self, name)[i] for i in kept] for name in PARTS}
        parts["more_parents"] = [
            [new_id[p] for p in parents if p in new_id] for parents in parts["more_parents"]
        ]
        parent = [new_id[int(self.tree.parent[i])] for i in kept]
        names = [self.names[i] for i in kept]
        return Taxonomy(names, parent, vocabulary=self.vocabulary, log=self.log, **parts)

    def rename(self, path: Path, name: str) -> Taxonomy:
        """Return a taxonomy with another name for one topic.

        Examples
        --------
        >>> new = taxonomy.rename("Safety > Guns", "Firearms")
        >>> new.paths[3], new.log
        ('Safety > Firearms', (Edit(kind='rename', path='Safety > Guns', to='Safety > Firearms'),))
        """
        topic = self.index(path)
        names = [*self.names]
        names[topic] = name
        above = self.paths[topic].rpartition(SEPARATOR)[0]
        to = f"{above}{SEPARATOR}{name}" if above else name
        return _rebuilt(self, range(len(self)), Edit("rename", self.paths[topic], to), names)

    def move(self, path: Path, under: Path | None) -> Taxonomy:
        """Return a taxonomy with a topic, and all below it, under another parent.

        Parameters
        ----------
        under : the new parent; None for level 1

        Examples
        --------
        >>> taxonomy.move("Safety", "Health").paths[2:]
        ('Health > Safety', 'Health > Safety > Guns')
        """
        topic, above = self.index(path), -1 if under is None else self.index(under)
        if above in _below(self, topic):
            raise TaxonomyError(f"{self.paths[topic]!r} can't be moved below itself")
        parent = [int(p) for p in self.tree.parent]
        parent[topic] = above
        name = self.names[topic]
        to = name if above < 0 else f"{self.paths[above]}{SEPARATOR}{name}"
        return _rebuilt(self, range(len(self)), Edit("move", self.paths[topic], to), parent=parent)

    def merge(self, path: Path, into: Path) -> Taxonomy:
        """Return a taxonomy with one topic merged into another, which also gets its children.

        Examples
        --------
        >>> taxonomy.merge("Safety", "Health").paths
        ('Health', 'Health > Mental health', 'Health > Guns')
        """
        topic, target = self.index(path), self.index(into)
        if target in _below(self, topic):
            raise TaxonomyError(f"{self.paths[topic]!r} can't be merged into a topic below it")
        parent = [target if int(p) == topic else int(p) for p in self.tree.parent]
        kept = [i for i in range(len(self)) if i != topic]
        edit = Edit("merge", self.paths[topic], self.paths[target])
        return _rebuilt(self, kept, edit, parent=parent)

    def split(self, path: Path, names: Sequence[str]) -> Taxonomy:
        """Return a taxonomy with new children for one topic.

        Examples
        --------
        >>> taxonomy.split("Safety > Guns", ["Licences", "Trade"]).paths[4:]
        ('Safety > Guns > Licences', 'Safety > Guns > Trade')
        """
        here = self.paths[self.index(path)]
        longer = self.add([(*split_path(here), name) for name in names])
        longer.log = (*self.log, Edit("split", here, "; ".join(names)))
        return longer

    def delete(self, path: Path) -> Taxonomy:
        """Return a taxonomy without one topic and all below it.

        Examples
        --------
        >>> taxonomy.delete("Safety").paths
        ('Health', 'Health > Mental health')
        """
        topic = self.index(path)
        gone = _below(self, topic)
        kept = [i for i in range(len(self)) if i not in gone]
        return _rebuilt(self, kept, Edit("delete", self.paths[topic]))


def _grow(
    names: list[str], parent: list[int], known: dict[tuple[str, ...], int], parts: tuple[str, ...]
) -> None:
    """Append the topics along a path that are not known yet."""
    for depth in range(1, len(parts) + 1):
        if parts[:depth] not in known:
            known[parts[:depth]] = len(names)
            names.append(parts[depth - 1])
            parent.append(known[parts[: depth - 1]] if depth > 1 else -1)


def _below(taxonomy: Taxonomy, topic: int) -> set[int]:
    """A topic and all below it."""
    found = {topic}
    for i, parent in enumerate(taxonomy.tree.parent.tolist()):
        if parent in found:
            found.add(i)
    return found


def _rebuilt(
    taxonomy: Taxonomy,
    kept: Sequence[int],
    edit: Edit,
    names: Sequence[str] | None = None,
    parent: Sequence[int] | None = None,
) -> Taxonomy:
    """The topics that are kept, with other names or parents; parents come first again."""
    names = taxonomy.names if names is None else names
    parent = [int(p) for p in taxonomy.tree.parent] if parent is None else parent
    place = {old: new for new, old in enumerate(kept)} | {-1: -1}
    made = type(taxonomy).from_parents(
        [names[i] for i in kept],
        [place[parent[i]] for i in kept],
        codes=[taxonomy.codes[i] for i in kept],
        descriptions=[taxonomy.descriptions[i] for i in kept],
        is_other=[bool(taxonomy.is_other[i]) for i in kept],
        more_parents=[
            [place[p] for p in taxonomy.more_parents[i] if p in place and p != parent[i]]
            for i in kept
        ],
        addresses=[taxonomy.addresses[i] for i in kept],
        vocabulary=taxonomy.vocabulary,
    )
    made.log = (*taxonomy.log, edit)
    return made
