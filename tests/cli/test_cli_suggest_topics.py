"""suggest --topics: groups of documents that the taxonomy has no topic for."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
from cli_project import FIT, Project
from typer.testing import Result

Run = Callable[..., Result]
FOREIGN = ["rocket", "orbit", "satellite", "launch", "planet", "telescope"]


def test_documents_of_an_absent_subject_are_proposed_as_a_topic(
    project: Project, hierseed: Run
) -> None:
    rows = [*project.documents]
    rows += [
        (f"space-{i}", f"the {FOREIGN[i % 6]} and the {FOREIGN[(i + 1 + i // 6) % 6]}, number {i}")
        for i in range(24)
    ]
    pd.DataFrame(rows, columns=["id", "text"]).to_csv(project / "docs.csv", index=False)
    assert hierseed("fit", "docs.csv", *FIT, "-o", "model", "-q").exit_code == 0
    done = hierseed("suggest", "model", "docs.csv", "--topics", "--json", "-q")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    columns = {"id", "documents", "sure", "parent", "words", "central"}
    assert all(set(one) == columns for one in found)
    assert hierseed("suggest", "model", "docs.csv", "--topics", "-o", "new.csv").exit_code == 0
    assert len(pd.read_csv(project / "new.csv")) == len(found)
    assert found
    printed = hierseed("suggest", "model", "docs.csv", "--topics", "-q").stdout
    texts = dict(rows)
    for one in found:
        assert all(texts[id] in printed for id in one["central"].split(", ")[:3])
    central = [id for one in found for id in one["central"].split(", ")]
    assert sum(id.startswith("space") for id in central) > len(central) / 2
