"""Text formats: paths, outlines, Markdown, parent-TAB-children, and what is wrong in them."""

from pathlib import Path

import pytest
from taxonomy_cases import read_bytes, save, written

from hierseed import Taxonomy
from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies import read_taxonomy

GOOGLE = """\
# Google_Product_Taxonomy_Version: 2021-09-21
1 - Animals & Pet Supplies
3237 - Animals & Pet Supplies > Live Animals
2 - Animals & Pet Supplies > Pet Supplies
3 - Animals & Pet Supplies > Pet Supplies > Bird Supplies
166 - Apparel & Accessories
"""


def test_google_product_taxonomy() -> None:
    taxonomy = read_bytes("paths", GOOGLE)
    assert taxonomy.paths[3] == "Animals & Pet Supplies > Pet Supplies > Bird Supplies"
    assert taxonomy.codes == ("1", "3237", "2", "3", "166")
    assert not any(read_bytes("paths", GOOGLE.replace("166 - ", ""), ids=False).codes)


def test_ids_need_a_number_on_every_line() -> None:
    assert read_bytes("paths", "1 - one\nplain\n").names == ("1 - one", "plain")
    with pytest.raises(TaxonomyError, match="line 2: no id before ' - '"):
        read_bytes("paths", "1 - one\nplain\n", ids=True)


def test_names_that_look_like_ids_are_kept() -> None:
    taxonomy = Taxonomy.from_paths(["1 - one", "2 - two > x"])
    again = read_bytes("paths", written(taxonomy, "paths"))
    assert again == taxonomy
    taxonomy = Taxonomy.from_paths(["1 Foo", "1 Foo > Sub", "1.1 Bar"])
    assert read_bytes("paths", written(taxonomy, "paths")) == taxonomy


def test_parents_are_filled_in_and_may_be_listed_later() -> None:
    taxonomy = read_bytes("paths", "7 - A > B\n3 - A\n")
    assert taxonomy.paths == ("A", "A > B")
    assert taxonomy.codes == ("3", "7")


def test_another_separator() -> None:
    assert read_bytes("paths", "A / B\nA / C>D\n", separator=" / ").paths[2] == "A > C>D"
    with pytest.raises(TaxonomyError, match="visible"):
        read_bytes("paths", "A B", separator=" ")


@pytest.mark.parametrize("mark", [">", "->", " → ", "|", "::", "\\"])
def test_other_marks_between_names_are_found_by_the_names_before_them(mark: str) -> None:
    with pytest.warns(UserWarning, match="is read as the mark between"):
        assert read_bytes("paths", f"A\nA{mark}B\n").paths == ("A", "A > B")
    with pytest.warns(UserWarning, match="is read as the mark between"):
        assert read_bytes("paths", f"A{mark}B\nA{mark}C\n").names == ("A", "B", "C")
    flat = Taxonomy.from_paths(["A", f"A{mark}B"])  # our own files say what they mean
    assert read_bytes("paths", written(flat, "paths")) == flat


def test_marks_that_may_be_part_of_names_are_only_pointed_out() -> None:
    with pytest.warns(UserWarning, match="'A/B' is read as one name.*separator='/'"):
        assert read_bytes("paths", "A\nA/B\n").names == ("A", "A/B")
    with pytest.warns(UserWarning, match="'C>D' is read as one name.*separator='>'"):
        assert read_bytes("paths", "A\nC>D\n").names == ("A", "C>D")
    assert read_bytes("paths", "HIV/AIDS\nFlu\n").names == ("HIV/AIDS", "Flu")
    assert read_bytes("paths", "A\nA>B\n", separator=">").paths == ("A", "A > B")
    assert read_bytes("paths", "A > B\nA>B\n").names == ("A", "B", "A>B")  # one of each: meant so
    flat = Taxonomy(["a>b", "c"], [-1, -1])  # our own files say what they mean
    assert read_bytes("paths", written(flat, "paths")) == flat


def test_numbers_before_names_tell_the_tree(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="read as codes"):
        taxonomy = read_bytes("paths", "1. Animals\n1.1 Cats\n1.2 Dogs\n2. Food\n")
    assert taxonomy.paths == ("Animals", "Animals > Cats", "Animals > Dogs", "Food")
    assert taxonomy.codes == ("1", "1.1", "1.2", "2")
    with pytest.raises(TaxonomyError, match=r"line 3: the number '1\.1' occurs twice"):
        read_bytes("paths", "1 Animals\n1.1 Cats\n1.1 Dogs\n")
    flat = Taxonomy.from_paths(["1 Animals", "1.1 Cats"])
    assert read_bytes("paths", written(flat, "paths")) == flat
    assert read_bytes("paths", "100 years\n200 years\n").names == ("100 years", "200 years")


def test_bullets_below_plain_lines_tell_the_tree(tmp_path: Path) -> None:
    file = tmp_path / "topics.txt"
    for text in ("Animals\n- Cats\n- Dogs\nFood\n", "Animals\n  - Cats\n  - Dogs\nFood\n"):
        file.write_text(text)
        assert Taxonomy.read(file).paths == ("Animals", "Animals > Cats", "Animals > Dogs", "Food")
    for names in (["A", "- B"], ["A", "\\- B", "\\B", "# C"]):  # names that only look it
        taxonomy = Taxonomy(names, [-1] * len(names))
        for ending in (".txt", ".outline"):
            taxonomy.write(tmp_path / f"names{ending}")
            assert Taxonomy.read(tmp_path / f"names{ending}") == taxonomy


def test_every_fault_is_reported_with_its_line() -> None:
    with pytest.raises(TaxonomyError) as fault:
        read_bytes("paths", "# ids: yes\n1 - A\n1 - A > B\n2 - A\n3 - C >  > D\nE\n4 - F\x07\n")
    assert str(fault.value).split("\n") == [
        "topics.txt has 5 faults:",
        "  - line 3: the id '1' occurs twice, first at line 2",
        "  - line 4: the topic 'A' occurs twice, first at line 2",
        "  - line 5: an empty name in the path 'C >  > D'",
        "  - line 6: no id before ' - ' in 'E'",
        "  - line 7: the character U+0007, which not every file format can hold, "
        "in the topic 'F\\x07'",
    ]


def test_long_lists_of_faults_are_cut() -> None:
    with pytest.raises(TaxonomyError, match="has 80 faults:") as fault:
        read_bytes("paths", "A\n" * 81)
    assert str(fault.value).endswith("… and 30 more")


# ---------------------------------------------------------------- bytes and encodings


@pytest.mark.parametrize("name", ["paths", "csv", "yaml", "json", "turtle", "outline", "children"])
def test_byte_order_mark_is_no_part_of_a_name(name: str) -> None:
    taxonomy = Taxonomy.from_paths(["A > B"])
    data = written(taxonomy, name)
    assert read_bytes(name, b"\xef\xbb\xbf" + data).paths == taxonomy.paths
    if name not in ("json", "turtle"):
        assert read_bytes(name, data.replace(b"\n", b"\r\n")).paths == taxonomy.paths


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_alike_whatever_ends_them(end: str) -> None:
    with pytest.raises(TaxonomyError, match="line 3: the topic 'A' occurs twice, first at line 1"):
        read_bytes("paths", end.join(["A", "B", "A"]))


def test_other_encodings_are_refused_with_the_line() -> None:
    with pytest.raises(TaxonomyError, match=r"topics\.txt, line 2: the byte 0xE9 is not UTF-8"):
        read_bytes("paths", "A\nCafé\n".encode("latin-1"))
    with pytest.raises(TaxonomyError, match="UTF-16"):
        read_bytes("csv", "name,parent\nA,\n".encode("utf-16"))
    with pytest.raises(TaxonomyError, match="line 2: a NUL character: this is a binary file"):
        read_bytes("outline", b"A\n\0\0")


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(TaxonomyError, match="can't read the taxonomy"):
        read_taxonomy(tmp_path / "none.txt")
    with pytest.raises(TaxonomyError, match="is a folder"):
        read_taxonomy(tmp_path)
    with pytest.raises(TaxonomyError, match="no topic in it"):
        read_taxonomy(save(tmp_path, "empty.txt", "# nothing\n"))
    with (tmp_path / "big.txt").open("wb") as big:
        big.truncate(300 * 2**20)
    with pytest.raises(TaxonomyError, match="is this the corpus"):
        read_taxonomy(tmp_path / "big.txt")


# ---------------------------------------------------------------- outlines and Markdown


def test_outline_with_tabs_or_blanks_and_ragged_depth() -> None:
    for indent in ("\t", "  ", "    ", "\u00a0"):
        text = f"# my topics\nA\n{indent}B\n{indent * 2}C\n\n{indent}D\nE\n"
        assert read_bytes("outline", text).paths == ("A", "A > B", "A > B > C", "A > D", "E")


def test_outline_whose_depth_is_unclear() -> None:
    with pytest.raises(TaxonomyError, match="line 3: tabs and blanks are mixed"):
        read_bytes("outline", "A\n  B\n\tC\n\t D\n  E\n".replace("\tC", "\t\tC"))
    with pytest.raises(TaxonomyError, match="line 3: tabs and blanks are mixed"):
        read_bytes("outline", "A\n  B\n\tC\n")
    with pytest.raises(TaxonomyError, match="line 3: indented less than the line above"):
        read_bytes("outline", "A\n    B\n  C\n")
    with pytest.raises(TaxonomyError, match="line 2: indented less"):
        read_bytes("outline", "  A\nB\n")


def test_markdown_lists_and_headings() -> None:
    text = (
        "# Our topics\n\n## Health\n\n- Guns\n  1. Laws\n  2) Control\n* Diet\n"
        "## Safety ##\n<!-- none yet -->\n### Roads\n+ Bikes\n"
    )
    assert read_bytes("markdown", text).paths == (
        "Health",
        "Health > Guns",
        "Health > Guns > Laws",
        "Health > Guns > Control",
        "Health > Diet",
        "Safety",
        "Safety > Roads",
        "Safety > Roads > Bikes",
    )
    assert read_bytes("markdown", "# A\n- x\n# B\n- x\n").paths == ("A", "A > x", "B", "B > x")


def test_markdown_prose_is_a_fault() -> None:
    with pytest.raises(TaxonomyError, match="line 3: neither a list item"):
        read_bytes("markdown", "- A\n\nSome words.\n")


# ---------------------------------------------------------------- parent, TAB, children


def test_children_with_implicit_root() -> None:
    taxonomy = read_bytes("children", "Root\tA\tB\t\nA\tC\tD\nC\tE\n")
    assert taxonomy.paths == ("A", "B", "A > C", "A > D", "A > C > E")
    assert read_bytes("children", "ROOT\tA\nA\tB", root="ROOT").paths == ("A", "A > B")
    assert read_bytes("children", "A\tB").paths == ("A", "A > B")


def test_children_in_any_order_come_after_their_parents() -> None:
    taxonomy = read_bytes("children", "C\tE\nA\tC\tD\nRoot\tA\tB\n")
    assert taxonomy.paths == ("A", "A > C", "A > C > E", "A > D", "B")


def test_children_several_parents_cycles_and_gaps() -> None:
    two = "Root\tA\tB\nA\tC\nB\tC\n"
    with pytest.raises(TaxonomyError, match=r"'C' has 2 parents: 'A', 'B'; keep one.*parent='all'"):
        read_bytes("children", two, parent="only")
    assert read_bytes("children", two).more_parents == ((), (), (1,))
    with pytest.warns(UserWarning, match="of several parents only the first is kept for 'C'"):
        assert read_bytes("children", two, parent="first").paths == ("A", "B", "A > C")
    with pytest.raises(TaxonomyError, match="its own ancestor: 'A' -> 'C' -> 'B' -> 'A'"):
        read_bytes("children", "A\tB\nB\tC\nC\tA\n")
    with pytest.raises(TaxonomyError, match="line 1: an empty label"):
        read_bytes("children", "A\t\tB\n")
    with pytest.raises(TaxonomyError, match="the root 'Root' is below 'A'"):
        read_bytes("children", "Root\tA\nA\tRoot\n")


def test_children_need_labels_of_their_own() -> None:
    same = Taxonomy.from_paths(["A > General", "B > General"])
    text = written(same, "children").decode()
    assert text == "Root\tA\tB\nA\tA/General\nB\tB/General\n"
    again = read_bytes("children", text)
    assert set(again.paths) == set(same.paths)
    assert again.codes[again.index("B > General")] == "B/General"
    alone = Taxonomy.from_paths(["HIV > HIV/AIDS"])  # must not come back as HIV > AIDS
    assert read_bytes("children", written(alone, "children")).paths == alone.paths
    # a slash in one name only is no sign of whole labels
    kept = read_bytes("children", "Root\tHIV\nHIV\tHIV/AIDS\tOther\n")
    assert kept.paths[1] == "HIV > HIV/AIDS"
    with pytest.raises(TaxonomyError, match="unique and not 'Root': 'A/B'"):
        written(Taxonomy.from_paths(["A > B", "A/B", "C > B"]), "children")


@pytest.mark.parametrize("name", ["paths", "outline", "markdown", "yaml", "csv", "children"])
def test_a_topic_already_called_other(name: str) -> None:
    taxonomy = Taxonomy.from_paths(["A > Other", "A > B", "Other"])
    again = read_bytes(name, written(taxonomy, name))
    assert set(again.paths) == set(taxonomy.paths)
    assert not again.is_other.any()
    more = again.with_others([again.index("A"), -1])
    assert set(more.paths) - set(again.paths) == {"A > Other (unlisted)", "Other (unlisted)"}


# ---------------------------------------------------------------- guessing


@pytest.mark.parametrize(
    ("file", "text", "paths"),
    [
        ("t.txt", "A > B\n", ("A", "A > B")),
        ("t.txt", "A\n  B\n", ("A", "A > B")),
        ("t.txt", "A\nB\n", ("A", "B")),
        ("label_hier.txt", "Root\tA\nA\tB\n", ("A", "A > B")),
        ("t.txt", "name\tparent\nA\t\nB\tA\n", ("A", "A > B")),
        ("t.txt", "* A\n  * B\n", ("A", "A > B")),
        (
            "mtrees.bin",
            "Body Regions;A01\nAbdomen;A01.047\n",
            ("Body Regions", "Body Regions > Abdomen"),
        ),
        ("t", '{"A": ["B"]}', ("A", "A > B")),
        (
            "t",
            "\ufeff<?xml version='1.0'?><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-"
            "ns#' xmlns:s='http://www.w3.org/2004/02/skos/core#'><s:Concept rdf:about='a:b'>"
            "<s:prefLabel>A</s:prefLabel></s:Concept></rdf:RDF>",
            ("A",),
        ),
        (
            "t",
            "# x\nPREFIX s: <http://www.w3.org/2004/02/skos/core#>\n"
            "<a:b> s:prefLabel 'A'; a s:Concept .",
            ("A",),
        ),
        (
            "t.json",
            '{"@id": "a:b", "@type": "http://www.w3.org/2004/02/skos/core#Concept", '
            '"http://www.w3.org/2004/02/skos/core#prefLabel": "A"}',
            ("A",),
        ),
    ],
)
def test_formats_are_guessed(tmp_path: Path, file: str, text: str, paths: tuple[str, ...]) -> None:
    assert read_taxonomy(save(tmp_path, file, text)).paths == paths
