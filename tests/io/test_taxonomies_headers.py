"""Which column of a table is what: usual headers of thesauri, and columns that are not used."""

import warnings

import pytest
from taxonomy_cases import read_bytes

from hierseed.errors import TaxonomyError

TREE = ("Health", "Health > Hospitals")


@pytest.mark.parametrize(
    "header",
    ["Term,Broader term", "name,BT", "Caption,Parent term", "Subject,Narrower of", "Class,Broader"],
)
def test_thesauri_name_the_parent_in_their_own_way(header: str) -> None:
    assert read_bytes("csv", f"{header}\nHealth,\nHospitals,Health\n").paths == TREE


@pytest.mark.parametrize("header", ["Class,Heading", "Class number,Caption", "Notation,Subject"])
def test_class_schemes_name_the_code_in_their_own_way(header: str) -> None:
    found = read_bytes("csv", f"{header}\n01,Health\n01.01,Hospitals\n")
    assert found.paths == TREE
    assert found.codes == ("01", "01.01")


def test_subjects_and_their_parts_are_levels() -> None:
    assert read_bytes("csv", "Subject,Sub-subject\nHealth,\nHealth,Hospitals\n").paths == TREE


def test_columns_of_unknown_names_are_levels_where_they_look_it() -> None:
    text = "Policy area,Sub-area,Issue\nHealth,Care,Nursing\nHealth,Care,Homes\nSafety,Guns,Sales\n"
    with pytest.warns(
        UserWarning, match="read as levels, level 1 first: 'Policy area', 'Sub-area'"
    ):
        found = read_bytes("csv", text)
    assert found.paths[:4] == (
        "Health", "Health > Care", "Health > Care > Nursing", "Health > Care > Homes",
    )  # fmt: skip


@pytest.mark.parametrize("rows", ["Health,\nHealth,Care\nSafety,Guns\n", "Health,Care\n,Homes\n"])
def test_levels_may_be_filled_in_once_and_may_have_definitions(rows: str) -> None:
    with pytest.warns(UserWarning, match="read as levels, level 1 first: 'Area', 'Issue'"):
        plain = read_bytes("csv", "Area,Issue\n" + rows)
    defined = "Area,Issue,Definition\n" + rows.replace("\n", ",what it is about\n")
    with pytest.warns(UserWarning, match="read as levels"):
        assert read_bytes("csv", defined).paths == plain.paths
    assert "Health > Care" in plain.paths


@pytest.mark.parametrize(
    "rows",
    [
        "Ann,Cats\nBob,Dogs\n",  # nothing repeats: two columns of anything
        "Cats,2001\nCats,2002\n",  # numbers are no topics
        "Nursing,Health\nHomes,Health\n",  # the parents come second
        "Health,Care\nHealth,Care\n",  # a row that stands twice
        f"Health,{'a long text ' * 20}\nHealth,{'another text ' * 20}\n",
    ],
)
def test_columns_that_are_no_levels_are_asked_for(rows: str) -> None:
    with pytest.raises(TaxonomyError, match="names no known column"):
        read_bytes("csv", "Foo,Bar\n" + rows)


@pytest.mark.parametrize(
    ("text", "unused"),
    [
        ("name,Oberbegriff,parent\nHealth,x,\nHospitals,,Health\n", "'Oberbegriff'"),
        ("name,Oberbegriff\nHealth,\nHospitals,Health\n", "'Oberbegriff'"),
        ("level_1,name,,UF\nHealth,x,y,z\n", "'name', column 3, 'UF'"),
        ("code,id,name\n1,7,Health\n", "'id'"),
    ],
)
def test_columns_that_are_not_used_are_named(text: str, unused: str) -> None:
    with pytest.warns(UserWarning, match=f"not used.*: {unused}[.]"):
        read_bytes("csv", text)


def test_columns_without_a_value_are_not_worth_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_bytes("csv", "name,parent,UF,\nHealth,,,\nHospitals,Health,,\n").paths == TREE


def test_a_fault_names_the_columns_that_might_separate_the_topics() -> None:
    with pytest.raises(TaxonomyError, match=r"occurs twice(.|\n)*not used.*: 'Oberbegriff'"):
        read_bytes("csv", "name,Oberbegriff\nGeneral,Health\nGeneral,Safety\n")


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "Health"}, {"name": "Hospitals", "parent": "Health"}]',
        '[{"Term": "Health", "BT": ""}, {"Term": "Hospitals", "BT": "Health"}]',
    ],
)
def test_flat_records_are_a_table_where_any_names_a_parent(text: str) -> None:
    assert read_bytes("json", text).paths == TREE


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("json", '[{"name": "Health"}, {"name": "Hospitals", "Oberbegriff": "Health"}]'),
        ("yaml", "- name: Health\n- name: Hospitals\n  Oberbegriff: Health\n"),
    ],
)
def test_keys_that_are_not_used_are_named(format: str, text: str) -> None:
    with pytest.warns(UserWarning, match=r"not used.*: 'Oberbegriff'[.]"):
        assert read_bytes(format, text).paths == ("Health", "Hospitals")
