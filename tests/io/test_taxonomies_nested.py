"""Nested JSON and YAML: three spellings, and what must not be constructed."""

import json
from pathlib import Path

import pytest
from taxonomy_cases import read_bytes

from hierseed import Taxonomy
from hierseed.errors import TaxonomyError

PATHS = ("Health", "Health > Guns", "Health > Diet", "Health > Diet > Fat", "Safety")


@pytest.mark.parametrize(
    "text",
    [
        '{"Health": {"Guns": {}, "Diet": {"Fat": null}}, "Safety": {}}',
        '{"Health": ["Guns", {"Diet": ["Fat"]}], "Safety": []}',
        '[{"name": "Health", "children": [{"name": "Guns"}, {"name": "Diet", "children": '
        '[{"name": "Fat", "children": []}]}]}, {"name": "Safety"}]',
        '{"name": "root", "children": [{"Health": ["Guns", {"Diet": "Fat"}]}, "Safety"]}',
        '{"children": [{"label": "Health", "topics": ["Guns", {"Diet": ["Fat"]}]}, "Safety"]}',
        '["Health > Guns", "Health > Diet > Fat", "Safety"]',
        '[{"name": "Health", "parent": null}, {"name": "Guns", "parent": "Health"}, '
        '{"name": "Diet", "parent": "Health"}, {"name": "Fat", "parent": "Diet"}, '
        '{"name": "Safety", "parent": ""}]',
        '{"parent": {}, "tree": {"Health": {"Guns": {}, "Diet": {"Fat": {}}}, "Safety": {}}}',
        '{"levels": ["a", "b"], "tree": {"Health": {"Guns": {}, "Diet": {"Fat": {}}}, '
        '"Safety": {}}, "parent": {}}',
    ],
)
def test_json_spellings(text: str) -> None:
    assert read_bytes("json", text).paths == PATHS
    if "levels" not in text and "parent" not in text and " > " not in text:
        assert read_bytes("yaml", text).paths == PATHS  # JSON is YAML


def test_codes_of_the_corpus_form_go_to_the_one_leaf_of_their_name() -> None:
    value = {
        "levels": ["a", "b"],
        "tree": {"P": {"one": {}, "twice": {}, "shared": {}}, "Q": {"twice": {}, "Q": {}}},
        "parent": {},
        "names": {"1": "one", "2": "twice", "3": "shared", "4": "shared", "5": "P", "6": "Q"},
    }
    taxonomy = read_bytes("json", json.dumps(value))
    found = {path: code for path, code in zip(taxonomy.paths, taxonomy.codes) if code}
    assert found == {"P > one": "1", "Q > Q": "6"}


def test_order_is_that_of_the_file_parents_first() -> None:
    assert read_bytes("yaml", "B:\n  Z: {A: {}}\n  C:\nA: [Q]\n").paths == (
        *("B", "B > Z", "B > Z > A", "B > C", "A", "A > Q"),
    )


def test_records_hold_codes_and_descriptions() -> None:
    record = {"name": "A", "id": 7, "definition": "d", "children": ["B"]}
    for name in ("json", "yaml"):
        taxonomy = read_bytes(name, json.dumps([record]))
        assert taxonomy.codes == ("7", "")
        assert taxonomy.descriptions == ("d", "")


def test_topics_called_name_and_children() -> None:
    for name in ("json", "yaml"):
        assert read_bytes(name, '{"name": {"children": {}}, "children": {"name": {}}}').paths == (
            *("name", "name > children", "children", "children > name"),
        )
        assert read_bytes(name, '{"A": {"name": null, "children": null}}').paths == (
            *("A", "A > name", "A > children"),
        )


def test_yaml_names_stay_as_written() -> None:
    text = "No:\n  - yes\n  - 1.10\n  - 010\n2020-01-01:\n0x1F: {1e3: }\n'null': \n"
    assert read_bytes("yaml", text).names == (
        *("No", "yes", "1.10", "010", "2020-01-01", "0x1F", "1e3", "null"),
    )


def test_quanteda_dictionaries_have_words_in_their_lists() -> None:
    text = "economy:\n  trade: [export*, import*]\n  tax: levy\ncrime:\n  - thief\n"
    as_topics = read_bytes("yaml", text)
    assert "economy > trade > export*" in as_topics
    words = read_bytes("yaml", text, lists="words")
    assert words.paths == ("economy", "economy > trade", "economy > tax", "crime")
    assert words.descriptions == ("", "export*, import*", "levy", "thief")
    with pytest.raises(TaxonomyError, match="say 'topics' or 'words'"):
        read_bytes("yaml", text, lists="seeds")


@pytest.mark.parametrize(
    ("tag", "told"),
    [
        ("!!python/object/apply:os.system ['touch hacked']", "!!python/object/apply:os.system"),
        ("!!python/name:os.system", "!!python/name:os.system"),
        ("!Thing {a: b}", "!Thing"),
        ("!!set {a, b}", "!!set"),
    ],
)
def test_yaml_tags_that_construct_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tag: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TaxonomyError, match=f"line 2: the tag {told} could construct an object"):
        read_bytes("yaml", f"A:\n  B: {tag}\n")
    assert not list(tmp_path.iterdir())


def test_plain_yaml_tags_are_fine() -> None:
    assert read_bytes("yaml", "!!map\nA: !!seq [!!str yes, ! no, !!int 3]\n").names == (
        *("A", "yes", "no", "3"),
    )


def test_yaml_aliases_second_documents_and_odd_keys() -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    with pytest.raises(TaxonomyError, match=r"line 2: the alias \*a repeats a branch"):
        read_bytes("yaml", bomb)
    with pytest.raises(TaxonomyError, match="line 3: a second YAML document"):
        read_bytes("yaml", "A: [B]\n---\nC: [D]\n")
    with pytest.raises(
        TaxonomyError, match="line 1: a list or mapping is in the place of a topic's name"
    ):
        read_bytes("yaml", "? [a, b]\n: c\n")
    with pytest.raises(TaxonomyError, match="line 3: not YAML"):
        read_bytes("yaml", "A:\n  - B: [\n")
    with pytest.raises(TaxonomyError, match="one text and no topics"):
        read_bytes("yaml", "just a line of text\n")
    with pytest.raises(TaxonomyError, match="line 2: not YAML"):
        read_bytes("yaml", "A: x\nB: \x01\n")


def test_every_fault_with_its_place() -> None:
    text = "A:\n  - B\n  - B\n  - [C]\n  -\n'': D\nA: E\n"
    with pytest.raises(TaxonomyError) as fault:
        read_bytes("yaml", text)
    assert str(fault.value).split("\n") == [
        "topics.yaml has 5 faults:",
        "  - line 3: the topic 'A > B' occurs twice, first at line 2",
        "  - line 4: a list directly inside a list; which topic is it under?",
        "  - line 5: an empty item in a list of topics",
        "  - line 6: an empty name in the topic ''",
        "  - line 7: the topic 'A' occurs twice, first at line 1",
    ]
    with pytest.raises(TaxonomyError, match=r"topics\.json, \$\.A: the topic 'A' occurs twice"):
        read_bytes("json", '{"A": {}, "A": {}}')
    with pytest.raises(TaxonomyError, match=r"\$\[0\]\.code: the code of a topic must be a text"):
        read_bytes("json", '[{"name": "x", "code": {}}, {"name": "y"}]')


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{\n 'A': 1}", "line 2: not JSON"),
        ("", "line 1: not JSON"),
        ("7", "a taxonomy is an object or a list"),
        ("[]", "no topic in it"),
        ('[{"A": ' * 150 + "{}" + "}]" * 150, "more than 100 levels"),
        ("[" * 100_000, "not a JSON taxonomy"),
        ("9" * 5000, "not a JSON taxonomy"),
        ('[{"name": "A", "parent": "B"}, {"name": "C", "parent": ["A"]}]', "2 faults"),
    ],
)
def test_json_that_is_no_taxonomy(text: str, match: str) -> None:
    with pytest.raises(TaxonomyError, match=match):
        read_bytes("json", text)


def test_depth_has_a_limit_that_is_reported() -> None:
    deep = "".join(f"{'  ' * i}t{i}:\n" for i in range(101))
    with pytest.raises(TaxonomyError, match="more than 100 levels"):
        read_bytes("yaml", deep)
    assert read_bytes("yaml", "".join(f"{'  ' * i}t{i}:\n" for i in range(100))).tree.height == 100
    with pytest.raises(TaxonomyError, match="more than 100 levels"):
        read_bytes("yaml", "[" * 50_000)
    chain = Taxonomy([f"t{i}" for i in range(300)], [i - 1 for i in range(300)])
    with pytest.raises(TaxonomyError, match="300 levels"):
        read_bytes("csv", "name,parent\nt0,\n" + "".join(f"t{i},t{i - 1}\n" for i in range(1, 300)))
    from hierseed.io.taxonomies import FORMATS

    for name in ("json", "yaml"):
        with pytest.raises(TaxonomyError, match="too deep"):
            FORMATS[name].write(chain)
        with pytest.raises(TaxonomyError, match="has no layout 'odd'"):
            FORMATS[name].write(Taxonomy.from_paths(["A"]), layout="odd")
