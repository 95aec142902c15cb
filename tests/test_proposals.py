"""Missing topics are planted among foreign documents, and found whatever their size and order."""

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import hierseed.proposals as proposals
from hierseed import AnchoredHierSeed, Taxonomy
from hierseed.assignments import Assignments
from hierseed.placed import PlacedDocuments
from hierseed.proposals import propose_topics

D = 40


def subject(rng, centre, n, parts=1, spread=0.5):
    """Documents about a subject of several parts."""
    middles = centre + spread * rng.normal(size=(parts, D)) if parts > 1 else centre[None]
    return np.repeat(middles, n // parts, axis=0) + 0.4 * rng.normal(size=(n // parts * parts, D))


def placed(listed, foreign, belongs=0.0):
    """Documents of topic A, and foreign ones that belong there as likely as said."""
    n = listed + foreign
    topic = np.repeat([0, -1], [listed, foreign])
    column, ones = topic[:, None], np.ones((n, 1))
    found = Assignments.ungraded(
        Taxonomy.from_paths(["A"]), n, np.arange(n), topic, column, ones, ones,
        np.full(n, -1), np.zeros(n, dtype=bool),
    )  # fmt: skip
    sure = np.repeat([1.0, belongs], [listed, foreign])[:, None]
    return replace(found, belongs=sure, ids=[f"d{i}" for i in range(n)])


@pytest.fixture(scope="module")
def world():
    """A listed topic; a missing one of four parts and 480 documents, and three of 100 documents."""
    rng = np.random.default_rng(3)
    centres = 1.5 * rng.normal(size=(5, D))
    sizes, parts = [200, 480, 100, 100, 100], [1, 4, 1, 1, 1]
    X = np.vstack([subject(rng, *one) for one in zip(centres, sizes, parts)])
    return X, np.repeat(np.arange(5), sizes), centres[:1]


def subjects(found, truth):
    """The subject that nearly all documents of each proposal are about, -1 if there is none."""
    for one in found:
        values, counts = np.unique(truth[one.rows], return_counts=True)
        yield int(values[counts.argmax()]) if counts.max() > 0.9 * one.size else -1


def test_a_broad_subject_leaves_room_for_small_ones(world):
    X, truth, listed = world
    found = propose_topics(placed(200, 780), X, listed, 4)
    assert set(subjects(found, truth)) == {1, 2, 3, 4}


def test_what_varies_within_every_subject_does_not_hide_the_subjects(world):
    """Documents of each subject spread far in three directions."""
    X, truth, listed = world
    spread = np.zeros_like(X)
    spread[:, :3] = 3.5 * np.random.default_rng(4).normal(size=(len(X), 3))
    found = propose_topics(placed(200, 780), X + spread, listed, 4)
    assert set(subjects(found, truth)) == {1, 2, 3, 4}


def test_the_order_of_rows_does_not_matter(world):
    X, _, listed = world
    given = placed(200, 780)
    order = np.random.default_rng(0).permutation(len(X))
    parts = {name: getattr(given, name)[order] for name in ("topic", "path", "belongs")}
    moved = replace(given, **parts, ids=[given.ids[row] for row in order])
    one, two = (propose_topics(g, x, listed, 4) for g, x in ((given, X), (moved, X[order])))
    assert [p.documents for p in one] == [p.documents for p in two]
    assert [p.id for p in one] == [p.id for p in two]


def test_the_number_of_threads_does_not_matter():
    """Equal documents are equally near to their centre only if each product is computed alike."""
    rng = np.random.default_rng(0)
    X = np.repeat(0.4 * rng.normal(size=(30, 256)), 150, axis=0) + rng.normal(size=(4500, 256))
    X = np.vstack([rng.normal(size=(201, 256)), X, X[:3000]])
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(propose_topics(placed(201, 7500), X, X[:1], 10))
    one, two = ([(p.id, p.documents, p.sure) for p in each] for each in found)
    assert one == two


def test_proposals_are_of_documents_that_no_other_proposal_shows_the_central_first(world):
    X, _, listed = world
    found = propose_topics(placed(200, 780), X, listed, 6)
    rows = np.concatenate([one.rows for one in found])
    assert len(rows) == len(set(rows.tolist())) < 780
    assert rows.min() >= 200  # nothing that is sure to belong
    for one in found:
        cluster = X[one.rows] - X[one.rows].mean(axis=0)
        nearer = np.array_split(np.linalg.norm(cluster, axis=1), 2)
        assert nearer[0].mean() < nearer[1].mean()


def test_documents_beyond_those_that_clusters_are_learned_from_count(world, monkeypatch):
    X, truth, listed = world
    monkeypatch.setattr(proposals, "CLUSTERED", 500)
    found = propose_topics(placed(200, 780), X, listed, 4)
    assert set(subjects(found, truth)) == {1, 2, 3, 4}
    foreign = sorted(range(200, 980), key=lambda row: proposals._key(f"d{row}"))
    assert all(np.isin(one.rows, foreign[500:]).any() for one in found)


def test_the_documents_that_fit_least_are_grouped_if_none_is_rejected():
    rng = np.random.default_rng(5)
    centres = 1.5 * rng.normal(size=(2, D))
    X = np.vstack([subject(rng, centres[0], 1200), subject(rng, centres[1], 80)])
    given = placed(1200, 80)
    given.belongs[1200:, 0] = np.linspace(0.8, 0.9, 80)
    first, *_ = propose_topics(given, X, centres[:1], 1)
    assert (first.rows >= 1200).all()
    assert not propose_topics(given, X, centres[:1], 1, at_least=0.0)


def test_where_no_document_is_rejected_an_uncertain_share_of_foreign_ones_is_not_proposed():
    """Topics overlap, so the share of foreign documents is estimated badly."""
    rng = np.random.default_rng(1)
    taxonomy = Taxonomy.from_paths([f"{parent} > {leaf}" for parent in "AB" for leaf in "xyz"])
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    X = np.repeat(rng.normal(size=(6, 30)), 300, axis=0) + 1.2 * rng.normal(size=(1800, 30))
    y = np.where(np.arange(1800) % 300 < 5, np.repeat(leaves, 300), -1)
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    ids = [str(row) for row in range(1800)]
    given = replace(model.assign(X, y), ids=ids)
    found = PlacedDocuments(model, X, given, [(id, "text") for id in ids])
    assert model.foreign_share_.value > 0.2
    assert not found.rejects
    assert not found.propose_topics(6, at_least=0.0)
    assert 0 < sum(one.size for one in found.propose_topics(6)) <= 0.05 * 1800
