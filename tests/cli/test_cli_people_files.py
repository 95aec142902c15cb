"""Files as people hold them: corrected tables, other columns, Excel's ids, other encodings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pandas as pd
import pytest
from cli_project import FIT, Project
from typer.testing import Result

Run = Callable[..., Result]


# ---------------------------------------------------------------- nothing corrected is lost


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_corrected_table_is_kept_and_becomes_seeds(
    model: Project, hierseed: Run, ending: str
) -> None:
    name = f"placed.{ending}"
    assign = ("assign", "model", "docs.csv", "-o", name)
    assert hierseed(*assign).exit_code == 0
    assert hierseed(*assign).exit_code == 0  # nobody has changed it
    read, write = (pd.read_csv, "to_csv") if ending == "csv" else (pd.read_excel, "to_excel")
    table = read(model / name, dtype={"id": str})
    table["checked"] = ""
    table.loc[3, "checked"] = "yes"
    others = [topic for topic in table["topic"].dropna() if topic != table.loc[5, "topic"]]
    table.loc[5, "topic"] = others[0]
    getattr(table, write)(model / name, index=False)
    before = (model / name).read_bytes()
    done = hierseed(*assign)
    assert done.exit_code == 1
    assert "may hold corrections" in done.stderr
    assert (model / name).read_bytes() == before
    done = hierseed("seeds", name, "-o", "more.csv")
    assert done.exit_code == 0, done.stderr
    found = pd.read_csv(model / "more.csv", dtype=str)
    assert found["id"].tolist() == [table.loc[3, "id"], table.loc[5, "id"]]
    assert found["topic"].tolist() == [table.loc[3, "topic"], table.loc[5, "topic"]]
    assert hierseed("seeds", name, "-o", "more.csv").exit_code == 1  # never overwrites
    assert (model / name).read_bytes() == before
    done = hierseed("fit", "docs.csv", *FIT, "--seeds", "more.csv", "-o", "model")
    assert done.exit_code == 0, done.stderr
    assert hierseed(*assign, "--overwrite").exit_code == 0
    done = hierseed("seeds", name, "-o", "none.csv")
    assert done.exit_code == 1
    assert "no row that was changed" in done.stderr


def test_a_model_of_another_corpus_is_not_replaced(model: Project, hierseed: Run) -> None:
    shutil.copy(model / "docs.csv", model / "other.csv")
    done = hierseed("fit", "other.csv", *FIT, "-o", "model")
    assert done.exit_code == 1
    assert "model is a model of another corpus, docs.csv" in done.stderr
    assert hierseed("fit", "other.csv", *FIT, "-o", "model", "--overwrite").exit_code == 0


def test_no_cell_of_a_csv_is_a_formula(model: Project, hierseed: Run) -> None:
    (model / "bad.csv").write_text("id,text,note\n=cmd|' /C calc'!A0,a cat,=HYPERLINK(1)\n")
    assert hierseed("assign", "model", "bad.csv", "-o", "t.csv", "--keep", "note").exit_code == 0
    table = pd.read_csv(model / "t.csv")
    assert table.loc[0, "id"].startswith("'=cmd")
    assert table.loc[0, "note"].startswith("'=HYPER")


# ---------------------------------------------------------------- seeds


@pytest.fixture
def numbered(project: Project) -> Project:
    """Ids with leading zeros; seeds as Excel and a colleague leave them."""
    docs = pd.read_csv(project / "docs.csv")
    docs.insert(0, "Nr", [f"{i:05d}" for i in range(len(docs))])
    row_of = dict(zip(docs["id"], docs["Nr"]))
    seeds = pd.read_csv(project / "seeds.csv")
    seeds = pd.DataFrame(
        {"Petition": [int(row_of[id]) for id in seeds["id"]], "Area": seeds["topic"]}
    )
    docs.drop(columns="id").to_csv(project / "docs.csv", index=False)
    seeds.to_csv(project / "seeds.csv", index=False)
    return project


def test_lost_zeros_and_other_columns_cost_no_round(numbered: Project, hierseed: Run) -> None:
    files = ("--taxonomy", "topics.txt", "--seeds", "seeds.csv", "--corpus", "docs.csv")
    done = hierseed("check", *files, "--id", "Nr", "--topic", "Area", "--seed-id", "Petition")
    assert done.exit_code == 0, done.stderr
    assert "had lost their leading zeros, as in Excel: 0 is read as 00000" in done.stderr
    done = hierseed("check", *files, "--id", "Nr", "--seed-id", "Petition")
    assert done.exit_code == 0, done.stderr
    assert "topics are in 'Area', guessed from the content" in done.stderr
    done = hierseed("check", *files, "--id", "Nr", "--topic", "Aera", "--seed-id", "Nr")
    assert done.exit_code == 1
    assert "no column 'Aera'" in done.stderr


def test_a_seed_that_is_missing_can_be_left_out(project: Project, hierseed: Run) -> None:
    with (project / "seeds.csv").open("a") as file:
        file.write("nobody,Cats\n")
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
    assert done.exit_code == 1
    assert "'nobody'" in done.stderr
    assert "--on-error skip" in done.stderr
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--on-error", "skip")
    assert done.exit_code == 0, done.stderr
    assert "1 seed not in the corpus and left out: 'nobody'" in done.stderr


# ---------------------------------------------------------------- corpora


def test_an_encoding_is_detected_and_reported(project: Project, hierseed: Run) -> None:
    text = (project / "docs.csv").read_text().replace("cat", "Kätzchen größer schöner")
    (project / "docs.csv").write_bytes(text.encode("cp1252"))
    done = hierseed("check", "--corpus", "docs.csv")
    assert done.exit_code == 1
    assert "--encoding auto" in done.stderr
    done = hierseed("check", "--corpus", "docs.csv", "--encoding", "auto")
    assert done.exit_code == 0, done.stderr
    assert "docs.csv is not UTF-8: read as Windows-1252" in done.stderr


def test_columns_are_guessed_from_their_content(project: Project, hierseed: Run) -> None:
    docs = pd.read_csv(project / "docs.csv")
    docs = pd.DataFrame(
        {"key": docs["id"], "kind": "x", "words": docs["text"] + " and so on and on"}
    )
    docs.to_csv(project / "docs.csv", index=False)
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
    assert done.exit_code == 0, done.stderr
    assert "docs.csv: texts are in 'words', guessed from the content" in done.stderr
    assert "docs.csv: ids are in 'key', guessed from the content" in done.stderr
    assert hierseed("assign", "model", "docs.csv", "-o", "t.csv").exit_code == 0


def test_nested_json_and_html(project: Project, hierseed: Run) -> None:
    docs = pd.read_csv(project / "docs.csv")
    records = [
        {"meta": {"key": id}, "body": {"html": f"<p>{text}</p><script>dog = 1</script>"}}
        for id, text in zip(docs["id"], docs["text"])
    ]
    (project / "docs.json").write_text(json.dumps({"documents": records}))
    columns = ("--id", "meta.key", "--text", "body.html", "--html")
    for source, options, name in (("docs.csv", (), "a"), ("docs.json", columns, "b")):
        done = hierseed("fit", source, *FIT, *options, "-o", name)
        assert done.exit_code == 0, done.stderr
        done = hierseed("assign", name, source, *options, "-o", f"{name}.csv")
        assert done.exit_code == 0, done.stderr
    assert (project / "a.csv").read_text() == (project / "b.csv").read_text()


# ---------------------------------------------------------------- taxonomies


def test_a_thesaurus_is_read_alike_by_check_fit_and_convert(
    project: Project, hierseed: Run
) -> None:
    pytest.importorskip("rdflib", reason="the extra 'skos' is not installed")
    paths = [line for line in (project / "topics.txt").read_text().splitlines() if line]
    names = dict.fromkeys(part for path in paths for part in path.split(" > "))
    number = {name: i for i, name in enumerate(names)}
    above = {
        lower: upper
        for path in paths
        for upper, lower in zip(path.split(" > "), path.split(" > ")[1:])
    }
    blocks = ["@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix : <http://e.org/> ."]
    for name, i in number.items():
        link = f"; skos:broader :c{number[above[name]]}" if name in above else ""
        blocks.append(f':c{i} a skos:Concept ; skos:prefLabel "{name}"@de , "X{i}"@en {link} .')
    (project / "topics.ttl").write_text("\n".join(blocks))
    given = ("--taxonomy", "topics.ttl", "--seeds", "seeds.csv")
    done = hierseed("check", *given, "--corpus", "docs.csv", "--language", "en")
    assert done.exit_code == 1  # the seeds are German
    done = hierseed("check", *given, "--corpus", "docs.csv", "--language", "de", "--parent", "only")
    assert done.exit_code == 0, done.stderr
    more = ("--embedder", "wordllama:64", "--language", "de", "-o", "model")
    done = hierseed("fit", "docs.csv", *given, *more)
    assert done.exit_code == 0, done.stderr
    done = hierseed("convert", "topics.ttl", "topics.md", "--language", "de")
    assert done.exit_code == 0, done.stderr
