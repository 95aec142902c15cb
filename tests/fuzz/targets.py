"""What is damaged and read again: every reader of people's files, and every file we keep.

A target makes its files once, and reads them. Reading gives a value that can be compared, or
raises. `sealed` files must give the same value as before or be refused: nothing else is allowed.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
from pyarrow import feather, parquet

import hierseed
from hierseed import HierSeed, Taxonomy
from hierseed.app.pages.session import Session
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, labels, topics
from hierseed.app.wording import explain_failure
from hierseed.embed import Preparation, VectorStore, embed_corpus, load_embedder
from hierseed.embed.choose import save_embedder
from hierseed.embed.precomputed import Precomputed
from hierseed.embed.tfidf import TfidfSvd
from hierseed.errors import ProjectError
from hierseed.io.corpus import Corpus
from hierseed.io.model_bundle import Checkpoint
from hierseed.io.score_table import read_placed
from hierseed.io.seeds import read_seeds

TOPICS = ["Animals", "Animals > Cats", "Animals > Dogs", "Plants", "Plants > Trees"]
TEXTS = [
    "the cat sleeps on the mat", "a dog barks at the postman", "old trees lose their leaves",
    "cats and dogs in one house", 'she said "meow", twice', "a café\nwith a garden",
]  # fmt: skip


@dataclass(frozen=True)
class Target:
    """Files to damage, and how they are read."""

    name: str
    make: Callable[[Path], list[Path]]  # writes into a folder; returns the files to damage
    read: Callable[[Path], Any]  # reads what is in the folder
    sealed: bool = False
    resealed: tuple[str, ...] = ()  # JSON files that are also changed with a right checksum


def rows() -> list[tuple[str, str]]:
    """Ids and texts."""
    return [(f"d{i}", text) for i, text in enumerate(TEXTS * 3)]


# ---------------------------------------------------------------- people's files


def _corpus(ending: str) -> Target:
    def make(folder: Path) -> list[Path]:
        file = folder / f"docs{ending}"
        if ending in (".csv", ".tsv", ".csv.gz"):
            mark = "\t" if ending == ".tsv" else ","
            quoted = [f'{id}{mark}"{text.replace(chr(34), chr(34) * 2)}"' for id, text in rows()]
            content = "\n".join([f"id{mark}text", *quoted]).encode()
            file.write_bytes(gzip.compress(content, 1) if ending == ".csv.gz" else content)
        elif ending == ".json":
            file.write_text(json.dumps([{"id": id, "body": {"text": text}} for id, text in rows()]))
        elif ending == ".jsonl":
            lines = [json.dumps({"id": id, "text": text}) for id, text in rows()]
            file.write_text("\n".join(lines))
        elif ending == ".parquet":
            ids, texts = zip(*rows())
            parquet.write_table(pa.table({"id": ids, "text": texts}), file)
        else:
            _workbook(file, [("id", "text"), *rows()])
        return [file]

    def read(folder: Path) -> Any:
        text = "body.text" if ending == ".json" else "text"
        corpus = Corpus(folder / f"docs{ending}", text=text, on_error="skip", on_skip=str)
        return [tuple(document) for document in corpus]

    return Target(f"corpus{ending}", make, read)


def _make_texts(folder: Path) -> list[Path]:
    (folder / "texts").mkdir()
    for id, text in rows()[:3]:
        (folder / "texts" / f"{id}.txt").write_text(text)
    return sorted((folder / "texts").iterdir())


def _workbook(file: Path, lines: list[Any]) -> None:
    book = openpyxl.Workbook()
    for line in lines:
        book.active.append(line)
    book.save(file)


def _seeds(ending: str) -> Target:
    lines = [("id", "topic"), ("d0", "Cats"), ("d1", "Animals > Dogs"), ("d2", "Trees")]
    taxonomy = Taxonomy.from_paths(TOPICS)

    def make(folder: Path) -> list[Path]:
        file = folder / f"seeds{ending}"
        if ending == ".xlsx":
            _workbook(file, lines)
        else:
            file.write_text("\n".join(",".join(line) for line in lines))
        return [file]

    def read(folder: Path) -> Any:
        return read_seeds(folder / f"seeds{ending}", taxonomy, strict=False, on_skip=str).by_id

    return Target(f"seeds{ending}", make, read)


def _taxonomy(ending: str) -> Target:
    def make(folder: Path) -> list[Path]:
        taxonomy = Taxonomy.from_paths(TOPICS)
        taxonomy.write(folder / f"topics{ending}")
        return [folder / f"topics{ending}"]

    def read(folder: Path) -> Any:
        return Taxonomy.read(folder / f"topics{ending}").paths

    return Target(f"taxonomy{ending}", make, read)


LISTS = {
    "numbers": "1 Animals\n1.1 Cats\n1.2 Dogs\n2. Food\n",
    "bullets": "Animals\n- Cats\n- Dogs\nFood\n",
    "marks": "Animals|Cats\nAnimals|Dogs\nFood\n",
}
VOCABULARY = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <https://example.org/> .
:a a skos:Concept ; skos:prefLabel "Animals"@en , "Tiere"@de ; skos:narrower :c .
:b a skos:Concept ; skos:prefLabel "Pets"@en ; skos:note [ skos:example "x" ] .
:c a skos:Concept ; skos:prefLabel "Cats"@en ; skos:broader :b ; skos:notation "1" .
"""


def _list(name: str) -> Target:
    def make(folder: Path) -> list[Path]:
        (folder / "topics.txt").write_text(LISTS[name])
        return [folder / "topics.txt"]

    return Target(
        f"list of {name}", make, lambda folder: Taxonomy.read(folder / "topics.txt").paths
    )


def _vocabulary(ending: str) -> Target:
    """A thesaurus of others: read, renamed, and written in the same form."""

    def make(folder: Path) -> list[Path]:
        (folder / "first.ttl").write_text(VOCABULARY)
        Taxonomy.read(folder / "first.ttl").write(folder / f"v{ending}")
        return [folder / f"v{ending}"]

    def read(folder: Path) -> Any:
        taxonomy = Taxonomy.read(folder / f"v{ending}")
        taxonomy.rename(taxonomy.paths[0], "Another").write(folder / f"out{ending}")
        return taxonomy.paths

    return Target(f"vocabulary{ending}", make, read)


def _make_database(folder: Path) -> list[Path]:
    with closing(sqlite3.connect(folder / "docs.sqlite")) as database, database:
        database.execute("CREATE TABLE docs (id TEXT, text TEXT)")
        database.executemany("INSERT INTO docs VALUES (?, ?)", rows())
    return [folder / "docs.sqlite"]


def _read_database(folder: Path) -> Any:
    corpus = Corpus(folder / "docs.sqlite", on_error="skip", on_skip=str)
    return [tuple(document) for document in corpus]


def _make_placed(folder: Path) -> list[Path]:
    lines = [("id", "topic", "is_other", "is_seed"), ("d0", "Animals > Cats", "False", "True")]
    lines += [("d1", "Animals > Other", "True", "False"), ("d2", "", "False", "False")]
    text = "\n".join(",".join(line) for line in lines)
    (folder / "placed.csv").write_text(text)
    return [folder / "placed.csv"]


def _read_placed(folder: Path) -> Any:
    return read_placed(folder / "placed.csv", Taxonomy.from_paths(TOPICS)).topics


def _vectors(ending: str) -> Target:
    def make(folder: Path) -> list[Path]:
        file = folder / f"v{ending}"
        table = pa.table({"id": ["a", "b"], "v": [[1.0, 2.0], [3.0, 4.0]]})
        if ending == ".npy":
            np.save(file, np.arange(6, dtype=np.float32).reshape(3, 2))
        elif ending == ".parquet":
            parquet.write_table(table, file)
        else:
            feather.write_feather(table, file)
        return [file]

    def read(folder: Path) -> Any:
        return np.asarray(Precomputed(folder / f"v{ending}").vectors).shape

    return Target(f"vectors{ending}", make, read)


# ---------------------------------------------------------------- what we keep


def _files(folder: Path) -> list[Path]:
    skipped = {"lock", ".DS_Store"}
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.name not in skipped)


def _make_store(folder: Path) -> list[Path]:
    embedder = TfidfSvd(3).fit(TEXTS)
    embed_corpus(rows(), embedder, folder / "v", block=5, shard_rows=8)
    return _files(folder / "v")


def _read_store(folder: Path) -> Any:
    store = VectorStore(folder / "v")
    if not store.complete:  # the end of the journal was cut off, as by a kill: a state of before
        whole = VectorStore(folder.parent / "whole-store" / "v")
        same = np.array_equal(store[:], whole[: len(store)])
        return "whole" if same and store.ids == whole.ids[: len(store)] else "another result"
    return np.asarray(store).tobytes(), store.ids


def _resume_store(folder: Path) -> Any:
    """Continue a run in a damaged store: refused, or the vectors of a run without damage."""
    embedder = load_embedder(folder / "v")
    store = embed_corpus([*rows(), ("new", "a new text")], embedder, folder / "v", block=5)
    return np.asarray(store).tobytes(), store.ids


def _make_embedder(folder: Path) -> list[Path]:
    save_embedder(TfidfSvd(3).fit(TEXTS), folder / "e")
    return _files(folder / "e")


def _read_embedder(folder: Path) -> Any:
    return load_embedder(folder / "e").encode(TEXTS).tobytes()


def _fitted() -> HierSeed:
    taxonomy = Taxonomy.from_paths(TOPICS)
    X = TfidfSvd(3).fit(TEXTS).encode([text for _, text in rows()])
    y = np.full(len(X), -1)
    y[:3] = [1, 2, 4]
    return HierSeed(taxonomy).fit(Preparation().fit(X).transform(X), y)


def _make_checkpoint(folder: Path) -> list[Path]:
    taxonomy = Taxonomy.from_paths(TOPICS)
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    y = np.full(40, -1)
    y[:3] = [1, 2, 4]

    class Kept(Checkpoint):
        def remove(self) -> None:
            pass

    HierSeed(taxonomy, max_iter=2).fit(X, y, checkpoint=Kept(folder / "c"))
    return _files(folder / "c")


def _read_checkpoint(folder: Path) -> Any:
    """A damaged checkpoint is not used: the fit begins again and ends alike."""
    taxonomy = Taxonomy.from_paths(TOPICS)
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    y = np.full(40, -1)
    y[:3] = [1, 2, 4]
    return HierSeed(taxonomy, max_iter=2).fit(X, y, checkpoint=folder / "c").labels_.tobytes()


def _make_model(folder: Path) -> list[Path]:
    _fitted().save(folder / "model")
    return _files(folder / "model")


def _read_model(folder: Path) -> Any:
    model = HierSeed.load(folder / "model")
    return model.predict(np.eye(3, dtype=np.float32)).tobytes(), model.taxonomy_.paths


def _make_text_model(folder: Path) -> list[Path]:
    seeds = {"Animals > Cats": ["d0"], "Animals > Dogs": ["d1"], "Plants > Trees": ["d2"]}
    embedder = TfidfSvd(3).fit(TEXTS)
    hierseed.fit(dict(rows()), TOPICS, seeds, embedder=embedder).save(folder / "model")
    return _files(folder / "model")


def _read_text_model(folder: Path) -> Any:
    found = hierseed.load(folder / "model").assign(dict(rows()))
    return found.to_frame().to_csv()


def _make_project(folder: Path) -> list[Path]:
    with closing(Project(folder / "work")) as project:
        documents.add(project, rows())
        edits.replace_all(project, Taxonomy.from_paths(TOPICS), "topics.txt")
        ids = topics.current(project).ids
        labels.load(project, [(0, ids[1]), (1, ids[2])], "file")
        project.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return [folder / "work.hierseed"]


def _read_project(folder: Path) -> Any:
    """Open the project and each of its screens, as the server does."""
    with closing(Project(folder / "work")) as project:
        try:
            session = Session(project)
            shown = [session.act("go", screen=name) for name in session.screens]
        except sqlite3.Error as fault:  # the server answers with this reason
            raise ProjectError(explain_failure(fault)) from fault
    for news in shown:
        if "stage" not in news:  # the page shows the reason alone
            raise ProjectError(news["notes"][0]["text"])
    return repr([news["stage"] for news in shown])


def targets() -> list[Target]:
    """All of them."""
    corpora = [".csv", ".tsv", ".csv.gz", ".jsonl", ".json", ".parquet", ".xlsx"]
    trees = [
        ".txt", ".csv", ".tsv", ".xlsx", ".ttl", ".rdf", ".jsonld", ".json", ".yaml", ".outline",
        ".md", ".taxonomy",
    ]  # fmt: skip
    return [
        *map(_corpus, corpora),
        Target("corpus/", _make_texts, lambda f: list(Corpus(f / "texts", on_error="skip"))),
        *map(_seeds, [".csv", ".xlsx"]),
        *map(_taxonomy, trees),
        *map(_list, LISTS),
        *map(_vocabulary, [".ttl", ".rdf", ".jsonld", ".json"]),
        Target("corpus.sqlite", _make_database, _read_database),
        Target("placed.csv", _make_placed, _read_placed),
        *map(_vectors, [".npy", ".parquet", ".arrow"]),
        Target("store", _make_store, _read_store, True, ("store.json",)),
        Target("store, resumed", _make_store, _resume_store, True),
        Target("embedder", _make_embedder, _read_embedder, True, ("embedder.json",)),
        Target("model", _make_model, _read_model, True, ("model.json",)),
        Target(
            "text model", _make_text_model, _read_text_model, True, ("model.json", "embedder.json")
        ),
        Target("checkpoint", _make_checkpoint, _read_checkpoint, True, ("checkpoint.json",)),
        Target("project", _make_project, _read_project),
    ]
