"""The codebook as a document: complete, in order, and harmless whatever the texts hold."""

import zipfile
from xml.etree import ElementTree

import pytest

from hierseed.app import codebook, export
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, examples, topics
from hierseed.taxonomy import Taxonomy

NASTY = "<script>x</script> & *stars* _under_ # hash"


@pytest.fixture
def written(empty: Project) -> Project:
    documents.add(empty, [("d", "a seed document")])
    edits.replace_all(empty, Taxonomy.from_paths(["Law > Guns", "Food"]), "t")
    here = topics.current(empty)
    guns = here.ids[here.taxonomy.index("Law > Guns")]
    for field, text in (
        ("description", NASTY), ("include", "rifles"), ("exclude", "toys"), ("code", "12"),
    ):  # fmt: skip
        edits.describe(empty, guns, text, field=field)
    examples.add(empty, [(guns, "an example text")])
    return empty


def test_every_format_holds_every_text(written: Project) -> None:
    word = export.write_codebook(written, "docx")
    with zipfile.ZipFile(word) as archive:
        for name in archive.namelist():
            ElementTree.fromstring(archive.read(name))  # each part is well-formed
        root = ElementTree.fromstring(archive.read("word/document.xml"))
    in_word = " ".join(node.text or "" for node in root.iter() if node.tag.endswith("}t"))
    in_html = export.write_codebook(written, "html").read_text()
    in_markdown = export.write_codebook(written, "md").read_text()
    for text in ("Law", "12 Guns", "rifles", "toys", "Food", "an example text"):
        assert text in in_word
        assert text in in_html
        assert text in in_markdown
    assert NASTY in in_word
    assert "<script>" not in in_html
    assert "<script>" not in in_markdown.replace("\\<", "")
    assert in_html.index("Law") < in_html.index("Guns") < in_html.index("Food")


def test_the_same_project_gives_the_same_bytes(written: Project) -> None:
    for ending in codebook.FORMATS:
        one, two = (export.write_codebook(written, ending) for _ in range(2))
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.parametrize("format", ["turtle", "rdf-xml", "json-ld"])
def test_skos_carries_the_notes_of_the_codebook(written: Project, format: str) -> None:
    rdflib = pytest.importorskip("rdflib")
    file = export.write_taxonomy(written, format)
    syntax = {"turtle": "turtle", "rdf-xml": "xml", "json-ld": "json-ld"}[format]
    graph = rdflib.Graph().parse(file, format=syntax)
    skos = rdflib.Namespace("http://www.w3.org/2004/02/skos/core#")
    guns = next(graph.subjects(skos.prefLabel, rdflib.Literal("Guns")))
    assert {str(one) for one in graph.objects(guns, skos.scopeNote)} == {"rifles", "Not: toys"}
    assert [str(one) for one in graph.objects(guns, skos.definition)] == [NASTY]
    assert [str(one) for one in graph.objects(guns, skos.example)] == ["an example text"]
    assert list(Taxonomy.read(file).paths) == ["Law", "Law > Guns", "Food"]
