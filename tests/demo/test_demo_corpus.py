"""The demo's corpus: read without importing, the same twice, gold true to the file's place."""

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hierseed.demo.corpus import (
    ALIASES,
    MIN_WORDS,
    REFERENCE,
    SEEDS,
    DemoCorpus,
    draw_seeds,
    load_corpus,
    read_docstrings,
)
from hierseed.errors import CorpusError
from hierseed.taxonomy import Taxonomy


@pytest.fixture(scope="module")
def corpus() -> DemoCorpus:
    return load_corpus()


def write(folder: Path, name: str, source: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source)


LONG = "one two three four five six seven eight nine ten eleven twelve"


def test_nested_definitions_are_found_and_named(tmp_path):
    write(
        tmp_path,
        "json/decoder.py",
        f'''"""{LONG} module"""
if True:
    class Decoder:
        """{LONG} class"""
        try:
            async def decode(self):
                """{LONG} method"""
                def inner():
                    """{LONG} inner"""
        except Exception:
            def other(self):
                """{LONG} handler"""
        short = lambda: 0
        def brief(self):
            """Too short."""
''',
    )
    found = {d.id: d for d in read_docstrings(["json"], tmp_path)}
    assert set(found) == {
        "json.decoder",
        "json.decoder.Decoder",
        "json.decoder.Decoder.decode",
        "json.decoder.Decoder.decode.inner",
        "json.decoder.Decoder.other",
    }
    assert {d.module for d in found.values()} == {"json"}
    assert found["json.decoder.Decoder.decode"].text == f"{LONG} method"


def test_a_text_is_kept_once_and_ids_stay_apart(tmp_path):
    write(
        tmp_path,
        "enum.py",
        f'''
class Flag:
    def value(self):
        """{LONG} get"""
    def value(self):
        """{LONG} set"""
    def copy(self):
        """{LONG} get"""
''',
    )
    assert [d.id for d in read_docstrings(["enum"], tmp_path)] == [
        "enum.Flag.value",
        "enum.Flag.value (2)",
    ]


def test_the_longest_documented_name_wins_and_aliases_lead_to_their_page(tmp_path):
    write(tmp_path, "collections/__init__.py", f'"""{LONG} a"""')
    write(tmp_path, "_collections_abc.py", f'"""{LONG} b"""')
    write(tmp_path, "os.py", f'"""{LONG} c"""')
    write(tmp_path, "posixpath.py", f'"""{LONG} d"""')
    write(tmp_path, "test/os.py", f'"""{LONG} e"""')
    write(tmp_path, "site-packages/os.py", f'"""{LONG} f"""')
    write(tmp_path, "unlisted.py", f'"""{LONG} g"""')
    modules = ["collections", "collections.abc", "os", "os.path"]
    found = {d.text[-1]: d.module for d in read_docstrings(modules, tmp_path)}
    assert found == {"a": "collections", "b": "collections.abc", "c": "os", "d": "os.path"}


def test_nothing_of_the_library_is_run(tmp_path):
    write(tmp_path, "os.py", f'"""{LONG}"""\nraise SystemExit("imported")\n')
    write(tmp_path, "json.py", "def broken(:\n")
    assert len(read_docstrings(["os", "json"], tmp_path)) == 1


def test_a_library_without_sources_is_reported_in_one_line(tmp_path):
    with pytest.raises(CorpusError, match="without the source files"):
        read_docstrings(["os"], tmp_path)


def test_the_corpus_has_the_stated_size(corpus):
    assert len(corpus.ids) == len(corpus.texts) == len(corpus.gold) == len(set(corpus.ids))
    assert len(set(corpus.texts)) == len(corpus.texts)
    assert len(corpus.ids) > 2_500
    assert corpus.taxonomy.tree.is_leaf.sum() > 45
    assert min(len(text.split()) for text in corpus.texts) >= MIN_WORDS
    assert np.bincount(corpus.gold)[corpus.taxonomy.tree.is_leaf].min() >= 15


def test_documents_are_what_python_itself_says(corpus):
    """Oracle: `inspect.getdoc` on the object that the id names."""
    known = dict(zip(corpus.ids, corpus.texts))
    for module, name in [("shutil", "copytree"), ("textwrap", "dedent"), ("enum", "unique")]:
        if f"{module}.{name}" in known:
            spec = importlib.import_module(module)
            assert known[f"{module}.{name}"] == inspect.getdoc(getattr(spec, name))
    assert "shutil.copytree" in known


def test_gold_follows_the_module_of_the_id(corpus):
    for document, topic in zip(corpus.ids, corpus.gold):
        head, name = document.split(".")[0], corpus.taxonomy.names[topic]
        assert name == ALIASES.get(head, head) or name.startswith(f"{head}.")


def test_every_module_of_the_reference_is_kept_or_accounted_for(corpus):
    reference = Taxonomy.read(REFERENCE)
    modules = {reference.names[i] for i in np.flatnonzero(reference.tree.is_leaf)}
    kept = {corpus.taxonomy.names[i] for i in np.flatnonzero(corpus.taxonomy.tree.is_leaf)}
    assert kept | set(corpus.absent) | set(corpus.small) == modules
    assert len(kept) + len(corpus.absent) + len(corpus.small) == len(modules)


def test_reference_names_modules_that_exist():
    """Truth: Python's own list of its modules (those of other versions may be gone)."""
    reference = Taxonomy.read(REFERENCE)
    modules = {reference.names[i].split(".")[0] for i in np.flatnonzero(reference.tree.is_leaf)}
    unknown = modules - set(sys.stdlib_module_names)
    if sys.version_info[:2] == (3, 11):
        assert not unknown


def test_four_seeds_a_topic_and_the_same_ones_twice(corpus):
    drawn = corpus.y >= 0
    assert (corpus.y[drawn] == corpus.gold[drawn]).all()
    leaves = np.flatnonzero(corpus.taxonomy.tree.is_leaf)
    assert (np.bincount(corpus.y[drawn], minlength=len(corpus.taxonomy))[leaves] == SEEDS).all()
    assert (draw_seeds(corpus.gold, SEEDS, 0) == corpus.y).all()
    assert (draw_seeds(corpus.gold, SEEDS, 1) != corpus.y).any()


def test_reading_imports_none_of_the_modules_read():
    code = (
        "import sys; from hierseed.demo.corpus import read_docstrings;"
        "modules = ['turtle', 'nntplib', 'imaplib', 'distutils', 'wsgiref', 'pdb'];"
        "read_docstrings(modules); print(sorted(set(sys.modules) & set(modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
