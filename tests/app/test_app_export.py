"""What is taken home: complete, harmless, and enough to repeat the fit."""

import csv
import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest

from hierseed.app import export, fits, fitting, loading
from hierseed.app.project import Project
from hierseed.app.store import actions, documents, edits, examples, labels, topics
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
    wanted = ["id", "topic", "level_1", "level_2", "distance", "score", "runner_up", "is_other"]
    wanted += ["is_none", "is_seed", "your_topic", "rejected", "text"]
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
    loading.load_corpus(empty, file, "nr", "body")
    more = tmp_path / "more.jsonl"
    more.write_text('{"id": "j", "text": "guns", "Year": 1999, "tags": ["a", "b"]}\n')
    loading.load_corpus(empty, more, "id", "text")
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
