"""Tables: a parent column, one column a level, paths, and codes that carry the tree."""

import json
from pathlib import Path

import pytest
from taxonomy_cases import read_bytes, written

from hierseed import Taxonomy
from hierseed.errors import TaxonomyError

TREE = ("A", "A > B", "A > B > C", "D")


def test_parents_by_name_by_code_and_by_path() -> None:
    assert read_bytes("csv", "name,parent\nA,\nB,A\nC,B\nD,\n").paths == TREE
    assert read_bytes("csv", "id,label,parent_id\n1,A,\n2,B,1\n3,C,2\n4,D,\n").paths == TREE
    assert read_bytes("csv", "id,label,parent\n1,A,\n2,B,1\n3,C,2\n4,D,\n").codes == tuple("1234")
    assert read_bytes("csv", "topic,parent\nA,\nB,A\nC,A > B\nD,\n").paths == TREE
    assert read_bytes("tsv", "Term\tBroader\nA\tRoot\nB\tA\nC\tB\nD\troot\n").paths == TREE


def test_children_may_come_first() -> None:
    assert read_bytes("csv", "name,parent\nC,B\nB,A\nD,\nA,\n").paths == (
        *("D", "A", "A > B", "A > B > C"),
    )


def test_levels_ragged_and_filled_down() -> None:
    assert read_bytes("csv", "level_1,level_2,level_3\nA,B,C\nD,,\n").paths == TREE
    assert read_bytes("csv", "Tier 1,Tier 2,Tier 3\nA,,\n,B,\n,,C\nD\n").paths == TREE
    assert read_bytes(
        "csv", "Domain,Area,Sub\nA,B,C\nD\n", levels=["Domain", "Area", "Sub"]
    ).paths == (TREE)
    assert read_bytes("csv", "Domain,Area,Sub\nA,B,C\nD\n", layout="levels").paths == TREE


@pytest.mark.parametrize(
    "header",
    ["topic,subtopic", "Major topic,Subtopic", "Category,Sub-Category", "sub_area,area"],
)
def test_columns_called_sub(header: str) -> None:
    rows = ["A,", "A,B", "A,C", "D,"]
    if header.startswith("sub"):
        rows = [",".join(reversed(row.split(","))) for row in rows]
    assert read_bytes("csv", "\n".join([header, *rows])).paths == ("A", "A > B", "A > C", "D")


def test_levels_with_gaps() -> None:
    with pytest.raises(TaxonomyError) as fault:
        read_bytes("csv", "level_1,level_2,level_3\n,B,\nA,,C\nA,B,\nA,B,\n,,\n")
    assert str(fault.value).split("\n") == [
        "topics.csv has 3 faults:",
        "  - line 2: 'B' is at level 2 without a parent",
        "  - line 3: level 2 is empty but level 3 is not",
        "  - line 5: the topic 'A > B' occurs twice, first at line 4",
    ]


def test_paths_in_a_column() -> None:
    text = "code,topic,definition\n1,A,first\n2,A > B > C,\n3,D,\n"
    taxonomy = read_bytes("csv", text)
    assert taxonomy.paths == TREE
    assert taxonomy.codes == ("1", "", "2", "3")
    assert taxonomy.descriptions[0] == "first"


def test_columns_with_names_of_their_own() -> None:
    text = "Begriff;Oberbegriff\nA;\nB;A\nC;B\nD;\n"
    with pytest.raises(
        TaxonomyError, match=r"line 1: the header \['Begriff', 'Oberbegriff'\] names"
    ):
        read_bytes("csv", text)
    columns = {"name": "Begriff", "parent": "Oberbegriff"}
    assert read_bytes("csv", text, columns=columns).paths == TREE
    with pytest.raises(TaxonomyError, match="no column 'Eltern'; the header has"):
        read_bytes("csv", text, columns={"parent": "Eltern"})
    with pytest.raises(TaxonomyError, match="no role 'topic' for a column"):
        read_bytes("csv", text, columns={"topic": "Begriff"})
    with pytest.raises(TaxonomyError, match=r"no columns \['X'\]"):
        read_bytes("csv", text, levels=["X"])
    with pytest.raises(TaxonomyError, match="no table layout 'wide'"):
        read_bytes("csv", text, layout="wide")


def test_delimiters_and_excels_hint() -> None:
    for delimiter in ",;\t|":
        text = "name,parent\nA,\nB,A\n".replace(",", delimiter)
        assert read_bytes("csv", text).paths == ("A", "A > B")
    assert read_bytes("csv", "sep=;\nname;parent\n'A, x';\n").names == ("'A, x'",)
    with pytest.raises(TaxonomyError, match="say one character"):
        read_bytes("csv", "a", delimiter="--")


def test_quotes_and_lines_inside_cells() -> None:
    text = 'name,parent,description\n"A, ""x""",,"two\nlines"\nB,"A, ""x""",\n\n"C\nc",,\nC c,,\n'
    with pytest.raises(
        TaxonomyError, match="line 8: the topic 'C c' occurs twice, first at line 6"
    ):
        read_bytes("csv", text)
    with pytest.raises(TaxonomyError, match="line 3: a quote is opened and not closed"):
        read_bytes("csv", 'name,parent\nA,\n"B,A\nC,A\n')
    with pytest.raises(TaxonomyError, match="line 2: 3 cells under a header of 2; quote names"):
        read_bytes("csv", "name,parent\nHealth, safety,A\n")


def test_unknown_ambiguous_and_several_parents() -> None:
    with pytest.raises(TaxonomyError, match="2 faults") as fault:
        read_bytes("csv", "name,parent\nA,\nB,a\nC,X\nD,A\n")
    assert "line 3: no topic 'a', the parent of 'B'" in str(fault.value)
    with pytest.raises(TaxonomyError, match="'G' is a parent, but 2 rows bear that name"):
        read_bytes("csv", "name,parent\nA,\nB,\nG,A\nG,B\nX,G\n")
    assert "B > G" in read_bytes("csv", "name,parent\nA,\nB,\nG,A\nG,B\n")
    poly = "code,name,parent_code\n1,A,\n2,B,\n3,C,1\n3,C,2\n"
    with pytest.raises(TaxonomyError, match="line 4: 'C' has 2 parents: 'A', 'B'"):
        read_bytes("csv", poly, parent="only")
    assert read_bytes("csv", poly).all_paths(2) == ["A > C", "B > C"]
    with pytest.warns(UserWarning, match="several parents"):
        assert read_bytes("csv", poly, parent="first").paths == ("A", "B", "A > C")
    with pytest.raises(TaxonomyError, match="line 3: the code '1' occurs twice, first at line 2"):
        read_bytes("csv", "code,name,parent_code\n1,A,\n1,B,\n")
    with pytest.raises(TaxonomyError, match="its own ancestor: 'A' -> 'B' -> 'A'"):
        read_bytes("csv", "name,parent\nA,B\nB,A\n")


def test_faults_of_every_kind_are_reported_at_once_in_file_order() -> None:
    with pytest.raises(TaxonomyError) as fault:
        read_bytes("csv", "name,parent\nA,B\nB,A\nC,X\nD,\nD,\n,A\nC,Y\n")
    assert str(fault.value).split("\n") == [
        "topics.csv has 5 faults:",
        "  - line 2: a topic is its own ancestor: 'A' -> 'B' -> 'A'",
        "  - line 4: no topic 'X', the parent of 'C'; list it as well",
        "  - line 6: the topic 'D' occurs twice, first at line 5",
        "  - line 7: an empty name in the topic ''",
        "  - line 8: no topic 'Y', the parent of 'C'; list it as well",
    ]


def test_parent_codes_that_equal_other_names() -> None:
    """The column written says whether it holds codes or paths, so that B is never read as A."""
    taxonomy = Taxonomy(["A", "B", "C"], [-1, -1, 1], codes=["B", "", ""])
    assert "parent_path" in written(taxonomy, "csv").decode()
    assert read_bytes("csv", written(taxonomy, "csv")) == taxonomy


# ---------------------------------------------------------------- codes that carry the tree

AGENDAS = """code,name
1,Economy
100,General
105,Budget
10,Transport
1000,General
1001,Trains
2,Rights
200,General
299,Other
20,Offices
2000,General
"""


def test_comparative_agendas_105_belongs_to_1_and_not_to_10() -> None:
    taxonomy = read_bytes("csv", AGENDAS)
    assert taxonomy.index("Economy > Budget") == 2
    assert taxonomy.codes[taxonomy.index("Transport > Trains")] == "1001"
    assert [path for path in taxonomy.paths if path.endswith("General")] == [
        "Economy > General",
        "Transport > General",
        "Rights > General",
        "Offices > General",
    ]
    assert taxonomy.tree.height == 2
    assert read_bytes("csv", AGENDAS, digits=2) == taxonomy
    assert read_bytes("csv", AGENDAS, layout="codes", scheme="digits") == taxonomy


def test_all_codes_of_the_agendas(shared_data: Path) -> None:
    told = json.loads((shared_data / "cap_sotu" / "taxonomy.json").read_text())["names"]
    majors = sorted({int(code) // 100 for code in told})
    lines = [f"{major},Major {major}" for major in majors]
    lines += [f'{code},"{code} {name}"' for code, name in told.items()]
    taxonomy = read_bytes("csv", "\n".join(["code,name", *lines]))
    assert len(taxonomy) == len(majors) + len(told) > 200
    for code, parent in zip(taxonomy.codes, taxonomy.tree.parent):
        if int(code) >= 100:
            assert int(taxonomy.codes[parent]) == int(code) // 100
        else:
            assert parent == -1


def test_codes_with_two_readings_are_asked_about() -> None:
    text = "code,name\n1,A\n10,B\n105,C\n"
    with pytest.raises(TaxonomyError, match=r"digits=1 for 105 under 10, or digits=2"):
        read_bytes("csv", text)
    assert read_bytes("csv", text, digits=1).paths[2] == "A > B > C"
    assert read_bytes("csv", text, digits=2).paths[2] == "A > C"
    with pytest.raises(TaxonomyError, match="digits is 0"):
        read_bytes("csv", text, digits=0)
    with pytest.raises(TaxonomyError, match="no scheme 'guess'"):
        read_bytes("csv", text, scheme="guess")


def test_running_numbers_are_no_tree() -> None:
    running = "id,name\n" + "".join(f"{i},t{i}\n" for i in range(1, 25))
    assert read_bytes("csv", running).tree.height == 1
    with_gaps = running.replace("7,t7\n", "")
    with pytest.raises(
        TaxonomyError, match=r"digits=1 for 10 under 1, or digits=2 for a flat list"
    ):
        read_bytes("csv", with_gaps)
    assert read_bytes("csv", with_gaps, digits=2).tree.height == 1


def test_a_missing_major_topic_is_reported_and_never_replaced_by_another() -> None:
    text = AGENDAS + "301,Doctors\n2103,Forests\n"
    with pytest.raises(TaxonomyError) as fault:
        read_bytes("csv", text, digits=2)
    assert "line 13: the code '301' belongs under '3', which is not listed" in str(fault.value)
    assert "line 14: the code '2103' belongs under '21'" in str(fault.value)
    with pytest.raises(
        TaxonomyError, match=r"the codes do not determine the parents; .*set digits=2"
    ):
        read_bytes("csv", "code,name\n1,A\n501,B\n601,C\n")


MESH = "Body Regions;A01\nAnatomic Landmarks;A01.111\nBreast;A01.236\nNipples;A01.236.500\n"


def test_mesh_tree_numbers() -> None:
    paths = ("Body Regions", "Body Regions > Anatomic Landmarks", "Body Regions > Breast")
    taxonomy = read_bytes("csv", MESH)  # as MeSH gives it: no header
    assert taxonomy.paths == (*paths, "Body Regions > Breast > Nipples")
    assert read_bytes("csv", "name;tree number\n" + MESH) == taxonomy
    with pytest.raises(TaxonomyError, match=r"line 3: the code 'A01\.300\.1' belongs under"):
        read_bytes("csv", MESH.replace("236", "300.1", 1))


def test_a_mesh_term_with_two_tree_numbers_is_two_topics() -> None:
    text = "term,code\nDiabetes,C18.1\nMetabolic,C18\nEndocrine,C19\nDiabetes,C19.2\n"
    taxonomy = read_bytes("csv", text)
    assert {"Metabolic > Diabetes", "Endocrine > Diabetes"} < set(taxonomy.paths)


def test_prefixes_of_letters_and_decimal_outlines() -> None:
    jel = "code,name\nA,General\nA1,Economics\nA10,Survey\nB,History\n"
    assert read_bytes("csv", jel).paths[2] == "General > Economics > Survey"
    decimal = "code,name\n1.,One\n1.1,Two\n1.1.1.,Three\n2.,Four\n"
    assert read_bytes("csv", decimal).paths == ("One", "One > Two", "One > Two > Three", "Four")
    manifesto = "code,name\n103,Imperialism\n103_1,State\n103_2,Foreign\n104,Military\n"
    assert read_bytes("csv", manifesto).paths[2] == "Imperialism > Foreign"
    naics = "code,name\n11,Farming\n111,Crops\n1111,Oilseed\n21,Mining\n212,Quarrying\n"
    assert read_bytes("csv", naics).paths[2] == "Farming > Crops > Oilseed"


def test_codes_twice_or_missing() -> None:
    with pytest.raises(TaxonomyError, match="2 faults") as fault:
        read_bytes("csv", "code,name\n1,A\n1,B\n,C\n")
    assert "line 3: the code '1' occurs twice, first at line 2" in str(fault.value)
    assert "line 4: no code for 'C'" in str(fault.value)


def test_codes_are_written_only_where_they_tell_the_tree() -> None:
    agendas = read_bytes("csv", AGENDAS)
    assert read_bytes("csv", written(agendas, "csv", layout="codes")) == agendas
    odd = Taxonomy(["A", "B"], [-1, 0], codes=["x", "y"])
    with pytest.raises(TaxonomyError, match="the code 'y' does not determine its parent"):
        written(odd, "csv", layout="codes")
    assert read_bytes("csv", written(odd, "csv", layout="codes", renumber=True)).codes == (
        "1",
        "1.1",
    )
    with pytest.raises(TaxonomyError, match="a code of its own for each topic"):
        written(Taxonomy(["A", "B"], [-1, 0], codes=["x", ""]), "csv", layout="codes")
    many = Taxonomy([f"t{i}" for i in range(120)], [-1] * 120)  # 1 must not be read as above 10
    assert read_bytes("csv", written(many, "csv", layout="codes")).paths == many.paths
    with pytest.raises(TaxonomyError, match="no table layout 'tall'"):
        written(odd, "csv", layout="tall")
