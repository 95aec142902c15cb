"""TSNTM: the laws of its sticks, the growth of its tree, and a corpus whose answer is known."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import v_measure_score

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from small_systems import make_small  # noqa: E402

from hierseed.errors import ModelError  # noqa: E402
from hierseed_bench.competitors.systems.topic_tree import TopicTree  # noqa: E402
from hierseed_bench.competitors.systems.tsntm_model import Bags, TreeTopics  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


UNEVEN = TopicTree([-1, 0, 0, 0, 1, 1, 2, 3, 3, 3])


@pytest.mark.parametrize("tree", [UNEVEN, TopicTree.start((3, 3), 3), TopicTree.start((2,), 5)])
def test_weights_sum_to_one_and_siblings_share_what_their_parent_has(tree):
    with torch.no_grad():
        model = TreeTopics(12, 8, 4, tree.levels, 10.0)
        z = torch.randn(20, 4) * 3
        ways = model.log_paths(z, tree).exp()
        assert torch.allclose(model.shares(z, tree).sum(dim=1), torch.ones(20), atol=1e-5)
        assert torch.allclose(model.log_depths(z).exp().sum(dim=1), torch.ones(20), atol=1e-5)
        for node, children in enumerate(tree.children):
            if children:
                assert torch.allclose(ways[:, children].sum(dim=1), ways[:, node], atol=1e-5)
        beta = model.word_shares(model.topics(tree), tree)
        assert torch.allclose(beta.sum(dim=1), torch.ones(len(tree)), atol=1e-5)


def test_sticks_break_in_the_order_of_the_children():
    model = TreeTopics(3, 4, 2, 3, 1.0)
    with torch.no_grad():
        z = torch.randn(1, 2)
        v = torch.sigmoid(z @ model.paths(UNEVEN).T)[0]
        ways = model.log_paths(z, UNEVEN).exp()[0]
    assert float(ways[2]) == pytest.approx(float((1 - v[1]) * v[2]), rel=1e-5)
    assert float(ways[4]) == pytest.approx(float(v[1] * v[4]), rel=1e-5)
    rest = (1 - v[1]) * (1 - v[2])
    assert float(ways[8]) == pytest.approx(float(rest * (1 - v[7]) * v[8]), rel=1e-5)


def test_a_state_comes_from_parent_and_elder_sibling():
    cell = TreeTopics(3, 4, 2, 3, 1.0).paths
    with torch.no_grad():
        states = cell(UNEVEN)
        above, before = torch.tanh(cell.ancestral(states[3])), torch.tanh(cell.fraternal(states[7]))
        assert torch.allclose(states[8], cell.output(above + before), atol=1e-6)


def test_listed_words_are_explained_as_a_full_row_of_counts_would_be():
    counts = np.array([[0, 2, 1, 0], [0, 0, 0, 0], [3, 0, 0, 1]], dtype=np.float32)
    model = TreeTopics(4, 6, 2, 3, 10.0).eval()
    with torch.no_grad():
        nll, kl, theta = model.explain(Bags.of(csr_matrix(counts)), UNEVEN)
        beta = model.word_shares(model.topics(UNEVEN), UNEVEN)
        hidden = torch.tanh(torch.as_tensor(counts) @ model.encoder + model.encoder_bias)
        mean = model.mean(hidden)
        assert torch.allclose(theta, model.shares(mean, UNEVEN), atol=1e-6)
        assert torch.allclose(kl, 0.5 * (mean**2).sum(dim=1), atol=1e-6)  # the variance starts at 1
        assert torch.allclose(
            nll, -(torch.as_tensor(counts) * (theta @ beta).log()).sum(dim=1), atol=1e-4
        )
    assert nll[1] == 0


def test_unlike_siblings_cost_nothing():
    model = TreeTopics(3, 4, 2, 2, 1.0)
    tree = TopicTree([-1, 0, 0])
    apart = torch.tensor([[0.0, 0, 0, 0], [2, 0, 0, 0], [0, 3, 0, 0]])
    alike = torch.tensor([[0.0, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0]])
    assert float(model.sibling_likeness(apart, tree)) == pytest.approx(0)
    assert float(model.sibling_likeness(alike, tree)) == pytest.approx(0.5)


def test_the_tree_grows_where_a_node_holds_much_and_loses_what_holds_little():
    tree = TopicTree.start((3, 3), 3)
    own = np.full(13, 0.06)
    own[0], own[1:4] = 1.0, 0.0
    grown = tree.updated(own, 0.05, 0.05)
    assert len(grown) == 15  # one child of the root, and one below it
    assert grown.parent[13:] == [0, 13]
    own[0], own[4] = 0.0, 0.0
    assert len(tree.updated(own, 0.05, 0.05)) == 12
    own[4:7] = 0.0  # the first child's leaves all go, and so does it
    left = tree.updated(own, 0.05, 0.05)
    assert len(left) == 9
    assert {left.depth[leaf] for leaf in left.leaves} == {2}
    assert tree.updated(np.zeros(13), 0.05, 0.05) is tree  # never down to nothing
    model = TreeTopics(5, 8, 4, 3, 10.0)
    count = sum(p.numel() for p in model.parameters())
    bags = Bags.of(csr_matrix(np.ones((2, 5), dtype=np.float32)))
    for shape in (tree, grown, left):
        assert torch.isfinite(model.loss(bags, shape, 1.0))
    assert sum(p.numel() for p in model.parameters()) == count


def fit(corpus, **options):
    system = make_small("tsntm", device="cpu", **options)
    return system.fit(corpus.taxonomy, (corpus.texts[:6], corpus.topics[:6]), corpus.texts[6:])


@pytest.fixture(scope="module")
def learned(corpus):
    return fit(corpus)


def test_finds_the_groups_that_were_planted(learned, corpus):
    found = learned.predict(corpus.test_texts)
    assert v_measure_score(corpus.test_topics, found[:, -1]) >= 0.5
    told = learned.judge(corpus.test_texts, corpus.test_topics)
    assert told["perplexity"] < 0.8 * len(learned.words)
    assert told["specialisation"][0] < told["specialisation"][-1]
    assert learned.history_[-1]["loss"] < learned.history_[0]["loss"]
    assert len(learned.top_words(3)) == len(learned.tree)


def test_answers_are_nested_paths_and_do_not_depend_on_other_documents(learned, corpus):
    texts = [*corpus.test_texts[:6], "", "words nobody has seen"]
    found = learned.predict(texts)
    assert found.shape == (8, 3)
    for row in found:
        assert learned.tree.path(int(row[-1]))[1:] == row.tolist()
    assert np.array_equal(found, np.concatenate([learned.predict([text]) for text in texts]))


def test_labels_are_never_read(corpus):
    other = corpus._replace(topics=corpus.topics[::-1])
    short = {"epochs": 3}
    pair = [fit(each, **short).predict(corpus.test_texts) for each in (corpus, other)]
    assert np.array_equal(*pair)


def test_a_killed_fit_resumes_to_what_a_whole_one_gives(corpus, tmp_path):
    short = {"epochs": 12, "update_every": 20, "save_every": 0.0}
    whole = fit(corpus, **short)
    assert len({event["nodes"] for event in whole.history_}) > 1  # the tree did change

    def kill(event):
        if event["epoch"] == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(corpus, progress=kill, checkpoint=tmp_path, **short)
    resumed = fit(corpus, checkpoint=tmp_path, **short)
    losses = [[event["loss"] for event in system.history_] for system in (whole, resumed)]
    assert losses[0] == losses[1]
    assert np.array_equal(*(s.predict(corpus.test_texts) for s in (whole, resumed)))
    with pytest.raises(ModelError, match="other texts, labels or settings"):
        fit(corpus, checkpoint=tmp_path, seed=1, **short)
