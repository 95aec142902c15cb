"""Write, read, and find the same tree: every format, every layout, every tree we have."""

import json
from pathlib import Path
from typing import Any

import pytest
from taxonomy_cases import KEEPS_ORDER, NASTY, WAYS, branches, read_bytes, way_name, written

from hierseed import Taxonomy
from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies import FORMATS, read_taxonomy, write_taxonomy

TREES = [
    *(f"{name}/taxonomy.json" for name in ("20newsgroups", "arxiv", "arxiv_acm", "cap_sotu")),
    *("us_code/taxonomy.json", "wos_partial/taxonomy.json"),
    *(f"paper_taxonomies/{name}.taxonomy" for name in ("nyt", "rcv1", "wos")),
]
SIZES = [26, 126, 264, 216, 509, 139, 166, 103, 141]


@pytest.mark.parametrize("way", WAYS, ids=way_name)
@pytest.mark.parametrize("tree", TREES)
def test_real_trees_come_back(
    shared_data: Path, tmp_path: Path, tree: str, way: tuple[str, dict[str, Any]]
) -> None:
    name, options = way
    taxonomy = read_taxonomy(shared_data / tree)
    file = tmp_path / f"topics{FORMATS[name].endings[0]}"
    write_taxonomy(taxonomy, file, **options)
    again = read_taxonomy(file)  # the format is guessed
    assert branches(again) == branches(taxonomy)
    if name in KEEPS_ORDER:
        assert again.paths == taxonomy.paths
    if "codes" in FORMATS[name].holds and options.get("layout") not in ("nested", "codes"):
        assert dict(zip(again.paths, again.codes)) == dict(zip(taxonomy.paths, taxonomy.codes))


@pytest.mark.parametrize(("tree", "size"), list(zip(TREES, SIZES)))
def test_real_trees_have_their_sizes(shared_data: Path, tree: str, size: int) -> None:
    assert len(read_taxonomy(shared_data / tree)) == size


def test_benchmark_tree_is_the_one_of_its_parent_table(shared_data: Path) -> None:
    for tree in TREES[:6]:
        told = json.loads((shared_data / tree).read_text())["parent"]
        taxonomy = read_taxonomy(shared_data / tree)
        above = [taxonomy.paths[p] if p >= 0 else None for p in taxonomy.tree.parent]
        assert dict(zip(taxonomy.paths, above)) == told


def test_labels_that_are_whole_paths_become_names_and_stay_as_codes(shared_data: Path) -> None:
    file = shared_data / "paper_taxonomies" / "nyt.taxonomy"
    labels = {label for line in file.read_text().split("\n") for label in line.split("\t") if label}
    nyt = read_taxonomy(file)
    assert set(nyt.codes) == labels - {"Root"}
    assert [path.replace(" > ", "/") for path in nyt.paths] == list(nyt.codes)


def test_leaves_of_a_corpus_carry_their_codes(shared_data: Path) -> None:
    file = shared_data / "arxiv" / "taxonomy.json"
    names = json.loads(file.read_text())["names"]
    taxonomy = read_taxonomy(file)
    coded = {code: name for code, name in zip(taxonomy.codes, taxonomy.names) if code}
    assert coded.items() <= names.items()
    assert len(coded) == 116 == taxonomy.tree.is_leaf.sum()


@pytest.mark.parametrize("way", WAYS, ids=way_name)
def test_nasty_names_come_back(way: tuple[str, dict[str, Any]]) -> None:
    name, options = way
    again = read_bytes(name, written(NASTY, name, **options))
    assert branches(again) == branches(NASTY)


@pytest.mark.parametrize("way", WAYS, ids=way_name)
def test_codes_and_descriptions_survive_where_they_fit(way: tuple[str, dict[str, Any]]) -> None:
    name, options = way
    taxonomy = Taxonomy(
        ["Health", "Guns", "Safety"],
        [-1, 0, -1],
        codes=["H 1", "007", ""],
        descriptions=["All of it.\nAlso: medicine", "", 'a "quoted", <b>text</b> & more'],
    )
    again = read_bytes(name, written(taxonomy, name, **options))
    assert again.paths == taxonomy.paths or name == "children"
    lost = FORMATS[name].loses(taxonomy, options.get("layout"))
    by_path = lambda texts, t: dict(zip(t.paths, texts))  # noqa: E731
    if "codes" not in lost and options.get("layout") != "codes":
        assert by_path(again.codes, again) == by_path(taxonomy.codes, taxonomy)
    if "descriptions" not in lost:
        assert by_path(again.descriptions, again) == by_path(taxonomy.descriptions, taxonomy)


def test_other_topics_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    taxonomy = Taxonomy.from_paths(["A > Other", "A > B"]).with_others([0, -1])
    file = tmp_path / "topics.json"
    taxonomy.write(file)
    assert Taxonomy.read(file).paths == ("A", "A > Other", "A > B")
    taxonomy.write(file, others=True)
    again = Taxonomy.read(file)
    assert sorted(again.paths) == sorted(
        ["A", "A > Other", "A > B", "A > Other (unlisted)", "Other"]
    )
    assert {p for p, other in zip(again.paths, again.is_other) if other} == {
        "A > Other (unlisted)",
        "Other",
    }
    taxonomy.write(tmp_path / "topics.csv", others=True)
    assert set(Taxonomy.read(tmp_path / "topics.csv").paths) == set(again.paths)


def test_nothing_is_left_half_written(tmp_path: Path) -> None:
    file = tmp_path / "topics.txt"
    Taxonomy.from_paths(["A > B"]).write(file)
    before = file.read_bytes()
    odd = Taxonomy(["A"], [-1], codes=["1 - 2"])
    with pytest.raises(TaxonomyError, match="can't hold the code"):
        odd.write(file)
    assert file.read_bytes() == before
    with pytest.raises(TaxonomyError, match=r"can't write the taxonomy .*does not exist"):
        odd.write(tmp_path / "none" / "topics.json")
    assert [path.name for path in tmp_path.iterdir()] == ["topics.txt"]


def test_unknown_formats_and_options_name_the_known_ones(tmp_path: Path) -> None:
    file = tmp_path / "topics.txt"
    file.write_text("A > B\n")
    with pytest.raises(TaxonomyError, match=r"no taxonomy format 'skos'; say one of paths, csv"):
        read_taxonomy(file, "skos")
    with pytest.raises(
        TaxonomyError, match="reading paths takes no option language; it takes: ids"
    ):
        read_taxonomy(file, language="en")
    with pytest.raises(TaxonomyError, match="writing markdown takes no option layout"):
        write_taxonomy(read_taxonomy(file), tmp_path / "x.md", layout="nested")
    with pytest.raises(TaxonomyError, match=r"no format for the ending of .*x\.doc"):
        write_taxonomy(read_taxonomy(file), tmp_path / "x.doc")
