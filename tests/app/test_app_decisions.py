"""What a person decides counts: in the next fit, for that person's undo, and never by accident."""

from typing import Any

import numpy as np
import pytest

from hierseed.app import fits, fitting, review
from hierseed.app.pages.session import Session
from hierseed.app.project import Project
from hierseed.app.store import actions, edits, labels, topics
from hierseed.app.store.actions import Person
from hierseed.errors import ProjectError

ANNA, BEN = Person("a", "Anna"), Person("b", "Ben")


def id_of(project: Project, path: str) -> int:
    here = topics.current(project)
    return here.ids[here.taxonomy.index(path)]


def rows_in(project: Project, key: str) -> set[int]:
    fit = fits.last(project)
    assert fit is not None
    placed = fit.placements(topics.current(project))
    return set(placed.row[placed.members(placed.inside(key))].tolist())


def test_rejected_documents_leave_the_topic_at_the_next_fit(project: Project) -> None:
    session = Session(project)
    session.act("go", screen="review")
    key = str(id_of(project, "Files > pathlib"))
    session.act("select", key=key)
    cards = session.act("kind", kind="odd")["stage"]["view"]["cards"]
    free = [card["row"] for card in cards if not card["seed_of"]][:4]
    for row in free:
        session.act("say", row=row, verdict=-1, key=key, seen=0)
    others = str(id_of(project, "Internet"))  # and one out of a whole branch
    gone = next(row for row in sorted(rows_in(project, others)) if row not in labels.seeds(project))
    session.act("say", row=gone, verdict=-1, key=others)
    fitting.fit(project, fitting.Dials())
    assert not set(free) & rows_in(project, key)
    assert gone not in rows_in(project, others)
    assert len(rows_in(project, key)) > 20  # the others stay
    fit = fits.last(project)
    assert fit is not None
    assert fit.n == fit.fitted.labels.size
    assert (fit.fitted.labels[free] >= 0).all()  # each has another place


def test_none_of_these_is_placed_nowhere_and_unsure_changes_nothing(project: Project) -> None:
    labels.decide(project, 5, labels.NONE_OF_THESE, labels.YES)
    labels.decide(project, 6, labels.UNSURE, labels.YES)
    fitting.fit(project, fitting.Dials(method="unfit"))
    fit = fits.last(project)
    assert fit is not None
    assert fit.fitted.labels[5] == -1
    assert fit.fitted.labels[6] >= 0
    assert 5 not in labels.seeds(project)
    labels.decide(project, 5, id_of(project, "Files"), labels.YES)  # takes "none" back
    assert labels.whole(project, labels.NONE_OF_THESE) == []


def test_rejections_of_many_documents_hold_with_several_topics_each(project: Project) -> None:
    fit = fits.get(project, fitting.fit(project, fitting.Dials(method="anchored", overlap=0.8)))
    before = fit.fitted.assignments()
    assert len(before) > before.n_documents
    draw = np.random.default_rng(3)
    free = np.setdiff1d(np.arange(before.n_documents), list(labels.seeds(project)))
    rows = draw.choice(free, 60, replace=False).tolist()
    listed = topics.current(project).ids
    for row in rows[:40]:
        topic = before.topic[before.primary[row]]
        if 0 <= topic < len(listed):
            labels.decide(project, row, listed[topic], labels.NO)
    for row in rows[40:55]:
        labels.decide(project, row, id_of(project, "Internet"), labels.NO)
    for row in rows[55:]:
        labels.decide(project, row, labels.NONE_OF_THESE, labels.YES)
    fit = fits.get(project, fitting.fit(project, fitting.Dials(method="anchored", overlap=0.8)))
    after, here = fit.fitted.assignments(), topics.current(project)
    assert np.array_equal(np.unique(after.row), np.arange(before.n_documents))
    for row, ids in labels.rejections(project).items():
        wanted = [here.place[id] for id in ids]
        assert not np.isin(after.path[after.row == row], wanted).any()
    assert (after.labels[rows[55:]] == -1).all()
    assert len(fit.rejected) > 50  # the replication package repeats them


def test_accepting_on_a_parent_keeps_the_subtopic(project: Project) -> None:
    files = str(id_of(project, "Files"))
    session = Session(project)
    for screen in ("review", "seeds"):
        session.act("go", screen=screen)
        view = session.act("select", key=files)["stage"]["view"]
        card = next(c for c in view["cards"] if c["placed"][0]["path"].startswith("Files > "))
        assert card["accept"]["path"] == card["placed"][0]["path"]
        assert card["reject"]["path"] == "Files"
        session.act("say", row=card["row"], verdict=1, key=card["accept"]["key"], seen=0)
        assert labels.seeds(project)[card["row"]] == [int(card["accept"]["key"])]
        # accepted on the parent again, by whatever way: it stays where it is
        news = session.act("say", row=card["row"], verdict=1, key=files)
        assert news["notes"][0]["kind"] == "bad"
        assert labels.seeds(project)[card["row"]] == [int(card["accept"]["key"])]


@pytest.mark.parametrize("screen", ["seeds", "review"])
def test_m_moves_on_every_screen_and_t_adds(project: Project, screen: str) -> None:
    zipped, tarred, files = (
        id_of(project, p) for p in ("Files > zipfile", "Files > tarfile", "Files")
    )
    session = Session(project)
    session.act("go", screen=screen)
    row = next(row for row in range(100) if row not in labels.seeds(project))
    session.act("say", row=row, verdict=1, key=str(zipped))
    session.act("move", row=row, key=str(tarred))
    assert labels.seeds(project)[row] == [tarred]
    session.act("say", row=row, verdict=1, key=str(zipped))  # one topic a document is set
    assert labels.seeds(project)[row] == [zipped]
    session.act("also", row=row, key=str(tarred))
    assert sorted(labels.seeds(project)[row]) == sorted([zipped, tarred])
    session.act("move", row=row, key=str(files))  # chosen by name: up, on purpose
    assert labels.seeds(project)[row] == [files]


def test_rivals_count_doubtful_documents_only(project: Project) -> None:
    fit = fits.last(project)
    assert fit is not None
    here = topics.current(project)
    placed = fit.placements(here)
    for path in ("Internet", "Files", "Numbers"):
        members = placed.members(placed.inside(str(id_of(project, path))))
        doubtful = int((placed.final_score[members] < 0.5).sum())
        found = review.rivals(placed, here, str(id_of(project, path)), most=99)
        assert sum(line["count"] for line in found) <= doubtful < len(members)


def test_decisions_made_while_a_fit_runs_wait_for_the_next_one(project: Project) -> None:
    zipped = id_of(project, "Files > zipfile")
    done: list[Any] = []

    def during(event: dict[str, Any]) -> None:
        if event["phase"] == "Fitting" and not done:
            done.append(labels.decide(project, 7, zipped, labels.YES))

    labels.decide(project, 8, zipped, labels.YES)
    fitting.fit(project, fitting.Dials(), during)
    assert done
    session = Session(project)
    view = session.act("go", screen="review")["stage"]["view"]
    assert view["stale"] == 1
    session.act("undo")  # taken back: nothing is pending
    assert session.act("go", screen="review")["stage"]["view"]["stale"] == 0


def test_undo_is_a_persons_own_stack(project: Project) -> None:
    zipped, tarred = id_of(project, "Files > zipfile"), id_of(project, "Files > tarfile")
    start = labels.seeds(project)
    for row, by in ((1, ANNA), (2, BEN), (3, ANNA), (4, BEN)):
        labels.decide(project, row, zipped, labels.YES, by=by)
    edits.rename(project, tarred, "archives", by=ANNA)
    assert actions.undo(project, ANNA) == "Renamed 'tarfile' to 'archives'"
    actions.undo(project, ANNA)
    actions.undo(project, ANNA)
    assert {row for row in labels.seeds(project) if row not in start} == {2, 4}
    assert actions.to_undo(project, ANNA) is None  # what others did is not hers
    for _ in range(3):
        actions.redo(project, ANNA)
    assert actions.to_redo(project, ANNA) is None
    assert labels.seeds(project) == {**start, **{row: [zipped] for row in (1, 2, 3, 4)}}
    assert "Files > archives" in topics.current(project).taxonomy.paths
    events = project.db.execute("SELECT DISTINCT coder FROM label_event WHERE row < 5").fetchall()
    assert {coder for (coder,) in events} >= {"Anna", "Ben"}


def test_undo_never_overwrites_what_another_decided_since(project: Project) -> None:
    zipped = id_of(project, "Files > zipfile")
    labels.decide(project, 1, zipped, labels.YES, by=ANNA)
    labels.decide(project, 1, zipped, labels.NO, by=BEN)
    with pytest.raises(ProjectError, match="someone else"):
        actions.undo(project, ANNA)
    assert labels.rejections(project)[1] == [zipped]
    new = edits.add(project, None, "New", by=ANNA)
    edits.move(project, zipped, new, by=BEN)
    with pytest.raises(ProjectError, match="someone else"):
        actions.undo(project, ANNA)  # Ben's topic lies below it
    assert topics.current(project).path(zipped) == "New > zipfile"


def test_seeds_of_a_merged_topic_can_be_withdrawn_and_rejected(project: Project) -> None:
    zipped, tarred = id_of(project, "Files > zipfile"), id_of(project, "Files > tarfile")
    edits.merge(project, zipped, tarred)
    session = Session(project)
    session.act("go", screen="seeds")
    session.act("select", key=str(tarred))
    cards = session.act("mode", mode="mine")["stage"]["view"]["cards"]
    assert len(cards) == 6
    for card, verdict in zip(cards, (0, -1, 0, -1, 0, -1)):
        news = session.act(
            "say", row=card["row"], verdict=verdict, key=str(tarred), seen=card["accept"]["verdict"]
        )
        assert news["notes"] == []
    assert labels.of_topic(project, tarred) == []
    assert len(labels.of_topic(project, tarred, labels.NO)) == 3


def test_the_same_decision_twice_is_one_decision(project: Project) -> None:
    zipped = id_of(project, "Files > zipfile")
    session = Session(project)
    session.act("go", screen="seeds")
    for _ in range(2):  # the second key comes before the first answer
        news = session.act("say", row=9, verdict=1, key=str(zipped), seen=0)
        assert news["notes"] == []
    session.act("undo")
    assert 9 not in labels.seeds(project)


def test_a_topic_that_others_delete_or_merge_is_said(project: Project) -> None:
    zipped, tarred = id_of(project, "Files > zipfile"), id_of(project, "Files > tarfile")
    session = Session(project, ANNA)
    session.act("go", screen="taxonomy")
    session.act("select", key=str(zipped))
    edits.merge(project, zipped, tarred, by=BEN)
    news = session.tick()
    assert news is not None
    assert "Files > zipfile was merged into Files > tarfile" in news["notes"][0]["text"]
    assert news["frame"]["key"] == str(tarred)
    edits.delete(project, tarred, by=BEN)
    news = session.tick()
    assert news is not None
    assert "was deleted" in news["notes"][0]["text"]


def test_of_two_renames_at_once_the_second_is_told(project: Project) -> None:
    zipped = id_of(project, "Files > zipfile")
    one, two = Session(project, ANNA), Session(project, BEN)
    for session in (one, two):
        session.act("go", screen="taxonomy")
        session.act("select", key=str(zipped))
    one.act("rename", name="Zip", seen="zipfile")
    news = two.act("rename", name="Zips", seen="zipfile")
    assert "someone else changed this name to 'Zip'" in news["notes"][0]["text"]
    assert topics.current(project).path(zipped) == "Files > Zip"
    two.act("describe", description="mine", seen="")
    news = one.act("describe", description="also mine", seen="")
    assert "'mine'" in news["notes"][0]["text"]
