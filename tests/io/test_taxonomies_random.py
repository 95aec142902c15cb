"""Whatever the bytes, a reader gives a taxonomy or one HierSeedError; random trees come back."""

import io
import json
import warnings
import zipfile
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from taxonomy_cases import KEEPS_ORDER, WAYS, branches, read_bytes, taxonomies, written

from hierseed import Taxonomy
from hierseed.errors import HierSeedError, TaxonomyError
from hierseed.io.taxonomies import FORMATS, guess_format
from hierseed.io.taxonomies.build import Source, tidy, tidy_description

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Pieces that mean something to a parser reach deeper than random letters do.
PIECES = {
    "paths": ["1 - ", " > ", "# ids: yes\n", "#", "\\", "A", "- - "],
    "csv": [
        '"',
        ",",
        ";",
        "name",
        "parent",
        "code",
        "level_1",
        "level_2",
        "path",
        "1",
        "10",
        "105",
    ],
    "tsv": ["\t", '"', "name", "parent", "code", "A", "A.1", "A.1.2", "level_1"],
    "turtle": [
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n",
        *("<a:1> ", "<a:2> ", "skos:broader ", "skos:prefLabel ", '"x"@en ', '"""', ". ", "; "),
        *("a skos:Concept ", "skos:narrower ", "[ ] ", "( ) ", "_:b ", "PREFIX ", "@base <x> ."),
    ],
    "rdf-xml": [
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:skos="http://www.w3.org/2004/02/skos/core#">',
        *("</rdf:RDF>", '<skos:Concept rdf:about="a:1">', "</skos:Concept>", "<?xml ", "?>"),
        *("<skos:prefLabel>", "</skos:prefLabel>", "<!DOCTYPE a [", "<!ENTITY b 'c'>", "]>", "&b;"),
    ],
    "json-ld": [
        '{"@graph":[',
        "]}",
        '{"@id":"a:1",',
        '"@type":',
        '"@context":',
        "{",
        "}",
        "[",
        '""',
    ],
    "json": [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        '"name"',
        '"children"',
        '"parent"',
        '"tree"',
        "null",
        "1",
    ],
    "yaml": [
        "- ",
        ": ",
        "\n",
        "  ",
        "? ",
        "&a ",
        "*a",
        "!!python/object:x ",
        "|\n",
        "{",
        "[",
        "---\n",
    ],
    "outline": ["  ", "\t", "\n", "A", "B", "#", "\u00a0"],
    "markdown": ["- ", "  ", "# ", "## ", "1. ", "\n", "<!-- x -->", "A"],
    "children": ["Root", "\t", "A", "B", "A/", "\n", "#"],
}


def never_anything_else(name: str, data: bytes, **options: Any) -> Taxonomy | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            taxonomy = read_bytes(name, data, **options)
        except HierSeedError as fault:
            refused: str | None = str(fault)
        else:
            refused = None
    if refused is not None:
        assert refused.startswith("topics")  # the file is named
        return None
    assert len(taxonomy) == len(set(taxonomy.paths)) > 0
    return taxonomy


@pytest.mark.parametrize("name", FORMATS)
def test_random_bytes(name: str) -> None:
    @calm
    @given(st.binary(max_size=200))
    def check(data: bytes) -> None:
        never_anything_else(name, data)
        never_anything_else(guess_or(name, data), data)

    check()


def guess_or(name: str, data: bytes) -> str:
    try:
        return guess_format(Source("topics", data))
    except HierSeedError:
        return name


@pytest.mark.parametrize("name", PIECES)
def test_random_text_of_meaningful_pieces(name: str) -> None:
    piece = st.sampled_from(PIECES[name]) | st.text(max_size=3) | st.just("\n")

    @calm
    @given(st.lists(piece, max_size=25).map("".join))
    def check(text: str) -> None:
        options = {"parent": "first"} if "parent" in FORMATS[name].read_options else {}
        taxonomy = never_anything_else(name, text.encode("utf-8", "replace"), **options)
        if taxonomy is not None:  # what was read can be written and read again
            again = read_bytes("json", written(taxonomy, "json"))
            assert branches(again) == branches(taxonomy)

    check()


@settings(calm, max_examples=150)
@given(taxonomies(), st.data())
def test_random_trees_come_back(taxonomy: Taxonomy, data: st.DataObject) -> None:
    """Each tree goes through three of the ways; drawing the tree is the slow part."""
    tidied = Taxonomy(
        taxonomy.names,
        taxonomy.tree.parent,
        codes=[tidy(code) for code in taxonomy.codes],
        descriptions=[tidy_description(text) for text in taxonomy.descriptions],
    )
    for _ in range(3):
        name, options = data.draw(st.sampled_from(WAYS))
        try:
            content = written(tidied, name, **options)
        except TaxonomyError as fault:
            reason = str(fault)
        else:
            check_same(tidied, read_bytes(name, content), name, options)
            continue
        assert "can't hold the code" in reason or "needs labels" in reason


def check_same(taxonomy: Taxonomy, again: Taxonomy, name: str, options: dict[str, Any]) -> None:
    assert branches(again) == branches(taxonomy)
    if name in KEEPS_ORDER:
        assert again.paths == taxonomy.paths
        lost = FORMATS[name].loses(taxonomy, options.get("layout"))
        if "codes" not in lost and options.get("layout") != "codes":
            assert again.codes == taxonomy.codes
        if "descriptions" not in lost:
            assert again.descriptions == taxonomy.descriptions


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files(name: str) -> None:
    """Cut, overwrite and repeat parts of a good file."""
    good = written(Taxonomy.from_paths(["A > B > C", "A > D", "E > B"]), name)

    @settings(calm, max_examples=40 if name == "xlsx" else 100)
    @given(st.integers(0, len(good)), st.integers(0, len(good)), st.binary(max_size=4))
    def check(start: int, end: int, patch: bytes) -> None:
        never_anything_else(name, good[:start] + patch + good[end:])

    check()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=4)
        | st.dictionaries(
            st.sampled_from(["name", "children", "parent", "code", "tree", "levels", "A", "B"]),
            below,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@calm
@given(json_values)
def test_random_json_values(value: Any) -> None:
    never_anything_else("json", json.dumps(value).encode())
    never_anything_else("yaml", json.dumps(value).encode())
    never_anything_else("json-ld", json.dumps(value).encode())


@settings(calm, max_examples=40)
@given(
    st.sampled_from(["xl/workbook.xml", "xl/worksheets/sheet1.xml", "[Content_Types].xml"]),
    st.binary(max_size=40) | st.text(max_size=40).map(str.encode),
)
def test_workbooks_with_a_damaged_part(part: str, patch: bytes) -> None:
    good = written(Taxonomy.from_paths(["A > B"]), "xlsx")
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as old, zipfile.ZipFile(out, "w") as new:
        for item in old.namelist():
            data = old.read(item)
            new.writestr(item, data[: len(data) // 2] + patch if item == part else data)
    never_anything_else("xlsx", out.getvalue())
