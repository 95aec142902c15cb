"""Vectors are made once, and those of a fit are never lost to another corpus."""

from cli_project import Project

from hierseed.cli.console import Console
from hierseed.cli.source import documents_for
from hierseed.io.corpus import Corpus
from hierseed.io.saved import read_saved


def test_the_corpus_of_the_fit_finds_its_vectors(model: Project) -> None:
    saved = read_saved(model / "model")
    before = model.names()
    found = documents_for(
        saved, model / "docs.csv", Console(quiet=True), Corpus(model / "docs.csv")
    )
    assert list(found.ids) == [id for id, _ in model.documents]
    assert model.names() == before


def test_another_corpus_leaves_the_vectors_of_the_fit_alone(model: Project) -> None:
    saved = read_saved(model / "model")
    before = {file.name: file.read_bytes() for file in (model / "model.vectors").glob("*.*")}
    for name, rows in [("more.csv", model.documents[:5]), ("other.csv", model.documents[::-1])]:
        text = "".join(f'{id},"{text}"\n' for id, text in rows)
        (model / name).write_text("id,text\n" + text)
        corpus = Corpus(model / name)
        found = documents_for(saved, model / name, Console(quiet=True), corpus)
        assert list(found.ids) == [id for id, _ in rows]
    assert {
        file.name: file.read_bytes() for file in (model / "model.vectors").glob("*.*")
    } == before
    assert {"model.more.vectors", "model.other.vectors"} <= set(model.names())
