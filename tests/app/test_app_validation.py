"""Samples, blind coding, agreement and accuracy: against truths that are known."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hierseed.app import fits, validation
from hierseed.app.pages.session import Session
from hierseed.app.project import Project
from hierseed.app.store import codings, documents, edits, gold, topics
from hierseed.app.store.actions import Person
from hierseed.errors import ProjectError
from hierseed.evaluate.agreement import krippendorff_alpha


def truth_of(project: Project) -> dict[int, int]:
    return dict(gold.pairs(project))


def drawn(project: Project, session: Session, **options: Any) -> codings.Sample:
    session.act("go", screen="code")
    session.act("draw", **{"size": 60, "kind": "random", "seed": 3, **options})
    return codings.samples(project)[0]


def code_all(project: Project, sample: codings.Sample, coder: str, wrong: float = 0.0) -> None:
    random = np.random.default_rng(len(coder))
    truth, ids = truth_of(project), topics.current(project).ids
    for row, _ in codings.rows(project, sample.id):
        id = int(random.choice(ids)) if random.random() < wrong else truth[row]
        codings.code(project, sample.id, row, coder, "topics", [id])


def test_a_sample_is_drawn_at_random_and_the_same_again(project: Project) -> None:
    session = Session(project, Person("a", "Anna"))
    one = drawn(project, session)
    rows = codings.rows(project, one.id)
    assert len({row for row, _ in rows}) == 60
    assert codings.rows(project, drawn(project, session).id) == rows
    assert codings.rows(project, drawn(project, session, seed=4).id) != rows
    chances = np.zeros(documents.count(project))
    for seed in range(300):
        for row, _ in codings.draw_random(project, 60, seed):
            chances[row] += 1
    expected = 300 * 60 / len(chances)
    assert ((chances - expected) ** 2 / expected).sum() < 1.2 * len(chances)  # chi-squared


def test_coders_see_no_column_that_was_not_chosen(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    columns = [{"gold": "A", "year": "1990"}] * 3
    documents.add(project, [(f"d{i}", f"document number {i}") for i in range(3)], columns)
    project.put("columns", ["gold", "year"])
    edits.add(project, None, "A")
    session = Session(project, Person("a", "Anna"))
    for chosen, seen in (((), {}), (("year", "no such column"), {"year": "1990"})):
        sample = drawn(project, session, columns=chosen)
        assert sample.facts["columns"] == list(seen)
        assert session.stage()["view"]["document"]["columns"] == seen
    project.close()


def test_coding_is_blind_and_moves_on(project: Project) -> None:
    anna, ben = Session(project, Person("a", "Anna")), Session(project, Person("b", "Ben"))
    sample = drawn(project, anna)
    first = anna.act("tab", tab="code")["stage"]["view"]
    key = str(topics.current(project).ids[1])
    view = anna.act("code", row=first["document"]["row"], decision="topics", keys=[key])
    view = view["stage"]["view"]
    assert (view["done"], view["at"]) == (1, 1)
    assert [topic["key"] for topic in view["recent"]] == [key]
    ben.act("go", screen="code")
    theirs = ben.act("open", sample=sample.id)["stage"]["view"]
    assert theirs["document"]["row"] == first["document"]["row"]
    assert (theirs["done"], theirs["code"], theirs["recent"]) == (0, None, [])
    assert "placed" not in str(theirs["document"])
    nobody = Session(project)
    nobody.act("go", screen="code")
    nobody.act("open", sample=sample.id)
    news = nobody.act("code", row=first["document"]["row"], decision="none")
    assert "enter your name first" in news["notes"][0]["text"]
    with pytest.raises(ProjectError, match="not in the sample"):
        codings.code(project, sample.id, 10**6, "Anna", "none")


def test_agreement_is_alpha_of_what_was_said(project: Project) -> None:
    session = Session(project, Person("a", "Anna"))
    sample = drawn(project, session)
    code_all(project, sample, "Anna")
    code_all(project, sample, "Ben", wrong=0.3)
    row = codings.rows(project, sample.id)[0][0]
    codings.code(project, sample.id, row, "Ben", "unsure")
    here = topics.current(project)
    found = validation.agreement(project, sample)
    said: dict[str, dict[int, tuple[int, ...]]] = {"Anna": {}, "Ben": {}}
    for code in codings.codes(project, sample.id):
        if code.decision == "topics":
            said[code.coder][code.row] = code.topics
    for level in found["levels"]:
        lines = [
            [
                None
                if row not in said[name]
                else next(
                    iter(
                        here.taxonomy.tree.path(here.place[said[name][row][0]])[
                            level["level"] - 1 :
                        ]
                    ),
                    None,
                )
                for row, _ in codings.rows(project, sample.id)
            ]
            for name in ("Anna", "Ben")
        ]
        assert level["alpha"]["value"] == pytest.approx(
            krippendorff_alpha(lines, resamples=2).value, abs=1e-4
        )
        assert level["alpha"]["low"] <= level["alpha"]["value"] <= level["alpha"]["high"]
    assert found["double"] == 60
    assert 0 < found["levels"][1]["alpha"]["value"] < 1


def test_accuracy_is_the_share_that_is_right(project: Project) -> None:
    session = Session(project, Person("a", "Anna"))
    sample = drawn(project, session, size=400)
    code_all(project, sample, "Anna")
    fit = fits.last(project)
    assert fit is not None
    placed = fit.placements(topics.current(project))
    found = validation.accuracy(project, sample, placed)
    here, truth = topics.current(project), truth_of(project)
    rows = [row for row, _ in codings.rows(project, sample.id) if not placed.is_seed[row]]
    for level in found["levels"]:
        at = level["level"] - 1
        right = [
            here.taxonomy.tree.path(here.place[truth[row]])[at]
            == placed.path[placed.primary[row], at]
            for row in rows
        ]
        assert level["accuracy"]["value"] == pytest.approx(np.mean(right), abs=1e-4)
        assert level["accuracy"]["n"] == len(rows)
    everything = [row for row in truth if not placed.is_seed[row]]
    whole = np.mean([placed.topic[placed.primary[r]] == here.place[truth[r]] for r in everything])
    last = found["levels"][-1]["accuracy"]
    assert last["low"] <= whole <= last["high"]
    text = session.act("tab", tab="accuracy")["stage"]["view"]["paragraph"]
    assert "simple random sample of 400" in text
    assert f"{last['value']:.3f} [{last['low']:.3f}, {last['high']:.3f}] at level 2" in text


def test_documents_coded_none_count_against_the_threshold(project: Project) -> None:
    session = Session(project, Person("a", "Anna"))
    sample = drawn(project, session)
    fit = fits.last(project)
    assert fit is not None
    placed = fit.placements(topics.current(project))
    for row, _ in codings.rows(project, sample.id):
        codings.code(project, sample.id, row, "a", "none", [])
    found = validation.accuracy(project, sample, placed)
    assert found["thresholds"]
    assert set(found["thresholds"]) == {None}


def test_strata_are_weighted_back(project: Project) -> None:
    """Equal shares of unequal topics: weighted accuracy estimates that of the whole."""
    session = Session(project, Person("a", "Anna"))
    sample = drawn(project, session, size=240, kind="strata")
    strata = [stratum for _, stratum in codings.rows(project, sample.id)]
    assert len({strata.count(name) for name in set(strata)}) == 1
    code_all(project, sample, "Anna")
    fit = fits.last(project)
    assert fit is not None
    placed = fit.placements(topics.current(project))
    found = validation.accuracy(project, sample, placed)["levels"][0]["accuracy"]
    here, truth = topics.current(project), truth_of(project)
    whole = np.mean(
        [
            here.taxonomy.tree.path(here.place[truth[row]])[0]
            == placed.path[placed.primary[row], 0]
            for row in truth
            if not placed.is_seed[row]
        ]
    )
    assert found["low"] <= whole <= found["high"]


def test_disagreements_are_settled_once(project: Project) -> None:
    session = Session(project, Person("c", "Chris"))
    sample = drawn(project, session)
    code_all(project, sample, "Anna")
    code_all(project, sample, "Ben", wrong=0.3)
    open_rows = validation.disagreements(project, sample)
    assert open_rows
    assert not set(open_rows) & set(validation.reference(project, sample))
    view = session.act("tab", tab="adjudicate")["stage"]["view"]
    assert view["open"] == len(open_rows)
    card = view["cards"][0]
    code = card["codes"][0]
    session.act(
        "settle", row=card["row"], decision=code["decision"],
        keys=[topic["key"] for topic in code["topics"]],
    )  # fmt: skip
    assert card["row"] in validation.reference(project, sample)
    assert validation.disagreements(project, sample) == open_rows[1:]
    codings.code(project, sample.id, open_rows[1], "Chris", "none", final=True)
    assert validation.reference(project, sample)[open_rows[1]].decision == "none"
