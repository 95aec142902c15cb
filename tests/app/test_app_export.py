"""What is taken home: complete, harmless, and enough to repeat the fit."""

import csv
import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest

from hierseed.app import corpus_import, export, fits, fitting
from hierseed.app.current_report import current_report
from hierseed.app.pages.session import Session
from hierseed.app.project import Project
from hierseed.app.store import actions, documents, edits, examples, labels, topics
from hierseed.app.store.actions import Person
from hierseed.app.tree import tree_view
from hierseed.assignments import RECORD
from hierseed.io.taxonomies import FORMATS
from hierseed.taxonomy import Taxonomy

HOSTILE = [
    ("=cmd|' /C calc'!A0", '=HYPERLINK("http://evil","x") guns and police'),
    ("+1", "+SUM(1+1) guns and crime"),
    ("-2", "-2+3 police and guns"),
    ("@x", "@SUM(A1) bread and butter"),
    ("<script>alert(1)</script>", "<img src=x onerror=alert(1)> bread and cheese"),
    ("plain", "\tbutter and bread"),
]


@pytest.fixture
def hostile(empty: Project) -> Project:
    documents.add(empty, HOSTILE)
    edits.replace_all(empty, Taxonomy.from_paths(["Law > Guns", "Food > Bread"]), "t")
    here = topics.current(empty)
    guns, bread = (here.ids[here.taxonomy.index(p)] for p in ("Law > Guns", "Food > Bread"))
    labels.load(empty, [(0, guns), (3, bread)], "file")
    fitting.fit(empty, fitting.Dials())
    return empty


def test_the_flat_file_holds_every_document_in_every_format(project: Project) -> None:
    fit = fits.last(project)
    assert fit is not None
    made = {ending: export.write_documents(project, fit, ending) for ending in export.TABLES}
    frames = {
        "csv": pd.read_csv(made["csv"], keep_default_na=False),
        "xlsx": pd.read_excel(made["xlsx"], keep_default_na=False),
        "parquet": pq.read_table(made["parquet"]).to_pandas(),
        "jsonl": pd.DataFrame(map(json.loads, made["jsonl"].read_text().splitlines())),
    }
    wanted = ["id", "topic", "level_1", "level_2", "distance", "score", "belongs"]
    wanted += ["runner_up", "is_other", "is_none", "is_seed", "your_topic", "rejected", "text"]
    ids = [document.id for document in documents.every(project)]
    for frame in frames.values():
        assert list(frame.columns) == wanted
        assert list(frame["id"]) == ids
        assert frame["is_seed"].sum() == len(labels.seeds(project))
        assert (frame["your_topic"] != "").sum() == len(labels.seeds(project))
    assert (frames["parquet"]["topic"] == frames["jsonl"]["topic"]).all()


def test_other_columns_of_the_corpus_come_back(empty: Project, tmp_path: Path) -> None:
    file = tmp_path / "speeches.csv"
    file.write_text(
        "Year,nr,body,tone,tone,=x,topic\n"
        + "".join(f"{1950 + i},{i},about guns and bread {i},1,2,=1+1,{-i}\n" for i in range(8))
        + "1990,9,,1,2,,0\n"  # left out: no text
        + "1991,10,the last one on bread,1,2,,\n"
    )
    corpus_import.load_corpus(empty, file, "nr", "body")
    more = tmp_path / "more.jsonl"
    more.write_text('{"id": "j", "text": "guns", "Year": 1999, "tags": ["a", "b"]}\n')
    corpus_import.load_corpus(empty, more, "id", "text")
    coded = Taxonomy(["Guns", "Bread"], [-1, -1], codes=["12", "04"])
    edits.replace_all(empty, coded, "t")
    guns, bread = topics.current(empty).ids
    labels.load(empty, [(0, guns), (8, bread)], "file")
    fit = fits.get(empty, fitting.fit(empty, fitting.Dials()))
    wanted = ["text", "Year", "=x", "corpus_topic", "tags"]
    for ending in export.TABLES:
        made = export.write_documents(empty, fit, ending)
        read = {"csv": pd.read_csv, "xlsx": pd.read_excel, "parquet": pd.read_parquet}.get(
            ending, lambda file: pd.read_json(file, lines=True)
        )
        frame = read(made)
        assert [name.removeprefix("'") for name in frame][-5:] == wanted  # of two tones neither
        code = {"Guns": 12, "Bread": 4}
        placed = frame.loc[~frame["is_none"], ["topic", "code"]]
        assert [code[t] for t in placed["topic"]] == placed["code"].astype(int).tolist()
        years = [*range(1950, 1958), 1991, 1999]
        assert pd.to_numeric(frame["Year"]).tolist() == years
        assert pd.to_numeric(frame["corpus_topic"]).tolist()[:8] == [-i for i in range(8)]
        assert frame["tags"].tolist()[-1] == '["a", "b"]'
    text = export.write_documents(empty, fit, "csv").read_text()
    assert ",'=1+1,-3," in text


def test_no_cell_is_a_formula(hostile: Project) -> None:
    fit = fits.last(hostile)
    assert fit is not None
    with export.write_documents(hostile, fit, "csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert len(rows) == len(HOSTILE) + 1
    risky = [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t"))]
    assert risky == ["+1", "-2"]  # numbers
    assert [row[0].removeprefix("'") for row in rows[1:]] == [id for id, _ in HOSTILE]
    sheet = openpyxl.load_workbook(export.write_documents(hostile, fit, "xlsx")).active
    kinds = {cell.data_type for row in sheet.iter_rows(min_row=2) for cell in row}
    assert "f" not in kinds
    assert [row[0].value for row in sheet.iter_rows(min_row=2)] == [id for id, _ in HOSTILE]


def test_the_report_of_hostile_text_runs_nothing(hostile: Project) -> None:
    fit = fits.last(hostile)
    assert fit is not None
    page = export.write_report(hostile, fit).read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page


@pytest.mark.parametrize("format", list(FORMATS))
def test_the_taxonomy_in_every_format_comes_back(project: Project, format: str) -> None:
    written = export.write_taxonomy(project, format)
    back = Taxonomy.read(written, format)
    assert set(back.paths) == set(topics.current(project).taxonomy.paths)


def test_seeds_come_back(project: Project) -> None:
    from hierseed.io.seeds import read_seeds

    here = topics.current(project)
    examples.add(project, [(here.ids[1], "words of my own")])
    seeds = read_seeds(export.write_seeds(project), here.taxonomy)
    assert len(seeds.by_id) == len(labels.seeds(project))
    assert seeds.texts == ["words of my own"]


@pytest.mark.parametrize(
    "dials",
    [
        fitting.Dials(method="hierseed", sure=0.2, fine=2, overlap=0.4),
        pytest.param(
            fitting.Dials(method="anchored", sure=0.8, overlap=0.4), marks=pytest.mark.slow
        ),
    ],
    ids=lambda dials: dials.method,
)
def test_the_commands_of_the_bundle_give_the_same_table(
    project: Project, tmp_path: Path, dials: fitting.Dials
) -> None:
    here = topics.current(project)
    examples.add(project, [(here.ids[2], "parse the headers of a request")])
    id = fitting.fit(project, dials)
    fit = fits.get(project, id)
    edits.delete(project, here.ids[0])  # later changes must not leak into what is repeated
    folder = tmp_path / "elsewhere"
    with zipfile.ZipFile(export.write_bundle(project, fit)) as bundle:
        bundle.extractall(folder)
    commands = (folder / "commands.txt").read_text().splitlines()
    for line in commands:
        words = shlex.split(line)
        assert words[0] == "hierseed"
        run = [sys.executable, "-c", "from hierseed.cli import main; main()", *words[1:]]
        done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    actions.undo(project)
    theirs = pd.read_csv(folder / "documents.csv", keep_default_na=False)
    ours = pd.read_csv(
        export.write_documents(project, fit, "csv", text=False), keep_default_na=False
    )
    for column in ("id", "topic", "level_1", "level_2", "runner_up", "is_none", "is_seed"):
        assert list(theirs[column]) == list(ours[column]), column
    assert (theirs["score"] - ours["score"]).abs().max() < 1e-5


def test_what_is_shown_is_what_is_exported(project: Project) -> None:
    """After a rename, a move, a merge and a deletion: tree, table, report and map agree."""
    here = topics.current(project)
    at = {path: here.ids[here.taxonomy.index(path)] for path in here.taxonomy.paths}
    edits.rename(project, at["Files > pathlib"], "paths")
    edits.merge(project, at["Internet > http"], at["Internet > urllib"])
    edits.move(project, at["Internet > email"], at["Files"])
    edits.delete(project, at["Numbers > decimal"])
    fit = fits.last(project)
    assert fit is not None
    frame = pd.read_csv(export.write_documents(project, fit, "csv"), keep_default_na=False)
    numbers = tree_view(project, fit.placements(topics.current(project))).numbers
    here = topics.current(project)
    for key, (count, _, _) in numbers.items():
        if key.isdigit():
            path = here.path(int(key))
            inside = (frame["topic"] == path) | frame["topic"].str.startswith(path + " > ")
            assert inside.sum() == count, path
    assert "Files > paths" in set(frame["level_2"])
    assert "Files > email" in set(frame["level_2"])
    assert not frame["topic"].isin(["Files > pathlib", "Internet > http"]).any()
    old = fit.fitted.taxonomy.paths
    was_deleted = [old[t] == "Numbers > decimal" for t in fit.fitted.labels]
    assert set(frame.loc[was_deleted, "topic"]) == {"Numbers"}
    report = current_report(fit, here)
    assert "paths" in report["topics"]["name"]
    assert "pathlib" not in report["topics"]["name"]
    count = report["topics"]["count"][here.taxonomy.index("Files > paths")]
    assert count == numbers[str(at["Files > pathlib"])][0]
    page = export.write_report(project, fit).read_text(encoding="utf-8")
    assert '"paths"' in page
    view = Session(project)
    view.act("go", screen="review")
    shown = view.act("tab", tab="map")["stage"]["view"]
    assert "paths" in shown["names"]
    assert all(topic >= 0 for topic in shown["map"]["topic"])


def test_an_unchanged_tree_reads_the_fit_as_it_was(project: Project) -> None:
    """An oracle for the renumbering: without edits nothing changes, bit for bit."""
    fit = fits.get(project, fitting.fit(project, fitting.Dials(method="hierseed")))
    today = fit.placements(topics.current(project))
    assert today.taxonomy == fit.taxonomy
    for name in RECORD:
        same = np.array_equal(getattr(today, name), getattr(fit.fitted, name), equal_nan=True)
        assert same, name


def test_a_rename_keeps_what_was_computed_and_shows_the_name(project: Project) -> None:
    fit = fits.last(project)
    assert fit is not None
    here = topics.current(project)
    before = fit.placements(here)
    counts = dict(before.own_counts)
    edits.rename(project, here.ids[1], "Another name")
    after = fit.placements(topics.current(project))
    assert after.topic is before.topic
    assert after.own_counts == counts
    assert after.taxonomy.names[1] == "Another name"
    assert before.taxonomy.names[1] != "Another name"
    edits.move(project, here.ids[1], None)
    assert fit.placements(topics.current(project)).topic is not before.topic


def test_probabilities_of_merged_topics_add_up(project: Project) -> None:
    fit = fits.last(project)
    assert fit is not None
    here = topics.current(project)
    one, two = (here.taxonomy.index(f"Files > {name}") for name in ("zipfile", "tarfile"))
    edits.merge(project, here.ids[one], here.ids[two])
    after = topics.current(project)
    today, home = fit.placements(after), after.place[here.ids[two]]
    before = fit.fitted
    both = np.where(np.isin(before.ranked, [one, two]), before.chances, 0).sum(axis=1)
    found = np.where(today.ranked == home, today.chances, 0).sum(axis=1)
    assert np.allclose(np.nan_to_num(both), np.nan_to_num(found), atol=1e-6)
    assert ((today.ranked == home).sum(axis=1) <= 1).all()


def test_no_file_replaces_another_and_the_fit_is_in_the_name(project: Project) -> None:
    fit = fits.last(project)
    assert fit is not None
    made = [export.write_documents(project, fit, "csv") for _ in range(2)]
    made += [export.write_report(project, fit), export.write_bundle(project, fit)]
    assert [path.name for path in made] == [
        "library-fit-1-documents.csv",
        "library-fit-1-documents-2.csv",
        "library-fit-1-report.html",
        "library-fit-1-bundle.zip",
    ]


def test_rejections_and_every_decision_are_exported(project: Project) -> None:
    here = topics.current(project)
    topic, other = here.ids[1], here.ids[2]
    one, two, three = [row for row in range(100) if row not in labels.seeds(project)][:3]
    labels.decide(project, one, topic, labels.NO, by=Person("a", "Anna"))
    labels.decide(project, two, labels.NONE_OF_THESE, labels.YES, by=Person("b", "Ben"))
    labels.decide(project, three, other, labels.YES, by=Person("b", "Ben"))
    actions.undo(project, Person("b", "Ben"))
    fit = fits.last(project)
    assert fit is not None
    frame = pd.read_csv(export.write_documents(project, fit, "csv"), keep_default_na=False)
    assert frame.loc[one, "rejected"] == here.path(topic)
    assert frame.loc[two, "your_topic"] == "None of these"
    log = pd.read_csv(export.write_decisions(project), keep_default_na=False)
    mine = log[log["coder"] != ""]
    found = mine[["coder", "topic", "decision", "stands"]].to_numpy().tolist()
    assert found == [
        ["Anna", here.path(topic), "no", True],
        ["Ben", "None of these", "yes", True],
        ["Ben", here.path(other), "yes", False],
        ["Ben", here.path(other), "withdrawn", False],
    ]


def test_no_csv_of_an_export_holds_a_formula(hostile: Project) -> None:
    nasty = "=HYPERLINK(1)"
    edits.add(hostile, None, nasty)
    here = topics.current(hostile)
    id = here.ids[here.taxonomy.index(nasty)]
    edits.describe(hostile, id, "+1+cmd|x")
    examples.add(hostile, [(id, "@SUM(A1)")])
    fit = fits.get(hostile, fitting.fit(hostile, fitting.Dials()))
    folder = export.folder(hostile)
    export.write_seeds(hostile), export.write_decisions(hostile)
    for name in FORMATS:
        export.write_taxonomy(hostile, name)
    with zipfile.ZipFile(export.write_bundle(hostile, fit)) as bundle:
        bundle.extractall(folder / "bundle")
    tables = sorted(folder.rglob("*.csv")) + sorted(folder.rglob("*.tsv"))
    assert len(tables) >= 3
    for file in tables:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            cells = [
                c for row in csv.reader(lines, delimiter=",\t"[file.suffix == ".tsv"]) for c in row
            ]
        risky = [c for c in cells if c.startswith(("=", "+", "-", "@", "\t"))]
        assert set(risky) <= {"+1", "-2"}, file.name  # ids that are numbers
    for file in folder.rglob("*.xlsx"):
        for sheet in openpyxl.load_workbook(file):
            assert not [c for row in sheet.iter_rows() for c in row if c.data_type == "f"], (
                file.name
            )
