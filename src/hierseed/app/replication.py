"""The validation of a fit as files: codes, agreement, accuracy, and the paragraph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from hierseed.app import validation
from hierseed.app.fits import Fit
from hierseed.app.project import Project
from hierseed.app.store import codings, documents, topics
from hierseed.io.tables import write_table


def write_validation(project: Project, fit: Fit, folder: Path) -> list[Path]:
    """Write the files of every sample into a folder; nothing where there is no sample."""
    made: list[Path] = []
    for sample in codings.samples(project):
        stem = f"sample-{sample.id}"
        found = results(project, sample, fit)
        tables = {
            "codes": _codes(project, sample),
            "agreement": pd.DataFrame(_flat_agreement(found["agreement"])),
            "accuracy": pd.DataFrame(_flat_accuracy(found["accuracy"])),
        }
        for name, table in tables.items():
            write_table(table, folder / f"{stem}-{name}.csv", guard=True)
            made.append(folder / f"{stem}-{name}.csv")
        for name, text in (
            ("paragraph.txt", found["paragraph"] + "\n"),
            ("results.json", json.dumps(found, indent=1) + "\n"),
        ):
            (folder / f"{stem}-{name}").write_text(text, encoding="utf-8", newline="\n")
            made.append(folder / f"{stem}-{name}")
    return made


def results(project: Project, sample: codings.Sample, fit: Fit) -> dict[str, Any]:
    """Agreement, accuracy and the paragraph of one sample."""
    placed = fit.placements(topics.current(project))
    agreed = validation.agreement(project, sample)
    right = validation.accuracy(project, sample, placed)
    method = f"method {fit.facts['method']}, vectors of {fit.facts['embedder']}"
    return {
        "sample": sample.name,
        "drawn": sample.facts,
        "agreement": agreed,
        "accuracy": right,
        "paragraph": validation.paragraph(sample, agreed, right, fit.id, method),
    }


def _codes(project: Project, sample: codings.Sample) -> pd.DataFrame:
    here = topics.current(project)
    strata = dict(codings.rows(project, sample.id))
    ids = {d.row: d.id for d in documents.get(project, list(strata))}
    lines = [
        {
            "id": ids[code.row],
            "coder": code.coder,
            "decision": code.decision,
            "topics": " | ".join(here.path(id) for id in code.topics),
            "adjudicated": code.final,
            "stratum": strata[code.row],
        }
        for code in codings.codes(project, sample.id)
    ]
    columns = ["id", "coder", "decision", "topics", "adjudicated", "stratum"]
    return pd.DataFrame(lines, columns=columns)


def _flat_agreement(found: dict[str, Any]) -> list[dict[str, Any]]:
    lines = [
        {"what": "alpha", "level": level["level"], "topic": "", "coders": "all", **level["alpha"]}
        for level in found["levels"]
    ]
    for level in found["levels"]:
        for pair in level["pairs"]:
            names = " and ".join(pair["coders"])
            lines.append(
                {"what": "kappa", "level": level["level"], "topic": "", "coders": names,
                 "value": pair["kappa"], "low": None, "high": None, "n": pair["same"]["n"]}
            )  # fmt: skip
            lines.append(
                {"what": "same code", "level": level["level"], "topic": "", "coders": names,
                 **pair["same"]}
            )  # fmt: skip
    return lines + [
        {"what": "alpha", "level": topic["level"], "topic": topic["path"], "coders": "all",
         **topic["alpha"]}
        for topic in found["topics"]
    ]  # fmt: skip


def _flat_accuracy(found: dict[str, Any]) -> list[dict[str, Any]]:
    lines = [
        {"what": "accuracy", "level": level["level"], "topic": "", **level["accuracy"]}
        for level in found["levels"]
    ]
    return lines + [
        {"what": what, "level": topic["level"], "topic": topic["path"], **topic[what]}
        for topic in found["topics"]
        for what in ("precision", "recall")
    ]
