"""The plain methods: oracles from scikit-learn, laws of a tree, and truth on made data."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import cosine_similarity

from hierseed.errors import MissingDependency, SeedError
from hierseed.evaluate import score
from hierseed.taxonomy import Taxonomy
from hierseed_bench.competitors import Documents, Task
from hierseed_bench.competitors.catalogue import METHODS, make_method
from hierseed_bench.competitors.kmeans import lloyd
from hierseed_bench.competitors.nearest import nearest

TAXONOMY = Taxonomy.from_paths(["A > B", "A > C", "D > E > F", "D > E > G", "D > H", "I"])
LEAVES = np.flatnonzero(TAXONOMY.tree.is_leaf)
PLAIN = [
    name
    for name, entry in METHODS.items()
    if entry.place.split(":")[0]
    in ("nearest", "linear", "kmeans", "spreading", "per_parent", "geometry")
]


def make(n=300, noise=0.25, seed=0, per_topic=3, inner_seeds=False) -> tuple[Task, Documents, list]:
    """Documents around one point per leaf; siblings lie near each other."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(len(TAXONOMY), 12)) / TAXONOMY.tree.level[:, None]
    points = np.array([steps[TAXONOMY.tree.path(topic)].sum(axis=0) for topic in range(9)])

    def documents(topics):
        X = points[topics] + noise * rng.normal(size=(len(topics), 12))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        return Documents(X.astype(np.float32), [f"text {topic}" for topic in topics])

    sown = LEAVES if not inner_seeds else np.arange(9)
    seeds = np.repeat(sown, per_topic)
    fitting, test = rng.choice(LEAVES, (2, n))
    fit_documents = documents(fitting)
    task = Task(
        TAXONOMY,
        documents(seeds),
        [[int(topic)] for topic in seeds],
        fit_documents,
        fit_documents,
        [[int(topic)] for topic in fitting],
    )
    return task, documents(test), test.tolist()


@pytest.mark.parametrize("name", PLAIN)
def test_well_separated_topics_are_found_at_every_level(name):
    task, test, gold = make()
    levels = make_method(name).fit(task).predict(test)
    result = score(TAXONOMY, levels, gold)
    assert [level.accuracy for level in result.all.levels] == pytest.approx([1, 1, 1], abs=0.05)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("inner_seeds", [False, True])
def test_answers_are_paths_of_the_tree(name, inner_seeds):
    task, test, _ = make(noise=1.0, inner_seeds=inner_seeds)
    levels = make_method(name).fit(task).predict(test)
    assert levels.shape == (len(test), 3)
    deepest = np.where(
        levels[:, 2] >= 0, levels[:, 2], np.where(levels[:, 1] >= 0, *levels.T[1::-1])
    )
    assert (TAXONOMY.tree.ancestors[deepest] == levels).all()


@pytest.mark.parametrize("name", PLAIN)
def test_fitting_again_forgets_and_repeats(name):
    task, test, _ = make(noise=0.8)
    method = make_method(name)
    first = method.fit(task).predict(test)
    method.fit(make(seed=5)[0])
    assert (method.fit(task).predict(test) == first).all()


@pytest.mark.parametrize("name", [n for n in PLAIN if METHODS[n].uses == "seeds"])
def test_methods_of_seeds_do_not_look_at_the_fitting_set(name):
    task, test, _ = make(noise=0.8)
    blind = Task(task.taxonomy, task.seeds, task.seed_topics, Documents(np.empty((0, 12)), []))
    assert (
        make_method(name).fit(blind).predict(test) == make_method(name).fit(task).predict(test)
    ).all()


def test_nearest_leaf_is_the_most_similar_mean_by_sklearns_cosine():
    task, test, _ = make(noise=1.5)
    method = make_method("nearest-leaf").fit(task)
    plain = [task.seeds.vectors[np.ravel(task.seed_topics) == leaf].mean(axis=0) for leaf in LEAVES]
    best = cosine_similarity(test.vectors, plain).argmax(axis=1)
    assert (method.predict(test) == TAXONOMY.tree.ancestors[LEAVES[best]]).all()


def test_inner_topics_compete_only_on_request():
    task, test, _ = make(noise=1.5, inner_seeds=True)
    leaf = make_method("nearest-leaf").fit(task).predict(test)
    topic = make_method("nearest-topic").fit(task).predict(test)
    stops = ~TAXONOMY.tree.is_leaf[topic.max(axis=1)]
    assert TAXONOMY.tree.is_leaf[leaf.max(axis=1)].all()
    assert stops.any()


def test_an_inner_topic_weighs_its_children_alike_in_top_down():
    taxonomy = Taxonomy.from_paths(["A > B", "A > C", "D"])
    vectors = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [-1, -1]], dtype=np.float32)
    task = Task(
        taxonomy,
        Documents(vectors, [""] * 5),
        [[1], [1], [1], [2], [3]],
        Documents(np.empty((0, 2)), []),
    )
    method = make_method("top-down").fit(task)
    assert method.centres[0] == pytest.approx([0.5**0.5, 0.5**0.5])


def test_lloyd_is_sklearns_kmeans_from_the_same_centres():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 6)).astype(np.float64)
    start = X[:8]
    oracle = KMeans(8, init=start, n_init=1, max_iter=100, tol=1e-4, algorithm="lloyd").fit(X)
    assert (nearest(X, lloyd(X, start)) == oracle.labels_).mean() > 0.995


def test_constrained_seeds_stay_and_empty_clusters_keep_their_centre():
    X = np.array([[0.0, 0], [10, 0], [10, 1], [10, 2]])
    centres = np.array([[0.0, 0], [10, 0], [99, 99]])
    free = lloyd(X, centres)
    held = lloyd(X, centres, fixed=np.array([1]))
    assert free[0].tolist() == [0, 0]
    assert held[1] == pytest.approx(X.mean(axis=0))  # the first row is held in cluster 1
    assert held[2].tolist() == free[2].tolist() == [99, 99]


def test_a_seed_of_several_topics_is_an_example_of_each():
    task, test, _ = make(noise=0.8)
    doubled = Task(
        task.taxonomy, task.seeds, [[*topics, 8] for topics in task.seed_topics], task.fitting
    )
    method = make_method("logreg").fit(doubled)
    assert 8 in method.predict(test).max(axis=1)


def test_spreading_says_none_where_no_label_arrives():
    taxonomy = Taxonomy.from_paths(["A", "B"])
    near, far = np.zeros((20, 2)), np.full((20, 2), 50.0)
    rng = np.random.default_rng(0)
    near, far = near + rng.normal(size=near.shape), far + rng.normal(size=far.shape)
    task = Task(
        taxonomy,
        Documents(near[:4], [""] * 4),
        [[0], [0], [1], [1]],
        Documents(np.vstack([near[4:], far]), [""] * 36),
    )
    method = make_method("label-spreading", n_neighbors=5).fit(task)
    assert method.predict(Documents(np.array([[50.0, 50.0]]), [""])).tolist() == [[-1]]
    assert method.predict(Documents(near[:4], [""] * 4)).min() >= 0


def test_the_ceiling_asks_for_labels():
    task, _, _ = make()
    bare = Task(task.taxonomy, task.seeds, task.seed_topics, task.fitting)
    with pytest.raises(SeedError, match="labels"):
        make_method("ridge-all-labels").fit(bare)


def test_ridge_for_several_topics_gives_as_many_as_training_documents_have():
    """Topic by topic a ridge regression; one threshold for all, from the training labels alone."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 12)).astype(np.float32)
    order = (X @ rng.normal(size=(12, len(LEAVES)))).argsort(axis=1)
    sizes = rng.integers(1, 4, 200)
    topics = [sorted(LEAVES[row[:size]].tolist()) for row, size in zip(order, sizes)]
    documents = Documents(X, [""] * 200)
    task = Task(TAXONOMY, documents, topics, documents, documents, topics)
    method = make_method("ridge-all-labels", several=True).fit(task)
    values = np.empty((200, len(LEAVES)))
    for column, leaf in enumerate(LEAVES):
        wanted = [1.0 if leaf in own else -1.0 for own in topics]
        values[:, column] = Ridge(alpha=1.0).fit(X, wanted).predict(X)
    threshold = np.sort(values.ravel())[::-1][sizes.sum() - 1]
    rows, places = method.place(documents)
    for row in range(200):
        best = {int(LEAVES[values[row].argmax()])}
        above = {int(leaf) for leaf, value in zip(LEAVES, values[row]) if value >= threshold - 1e-9}
        assert set(places[rows == row].max(axis=1).tolist()) == best | above
    assert (method.predict(documents).max(axis=1) == LEAVES[values.argmax(axis=1)]).all()
    assert len(rows) / 200 == pytest.approx(sizes.mean(), abs=0.2)


def test_an_unknown_method_gets_the_nearest_name():
    with pytest.raises(KeyError, match="did you mean 'logreg'"):
        make_method("logregg")


@pytest.mark.parametrize("package", ["hiclass"])
def test_a_missing_package_prints_the_install_line(package, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MissingDependency, match=r"pip install 'hierseed-bench\[hiclass\]'"):
        make_method("hiclass")
