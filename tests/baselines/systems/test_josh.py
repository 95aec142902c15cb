"""JoSH: its steps against formulas written out, and a corpus whose answer is known."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from hierseed.baselines.systems import make_system  # noqa: E402
from hierseed.baselines.systems.phrases import Phrases  # noqa: E402
from hierseed.baselines.systems.sphere import TreeTerm, text_step, unit, word_step  # noqa: E402
from hierseed.core.tree import Tree  # noqa: E402
from hierseed.errors import ModelError  # noqa: E402

LETTERS = str.maketrans("0123456789", "ghijklmnop")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def names(corpus):
    """One word of each topic, as `write` in conftest makes them."""
    tree = corpus.taxonomy.tree
    return [f"{'abcd'[tree.level[t] - 1]}{t}w0".translate(LETTERS) for t in range(len(tree))]


def fit(corpus, names, **options):
    system = make_system("josh", quick=True, device="cpu", phrases=False, **options)
    seeds = (corpus.texts[:6], corpus.topics[:6])
    return system.fit(corpus.taxonomy, seeds, corpus.texts[6:], names=names)


@pytest.fixture(scope="module")
def learned(corpus, names):
    return fit(corpus, names)


def test_a_text_step_is_the_formula():
    torch.manual_seed(0)
    anchors, words = unit(torch.randn(3, 5)), unit(torch.randn(4, 5))
    v, u, w = anchors[1].clone(), words[0].clone(), words[2].clone()
    f, h, a = u @ v, w @ v, 0.1
    pairs = (torch.tensor([1]), torch.tensor([0]), torch.tensor([[2, -1]]))
    hinge = text_step(anchors, words, pairs, a, margin=5.0)
    assert float(hinge) == pytest.approx(float(5 - f + h), rel=1e-5)
    for found, step in (
        (words[0], u + a * (1 - f) * (v - f * u)),
        (words[2], w + a * 2 * h * (h * w - v)),
        (anchors[1], v + a * (1 - f + h) * (u - f * v + h * v - w)),
    ):
        assert torch.allclose(found, step / step.norm(), atol=1e-6)


def test_pairs_beyond_the_margin_rest_and_frozen_words_do_too():
    anchors, words = unit(torch.randn(2, 5)), unit(torch.randn(3, 5))
    words[0] = anchors[0]
    words[1] = -anchors[0]
    before = anchors.clone(), words.clone()
    pairs = (torch.tensor([0]), torch.tensor([0]), torch.tensor([[1]]))
    assert float(text_step(anchors, words, pairs, 0.1, 0.25)) == 0
    assert torch.allclose(anchors, before[0])
    text_step(anchors, words, (torch.tensor([1]), *pairs[1:]), 0.1, 5.0, frozen=True)
    assert torch.equal(words, before[1])
    assert not torch.allclose(anchors[1], before[0][1])


def test_the_tree_term_climbs_what_it_says():
    """Its step is the gradient on the sphere, found here by automatic differentiation."""
    torch.manual_seed(1)
    tree = Tree([-1, -1, 0, 0, 0, 1, 1])
    term = TreeTerm(tree, torch.device("cpu"))
    topics = unit(torch.randn(8, 6))
    term.renew(topics)
    assert torch.allclose(topics[-1], unit((topics[0] + topics[1])[None])[0], atol=1e-6)
    gaps = [
        float(topics[k] @ topics[tree.parent[k]] - topics[k] @ topics[s])
        for k in range(2, 7)
        for s in range(2, 7)
        if s != k and tree.parent[s] == tree.parent[k]
    ]
    assert float(term.margin[1]) == pytest.approx(np.mean(gaps), rel=1e-5)
    term.margin += 0.05  # two siblings lie exactly at their mean, where there is no gradient
    free = topics.clone().requires_grad_()
    loss = 0
    for k in range(7):
        parent = free[tree.parent[k]] if tree.parent[k] >= 0 else free[7]
        siblings = [s for s in range(7) if s != k and tree.parent[s] == tree.parent[k]]
        for s in siblings:
            gap = free[k] @ parent - free[k] @ free[s]
            loss = loss + (term.margin[tree.level[k] - 1] - gap).clamp(min=0) / len(siblings)
    (slope,) = torch.autograd.grad(loss, free)
    slope = -(slope - (slope * topics).sum(1, keepdim=True) * topics)
    wanted = unit(topics + 0.01 * slope)
    term.step(topics, 0.01)
    assert torch.allclose(topics, wanted, atol=1e-6)


def test_topics_and_their_words_come_together_up_to_the_margin():
    torch.manual_seed(2)
    topics, words = unit(torch.randn(2, 4)), unit(torch.randn(3, 4))
    for _ in range(400):
        word_step(topics, words, (torch.tensor([0, 0]), torch.tensor([1, 2])), 0.1, 0.9)
    assert (topics[0] @ words[1:].T >= 0.89).all()


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


def test_a_killed_fit_resumes_to_what_a_whole_one_gives(corpus, names, tmp_path):
    short = {"epochs": 4, "save_every": 0.0}
    whole = fit(corpus, names, **short)

    def kill(event):
        if event["epoch"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(corpus, names, progress=kill, checkpoint=tmp_path, **short)
    resumed = fit(corpus, names, checkpoint=tmp_path, **short)
    assert torch.equal(whole.topics, resumed.topics)
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
