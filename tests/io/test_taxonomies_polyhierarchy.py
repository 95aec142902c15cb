"""Several parents, and vocabularies that come back as they were, in all languages."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import numpy as np
import pytest

from hierseed import Taxonomy, UnfitHierSeed
from hierseed.errors import TaxonomyError

rdflib = pytest.importorskip("rdflib", reason="the extra 'skos' is not installed")

from rdflib.compare import isomorphic  # noqa: E402

HEADER = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <https://example.org/thesaurus/> .
:scheme a skos:ConceptScheme ; dct:title "Thesaurus"@en , "Thésaurus"@fr .
"""
SMALL = (
    HEADER
    + """
:health a skos:Concept ; skos:prefLabel "Health"@en , "Santé"@fr ; skos:topConceptOf :scheme ;
    skos:narrower :homes ; dct:modified "2024-01-02"^^xsd:date .
:care a skos:Concept ; skos:prefLabel "Care"@en , "Soins"@fr ; skos:inScheme :scheme .
:homes a skos:Concept ; skos:prefLabel "Nursing home"@en , "Maison de retraite"@fr ;
    skos:altLabel "care home"@en , "EHPAD"@fr , "old people's home"@en ;
    skos:broader :health , :care ;
    skos:notation "H.1" ; skos:definition "A house\\nwith nurses"@en ; skos:related :care ;
    skos:exactMatch <http://www.wikidata.org/entity/Q837142> ;
    skos:scopeNote [ dct:source "a book" ] .
"""
)


def large(n: int = 6_000) -> str:
    """A thesaurus of several thousand concepts in two languages, most with several parents."""
    rng = random.Random(0)
    blocks = [HEADER]
    for i in range(n):
        above = sorted({rng.randrange(i) for _ in range(rng.choice((1, 2, 3)))}) if i > 20 else []
        said = [
            "a skos:Concept",
            f'skos:prefLabel "concept {i}"@en , "concept numéro {i}"@fr',
            *(f'skos:altLabel "other {i} {j}"@{"en" if j % 2 else "fr"}' for j in range(i % 4)),
            *(f"skos:broader :c{one}" for one in above),
            f"skos:inScheme :scheme ; skos:related :c{rng.randrange(n)}",
        ]
        blocks.append(f":c{i} " + " ;\n  ".join(said) + " .")
    return "\n".join(blocks)


def graph(path: Path) -> rdflib.Graph:
    syntax = {".ttl": "turtle", ".rdf": "xml", ".jsonld": "json-ld"}[path.suffix]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rdflib's parser of JSON-LD uses its own deprecated parts
        return rdflib.Graph().parse(path, format=syntax)


MIXED = (
    HEADER
    + """
:homes a skos:Concept .
:z skos:prefLabel "Zeal"@en ; skos:narrower :homes .
:care skos:prefLabel "Care"@en .
:a skos:prefLabel "Aid"@en ; skos:narrower :homes .
:care skos:narrower :homes .
:homes skos:prefLabel "Homes"@en ; skos:broader :late .
:late skos:prefLabel "Late"@en .
"""
)


@pytest.mark.parametrize("ending", [".ttl", ".rdf", ".jsonld"])
def test_the_main_parent_and_the_order_of_topics_come_back(tmp_path: Path, ending: str) -> None:
    (tmp_path / "first.ttl").write_text(MIXED, encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "first.ttl")
    homes = taxonomy.index("Late > Homes")  # its own `broader` comes first
    above = [taxonomy.names[parent] for parent in taxonomy.more_parents[homes]]
    assert above == ["Zeal", "Care", "Aid"]  # then those that name it, in their own order
    taxonomy.write(tmp_path / f"again{ending}")
    again = Taxonomy.read(tmp_path / f"again{ending}")
    assert (again.names, again.more_parents) == (taxonomy.names, taxonomy.more_parents)
    assert isomorphic(graph(tmp_path / f"again{ending}"), graph(tmp_path / "first.ttl"))


def test_siblings_of_one_name_are_numbered_and_come_back(tmp_path: Path) -> None:
    pair = ':a a skos:Concept ; skos:prefLabel "Mk > 2"@en .\n' + "".join(
        f':b{i} a skos:Concept ; skos:prefLabel "Type"@en ; skos:broader :a .\n' for i in range(3)
    )
    (tmp_path / "first.ttl").write_text(HEADER + pair, encoding="utf-8")
    with pytest.warns(UserWarning, match=r"'Mk >2', 'Type \(2\)', 'Type \(3\)'"):
        taxonomy = Taxonomy.read(tmp_path / "first.ttl")
    assert taxonomy.names == ("Mk >2", "Type", "Type (2)", "Type (3)")
    taxonomy.write(tmp_path / "again.rdf")
    assert isomorphic(graph(tmp_path / "again.rdf"), graph(tmp_path / "first.ttl"))


def test_labels_of_arches_are_read_and_kept(tmp_path: Path) -> None:
    label = '{\\"id\\": \\"1\\", \\"value\\": \\"Anvil\\"}'
    text = f'{HEADER}\n:a a skos:Concept ; skos:prefLabel "{label}"@en .\n'
    (tmp_path / "first.ttl").write_text(text, encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "first.ttl")
    assert taxonomy.names == ("Anvil",)
    taxonomy.write(tmp_path / "again.rdf")
    assert isomorphic(graph(tmp_path / "again.rdf"), graph(tmp_path / "first.ttl"))
    taxonomy.rename("Anvil", "Hammer").write(tmp_path / "renamed.ttl")
    assert "Anvil" not in (tmp_path / "renamed.ttl").read_text(encoding="utf-8")


@pytest.mark.parametrize("chain", [[".ttl"], [".rdf"], [".jsonld"], [".json"], [".rdf", ".json"]])
@pytest.mark.parametrize("language", ["en", "fr", None])
def test_a_vocabulary_comes_back_as_it_was(
    tmp_path: Path, chain: list[str], language: str | None
) -> None:
    (tmp_path / "first.ttl").write_text(SMALL, encoding="utf-8")
    read = Taxonomy.read(tmp_path / "first.ttl", language=language)
    taxonomy = read
    for step, ending in enumerate([*chain, ".ttl"]):
        taxonomy.write(tmp_path / f"t{step}{ending}")
        again = {} if ending == ".json" else {"language": language}
        taxonomy = Taxonomy.read(tmp_path / f"t{step}{ending}", **again)
        assert set(taxonomy.paths) == set(read.paths)
    assert isomorphic(graph(tmp_path / "first.ttl"), graph(tmp_path / f"t{len(chain)}.ttl"))


@pytest.mark.parametrize("ending", [".ttl", ".json"])
def test_a_thesaurus_of_thousands_comes_back_as_it_was(tmp_path: Path, ending: str) -> None:
    (tmp_path / "first.ttl").write_text(large(), encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "first.ttl")
    assert len(taxonomy) == 6_000
    assert sum(map(bool, taxonomy.more_parents)) > 3_000
    taxonomy.write(tmp_path / f"second{ending}")
    again = Taxonomy.read(tmp_path / f"second{ending}")
    again.write(tmp_path / "third.ttl")
    first, third = graph(tmp_path / "first.ttl"), graph(tmp_path / "third.ttl")
    assert set(first) == set(third)  # no blank nodes: isomorphic if equal
    if ending == ".ttl":
        assert again == taxonomy


def test_every_path_of_a_topic(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(SMALL, encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "t.ttl", language="en")
    homes = taxonomy.names.index("Nursing home")
    assert taxonomy.paths[homes] == "Health > Nursing home"  # the first parent of the file
    assert taxonomy.all_paths(homes) == ["Health > Nursing home", "Care > Nursing home"]
    assert taxonomy.addresses[homes] == "https://example.org/thesaurus/homes"


def test_what_was_changed_is_written_and_the_rest_kept(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(SMALL, encoding="utf-8")
    old = Taxonomy.read(tmp_path / "t.ttl", language="en")
    names = ["Retirement home" if name == "Nursing home" else name for name in old.names]
    homes = old.names.index("Nursing home")
    Taxonomy(
        [*names, "Hospice"], [*old.tree.parent, homes], codes=[*old.codes, ""],
        descriptions=[*old.descriptions, ""], addresses=[*old.addresses, ""],
        more_parents=[*([()] * len(old)), ()], vocabulary=old.vocabulary,
    ).write(tmp_path / "new.ttl")  # fmt: skip
    new = Taxonomy.read(tmp_path / "new.ttl", language="en")
    assert new.all_paths(homes) == ["Health > Retirement home"]
    assert "Health > Retirement home > Hospice" in new
    french = Taxonomy.read(tmp_path / "new.ttl", language="fr,*")
    assert "Santé > Maison de retraite > Hospice" in french
    lost = set(graph(tmp_path / "t.ttl")) - set(graph(tmp_path / "new.ttl"))
    said = {(str(p).rpartition("#")[2], str(o)) for _, p, o in lost if not str(p).endswith("Note")}
    assert {pair for pair in said if "source" not in pair[0]} == {
        ("prefLabel", "Nursing home"),
        ("broader", "https://example.org/thesaurus/care"),
    }


def test_a_cycle_through_further_parents_is_refused() -> None:
    with pytest.raises(TaxonomyError, match="its own ancestor"):
        Taxonomy(["A", "B"], [-1, 0], more_parents=[[1], []])
    with pytest.raises(TaxonomyError, match="outside 0 … 1"):
        Taxonomy(["A", "B"], [-1, 0], more_parents=[[7], []])


def test_placements_show_every_path() -> None:
    taxonomy = Taxonomy(["A", "B", "C"], [-1, -1, 0], more_parents=[[], [], [1]])
    X = np.array([[0.0, 0], [0.1, 0], [5, 5], [5.1, 5], [9, 0], [9.1, 0]], dtype=np.float32)
    model = UnfitHierSeed(taxonomy, other=False).fit(X, [2, 2, 1, 1, 2, 2])
    table = model.assign(X).to_frame()
    paths = dict(zip(table["topic"], table["all_paths"]))
    assert paths["A > C"] == "A > C | B > C"
    assert set(paths) <= {"A", "B", "A > C"}
