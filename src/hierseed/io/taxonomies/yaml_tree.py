"""Nested YAML, read as events: nothing is constructed, every topic knows its line.

Names stay as they are written: `No`, `1.10` and `2020-01-01` are texts here, where YAML's
own rules would make a truth value, a number and a date of them.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies.build import DEEPEST, Source, build
from hierseed.io.taxonomies.nested import (
    Items,
    Mapping,
    Node,
    Text,
    read_nested,
    to_nested,
    to_records,
)
from hierseed.lazy_object import LazyObject
from hierseed.taxonomy import Taxonomy

LAYOUTS = ("nested", "records")
KINDS = ("str", "map", "seq", "null", "int", "float", "bool", "timestamp")
PLAIN_TAGS = {"!", *(f"tag:yaml.org,2002:{kind}" for kind in KINDS)}
EMPTY = ("", "~", "null", "Null", "NULL")

yaml: Any = LazyObject(import_module, "yaml")  # slow to import


def read(source: Source, *, lists: str = "topics") -> Taxonomy:
    """Read nested YAML; with `lists="words"` lists of texts describe their topic."""
    top = _compose(source)
    if isinstance(top, Text) and top.value is not None:
        source.stop(top.where, "one text and no topics; nest them as 'A:' with '- B' below it")
    return build(source, read_nested(source, top, lists=lists))


def write(taxonomy: Taxonomy, *, layout: str | None = None) -> str:
    """Write `nested`, or `records` where there are codes or descriptions to keep."""
    if layout is None:
        layout = "records" if any(taxonomy.codes) or any(taxonomy.descriptions) else "nested"
    if layout not in LAYOUTS:
        raise TaxonomyError(f"YAML has no layout {layout!r}; say one of {', '.join(LAYOUTS)}")
    if taxonomy.tree.height > DEEPEST:
        raise TaxonomyError(
            f"{taxonomy.tree.height:,} levels are too deep for nested YAML. Write .csv or .txt"
        )
    value = to_nested(taxonomy) if layout == "nested" else to_records(taxonomy)
    text: str = yaml.dump(
        value, Dumper=_fast("SafeDumper"), sort_keys=False, allow_unicode=True, width=1000
    )
    return text


def _fast(name: str) -> Any:
    """A class of the library, in C where that is there."""
    return getattr(yaml, f"C{name}", getattr(yaml, name))


def _compose(source: Source) -> Node:
    """Build nodes from parser events; tags, anchors and a second document are refused."""
    root = Items([], "line 1")
    stack: list[_Open] = [_Open(root)]
    try:
        for event in yaml.parse(source.text, Loader=_fast("SafeLoader")):
            where = f"line {event.start_mark.line + 1 if event.start_mark else 1}"
            _refuse_tricks(source, event, where)
            if isinstance(event, yaml.ScalarEvent):
                stack[-1].put(source, _text(event, where))
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                node: Node = Mapping([], where) if is_mapping else Items([], where)
                stack[-1].put(source, node)
                stack.append(_Open(node))
                if len(stack) > 2 * DEEPEST + 2:
                    source.stop(where, f"more than {DEEPEST} levels")
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                stack.pop()
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        source.stop(f"line {mark.line + 1}" if mark else "", f"not YAML: {fault.problem}")
    except (yaml.YAMLError, ValueError) as fault:
        source.stop(_place_of_unprintable(source.text), f"not YAML: {fault}")
    if len(root.nodes) > 1:
        source.stop(root.nodes[1].where, "a second YAML document; one file holds one taxonomy")
    return root.nodes[0] if root.nodes else root


def _place_of_unprintable(text: str) -> str:
    """Name the line of the first character that YAML forbids; the parser gives no line for it."""
    found = re.search(
        "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f\\ufffe\\uffff]", text
    )
    return f"line {text.count(chr(10), 0, found.start()) + 1}" if found else ""


class _Open:
    """A mapping or list still being filled."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.key: Text | None = None

    def put(self, source: Source, node: Node) -> None:
        if isinstance(self.node, Items):
            self.node.nodes.append(node)
        elif isinstance(self.node, Mapping) and self.key is not None:
            self.node.items.append((self.key, node))
            self.key = None
        elif isinstance(node, Text):
            self.key = node if node.value is not None else Text("", node.where)
        else:
            source.stop(node.where, "a list or mapping is in the place of a topic's name")


def _text(event: Any, where: str) -> Text:
    """Take a scalar as written; an unquoted `~` or `null` is no text."""
    plain = event.style in (None, "") and event.value in EMPTY
    return Text(None if plain else event.value, where)


def _refuse_tricks(source: Source, event: Any, where: str) -> None:
    """Refuse what could construct an object or blow a small file up."""
    if isinstance(event, yaml.AliasEvent):
        source.stop(where, f"the alias *{event.anchor} repeats a branch; write the branch out")
    tag = getattr(event, "tag", None)
    if tag is not None and tag not in PLAIN_TAGS:
        short = tag.replace("tag:yaml.org,2002:", "!!")
        source.fault(where, f"the tag {short} could construct an object and is not read; remove it")
