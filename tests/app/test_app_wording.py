"""Faults reach the browser without the options of the command line."""

import re
from pathlib import Path

import hierseed.app as app
from hierseed.app.corpus_import import look_at_corpus
from hierseed.app.wording import FIELDS, worded
from hierseed.errors import CorpusError


def test_an_advice_names_a_field_of_a_page():
    fault = CorpusError("no column 'text'.", "Name it with {text}, or use {embedder:tfidf}")
    assert worded(fault) == (
        "no column 'text'. Name it with 'Text is in' on the page Load, or use tfidf under "
        "'Embedder' on the page Fit"
    )


def test_a_parameter_that_no_page_has_leads_to_the_command_line():
    assert worded(CorpusError("x", "Say {digits:2}")) == "x. Say `hierseed convert` (digits=2)"


def test_the_fields_are_on_the_pages():
    pages = "".join(file.read_text() for file in Path(app.__path__[0]).rglob("*.js"))
    for words in FIELDS.values():
        for label in re.findall("'([^']+)'", words):
            assert label in pages


def test_a_faulty_file_is_told_without_flags(tmp_path):
    (tmp_path / "docs.csv").write_text("")
    assert not [fault for fault in look_at_corpus(tmp_path / "docs.csv").faults if "--" in fault]
