"""Similarities to seeds and neighbours: exact, in any order, and as a direct version has them."""

from dataclasses import replace

import numpy as np
import pytest
from mixture_worlds import set_up

from hierseed.core.mixture import neighbours
from hierseed.core.mixture.components import Pairs, make_components
from hierseed.core.mixture.left_out import leave_out
from hierseed.core.mixture.neighbours import (
    LENGTH,
    NEIGHBOURS,
    OWN,
    Neighbourhood,
    main_directions,
    unit_rows,
)
from hierseed.core.tree import Tree


def directions(components, pairs, centre):
    """Sum of the centred seeds of each component."""
    return np.stack(
        [(pairs.vectors[pairs.component == k] - centre).sum(0) for k in range(len(components))]
    )


def a_hood(name="two levels", **world):
    X, components, pairs, _, rows = set_up(name, **world)
    U = np.delete(X, rows, axis=0)
    centre = U.mean(axis=0)
    return (
        U,
        Neighbourhood.learn(U, directions(components, pairs, centre), centre),
        components,
        pairs,
    )


@pytest.mark.parametrize("width", [1, 3, 96, 384, 1024])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_inner_products_of_unit_rows_are_exact_in_float32(width, dtype):
    rng = np.random.default_rng(width)
    X = rng.normal(size=(300, width)).astype(dtype)
    X[0] = 1.0  # all coordinates alike: every one is rounded the same rule
    X[1] = 0.0
    U = unit_rows(X, np.zeros(width))
    assert U.dtype == np.float32
    whole = U.astype(np.int64)
    assert np.array_equal(whole, U)
    np.testing.assert_array_equal((U @ U.T).astype(np.int64), whole @ whole.T)
    order = rng.permutation(width)  # float32 sums in any order
    np.testing.assert_array_equal(U[:, order] @ U[:, order].T, U @ U.T)
    # the worst case of the sums: partial ones are bounded by Cauchy-Schwarz
    assert (np.abs(whole) @ np.abs(whole).T).max() < 2**24
    assert (U[1] == 0).all()


@pytest.mark.parametrize("width", [3, 64, 384])
def test_main_directions_are_exact_and_find_what_documents_differ_in(width):
    rng = np.random.default_rng(width)
    strong = np.linspace(3.0, 0.1, width)  # in falling order
    X = rng.normal(size=(500, width)) * strong
    U = unit_rows(X, np.zeros(width))
    main = main_directions(U)
    assert main.shape == (min(width, neighbours.WIDTH), width)
    whole = U.astype(np.int64) @ main.astype(np.int64).T
    np.testing.assert_array_equal((U @ main.T).astype(np.int64), whole)
    # principal components of an independent implementation span the same space
    _, _, expected = np.linalg.svd(U.astype(float), full_matrices=False)
    first = main[0] / np.linalg.norm(main[0])
    assert abs(first @ expected[0]) == pytest.approx(1.0, abs=1e-3)
    length = np.linalg.norm(main, axis=1)
    assert (np.diff(length) > -1.0).all()  # strong directions are weighed down
    assert length.max() <= LENGTH + 1


def test_a_document_unlike_the_corpus_scores_lower():
    """It differs from the others in a direction in which they do not differ."""
    rng = np.random.default_rng(0)
    X = np.zeros((600, 80))
    X[:, :70] = rng.normal(size=(600, 70)) * np.linspace(3.0, 1.0, 70)
    neighbourhood = Neighbourhood.learn(X, X[:3], np.zeros(80))
    strange = X[:40].copy()
    strange[:, 75] = 12.0
    part = neighbourhood.directions(X)[1]
    assert neighbourhood.directions(strange)[1].max() < part.min()
    strict = replace(neighbourhood, least_part=float(part.min()))
    assert (strict.scores(strange)[0] < neighbourhood.scores(strange)[0]).all()
    assert strict.scores(X)[0].tobytes() == neighbourhood.scores(X)[0].tobytes()


def test_float16_rows_lose_no_digits():
    rng = np.random.default_rng(0)
    X = (300 * rng.normal(size=(50, 400))).astype(np.float16)  # squares overflow in float16
    centre = X.mean(axis=0, dtype=np.float64)
    np.testing.assert_array_equal(unit_rows(X, centre), unit_rows(X.astype(np.float64), centre))


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_scores_do_not_depend_on_blocks_or_order(size, monkeypatch):
    U, neighbourhood, _, _ = a_hood(per_leaf=120, spread=0.9)
    whole, nearest = neighbourhood.scores(U)
    monkeypatch.setattr(neighbours, "PIECE", size)
    order = np.random.default_rng(1).permutation(len(U))
    again, near = neighbourhood.scores(U[order])
    assert again.tobytes() == whole[order].tobytes()
    assert np.array_equal(near, nearest[order])
    shuffled = replace(
        neighbourhood,
        references=neighbourhood.references[order],
        difference=neighbourhood.difference[order],
    )
    assert shuffled.scores(U)[0].tobytes() == whole.tobytes()


def slow_neighbours(u, references, k):
    """References at least as near as the k-th; those with the same vector are no neighbours."""
    away = [
        (int(u.astype(np.int64) @ r.astype(np.int64)), i)
        for i, r in enumerate(references)
        if not np.array_equal(u, r)
    ]
    away.sort(reverse=True)
    last = away[min(k, len(away)) - 1][0] if away else 0
    return [similarity for similarity, _ in away[:k]], [i for s, i in away if s >= last]


@pytest.mark.parametrize("coarse", [False, True])
def test_neighbours_equal_a_direct_search_with_ties_and_copies(coarse):
    U, neighbourhood, components, pairs = a_hood(per_leaf=40, spread=0.9, width=2 if coarse else 6)
    rows = np.rint(U) if coarse else U  # many copies and many ties
    topics = directions(components, pairs, neighbourhood.centre)
    neighbourhood = Neighbourhood.learn(rows, topics, neighbourhood.centre)
    asked, _ = neighbourhood.directions(np.concatenate([rows[:60], U[:20] + 0.01]))
    top, mine = neighbourhood.nearest_references(asked)
    assert neighbourhood.k == min(NEIGHBOURS, round(len(rows) ** 0.5))
    tied = 0
    for u, found, which in zip(asked, top, mine, strict=True):
        near, expected = slow_neighbours(u, neighbourhood.references, neighbourhood.k)
        assert np.flatnonzero(which).tolist() == sorted(expected)
        assert sorted(found.tolist(), reverse=True) == near
        tied += len(expected) > neighbourhood.k
    assert (tied > 0) == coarse
    crowd = neighbourhood.nearest_references(neighbourhood.references)[0].mean(
        axis=1, dtype=np.float64
    )
    np.testing.assert_array_equal(
        neighbourhood.difference,
        (neighbourhood.references @ neighbourhood.topics.T).max(axis=1) - crowd,
    )


def test_a_score_is_the_own_similarity_and_the_mean_difference_of_the_neighbours():
    U, neighbourhood, _, _ = a_hood(per_leaf=40, spread=0.9)
    score, nearest = neighbourhood.scores(U[:50])
    for x, found, near in zip(U[:50], score, nearest, strict=True):
        u = neighbourhood.directions(x[None])[0][0]
        _, mine = slow_neighbours(u, neighbourhood.references, neighbourhood.k)
        own = neighbourhood.topics @ u
        direct = OWN * own.max() + (1 - OWN) * neighbourhood.difference[mine].mean()
        assert near == own.argmax()
        assert found == pytest.approx(direct / LENGTH**2, abs=16 / LENGTH**2)  # rounded to 32


# ------------------------------------------------------------------ seeds left out


def slow_score(u, topics, neighbourhood):
    """The score of a document among these topics alone, by the definition."""
    crowd = neighbourhood.nearest_references(neighbourhood.references)[0].mean(
        axis=1, dtype=np.float64
    )
    difference = (neighbourhood.references @ topics.T).max(axis=1) - crowd
    _, mine = slow_neighbours(u, neighbourhood.references, neighbourhood.k)
    return (OWN * (topics @ u).max() + (1 - OWN) * difference[mine].mean()) / LENGTH**2


@pytest.mark.parametrize("name", ["one level", "two levels", "ragged", "deep"])
def test_left_out_seeds_score_as_if_they_were_really_removed(name):
    documents, neighbourhood, components, pairs = a_hood(name, per_leaf=25, spread=0.9, seeds=3)
    # the first seed serves two more topics: of one it is the only seed
    lone, shared = ((pairs.component[0] + k) % len(components) for k in (1, 2))
    kept = np.flatnonzero(pairs.component != lone)
    pairs = Pairs(
        np.concatenate([pairs.vectors[kept], pairs.vectors[[0, 0]]]),
        np.append(pairs.seed[kept], pairs.seed[[0, 0]]),
        np.append(pairs.component[kept], [lone, shared]),
    )
    topics = directions(components, pairs, neighbourhood.centre)
    neighbourhood = Neighbourhood.learn(documents, topics, neighbourhood.centre)
    found = leave_out(neighbourhood, pairs, components)
    assert len(found.scores) == len(pairs.seed)
    path, told = components.tree.ancestors[components.topic], 0
    order = np.lexsort((*pairs.vectors.T[:3], pairs.component))
    assert np.array_equal(found.component, pairs.component[order])
    for row, at in enumerate(order):
        u = neighbourhood.directions(pairs.vectors[at][None])[0][0]
        mine = path[pairs.component[at]]
        for level in range(path.shape[1]):
            beside = path[:, level] != mine[level]
            rest = neighbourhood.topics[beside]
            if level:
                beside = beside & (path[:, level - 1] == mine[level - 1])
            if mine[level] < 0 or not beside.any():
                assert np.isnan(found.scores[row, level])
                continue
            expected = slow_score(u, rest, neighbourhood)
            assert found.scores[row, level] == pytest.approx(expected, abs=1e-12)
            told += 1
        others = pairs.seed != pairs.seed[at]
        if not (others & (pairs.component == pairs.component[at])).any():
            assert np.isnan(found.scores[row, -1])
            continue
        without = [
            (pairs.vectors[others & (pairs.component == k)] - neighbourhood.centre).sum(axis=0)
            for k in range(len(components))
            if (others & (pairs.component == k)).any()
        ]
        less = neighbourhood.of_sums(np.array(without))
        # directions are rounded once more: sums of the other seeds differ in their last digits
        assert found.scores[row, -1] == pytest.approx(slow_score(u, less, neighbourhood), abs=2e-3)
        assert found.scores[row, -1] != slow_score(u, neighbourhood.topics, neighbourhood)
        told += 1
        assert np.isfinite(found.fewer[row]) == (found.others[row] > 1)
        if found.others[row] > 1 and (~others).sum() == 1:  # a seed of one topic
            peers = np.flatnonzero(others & (pairs.component == pairs.component[at]))
            possible = [
                slow_score(
                    u,
                    neighbourhood.of_sums(_sums(pairs, neighbourhood.centre, components, at, peer)),
                    neighbourhood,
                )
                for peer in peers
            ]
            assert np.abs(found.fewer[row] - possible).min() < 2e-3
    assert told > len(order)


def _sums(pairs, centre, components, *gone):
    """Sums of the seeds of each component, without those of some pairs."""
    kept = ~np.isin(pairs.seed, pairs.seed[gone[0]])
    kept[list(gone)] = False
    parts = [pairs.vectors[kept & (pairs.component == k)] for k in range(len(components))]
    return np.array([(part - centre).sum(axis=0) for part in parts if len(part)])


def test_a_topic_whose_only_seed_is_left_out_is_like_no_document():
    """Not like every document a little: its direction is unknown, and does not count as zero."""
    rng = np.random.default_rng(0)
    away = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    X = np.repeat(away, 30, axis=0) + 0.1 * rng.normal(size=(60, 3))
    components = make_components(Tree([-1, -1]), np.ones(2, bool))
    pairs = Pairs(away[[0, 1, 0]], np.array([0, 1, 0]), np.array([0, 0, 1]))  # 0 serves both
    neighbourhood = Neighbourhood.learn(X, directions(components, pairs, np.zeros(3)), np.zeros(3))
    found = leave_out(neighbourhood, pairs, components)
    seed = np.lexsort((*pairs.vectors.T[:3], pairs.component)).tolist().index(0)
    u = neighbourhood.directions(away[:1])[0][0]
    expected = slow_score(u, neighbourhood.of_sums(away[1:]), neighbourhood)
    # directions are rounded once more
    assert found.own[seed] == pytest.approx(expected, abs=1e-3)
