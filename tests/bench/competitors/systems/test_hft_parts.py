"""HFT(M) and HDLTex: weights handed down, scores that multiply, errors that are final."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from small_systems import make_small  # noqa: E402

from hierseed_bench.competitors.systems import hft  # noqa: E402
from hierseed_bench.competitors.systems.paths import product_argmax  # noqa: E402
from hierseed_bench.competitors.systems.wordvectors import RandomVectors  # noqa: E402

SHORT = {"epochs": 4, "seed_epochs": 4, "vectors": RandomVectors(8), "device": "cpu"}


@pytest.fixture(scope="module")
def fitted(corpus):
    system = make_small("hft", **SHORT)
    return system.fit(corpus.taxonomy, (corpus.texts, corpus.topics))


def test_words_and_convolutions_are_handed_down_bit_for_bit(fitted, corpus):
    above = fitted.models[0]
    rows = fitted.rows(corpus.texts)
    below = hft.Convolutional(fitted.embedding(rows), fitted.config, 5)
    hidden = below.hidden.weight.clone()
    below.take_over(above)
    assert torch.equal(below.embedding.weight, above.embedding.weight)
    for one, other in zip(below.convolutions, above.convolutions):
        assert torch.equal(one.weight, other.weight)
    assert torch.equal(below.hidden.weight, hidden)  # the upper layers are new


def test_each_level_starts_from_the_one_above_by_default(corpus, monkeypatch):
    taken = []
    real = hft.Convolutional.take_over
    monkeypatch.setattr(
        hft.Convolutional, "take_over", lambda self, above: (taken.append(above), real(self, above))
    )
    options = SHORT | {"seed_epochs": 1}
    seeds = (corpus.texts[:12], corpus.topics[:12])
    system = make_small("hft", **options).fit(corpus.taxonomy, seeds)
    assert taken == system.models[:-1]
    make_small("hft", fine_tune=False, **options).fit(corpus.taxonomy, seeds)
    assert len(taken) == 2


def test_a_leaf_never_scores_above_its_parent_and_the_product_matters(fitted, corpus):
    logs, tree = fitted.logs(corpus.test_texts), fitted.tree
    product = np.zeros((len(corpus.test_texts), len(tree.leaves)))
    for level, matrix in enumerate(logs):
        before = product.copy()
        product = product + matrix[:, tree.place[tree.paths[:, level]]]
        assert (product <= before + 1e-6).all()
    alone = [*(np.zeros_like(matrix) for matrix in logs[:-1]), logs[-1]]
    assert (product_argmax(tree, logs) != product_argmax(tree, alone)).any()


def test_siblings_are_not_scaled_to_sum_to_one(fitted, corpus):
    top = np.exp(fitted.logs(corpus.test_texts)[0]).sum(axis=1)
    assert np.abs(top - 1).max() > 0.01


def test_a_classifier_sees_only_the_documents_of_its_topic(corpus):
    system = make_small("hdltex", **SHORT | {"seed_epochs": 1})
    system.fit(corpus.taxonomy, (corpus.texts, corpus.topics))
    gold, padded = system.tree.gold(corpus.topics), system.tree.padded
    assert set(system.models) == {-1, 0, 3, 4}  # root, A, D, D > E: the others have no choice
    for node in system.models:
        own, child = system._of(node, gold)
        level = 0 if node < 0 else padded.level[node]
        assert (padded.parent[gold[own, level]] == node).all()
        assert np.array_equal(padded.children(node)[child], gold[own, level])
        assert len(own) == sum(node in {-1, *path} for path in gold.tolist())


def test_an_error_at_the_top_is_final(corpus):
    system = make_small("hdltex", **SHORT)
    system.fit(corpus.taxonomy, (corpus.texts, corpus.topics))
    judged = system.judge(corpus.test_texts, corpus.test_topics)
    right = system.predict(corpus.test_texts) == corpus.answer
    accuracy = [right[:, : level + 1].all(axis=1).mean() for level in range(3)]
    assert accuracy == sorted(accuracy, reverse=True)
    assert accuracy[0] == pytest.approx(judged["given_true_parent"][0])
