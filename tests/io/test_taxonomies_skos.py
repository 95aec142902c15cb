"""SKOS as vocabularies come: languages, one-way links, several parents, cycles, bombs."""

import json
import sys
import warnings
from pathlib import Path

import pytest
from taxonomy_cases import read_bytes, save, written

from hierseed import Taxonomy
from hierseed.errors import MissingDependency, TaxonomyError
from hierseed.io.taxonomies import read_taxonomy

PREFIX = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix e: <http://example.org/> .
"""
MEDIA = (
    PREFIX
    + """
e:top a skos:ConceptScheme ; skos:hasTopConcept e:sport .
e:ball a skos:Concept ; skos:broader e:sport ; skos:notation "15002" ;
    skos:prefLabel "ball game"@en , "Ballspiel"@de ; skos:altLabel "ball sport"@en , "Spiel"@de .
e:sport a skos:Concept ; skos:notation "15000" ;
    skos:prefLabel "sport"@en , "Sport"@de ;
    skos:definition "Competitive activity"@en , "Wettkampf"@de .
e:chess a skos:Concept ; skos:broader e:sport ; skos:prefLabel "chess"@en-GB , "Schach"@de .
"""
)


def skos(text: str, **options: str) -> Taxonomy:
    return read_bytes("turtle", PREFIX + text, **options)


def concept(name: str, rest: str = "") -> str:
    return f'e:{name} a skos:Concept ; skos:prefLabel "{name}" {rest} .\n'


def test_labels_notations_definitions() -> None:
    taxonomy = read_bytes("turtle", MEDIA)
    assert taxonomy.paths == ("sport", "sport > ball game", "sport > chess")
    assert taxonomy.codes == ("15000", "15002", "")
    assert taxonomy.descriptions == ("Competitive activity", "Also: ball sport", "")


def test_language_is_chosen() -> None:
    german = read_bytes("turtle", MEDIA, language="de")
    assert german.names == ("Sport", "Ballspiel", "Schach")
    assert german.descriptions == ("Wettkampf", "Also: Spiel", "")
    with pytest.raises(
        TaxonomyError, match=r"sport>: no label in 'fr' \(it has: de, en\)"
    ) as fault:
        read_bytes("turtle", MEDIA, language="fr")
    assert "has 3 faults" in str(fault.value)
    assert read_bytes("turtle", MEDIA, language="fr,en").names[0] == "sport"
    assert read_bytes("turtle", MEDIA, language="fr,*").names[1] in ("ball game", "Ballspiel")


def test_without_a_choice_the_commonest_language_is_taken_and_strays_are_reported() -> None:
    text = concept("a").replace('"a"', '"eins"@de') + concept("b").replace('"b"', '"zwei"@de')
    with pytest.warns(UserWarning, match=r"no label in 'de', .* for 'three'$"):
        names = skos(text + concept("c").replace('"c"', '"three"@en')).names
    assert names == ("eins", "zwei", "three")


def test_addresses_as_codes() -> None:
    assert read_bytes("turtle", MEDIA, code="uri").codes[1] == "http://example.org/ball"
    with pytest.raises(TaxonomyError, match="say 'notation' or 'uri'"):
        read_bytes("turtle", MEDIA, code="id")


def test_narrower_only_and_both_ways() -> None:
    narrower = concept("a", "; skos:narrower e:b, e:c") + concept("b") + concept("c")
    assert skos(narrower).paths == ("a", "a > b", "a > c")
    assert skos(narrower + "e:b skos:broader e:a .").paths == ("a", "a > b", "a > c")


def test_concepts_without_a_type_and_labels_of_other_kinds() -> None:
    text = (
        'e:a skos:narrower e:b ; rdfs:label "plain" . e:b skosxl:prefLabel e:l .'
        'e:l skosxl:literalForm "extended"@en .'
    )
    assert skos(text).paths == ("plain", "plain > extended")
    with pytest.raises(TaxonomyError, match="b>: no label at all; describe it in this file"):
        skos("e:a skos:narrower e:b . e:a skos:prefLabel 'a' .")


def test_several_parents_are_reported_and_first_picks() -> None:
    text = "".join([concept("z"), concept("a"), concept("c", "; skos:broader e:z , e:a")])
    with pytest.raises(TaxonomyError, match=r"c>: 'c' has 2 parents: 'z', 'a'; keep one"):
        skos(text, parent="only")
    whole = skos(text)
    assert whole.paths == ("z", "a", "z > c")
    assert whole.all_paths(2) == ["z > c", "a > c"]
    with pytest.warns(UserWarning, match="of several parents only the first is kept"):
        assert skos(text, parent="first").paths == ("z", "a", "z > c")
    with pytest.raises(TaxonomyError, match="say 'all'"):
        skos(text, parent="last")


def test_cycles_are_refused_with_their_chain() -> None:
    ring = "".join(
        concept(x, f"; skos:broader e:{y}") for x, y in [("a", "b"), ("b", "c"), ("c", "a")]
    )
    with pytest.raises(TaxonomyError, match="its own ancestor: 'a' -> 'b' -> 'c' -> 'a'"):
        skos(ring + concept("d"))
    with pytest.raises(TaxonomyError, match="its own ancestor: 'a' -> 'a'"):
        skos(concept("a", "; skos:broader e:a"))
    # a second parent does not hide the cycle
    hidden = concept("a", "; skos:broader e:x, e:b") + concept("b", "; skos:broader e:a")
    with pytest.raises(TaxonomyError, match=r"2 parents[^|]*'a' -> 'b' -> 'a'"):
        skos(hidden + concept("x"), parent="only")
    with pytest.raises(TaxonomyError, match=r"'a' -> 'b' -> 'a'"):
        skos(hidden + concept("x"))


def test_same_label_under_two_parents_and_twice_under_one() -> None:
    two = concept("a") + concept("b") + 'e:g1 skos:prefLabel "General" ; skos:broader e:a .'
    text = two + 'e:g2 skos:prefLabel "General" ; skos:broader e:b .'
    assert skos(text).paths == ("a", "b", "a > General", "b > General")
    with pytest.warns(UserWarning, match=r"are read as 'General \(2\)'"):
        twice = skos(two + 'e:g2 skos:prefLabel "General" ; skos:broader e:a .')
    assert twice.paths == ("a", "b", "a > General", "a > General (2)")


def test_order_of_the_file_is_kept() -> None:
    names = [f"t{(7 * i) % 50:02}" for i in range(50)]
    assert skos("".join(map(concept, names))).names == tuple(names)
    mentioned_first = concept("a", "; skos:narrower e:c , e:b") + concept("b") + concept("c")
    assert skos(mentioned_first).paths == ("a", "a > b", "a > c")
    taxonomy = Taxonomy(names, [-1, *range(24), *[-1] * 25])
    for name in ("turtle", "rdf-xml", "json-ld"):
        assert read_bytes(name, written(taxonomy, name)) == taxonomy


def test_line_breaks_in_labels_become_spaces() -> None:
    assert skos('e:a a skos:Concept ; skos:prefLabel """two\n  lines""" .').names == ("two lines",)


# ---------------------------------------------------------------- files that are none, or worse

BOMB = """<?xml version="1.0"?>
<!DOCTYPE lolz [
 <!ENTITY lol "lol">
 <!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
 <!ENTITY lol3 "&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;">
]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&lol3;</rdf:RDF>"""


def test_entity_bombs_are_refused_before_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierseed.io.taxonomies.rdf._rdflib", lambda: pytest.fail("parsed"))
    with pytest.raises(TaxonomyError) as fault:
        read_bytes("rdf-xml", BOMB)
    assert "line 4: the entity 'lol2' grows" in str(fault.value)
    assert "line 5: the entity 'lol3' grows" in str(fault.value)
    with pytest.raises(TaxonomyError, match="'a' grows"):  # quadratic: one long entity, many uses
        read_bytes("rdf-xml", f"<!DOCTYPE x [<!ENTITY a '{'a' * 5000}'>]><x>{'&a;' * 99}</x>")
    with pytest.raises(TaxonomyError, match="'x' reaches outside the file"):
        read_bytes("rdf-xml", '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>')
    with pytest.raises(TaxonomyError, match="'x' reaches outside the file"):
        read_bytes("rdf-xml", '<!DOCTYPE a [<!ENTITY % x "y">%x;]><a/>')
    with pytest.raises(TaxonomyError, match="line 1: the DOCTYPE names an outside file"):
        read_bytes("rdf-xml", '<!DOCTYPE a SYSTEM "http://example.org/a.dtd"><a/>')
    with pytest.raises(TaxonomyError, match="declared as iso-8859-1"):
        read_bytes("rdf-xml", '<?xml version="1.0" encoding="iso-8859-1"?><a/>')


def test_namespace_entities_are_fine() -> None:
    taxonomy = Taxonomy.from_paths(["A > B"])
    text = written(taxonomy, "rdf-xml").decode()
    core = "http://www.w3.org/2004/02/skos/core#"
    text = text.replace(f'"{core}"', '"&skos;"').replace(
        "<rdf:RDF", f'<!DOCTYPE rdf:RDF [<!ENTITY skos "{core}">]>\n<rdf:RDF', 1
    )
    assert read_bytes("rdf-xml", text) == taxonomy


def test_nothing_is_fetched() -> None:
    for context in ("http://example.org/context.jsonld", ["/etc/passwd"], {"@import": "http://x"}):
        with pytest.raises(TaxonomyError, match="lies elsewhere; write it into the file"):
            read_bytes("json-ld", json.dumps({"@context": context, "@id": "a:b"}))
    with pytest.raises(TaxonomyError, match="lies elsewhere"):
        read_bytes("json-ld", json.dumps({"@graph": [{"@context": "http://example.org"}]}))


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("turtle", "@prefix a: <b:> .\n\na:b a:c ;; ;", r"topics\.ttl, line 3: not turtle"),
        ("rdf-xml", "<a>\n<b></a>", r"topics\.rdf, line 2: not xml: mismatched tag"),
        ("json-ld", "{\n,", r"topics\.jsonld, line 2: not JSON"),
        ("turtle", "<a:b> <c:d> 'e' .", "no skos:Concept in it"),
        ("json-ld", "[" * 100_000, "not JSON-LD"),
    ],
)
def test_broken_files_name_the_line(name: str, text: str, match: str) -> None:
    with pytest.raises(TaxonomyError, match=match):
        read_bytes(name, text)


def test_rdflib_missing_prints_the_install_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = save(tmp_path, "t.ttl", MEDIA)
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingDependency, match=r"pip install 'hierseed\[skos\]'"):
        read_taxonomy(file)


def test_our_files_are_what_rdflib_reads() -> None:
    import rdflib

    taxonomy = Taxonomy(
        ['A "q"', "B\\ <&>"], [-1, 0], codes=["1", ""], descriptions=["", "x\ny\tz €"]
    )
    for name, syntax in (("turtle", "turtle"), ("rdf-xml", "xml"), ("json-ld", "json-ld")):
        data = written(taxonomy, name, language="en", base="https://example.org/t/")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some versions of rdflib warn of their own JSON-LD
            graph = rdflib.Graph().parse(data=data, format=syntax)
        skos_core = rdflib.Namespace("http://www.w3.org/2004/02/skos/core#")
        labels = {str(x) for x in graph.objects(None, skos_core.prefLabel)}
        assert labels == set(taxonomy.names)
        assert {x.language for x in graph.objects(None, skos_core.prefLabel)} == {"en"}
        assert len(list(graph.subjects(skos_core.broader, None))) == 1
        assert len(list(graph.subjects(skos_core.topConceptOf, None))) == 1
    with pytest.raises(TaxonomyError, match="language is 'e n'"):
        written(taxonomy, "turtle", language="e n")
    with pytest.raises(TaxonomyError, match="start of an address"):
        written(taxonomy, "rdf-xml", base="a b")
