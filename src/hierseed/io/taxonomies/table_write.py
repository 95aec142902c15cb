"""The rows of a table of topics, header first, in each layout."""

from __future__ import annotations

from collections.abc import Iterator

from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies.codes import check_codes, make_codes
from hierseed.io.taxonomies.table import LAYOUTS
from hierseed.taxonomy import Taxonomy


def table_rows(taxonomy: Taxonomy, layout: str, renumber: bool = False) -> Iterator[list[str]]:
    """Give header and rows; codes and descriptions have a column where any topic has one.

    The layout `codes` needs codes that determine the tree; `renumber` makes them: 1, 1.1, 1.2, …
    """
    codes = list(taxonomy.codes)
    if layout == "codes":
        codes = codes if any(codes) and not renumber else make_codes(taxonomy)
        check_codes(taxonomy, codes)
    if layout not in LAYOUTS:
        raise TaxonomyError(f"no table layout {layout!r}; say one of {', '.join(LAYOUTS)}")
    columns: dict[str, list[str]] = {}
    if any(codes):
        columns["code"] = codes
    if layout == "path":
        columns["path"] = list(taxonomy.paths)
    elif layout == "levels":
        for level in range(taxonomy.tree.height):
            ids = taxonomy.tree.ancestors[:-1, level]
            columns[f"level_{level + 1}"] = [taxonomy.names[i] if i >= 0 else "" for i in ids]
    else:
        columns["name"] = list(taxonomy.names)
    if layout == "parent":
        header, texts = _parent_column(taxonomy)
        columns[header] = texts
    if any(taxonomy.descriptions):
        columns["description"] = list(taxonomy.descriptions)
    yield list(columns)
    for cells in zip(*columns.values()):
        yield list(cells)


def _parent_column(taxonomy: Taxonomy) -> tuple[str, list[str]]:
    """Name parents by code where every topic has its own, else by path."""
    codes, parent = taxonomy.codes, taxonomy.tree.parent
    if all(codes) and len(set(codes)) == len(codes):
        return "parent_code", [codes[p] if p >= 0 else "" for p in parent]
    header = "parent_path" if any(codes) else "parent"
    return header, [taxonomy.paths[p] if p >= 0 else "" for p in parent]
