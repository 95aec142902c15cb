"""JSON: nested topics, a flat list of topics with parents, a list of paths, and the form
of the benchmark corpora (`levels`, `tree`, `parent`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies.build import DEEPEST, PathRows, Source, build
from hierseed.io.taxonomies.nested import (
    CHILDREN,
    Items,
    Mapping,
    Node,
    Text,
    read_nested,
    to_nested,
    to_records,
)
from hierseed.io.taxonomies.table import read_table_layout
from hierseed.io.taxonomies.table_columns import Table, find_columns
from hierseed.taxonomy import Taxonomy
from hierseed.topics import SEPARATOR, checked_log

LAYOUTS = ("records", "nested", "corpus")


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its keys in order, a key that occurs twice included."""


def read(source: Source, *, lists: str = "topics", parent: str = "all") -> Taxonomy:
    """Read any of the JSON spellings."""
    try:
        value = json.loads(source.text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as fault:
        source.stop(f"line {fault.lineno}", f"not JSON: {fault.msg}")
    except (ValueError, RecursionError) as fault:  # a number of 5,000 digits; 1,000 brackets
        source.stop("", f"not a JSON taxonomy: {fault}")
    if isinstance(value, _Pairs) and _is_whole(dict(value)):
        return _read_whole(source, dict(value))
    if isinstance(value, _Pairs) and _is_corpus(dict(value)):
        return _read_corpus(source, dict(value))
    if isinstance(value, list) and value and not isinstance(value, _Pairs):
        if all(isinstance(item, str) for item in value) and any(SEPARATOR in x for x in value):
            rows = PathRows(source)
            for i, path in enumerate(value):
                rows.add(path.split(SEPARATOR), f"$[{i}]")
            return build(source, rows.rows)
        if all(isinstance(item, _Pairs) for item in value) and _is_flat(source, value):
            return read_table_layout(source, _flat_table(source, value), parent=parent)
    if not isinstance(value, list):
        source.stop("$", "a taxonomy is an object or a list")
    return build(source, read_nested(source, _node(source, value), lists=lists))


def write(taxonomy: Taxonomy, *, layout: str = "records") -> str:
    """Write `records` (holds everything), `nested` (names only) or `corpus` (see above)."""
    if layout == "records":
        value: Any = to_records(taxonomy)
        if beside := _beside(taxonomy):
            value = {"topics": value, **beside}
    elif layout == "nested":
        value = to_nested(taxonomy)
    elif layout == "corpus":
        value = _to_corpus(taxonomy)
    else:
        raise TaxonomyError(f"JSON has no layout {layout!r}; say one of {', '.join(LAYOUTS)}")
    if taxonomy.tree.height > DEEPEST:
        raise TaxonomyError(
            f"{taxonomy.tree.height:,} levels are too deep for nested JSON. Write .csv or .txt"
        )
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _node(source: Source, value: Any, place: str = "$", level: int = 0) -> Node:
    """Turn parsed JSON into nodes that know their place."""
    if level > 2 * DEEPEST + 2:
        source.stop("", f"more than {DEEPEST} levels")
    if isinstance(value, _Pairs):
        items: list[tuple[Text, Node]] = []
        for key, below in value:
            inner = f"{place}.{key}"
            items.append((Text(key, inner), _node(source, below, inner, level + 1)))
        return Mapping(items, place)
    if isinstance(value, list):
        nodes = [_node(source, item, f"{place}[{i}]", level + 1) for i, item in enumerate(value)]
        return Items(nodes, place)
    return Text(_scalar(value), place)


def _scalar(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _is_flat(source: Source, value: list[_Pairs]) -> bool:
    """True for records of which some name a parent and none has children of its own."""
    keys = list(dict.fromkeys(key for item in value for key, _ in item))
    found = find_columns(source, Table(keys, []), None)
    flat = "name" in found and any(role.startswith("parent") for role in found)
    return flat and not set(keys) & set(CHILDREN)


def _flat_table(source: Source, value: list[_Pairs]) -> Table:
    """Read `[{"name": …, "parent": …}, …]` as the table it is."""
    header = list(dict.fromkeys(key for item in value for key, _ in item))
    rows = []
    for i, item in enumerate(value):
        cells = dict(item)
        for key, cell in cells.items():
            if isinstance(cell, list):  # an object too: it is parsed as pairs
                source.fault(f"$[{i}].{key}", "a list or object where a text should stand")
                cells[key] = ""
        rows.append((f"$[{i}]", [_scalar(cells.get(key)) or "" for key in header]))
    return Table(header, rows)


# ---------------------------------------------------------------- with all of a vocabulary


def _is_whole(value: dict[str, Any]) -> bool:
    return isinstance(value.get("topics"), list) and bool(
        {"addresses", "more_parents", "vocabulary", "edits"} & set(value)
    )


def _beside(taxonomy: Taxonomy) -> dict[str, Any]:
    """Parts that a tree of records can't hold, by path, and the log of edits."""
    paths = taxonomy.paths
    value: dict[str, Any] = {
        "addresses": {path: one for path, one in zip(paths, taxonomy.addresses) if one},
        "more_parents": {
            path: [paths[p] for p in some]
            for path, some in zip(paths, taxonomy.more_parents)
            if some
        },
    }
    if taxonomy.vocabulary:
        value["vocabulary"] = taxonomy.vocabulary.split("\n")
    value["edits"] = taxonomy.log
    return {key: some for key, some in value.items() if some}


def _read_whole(source: Source, value: dict[str, Any]) -> Taxonomy:
    tree = build(source, read_nested(source, _node(source, value["topics"], "$.topics")))
    addresses = dict(_by_path(value.get("addresses")))
    more: list[list[int]] = [[] for _ in tree.paths]
    given = value.get("more_parents")
    for path, parents in given if isinstance(given, _Pairs) else []:
        if path not in tree or not isinstance(parents, list):
            source.fault(f"$.more_parents.{path}", "no topic of this path, or no list of paths")
            continue
        for one in parents:
            if not isinstance(one, str) or one not in tree:
                source.fault(f"$.more_parents.{path}", f"no topic {one!r}")
            else:
                more[tree.index(path)].append(tree.index(one))
    lines = value.get("vocabulary", [])
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        source.fault("$.vocabulary", "no list of lines")
        lines = []
    log = value.get("edits", [])
    try:
        checked_log(log)
    except TaxonomyError as fault:
        source.fault("$.edits", str(fault))
    source.refuse()
    return Taxonomy(
        tree.names, tree.tree.parent, codes=tree.codes, descriptions=tree.descriptions,
        is_other=tree.is_other, more_parents=more, vocabulary="\n".join(lines),
        addresses=[addresses.get(path, "") for path in tree.paths], log=log,
    )  # fmt: skip


# ---------------------------------------------------------------- the benchmark corpora


def _is_corpus(value: dict[str, Any]) -> bool:
    return isinstance(value.get("tree"), _Pairs) and ("levels" in value or "parent" in value)


def _read_corpus(source: Source, value: dict[str, Any]) -> Taxonomy:
    """Read `tree`; `codes` and `descriptions` by path are ours, `names` is code -> leaf name."""
    rows = read_nested(source, _node(source, value["tree"], "$.tree"))
    taxonomy = build(source, rows)
    codes = dict(_by_path(value.get("codes")))
    if not codes:
        codes = _codes_of_leaves(taxonomy, dict(_by_path(value.get("names"))))
    texts = dict(_by_path(value.get("descriptions")))
    for row, path in zip(rows, taxonomy.paths):
        row.code, row.description = codes.get(path, ""), texts.get(path, "")
    return build(source, rows)


def _by_path(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, _Pairs):
        yield from ((key, text) for key, text in value if isinstance(text, str))


def _codes_of_leaves(taxonomy: Taxonomy, names: dict[str, str]) -> dict[str, str]:
    """Give a leaf the code whose name it bears, where both are the only ones of that name."""
    leaves: dict[str, list[str]] = {}
    for path, name, is_leaf in zip(taxonomy.paths, taxonomy.names, taxonomy.tree.is_leaf):
        if is_leaf:
            leaves.setdefault(name, []).append(path)
    codes: dict[str, list[str]] = {}
    for code, name in names.items():
        codes.setdefault(name, []).append(code)
    return {
        leaves[name][0]: found[0]
        for name, found in codes.items()
        if len(found) == 1 and len(leaves.get(name, [])) == 1
    }


def _to_corpus(taxonomy: Taxonomy) -> dict[str, Any]:
    paths, parent = taxonomy.paths, taxonomy.tree.parent
    value: dict[str, Any] = {
        "levels": [f"level_{level}" for level in range(1, taxonomy.tree.height + 1)],
        "tree": to_nested(taxonomy),
        "parent": {path: paths[p] if p >= 0 else None for path, p in zip(paths, parent)},
    }
    for key, texts in (("codes", taxonomy.codes), ("descriptions", taxonomy.descriptions)):
        if any(texts):
            value[key] = {path: text for path, text in zip(paths, texts) if text}
    return value
