"""Find a topic by its path, its last name, or its code, and the column of a table with topics."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable

from hierseed.errors import TaxonomyError, name_some
from hierseed.io.records import Records, best_column, filled_cells, refuse_data
from hierseed.topics import SEPARATOR, Topics

OTHER_MARKS = ("->", "→", "::", "--", "/", "|", "\\")  # what people write in place of >


class TopicFinder:
    """Finds topics by path, then by a code or last name that only one topic has.

    Capitals and the spaces around `>` matter only where they distinguish two topics. Other marks
    between the names of a path, as in `A/B` or `A -- B`, are understood if no topic is called so.
    """

    def __init__(self, taxonomy: Topics) -> None:
        self.taxonomy = taxonomy
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
        try:
            return [self.find(text)]
        except TaxonomyError:
            for mark in ";|":
                parts = [part for part in text.split(mark) if part.strip()]
                if len(parts) > 1 and all(map(self._is_known, parts)):
                    return list(dict.fromkeys(map(self.find, parts)))
            raise

    def _is_known(self, text: str) -> bool:
        try:
            self.find(text)
        except TaxonomyError:
            return False
        return True

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
