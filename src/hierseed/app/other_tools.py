"""Coded data of other tools: Label Studio, doccano, Argilla, MAXQDA and NVivo.

Their exports are turned into rows of id, text and topic, which the readers of seeds and expert
labels take. What they import is written from the documents and their topics.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from hierseed.io.tables import write_table

Row = tuple[str, str, str]  # id, text, topic

ID_KEYS = ("id", "doc_id", "document_id", "external_id", "name")
DOCUMENT_COLUMNS = ("document name", "document", "file name", "file")
CODE_COLUMNS = ("code", "node", "codes")
SEGMENT_COLUMNS = ("segment", "coded segment", "text", "reference", "coded text")


def convert(file: Path) -> tuple[Path, str]:
    """Turn an export of another tool into a table of seeds; return the table and the tool.

    A file of no tool that is known is returned as it is, with "".
    """
    tool, rows = _recognised(file)
    if not tool:
        return file, ""
    target = file.with_name(f"{file.stem}-rows.csv")
    with target.open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["id", "text", "topic"])
        writer.writerows(rows)
    return target, tool


def _recognised(file: Path) -> tuple[str, list[Row]]:
    ending = file.suffix.lower()
    if ending in (".json", ".jsonl", ".ndjson"):
        records = _records(file)
        for tool, read in (
            ("Label Studio", _label_studio), ("Argilla", _argilla), ("doccano", _doccano),
        ):  # fmt: skip
            found = [row for record in records for row in read(record)]
            if found:
                return tool, found
    if ending in (".csv", ".tsv", ".xlsx"):
        found = list(_coded_segments(file))
        if found:
            return "MAXQDA or NVivo", found
    return "", []


def _records(file: Path) -> list[dict[str, Any]]:
    text = file.read_text(encoding="utf-8-sig")
    try:
        content = json.loads(text)
    except ValueError:
        try:
            content = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            return []  # the reader of seeds says what is wrong
    if isinstance(content, dict):
        content = content.get("records", [])
    return [record for record in content if isinstance(record, dict)]


def _id(*places: dict[str, Any]) -> str:
    for place in places:
        for key in ID_KEYS:
            if place.get(key) not in (None, ""):
                return str(place[key])
    return ""


def _path(value: Any) -> str:
    """A topic: names of a path, or one text with > / \\ between them."""
    if isinstance(value, list):
        return " > ".join(str(name).strip() for name in value)
    text = str(value).strip()
    for separator in ("\\", " / "):
        if separator in text and " > " not in text:
            text = " > ".join(part.strip() for part in text.split(separator) if part.strip())
    return text.removeprefix("Codes > ").removeprefix("Nodes > ")


def _label_studio(record: dict[str, Any]) -> Iterator[Row]:
    data = record.get("data")
    if not isinstance(data, dict):
        return
    for annotation in record.get("annotations") or record.get("completions") or []:
        for result in annotation.get("result", []):
            value = result.get("value", {})
            for topic in [*value.get("choices", []), *value.get("taxonomy", [])]:
                yield _id(data, {"id": record.get("id")}), str(data.get("text", "")), _path(topic)


def _argilla(record: dict[str, Any]) -> Iterator[Row]:
    fields = record.get("fields")
    if not isinstance(fields, dict):
        return
    text = str(next(iter(fields.values()), ""))
    responses = record.get("responses") or {}
    answers = responses.values() if isinstance(responses, dict) else [responses]
    for answer in answers:
        for response in answer if isinstance(answer, list) else [answer]:
            value = response.get("value") if isinstance(response, dict) else response
            for topic in value if isinstance(value, list) else [value]:
                if topic:
                    yield _id(record.get("metadata") or {}, record), text, _path(topic)


def _doccano(record: dict[str, Any]) -> Iterator[Row]:
    topics = record.get("label", record.get("labels"))
    if "text" not in record or not isinstance(topics, list):
        return
    for topic in topics:
        if isinstance(topic, str):
            yield _id(record.get("meta") or {}, record), str(record["text"]), _path(topic)


def _coded_segments(file: Path) -> Iterator[Row]:
    if file.suffix.lower() == ".xlsx":
        table = pd.read_excel(file, dtype=str, keep_default_na=False)
    else:
        separator = "\t" if file.suffix.lower() == ".tsv" else ","
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.reader(lines, delimiter=separator))
        table = pd.DataFrame(rows[1:], columns=rows[0]) if rows else pd.DataFrame()
    columns = {str(name).strip().lower(): name for name in table.columns}
    document, code = (
        next((columns[name] for name in wanted if name in columns), None)
        for wanted in (DOCUMENT_COLUMNS, CODE_COLUMNS)
    )
    if document is None or code is None or "topic" in columns:
        return
    segment = next((columns[name] for name in SEGMENT_COLUMNS if name in columns), None)
    for _, row in table.iterrows():
        if str(row[code]).strip():
            text = "" if segment is None else str(row[segment])
            yield str(row[document]).strip(), text, _path(row[code])


def write_tasks(tool: str, target: Path, documents: Iterator[tuple[str, str, list[str]]]) -> None:
    """Write documents with their topics as Label Studio or doccano import them."""
    if tool == "label-studio":
        tasks = [
            {
                "data": {"id": id, "text": text},
                "predictions": [{"result": [_taxonomy(paths)]}] if paths else [],
            }
            for id, text, paths in documents
        ]
        target.write_text(
            json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8", newline="\n"
        )
    else:
        lines = [{"id": id, "text": text, "label": paths} for id, text, paths in documents]
        write_table(pd.DataFrame(lines, columns=["id", "text", "label"]), target)


def _taxonomy(paths: list[str]) -> dict[str, Any]:
    return {
        "from_name": "topic", "to_name": "text", "type": "taxonomy",
        "value": {"taxonomy": [path.split(" > ") for path in paths]},
    }  # fmt: skip
