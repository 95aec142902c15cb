"""Topics: names and paths over `core.tree`; the only place where ids and paths meet."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import SeedError, TaxonomyError
from hierseed.names import (
    SEPARATOR,
    Path,
    checked_log,
    checked_parents,
    checked_texts,
    checked_tree,
    refuse_faults,
    split_path,
    taxonomy_faults,
)
from hierseed.progress import amount

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
