"""JoSH: its steps against formulas written out, and a corpus whose answer is known."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")
pytest.importorskip("numba", reason="numba is not installed (extra 'neural')")

from small_systems import make_small

from hierseed.core.tree import Tree
from hierseed.errors import ModelError
from hierseed_bench.competitors.systems.josh import unit
from hierseed_bench.competitors.systems.phrases import Phrases
from hierseed_bench.competitors.systems.sphere import (
    TreeTerm,
    noise_of,
    place_document,
    text_step,
    text_steps,
    word_steps,
)

LETTERS = str.maketrans("0123456789", "ghijklmnop")


def sphere(n, dimension, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, dimension))
    return unit(rows).astype(np.float32)


@pytest.fixture(scope="module")
def names(corpus):
    """One word of each topic, as `write` in conftest makes them."""
    tree = corpus.taxonomy.tree
    return [f"{'abcd'[tree.level[t] - 1]}{t}w0".translate(LETTERS) for t in range(len(tree))]


def fit(corpus, names, **options):
    system = make_small("josh", device="cpu", phrases=False, **options)
    seeds = (corpus.texts[:6], corpus.topics[:6])
    return system.fit(corpus.taxonomy, seeds, corpus.texts[6:], names=names)


@pytest.fixture(scope="module")
def learned(corpus, names):
    return fit(corpus, names)


def test_a_text_step_is_the_formula():
    anchors, words = sphere(3, 5), sphere(4, 5, 1)
    v, u, w = anchors[1].copy(), words[0].copy(), words[2].copy()
    f, h, a = u @ v, w @ v, np.float32(0.1)
    hinge = text_step(anchors, 1, words, 0, 2, a, np.float32(5), False)
    assert hinge == pytest.approx(5 - f + h, rel=1e-5)
    for found, step in (
        (words[0], u + a * (1 - f) * (v - f * u)),
        (words[2], w + a * 2 * h * (h * w - v)),
        (anchors[1], v + a * (1 - f + h) * (u - f * v + h * v - w)),
    ):
        assert np.allclose(found, step / np.linalg.norm(step), atol=1e-6)


def test_pairs_beyond_the_margin_rest_and_frozen_words_do_too():
    anchors, words = sphere(2, 5), sphere(3, 5, 1)
    words[0], words[1] = anchors[0], -anchors[0]
    before = anchors.copy(), words.copy()
    a, margin = np.float32(0.1), np.float32(0.25)
    assert text_step(anchors, 0, words, 0, 1, a, margin, False) == 0
    assert np.array_equal(anchors, before[0])
    moving = anchors.copy()
    text_step(moving, 1, words.copy(), 0, 1, a, np.float32(5), False)
    text_step(anchors, 1, words, 0, 1, a, np.float32(5), True)
    assert np.array_equal(words, before[1])
    assert np.allclose(anchors[1], moving[1], atol=1e-6)  # the anchor goes where it goes anyway
    assert not np.allclose(anchors[1], before[0][1])


def test_random_words_come_as_often_as_their_weights_say():
    weights = np.random.default_rng(0).exponential(size=50) ** 2
    chance, alias = noise_of(weights)
    found = chance / 50 + np.bincount(alias, (1 - chance) / 50, 50)
    assert np.allclose(found, weights / weights.sum(), atol=1e-7)


def walk(numbers, owner, window):
    """How far each context word moved, where every pair moves its anchor."""
    words, contexts, documents = sphere(6, 8), sphere(6, 8, 1), sphere(3, 8, 2)
    before = contexts.copy(), documents.copy()
    text = np.array(numbers, dtype=np.int32), np.array(owner, dtype=np.int32)
    source = noise_of(np.ones(6)), np.array([7], dtype=np.uint64)
    how = np.float32(0.1), np.float32(5), 20
    tables = (words, contexts, documents)
    _, pairs = text_steps(tables, text, (0, len(numbers)), window, source, how)
    still = [~np.any(now != old, axis=1) for now, old in zip((contexts, documents), before)]
    return pairs, np.flatnonzero(~still[0]).tolist(), np.flatnonzero(~still[1]).tolist()


def test_a_walk_meets_neighbours_and_the_document_and_stays_within_it():
    pairs, contexts, documents = walk([0, 1, 2, 4], [0, 0, 0, 2], 1)
    assert pairs == 4 + 4  # 0-1, 1-0, 1-2, 2-1, and each word with its document
    assert contexts == [0, 1, 2]  # 4 stands alone in its document
    assert documents == [0, 2]
    assert walk([0, 1, 2, 4], [0, 0, 0, 0], 5)[1] == [0, 1, 2, 4]


def test_the_tree_term_climbs_what_it_says():
    """Its step is the gradient on the sphere, found here by small differences."""
    tree = Tree([-1, -1, 0, 0, 0, 1, 1])
    term = TreeTerm(tree)
    topics = sphere(8, 6, 1)
    term.renew(topics)
    assert np.allclose(topics[-1], unit((topics[0] + topics[1])[None])[0], atol=1e-6)
    pairs = [
        (k, s) for k in range(7) for s in range(7) if s != k and tree.parent[s] == tree.parent[k]
    ]

    def gap(rows, k, s):
        parent = rows[tree.parent[k]] if tree.parent[k] >= 0 else rows[7]
        return rows[k] @ parent - rows[k] @ rows[s]

    below = [gap(topics, k, s) for k, s in pairs if k > 1]
    assert term.margin[1] == pytest.approx(np.mean(below), rel=1e-5)
    term.margin += np.float32(0.05)  # two siblings lie exactly at their mean: no gradient there

    def loss(rows):
        hinges = [max(0, term.margin[tree.level[k] - 1] - gap(rows, k, s)) for k, s in pairs]
        return sum(h / [a for a, _ in pairs].count(k) for h, (k, _) in zip(hinges, pairs))

    rows, slope = topics.astype(np.float64), np.zeros((8, 6))
    for at in np.ndindex(8, 6):
        nudge = np.zeros((8, 6))
        nudge[at] = 1e-6
        slope[at] = (loss(rows + nudge) - loss(rows - nudge)) / 2e-6
    slope -= (slope * rows).sum(axis=1, keepdims=True) * rows
    wanted = unit(rows - 0.01 * slope)
    term.step(topics, 0.01)
    assert np.allclose(topics, wanted, atol=1e-5)


def test_topics_and_their_words_come_together_up_to_the_margin():
    topics, words = sphere(2, 4, 2), sphere(3, 4, 3)
    alone = words[0].copy()
    chosen = np.array([0, 0]), np.array([1, 2]), np.full(2, 0.5, dtype=np.float32)
    for _ in range(800):
        word_steps(topics, words, chosen, np.float32(0.1), np.float32(0.9))
    cosines = topics[0] @ words[1:].T
    assert (cosines >= 0.89).all()
    assert (cosines <= 0.95).all()
    assert np.array_equal(words[0], alone)


def test_a_document_comes_to_lie_by_its_words():
    words, vectors = sphere(40, 10), sphere(2, 10, 4)
    numbers = np.array([3, 4, 5], dtype=np.int32), np.ones(3)
    source = noise_of(np.ones(40)), np.array([1], dtype=np.uint64)
    before = words.copy()
    place_document(vectors, 1, words, numbers, source, (np.float32(0.1), np.float32(0.25), 2), 50)
    near = words @ vectors[1]
    assert near[3:6].min() > 0.2
    assert near[3:6].mean() > near.mean() + 0.3
    assert np.array_equal(words, before)
    assert np.array_equal(vectors[0], sphere(2, 10, 4)[0])


def test_learns_the_answer_from_a_word_a_topic(learned, corpus):
    right = learned.predict(corpus.test_texts) == corpus.answer
    assert right[:, 0].mean() >= 0.8
    assert right.all(axis=1).mean() >= 0.6  # chance: a sixth
    losses = [event["loss"] for event in learned.history_]
    assert losses[-1] < losses[0]
    assert learned.judge(corpus.test_texts, corpus.test_topics)["norm_error"] < 1e-4


def test_topics_find_words_of_their_own(learned, corpus, names):
    own = [name[:-1] for name in names]  # all words of a topic begin alike
    leaves = np.flatnonzero(corpus.taxonomy.tree.is_leaf)
    hits = [word.startswith(own[t]) for t in leaves for word in learned.top_words()[t][:3]]
    assert np.mean(hits) >= 0.6


def test_names_of_other_topics_give_other_answers(corpus, names):
    leaves = np.flatnonzero(corpus.taxonomy.tree.is_leaf)
    wrong = list(names)
    for a, b in zip(leaves, np.roll(leaves, 1)):
        wrong[a] = names[b]
    right = fit(corpus, wrong).predict(corpus.test_texts) == corpus.answer
    assert right.all(axis=1).mean() < 0.3


def test_a_topic_without_a_known_name_takes_words_of_its_seeds(corpus, names):
    unknown = list(names)
    unknown[1] = "zebra"
    system = fit(corpus, unknown, epochs=3)
    assert system.describe()["topics_without_known_name"] == 1
    assert all(
        word in corpus.texts[list(corpus.topics).index(1)] for word in system.top_words()[1][:2]
    )


def test_every_answer_is_a_path_down_to_a_leaf(learned, corpus):
    levels = learned.predict([*corpus.test_texts, "", "words nobody has seen"])
    tree = corpus.taxonomy.tree
    assert tree.is_leaf[levels.max(axis=1)].all()
    assert np.array_equal(levels, tree.ancestors[levels.max(axis=1)])
    alone = np.concatenate([learned.predict([text]) for text in corpus.test_texts[:6]])
    assert np.array_equal(alone, levels[:6])  # whatever stands beside it


def test_a_killed_fit_resumes_to_what_a_whole_one_gives(corpus, names, tmp_path):
    short = {"epochs": 4, "save_every": 0.0}
    whole = fit(corpus, names, **short)

    def kill(event):
        if event["epoch"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(corpus, names, progress=kill, checkpoint=tmp_path, **short)
    resumed = fit(corpus, names, checkpoint=tmp_path, **short)
    assert np.array_equal(whole.topics_, resumed.topics_)
    assert [e["loss"] for e in whole.history_] == [e["loss"] for e in resumed.history_]
    with pytest.raises(ModelError, match="other texts, labels or settings"):
        fit(corpus, names, checkpoint=tmp_path, seed=1, **short)


def test_without_the_tree_term_topics_lie_elsewhere(corpus, names, learned):
    flat = fit(corpus, names, tree=False)
    assert flat.history_[1]["loss"] == learned.history_[1]["loss"]  # texts alone: no difference
    assert flat.history_[-1]["tree_loss"] > learned.history_[-1]["tree_loss"]


def test_phrases_are_pairs_more_frequent_than_chance():
    documents = [["new", "york", "is", "big"], ["is", "new", "york", "new"], ["big", "is"]] * 20
    phrases = Phrases(min_count=5, threshold=0.05).fit(documents)
    assert ("new", "york") in phrases.pairs
    assert phrases.glue(["in", "new", "york", "york"])[1:] == ["new_york", "york"]
