"""Coded data of other tools comes in, and goes out as they read it."""

import json
from pathlib import Path

import pytest

from hierseed.app import export, fits, other_tools, taxonomy_import
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, topics
from hierseed.taxonomy import Taxonomy

LABEL_STUDIO = [
    {
        "id": 7,
        "data": {"id": "d1", "text": "one"},
        "annotations": [
            {"result": [{"type": "taxonomy", "value": {"taxonomy": [["Law", "Guns"]]}}]}
        ],
    },
    {
        "id": 8,
        "data": {"id": "d2", "text": "two"},
        "annotations": [{"result": [{"type": "choices", "value": {"choices": ["Food"]}}]}],
    },
    {"id": 9, "data": {"id": "d3", "text": "three"}, "annotations": []},
]
DOCCANO = [
    {"id": "d1", "text": "one", "label": ["Law > Guns"]},
    {"id": "d2", "text": "two", "label": ["Food"]},
    {"id": "d3", "text": "three", "label": []},
]
ARGILLA = [
    {"id": "d1", "fields": {"text": "one"}, "responses": {"topic": [{"value": "Law > Guns"}]}},
    {"id": "d2", "fields": {"text": "two"}, "responses": {"topic": [{"value": ["Food"]}]}},
    {"id": "d3", "fields": {"text": "three"}, "responses": {}},
]
MAXQDA = "Document group,Document name,Code,Segment\nA,d1,Law\\Guns,one\nA,d2,Food,two\n"


@pytest.fixture
def coded(empty: Project) -> Project:
    documents.add(empty, [("d1", "one"), ("d2", "two"), ("d3", "three")])
    edits.replace_all(empty, Taxonomy.from_paths(["Law > Guns", "Food"]), "t")
    return empty


@pytest.mark.parametrize(
    ("name", "text", "tool"),
    [
        ("export.json", json.dumps(LABEL_STUDIO), "Label Studio"),
        ("all.jsonl", "\n".join(map(json.dumps, DOCCANO)), "doccano"),
        ("records.json", json.dumps(ARGILLA), "Argilla"),
        ("segments.csv", MAXQDA, "MAXQDA or NVivo"),
    ],
)
def test_what_others_coded_becomes_seeds(
    coded: Project, tmp_path: Path, name: str, text: str, tool: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    plan = taxonomy_import.make_plan(coded, "seeds", file, name)
    assert plan.facts[0] == f"Read as an export of {tool}"
    assert plan.faults == []
    here = topics.current(coded)
    paths = {(row, here.path(topic)) for row, topic in plan.pairs}
    assert paths == {(0, "Law > Guns"), (1, "Food")}
    assert [file.name for file in tmp_path.glob("export*")] == [name] * (name == "export.json")


def test_a_plain_table_of_seeds_is_left_alone(tmp_path: Path) -> None:
    for name, text in (
        ("s.csv", "id,topic\nd1,Food\n"),
        ("s.jsonl", '{"id": 1, "topic": "Food"}\n'),
    ):
        file = tmp_path / name
        file.write_text(text)
        assert other_tools.convert(file) == (file, "")


def test_what_is_written_comes_back(project: Project, tmp_path: Path) -> None:
    fit = fits.last(project)
    assert fit is not None
    placed = fit.placements(topics.current(project))
    doccano = export.write_tasks(project, fit, "doccano")
    lines = [json.loads(line) for line in doccano.read_text().splitlines()]
    assert [line["id"] for line in lines] == [d.id for d in documents.every(project)]
    assert lines[3]["label"] == [placed.taxonomy.paths[int(placed.labels[3])]]
    tasks = json.loads(export.write_tasks(project, fit, "label-studio").read_text())
    value = tasks[3]["predictions"][0]["result"][0]["value"]["taxonomy"]
    assert [" > ".join(path) for path in value] == lines[3]["label"]
    for task in tasks:
        task["annotations"] = task.pop("predictions")
    file = tmp_path / "back.json"
    file.write_text(json.dumps(tasks))
    plan = taxonomy_import.make_plan(project, "gold", file, "back.json")
    assert len(plan.pairs) == sum(bool(line["label"]) for line in lines)
    assert plan.faults == []
