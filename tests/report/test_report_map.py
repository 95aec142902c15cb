"""The map: islands never overlap, families stay together, documents lie on their island."""

import numpy as np
import pytest

from hierseed.core.tree import Tree
from hierseed.report.map import lay_out, map_topics, place


def family(groups: int = 4, each: int = 5, seed: int = 0) -> tuple[Tree, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    parent = [-1] * groups + [g for g in range(groups) for _ in range(each)]
    tree = Tree(parent)
    vectors = random.normal(size=(len(tree), 16))
    vectors[groups:] = 3 * vectors[tree.parent[groups:]] + vectors[groups:]
    return tree, vectors, random.integers(1, 400, size=len(tree))


@pytest.mark.parametrize("seed", range(4))
def test_islands_do_not_overlap_and_lie_in_the_square(seed):
    tree, vectors, counts = family(seed=seed)
    shown = map_topics(tree)
    positions, radii = lay_out(tree, vectors, shown, counts)
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    reach = radii[:, None] + radii[None]
    np.fill_diagonal(reach, 0)
    assert (apart >= reach - 1e-6).all()
    assert (np.abs(positions) + radii[:, None] <= 1 + 1e-9).all()


def test_siblings_lie_nearer_than_strangers():
    tree, vectors, counts = family()
    shown = map_topics(tree)
    positions, _ = lay_out(tree, vectors, shown, np.full_like(counts, 10))
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    same = tree.parent[shown][:, None] == tree.parent[shown][None]
    np.fill_diagonal(same, False)
    strangers = ~same & ~np.eye(len(shown), dtype=bool)
    assert apart[same].mean() < 0.6 * apart[strangers].mean()


def test_area_grows_with_documents():
    tree, vectors, counts = family()
    counts[-1], counts[-2] = 4_000, 1_000
    _, radii = lay_out(tree, vectors, map_topics(tree), counts)
    assert radii[-1] / radii[-2] == pytest.approx(2, rel=0.02)


def test_documents_lie_on_their_island_the_nearest_in_its_middle():
    tree, vectors, counts = family()
    shown = map_topics(tree)
    positions, radii = lay_out(tree, vectors, shown, counts)
    random = np.random.default_rng(1)
    island = random.integers(0, len(shown), size=600)
    X = vectors[shown][island] + random.normal(size=(600, 16))
    points = place(X, island, vectors[shown], positions, radii)
    off = np.linalg.norm(points - positions[island], axis=1)
    assert (off <= radii[island] + 1e-9).all()
    away = np.linalg.norm(X - vectors[shown][island], axis=1)
    for topic in np.unique(island):
        here = island == topic
        assert (np.argsort(off[here]) == np.argsort(away[here])).all()


def test_none_lies_between_the_topics_around_it():
    tree = Tree([-1, -1])
    vectors = np.array([[0.0, 0], [10, 0]])
    positions, radii = lay_out(tree, vectors, map_topics(tree), np.array([5, 5]))
    X = np.array([[5.0, 1], [5, -1], [0, 0], [10, 0]])
    points = place(X, np.array([-1, -1, 0, 1]), vectors, positions, radii)
    left, right = sorted(positions[:, 0])
    assert (points[:2, 0] > left).all()
    assert (points[:2, 0] < right).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_equal_vectors_and_few_topics_are_drawn_all_the_same(n):
    tree = Tree([-1] * n)
    positions, radii = lay_out(tree, np.zeros((n, 4)), map_topics(tree), np.zeros(n, dtype=int))
    assert np.isfinite(positions).all()
    assert len({tuple(p) for p in positions.round(6)}) == n
    points = place(np.zeros((2, 4)), np.array([0, -1]), np.zeros((n, 4)), positions, radii)
    assert np.isfinite(points).all()


def test_a_large_tree_is_drawn_higher_up():
    tree = Tree([-1] * 3 + [0] * 30 + [1] * 30)
    assert len(map_topics(tree, most=62)) == 61
    assert map_topics(tree, most=60).tolist() == [0, 1, 2]
    assert map_topics(tree, most=2).tolist() == [0, 1]


def test_the_same_map_twice():
    tree, vectors, counts = family()
    shown = map_topics(tree)
    once, again = (lay_out(tree, vectors, shown, counts)[0] for _ in range(2))
    assert (once == again).all()
