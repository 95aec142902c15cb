"""assign: the same table in every format, from text or vectors, in chunks of any size."""

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_project import FIT, WORDS, Project
from typer.testing import Result

from hierseed import load
from hierseed.io import documents

Run = Callable[..., Result]
COLUMNS = [
    "id", "topic", "level_1", "level_2", "distance", "score", "belongs", "runner_up",
    "is_other", "is_none", "is_seed",
]  # fmt: skip


def read(file: object) -> pd.DataFrame:
    name = str(file)
    if name.endswith(".parquet"):
        return pd.read_parquet(name)
    if name.endswith(".jsonl"):
        return pd.read_json(name, lines=True, dtype={"id": str})
    if name.endswith(".xlsx"):
        return pd.read_excel(name, dtype={"id": str}, keep_default_na=False)
    return pd.read_csv(name, dtype={"id": str}, keep_default_na=False)


def test_the_table_is_the_contract(model: Project, hierseed: Run) -> None:
    done = hierseed("assign", "model", "docs.csv", "-o", "placed.csv")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""
    table = read(model / "placed.csv")
    assert list(table) == COLUMNS
    assert table["id"].tolist() == [id for id, _ in model.documents]
    assert set(table.loc[table["is_seed"], "id"]) == set(load(model / "model").seeds.topics)
    deepest = table["level_2"].where(table["level_2"] != "", table["level_1"])
    assert table["topic"].tolist() == deepest.tolist()
    assert (table["is_none"] == (table["topic"] == "")).all()
    assert "of 48 documents" in done.stderr
    page = (Path(__file__).resolve().parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in COLUMNS if name != "level_2")


def test_python_places_documents_as_the_command_does(model: Project, hierseed: Run) -> None:
    hierseed("assign", "model", "docs.csv", "-o", "placed.csv")
    table = read(model / "placed.csv")
    page = (Path(__file__).resolve().parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```python\n(.*?)```", page, re.S)
    names: dict[str, Any] = {"ids": table["id"], "texts": [text for _, text in model.documents]}
    exec(compile(lines, "docs/files.md", "exec"), names)  # in the folder of the project
    assert names["table"]["topic"].tolist() == table["topic"].tolist()
    np.testing.assert_allclose(names["table"]["score"], table["score"], rtol=1e-6)


def test_the_id_of_a_seed_makes_no_seed(model: Project, hierseed: Run) -> None:
    ids = [id for id, _ in model.documents]
    texts = [text for _, text in model.documents]
    turned = pd.DataFrame({"id": ids, "text": texts[7:] + texts[:7]})  # each id, another text
    turned.to_csv(model / "turned.csv", index=False)
    done = hierseed("assign", "model", "turned.csv", "-o", "placed.csv")
    assert not read(model / "placed.csv")["is_seed"].any()
    assert "12 documents with the id of a seed but another text" in done.stderr


def test_a_seed_of_two_topics_has_two_rows(project: Project, hierseed: Run) -> None:
    seeds = pd.read_csv(project / "seeds.csv", dtype=str)
    both = seeds.iloc[[0]].assign(topic=seeds["topic"].iloc[-1])
    pd.concat([seeds, both]).to_csv(project / "seeds.csv", index=False)
    assert hierseed("fit", "docs.csv", *FIT, "-o", "m").exit_code == 0
    assert hierseed("assign", "m", "docs.csv", "-o", "placed.csv").exit_code == 0
    table = read(project / "placed.csv")
    mine = table[table["id"] == seeds["id"].iloc[0]]
    assert len(mine) == 2
    assert mine["is_seed"].all()


def test_embedded_again_a_document_is_placed_with_the_same_bits(
    model: Project, hierseed: Run
) -> None:
    assert hierseed("assign", "model", "docs.csv", "-o", "kept.csv").exit_code == 0
    shutil.rmtree(model / "model.vectors")
    assert hierseed("assign", "model", "docs.csv", "-o", "again.csv").exit_code == 0
    assert (model / "kept.csv").read_bytes() == (model / "again.csv").read_bytes()


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "xlsx"])
def test_every_format_holds_the_same(model: Project, hierseed: Run, ending: str) -> None:
    for name in ("placed.csv", f"placed.{ending}"):
        assert hierseed("assign", "model", "docs.csv", "-o", name, "-q").exit_code == 0
    one, two = (read(model / name) for name in ("placed.csv", f"placed.{ending}"))
    for column in ("distance", "score"):
        np.testing.assert_allclose(one.pop(column), two.pop(column), rtol=1e-5)
    pd.testing.assert_frame_equal(one, two.fillna(""), check_dtype=False)


def test_json_says_how_it_went(model: Project, hierseed: Run) -> None:
    done = hierseed("assign", "model", "docs.jsonl", "-o", "placed.parquet", "--json", "-q")
    facts = json.loads(done.stdout)
    table = read(model / "placed.parquet")
    assert facts["documents"] == 48
    assert facts["rows"] == len(table)
    first = table.drop_duplicates("id")
    assert facts["placed"] == int((~first["is_none"]).sum())
    assert facts["in_other"] == int(first["is_other"].sum())
    assert done.stderr == ""


def test_chunks_of_any_size_give_the_same(model: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = load(model / "model")
    whole = saved.assign(model / "docs.csv").to_frame()
    for size in (1, 7, 48):
        monkeypatch.setattr(documents.chunks_of_text, "__defaults__", (size,))
        pd.testing.assert_frame_equal(saved.assign(model / "docs.csv").to_frame(), whole)


def test_vectors_are_placed_as_their_text(model: Project) -> None:
    saved = load(model / "model")
    text, vectors = (saved.assign(model / name) for name in ("docs.csv", "model.vectors"))
    pd.testing.assert_frame_equal(text.to_frame(), vectors.to_frame())


def test_vectors_kept_by_fit_are_used_where_the_documents_are_the_same(
    model: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = load(model / "model").embedder
    embedded: list[str] = []
    encode = type(embedder).encode

    def count(self: object, texts: list[str]) -> object:
        embedded.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(type(embedder), "encode", count)
    monkeypatch.setattr(documents.chunks_of_text, "__defaults__", (10,))
    same = load(model / "model").assign(model / "docs.csv")
    assert embedded == []
    assert same.n_documents == 48
    text = (model / "docs.csv").read_text().replace("number 11", "number eleven", 1)
    (model / "docs.csv").write_text(text)
    changed = load(model / "model").assign(model / "docs.csv")
    assert len(embedded) == 38  # all from the chunk that holds the changed document
    keep = [row for row in range(48) if row != 11]
    np.testing.assert_array_equal(changed.labels[keep], same.labels[keep])


def test_unsure_documents_stop_higher_up(model: Project, hierseed: Run) -> None:
    hierseed("assign", "model", "docs.csv", "-o", "all.csv")
    hierseed("assign", "model", "docs.csv", "-o", "sure.csv", "--threshold", "0.5")
    hierseed("assign", "model", "docs.csv", "-o", "high.csv", "--level", "1")
    every, sure, high = (read(model / f"{name}.csv") for name in ("all", "sure", "high"))
    assert (sure.loc[sure["topic"] != "", "score"] >= 0.5).all()
    kept = every["score"] >= 0.5
    assert sure.loc[kept, "topic"].tolist() == every.loc[kept, "topic"].tolist()
    assert high["topic"].tolist() == every["level_1"].tolist()
    for wrong in (("--threshold", "2"), ("--level", "3")):
        assert hierseed("assign", "model", "docs.csv", "-o", "x.csv", *wrong).exit_code == 2


def test_what_to_do_next_can_be_typed_as_it_is(model: Project, hierseed: Run) -> None:
    (model / "my docs.csv").write_text((model / "docs.csv").read_text())
    done = hierseed("assign", "model", "my docs.csv", "-o", "placed.csv")
    line = next(line for line in done.stderr.split("\n") if line.startswith("Next "))
    words = shlex.split(line)[2:]
    assert words[:3] == ["suggest", "model", "my docs.csv"]
    assert hierseed(*words).exit_code == 0
    for silent in ("--json", "--quiet"):
        done = hierseed("assign", "model", "docs.csv", "-o", "placed.csv", silent)
        assert "Next" not in done.stderr


def test_one_document_is_enough(model: Project, hierseed: Run) -> None:
    (model / "one.csv").write_text("id,text\nnew,a kitten with whiskers\n")
    done = hierseed("assign", "model", "one.csv", "-o", "one.parquet")
    assert done.exit_code == 0
    assert read(model / "one.parquet")["id"].tolist() == ["new"]


def test_rows_left_out_are_saved_next_to_the_table(model: Project, hierseed: Run) -> None:
    with (model / "docs.csv").open("a") as file:
        file.write("extra,\n")
    assert hierseed("assign", "model", "docs.csv", "-o", "placed.csv").exit_code == 1
    assert "placed.csv" not in model.names()
    done = hierseed("assign", "model", "docs.csv", "-o", "placed.csv", "--on-error", "skip")
    assert done.exit_code == 0
    assert len(read(model / "placed.csv").drop_duplicates("id")) == 48
    assert "extra" in (model / "placed.skipped.csv").read_text()


def test_what_can_not_be_placed(model: Project, hierseed: Run) -> None:
    before = model.names()
    for args, said in [
        (("absent", "docs.csv", "-o", "t.csv"), "no model.json in absent"),
        (("model", "absent.csv", "-o", "t.csv"), "no file absent.csv"),
        (("model", "docs.csv", "-o", "t.docx"), ".docx"),
        (("model", "docs.csv", "-o", "nowhere/t.csv"), "folder does not exist"),
        (("model", "docs.csv", "-o", "model"), "model"),
        (("model", "docs.csv", "-o", "t.csv", "--text", "body"), "no column 'body'"),
    ]:
        done = hierseed("assign", *args)
        assert done.exit_code == 1, (args, done.stderr)
        assert said in done.stderr
        assert len(done.stderr.strip().split("\n")) == 1
        assert model.names() == before


def test_vectors_that_do_not_fit_the_model(model: Project, hierseed: Run) -> None:
    np.save(model / "v.npy", np.ones((3, 5), dtype=np.float32))
    done = hierseed("assign", "model", "v.npy", "-o", "t.csv")
    assert done.exit_code == 1
    assert "rows of 5 numbers" in done.stderr
    np.save(model / "none.npy", np.ones((0, 64), dtype=np.float32))
    for command in ("assign", "suggest"):
        done = hierseed(command, "model", "none.npy", "-o", "t.csv")
        assert done.exit_code == 1
        assert "none.npy has no rows" in done.stderr
    hierseed("fit", "docs.csv", *FIT[:4], "--embedder", "wordllama:128", "-o", "other")
    done = hierseed("assign", "model", "other.vectors", "-o", "t.csv")
    assert done.exit_code == 1
    assert "are of wordllama:128" in done.stderr


def test_the_most_probable_topics_are_ranked(model: Project, hierseed: Run) -> None:
    hierseed("assign", "model", "docs.csv", "-o", "placed.csv")
    done = hierseed("assign", "model", "docs.csv", "-o", "top.csv", "--top", "3")
    assert done.exit_code == 0, done.stderr
    top, placed = read(model / "top.csv"), read(model / "placed.csv")
    assert list(top) == ["id", "rank", "topic", "probability"]
    assert set(top["id"]) == set(placed["id"])
    for _, group in top.groupby("id"):
        assert group["rank"].tolist() == list(range(1, len(group) + 1))
        assert len(group) <= 3
        assert group["probability"].is_monotonic_decreasing
        assert group["probability"].sum() <= 1 + 1e-6
    assert hierseed("assign", "model", "docs.csv", "-o", "t.csv", "--top", "3", "--codes").exit_code


def test_a_precision_is_kept_on_the_documents_coded_by_hand(model: Project, hierseed: Run) -> None:
    names = {path.split()[-1].lower(): path for path in WORDS}
    coded = [f"{id},{names[id.split('-')[0]]}" for id, _ in model.documents[::2]]
    (model / "coded.csv").write_text("\n".join(["id,topic", *coded]) + "\n")
    more = ("--precision", "0.8", "--coded", "coded.csv")
    done = hierseed("assign", "model", "docs.csv", "-o", "sure.csv", *more)
    assert done.exit_code == 0, done.stderr
    assert "Thresholds" in done.stderr
    sure = read(model / "sure.csv")
    truth = dict(line.split(",") for line in coded)
    kept = sure[sure["id"].isin(truth) & (sure["level_2"] != "")]
    assert len(kept)
    assert (kept["level_2"] == kept["id"].map(truth)).mean() >= 0.8
    same = hierseed("assign", "model", "model.vectors", "-o", "vectors.csv", *more)
    assert same.exit_code == 0, same.stderr
    assert read(model / "vectors.csv")["topic"].tolist() == sure["topic"].tolist()
    assert (
        hierseed("assign", "model", "docs.csv", "-o", "x.csv", "--precision", "0.8").exit_code == 2
    )


def test_documents_coded_none_count_as_wrong_placements(model: Project, hierseed: Run) -> None:
    rows = ["id,topic", *(f"{id},None" for id, _ in model.documents[::2])]
    (model / "coded.csv").write_text("\n".join(rows) + "\n")
    more = ("--precision", "0.5", "--coded", "coded.csv")
    done = hierseed("assign", "model", "docs.csv", "-o", "sure.csv", *more)
    assert done.exit_code == 0, done.stderr
    assert "none is enough" in done.stderr
    sure = read(model / "sure.csv")
    assert (sure["topic"][~sure["is_seed"]] == "").all()


def test_fit_keeps_the_precision_in_the_model(model: Project, hierseed: Run) -> None:
    """Thresholds learned by `fit` place as those learned by `assign` from the same sample."""
    names = {path.split()[-1].lower(): path for path in WORDS}
    ids = [id for id, _ in model.documents[::2]]
    # every third label is wrong: low scores do not promise the precision
    labels = [names[id.split("-")[0]] for id in ids]
    wrong = [labels[0] if i % 3 == 0 else label for i, label in enumerate(labels)]
    rows = [f"{id},{topic}" for id, topic in zip(ids, wrong)]
    (model / "coded.csv").write_text("\n".join(["id,topic", *rows]) + "\n")
    more = ("--precision", "0.9", "--coded", "coded.csv")
    done = hierseed("fit", "docs.csv", *FIT, "-o", "strict", *more)
    assert done.exit_code == 0, done.stderr
    assert "Thresholds" in done.stderr
    assert hierseed("assign", "strict", "docs.csv", "-o", "strict.csv").exit_code == 0
    assert hierseed("assign", "model", "docs.csv", "-o", "sure.csv", *more).exit_code == 0
    assert hierseed("assign", "model", "docs.csv", "-o", "all.csv").exit_code == 0
    tables = ("strict.csv", "sure.csv", "all.csv")
    strict, sure, every = (read(model / name)["topic"] for name in tables)
    assert strict.tolist() == sure.tolist()
    assert (strict != every).any()
    assert hierseed("fit", "docs.csv", *FIT, "-o", "x", "--precision", "0.8").exit_code == 2
    paper = hierseed("fit", "docs.csv", *FIT, "-o", "x", "--method", "hierseed", *more)
    assert paper.exit_code != 0
    assert "no thresholds" in paper.stderr
