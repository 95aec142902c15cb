"""Nested mappings and lists, as JSON and YAML give them, to rows and back.

Three spellings may be mixed: `{"Health": {"Guns": {}}}`, `{"Health": ["Guns"]}` and
`{"name": "Health", "code": …, "description": …, "children": [...]}`. Reader and writer
keep their own stack: a hostile depth ends in a message and not in a crash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies.build import DEEPEST, Row, Source
from hierseed.taxonomy import Taxonomy

NAME = ("name", "label", "title")
CHILDREN = ("children", "topics", "subtopics", "narrower")
CODE = ("code", "id", "notation")
DESCRIPTION = ("description", "definition")
IS_OTHER = "is_other"
KNOWN = {*NAME, *CHILDREN, *CODE, *DESCRIPTION, IS_OTHER}
LISTS = ("topics", "words")


@dataclass(slots=True)
class Text:
    """A scalar and its place. `None` is no text at all."""

    value: str | None
    where: str


@dataclass(slots=True)
class Mapping:
    """Keys with values; a key may occur twice, which the reader reports."""

    items: list[tuple[Text, Node]]
    where: str


@dataclass(slots=True)
class Items:
    """A list."""

    nodes: list[Node]
    where: str


Node = Text | Mapping | Items


def read_nested(source: Source, top: Node, *, lists: str = "topics") -> list[Row]:
    """Walk from the top; with `lists="words"` a list of texts describes its topic (quanteda)."""
    if lists not in LISTS:
        raise TaxonomyError(f"lists is {lists!r}; say 'topics' or 'words'")
    rows: list[Row] = []
    stack: list[tuple[Row | None, Node, int, int]] = [(None, _unwrap(top), -1, 0)]
    while stack:
        row, node, parent, level = stack.pop()
        if row is not None:
            row.parent, parent, level = parent, len(rows), level + 1
            rows.append(row)
        if level > DEEPEST:
            source.fault(node.where, f"more than {DEEPEST} levels")
            continue
        below = [(row, child, parent, level) for row, child in _members(source, node, lists)]
        stack.extend(reversed(below))
    return rows


def _members(source: Source, node: Node, lists: str) -> Iterator[tuple[Row | None, Node]]:
    """Give the topics directly in a node, each with what lies below it."""
    nothing = Items([], node.where)
    if isinstance(node, Mapping) and _is_record(node):
        yield _record(source, node)
    elif isinstance(node, Mapping):
        for key, value in node.items:
            row = Row(key.value or "", -1, key.where)
            if lists == "words" and (words := _words(value)) is not None:
                row.description, value = ", ".join(words), nothing
            yield row, value
    elif isinstance(node, Items):
        for item in node.nodes:
            if isinstance(item, Mapping):
                yield None, item
            elif isinstance(item, Items):
                source.fault(item.where, "a list directly inside a list; which topic is it under?")
            elif item.value is None:
                source.fault(item.where, "an empty item in a list of topics")
            else:
                yield Row(item.value, -1, item.where), nothing
    elif node.value:  # `Health: Guns` is short for a list of one
        yield Row(node.value, -1, node.where), nothing


def _record(source: Source, node: Mapping) -> tuple[Row, Node]:
    """Read a `{"name": …, "children": …}` mapping."""
    fields = {key.value: value for key, value in node.items}
    if len(fields) < len(node.items):
        source.fault(node.where, "a key occurs twice in one topic")
    source.unused += [
        repr(key) for key in fields if key and key not in KNOWN and repr(key) not in source.unused
    ]
    found: dict[str, str] = {}
    for column, spellings in (("name", NAME), ("code", CODE), ("description", DESCRIPTION)):
        value = next((fields[word] for word in spellings if word in fields), None)
        if isinstance(value, Text):
            found[column] = value.value or ""
        elif value is not None:
            source.fault(value.where, f"the {column} of a topic must be a text")
    other = fields.get(IS_OTHER)
    row = Row(
        found.get("name", ""),
        -1,
        node.where,
        found.get("code", ""),
        found.get("description", ""),
        other=isinstance(other, Text) and other.value == "true",
    )
    return row, next((fields[word] for word in CHILDREN if word in fields), Items([], node.where))


def _is_record(node: Mapping) -> bool:
    """Tell `{"name": "Health"}` from a topic called "name", whose value is no text."""
    return any(
        key.value in NAME and isinstance(value, Text) and value.value is not None
        for key, value in node.items
    )


def _words(node: Node) -> list[str] | None:
    """Give the texts of a list of nothing but texts, or of one text."""
    nodes = node.nodes if isinstance(node, Items) else [node]
    words = [item.value for item in nodes if isinstance(item, Text) and item.value is not None]
    return words if words and len(words) == len(nodes) else None


def _unwrap(top: Node) -> Node:
    """Step over a wrapper: a nameless `{"children": […]}`, or a record called root."""
    if isinstance(top, Mapping):
        fields = {key.value: value for key, value in top.items}
        name = fields.get("name")
        rooted = isinstance(name, Text) and (name.value or "").casefold() == "root"
        if rooted or len(fields) == 1:
            for word in CHILDREN:
                if word in fields and isinstance(fields[word], Items):
                    return fields[word]
    return top


def to_nested(taxonomy: Taxonomy) -> dict[str, Any]:
    """Write `{"Health": {"Guns": {}}}`: names only."""
    made: list[dict[str, Any]] = [{} for _ in taxonomy.names]
    top: dict[str, Any] = {}
    for topic, (name, parent) in enumerate(zip(taxonomy.names, taxonomy.tree.parent)):
        (made[parent] if parent >= 0 else top)[name] = made[topic]
    return top


def to_records(taxonomy: Taxonomy) -> list[dict[str, Any]]:
    """Write records: they keep codes, descriptions and which topics are Other."""
    made: list[dict[str, Any]] = []
    top: list[dict[str, Any]] = []
    for topic, (name, parent) in enumerate(zip(taxonomy.names, taxonomy.tree.parent)):
        record: dict[str, Any] = {"name": name}
        if taxonomy.codes[topic]:
            record["code"] = taxonomy.codes[topic]
        if taxonomy.descriptions[topic]:
            record["description"] = taxonomy.descriptions[topic]
        if taxonomy.is_other[topic]:
            record[IS_OTHER] = True
        made.append(record)
        (made[parent].setdefault("children", []) if parent >= 0 else top).append(record)
    return top
