"""WeSHClass: its made-up documents, the product of its classifiers, and a known answer."""

from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from small_systems import make_small  # noqa: E402

from hierseed.errors import ModelError  # noqa: E402
from hierseed_bench.competitors.systems.pseudo import Writer, draw, spread  # noqa: E402
from hierseed_bench.competitors.systems.self_training import sharpened  # noqa: E402
from hierseed_bench.competitors.systems.skipgram import SkipGram  # noqa: E402

SEEDS = 24  # the first documents: four of each leaf


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    return SkipGram(dimension=16, min_count=1, sample=1.0, epochs=10, batch=256, cache=folder)


def fit(corpus, vectors, **options):
    system = make_small("weshclass", device="cpu", vectors=vectors, **options)
    seeds = (corpus.texts[:SEEDS], corpus.topics[:SEEDS])
    return system.fit(corpus.taxonomy, seeds, corpus.texts[SEEDS:])


@pytest.fixture(scope="module")
def learned(corpus, vectors):
    return fit(corpus, vectors)


def right(system, corpus):
    return (system.predict(corpus.test_texts) == corpus.answer).all(axis=1).mean()


def test_learns_the_answer_from_four_seeds_a_topic(learned, corpus):
    assert right(learned, corpus) >= 0.6  # chance: a sixth
    told = learned.judge(corpus.test_texts, corpus.test_topics)
    assert told["before_self_training"][0] >= 0.7
    assert told["seeds_kept"] >= 0.95


def test_keywords_are_words_of_the_topic(learned, corpus):
    for topic in np.flatnonzero(corpus.taxonomy.tree.is_leaf):
        own = " ".join(t for t, y in zip(corpus.texts[:SEEDS], corpus.topics) if y == topic)
        assert learned.keywords[topic]
        assert all(word in own.split() for word in learned.keywords[topic])


def test_probabilities_sum_to_one_at_every_level_and_down_the_tree(learned, corpus):
    rows, tree = learned.rows([*corpus.test_texts[:7], ""]), learned.tree
    above = torch.ones(8, 1)
    for level in range(1, tree.height + 1):
        q = learned.ensemble.logs(rows, level).exp()
        assert torch.allclose(q.sum(dim=1), torch.ones(8), atol=1e-5)
        for place, node in enumerate(tree.padded.at_level(level - 1) if level > 1 else [-1]):
            children = tree.place[tree.padded.children(int(node))]
            assert torch.allclose(q[:, children].sum(dim=1), above[:, place], atol=1e-5)
        above = q


def test_the_ensemble_is_the_product_of_the_local_classifiers(corpus, vectors):
    alone = fit(corpus, vectors, self_training=False, epochs=2)
    nets = []
    keep = alone._pretrained
    alone._pretrained = lambda *a: nets.append(keep(*a)) or nets[-1]
    alone.history_ = []
    alone._learn(alone.seeds, None)
    rows, tree = alone.rows(corpus.test_texts[:5]), alone.tree
    some = rows[torch.arange(5)]
    logs = alone.ensemble.logs(rows, tree.height)
    with torch.no_grad():
        local = {node: net(some) for node, net in zip(alone.nodes, nets)}
    for place, leaf in enumerate(tree.padded.at_level(tree.height)):
        total, path = torch.zeros(5), [-1, *tree.padded.path(int(leaf))]
        for above, node in pairwise(path):
            if above in local:
                total = total + local[above][:, list(tree.padded.children(above)).index(node)]
        assert torch.allclose(logs[:, place], total, atol=1e-4)


def test_made_up_documents_are_near_the_keywords():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 8))
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    table[10:15] = table[10] + 0.1 * rng.normal(size=(5, 8))
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    unigram = torch.ones(40)
    unigram[:2] = 0
    place = torch.as_tensor(table, dtype=torch.float32)
    directions = draw([table[10:15]], 50, rng)
    words = Writer(place, unigram, 5, 0.0, 30).write(directions, (0,))
    assert words.shape == (50, 30)
    assert np.isin(words, range(10, 15)).mean() > 0.8
    plain = Writer(place, unigram, 5, 1.0, 30).write(directions, (0,)).numpy()
    assert np.isin(plain, range(10, 15)).mean() < 0.3  # nothing but background
    assert plain.min() >= 2


def test_directions_spread_as_the_keywords_do():
    rng = np.random.default_rng(1)
    near = np.eye(6)[[0] * 8] + 0.2 * rng.normal(size=(8, 6))
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    mean, concentration = spread(near)
    drawn = draw([near], 4000, rng)
    r = np.linalg.norm(near.mean(axis=0))
    assert concentration == pytest.approx(r * (6 - r**2) / (1 - r**2))
    assert np.linalg.norm(drawn.mean(axis=0)) == pytest.approx(r, abs=0.03)
    assert drawn.mean(axis=0) @ mean == pytest.approx(r, abs=0.03)
    two = draw([near, -near], 1000, rng) @ mean
    assert 0.4 < (two > 0).mean() < 0.6  # a part per child, of equal weight


def test_targets_are_sharper_and_even_out_classes():
    q = torch.tensor([[0.6, 0.4], [0.9, 0.1], [0.8, 0.2]])
    p = sharpened(q)
    assert torch.allclose(p.sum(dim=1), torch.ones(3))
    weight = (0.6**2 / 2.3, 0.4**2 / 0.7)
    assert float(p[0, 0]) == pytest.approx(weight[0] / sum(weight))
    assert float(p[1, 0]) > 0.9


def test_nothing_but_background_gives_chance(corpus, vectors):
    blind = fit(corpus, vectors, background=1.0, use_seed_docs=False, self_training=False, epochs=5)
    assert right(blind, corpus) < 0.4


def test_seeds_of_other_topics_give_other_answers(corpus, vectors):
    leaves = np.flatnonzero(corpus.taxonomy.tree.is_leaf)
    following = dict(zip(leaves, np.roll(leaves, 1)))
    wrong = corpus._replace(topics=np.array([following[t] for t in corpus.topics]))
    assert right(fit(wrong, vectors, self_training=False), corpus) < 0.3


def test_seed_documents_can_be_left_out(corpus, vectors, learned):
    strict = fit(corpus, vectors, use_seed_docs=False, self_training=False)
    assert right(strict, corpus) >= 0.4
    first = [
        next(e["loss"] for e in s.history_ if e["stage"] == "node-1") for s in (strict, learned)
    ]
    assert first[0] != first[1]


def test_every_answer_is_a_path_to_a_leaf_whatever_the_other_documents(learned, corpus):
    texts = [*corpus.test_texts[:5], "", " ".join(corpus.test_texts[:9])]
    levels = learned.predict(texts)
    tree = corpus.taxonomy.tree
    assert tree.is_leaf[levels.max(axis=1)].all()
    assert np.array_equal(levels, tree.ancestors[levels.max(axis=1)])
    assert np.array_equal(levels, np.concatenate([learned.predict([text]) for text in texts]))


def test_a_killed_fit_resumes_to_what_a_whole_one_gives(corpus, vectors, tmp_path):
    short = {"epochs": 2, "iterations": 60, "refresh": 15, "settled": 0.0, "save_every": 0.0}
    whole = fit(corpus, vectors, **short)
    seen = []

    def kill(event):
        seen.append(event)
        if len(seen) == len(whole.history_) - 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(corpus, vectors, progress=kill, checkpoint=tmp_path, **short)
    resumed = fit(corpus, vectors, checkpoint=tmp_path, **short)
    losses = [[event["loss"] for event in system.history_] for system in (whole, resumed)]
    assert losses[0] == losses[1]
    assert np.array_equal(*(s.predict(corpus.test_texts) for s in (whole, resumed)))
    with pytest.raises(ModelError, match="other texts, labels or settings"):
        fit(corpus, vectors, checkpoint=tmp_path, seed=1, **short)
