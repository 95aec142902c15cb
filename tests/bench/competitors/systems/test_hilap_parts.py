"""HiLAP's regions, walks, rewards and policy gradient, against values made by hand."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from hierseed.core.tree import Tree  # noqa: E402
from hierseed_bench.competitors.systems.regions import SEGMENTS, SIZE, Regions, regions_of  # noqa: E402
from hierseed_bench.competitors.systems.walk import (  # noqa: E402
    Map,
    Walk,
    f1_gains,
    policy_loss,
    returns,
    take_walk,
)

TREE = Tree([-1, 0, 0, -1, 3, 4, 4, -1])
MAP = Map.of(TREE, torch.device("cpu"))


def slow_regions(numbers, limit):
    """The definition, word by word."""
    words, found = [1] * (SIZE - 1) + list(numbers), []
    for start in range(0, len(words) - SIZE + 1, 2):
        region = {w for w in words[start : start + SIZE] if w > 1}
        if not found or region != found[-1]:
            found.append(region)
    return found[:limit]


@pytest.mark.parametrize("length", [1, 2, 15, 60, 200])
def test_regions_are_the_sets_of_the_definition(length):
    numbers = np.random.default_rng(length).integers(1, 12, length).astype(np.int32)
    found = [set(row[row > 0].tolist()) for row in regions_of(numbers, 30)]
    expected = slow_regions(numbers, 30)
    assert found[: len(expected)] == expected
    assert len(found) == max(len(expected), SEGMENTS)


def test_a_batch_averages_each_documents_own_segments():
    documents = [np.arange(2, n, dtype=np.int32) for n in (3, 40, 130)]
    rows = Regions.build(documents, 50, torch.device("cpu"))
    batch = rows[torch.tensor([2, 0])]
    assert torch.equal(batch.words[0, : rows.counts[2]], rows.words[rows.starts[2] : -1])
    assert (batch.words[1, rows.counts[0] :] == 0).all()
    torch.testing.assert_close(batch.shares.sum(dim=2), torch.ones(2, SEGMENTS))
    assert (batch.shares[1, :, rows.counts[0] :] == 0).all()
    assert regions_of(np.array([], dtype=np.int32), 50).shape == (SEGMENTS, SIZE)


@pytest.mark.parametrize("sample", [True, False])
def test_walks_are_closed_under_ancestors_and_choose_nothing_twice(sample):
    torch.manual_seed(0)
    table = torch.randn(len(TREE) + 2, len(TREE) + 2) * 3
    walk = take_walk(MAP, lambda here: table[here], 300, 9, sample=sample)
    for chosen in walk.chosen.tolist():
        topics = [node for node in chosen if node != MAP.stop]
        assert len(set(topics)) == len(topics)
        assert all(TREE.parent[t] in {-1, *topics[:k]} for k, t in enumerate(topics))
        stopped = chosen.index(MAP.stop) if MAP.stop in chosen else len(chosen)
        assert set(chosen[stopped:]) <= {MAP.stop}


def test_sampled_steps_follow_the_probabilities():
    torch.manual_seed(0)
    score = torch.zeros(len(TREE) + 2)
    score[3], score[7] = 1.0, -1.0
    walk = take_walk(MAP, lambda here: score.expand(len(here), -1), 20_000, 1, sample=True)
    open_ = [0, 3, 7, MAP.stop]
    expected = score[open_].softmax(0)
    counts = torch.bincount(walk.chosen[:, 0], minlength=len(score))[open_] / 20_000
    torch.testing.assert_close(counts, expected, atol=0.015, rtol=0)


def test_rewards_are_the_growth_of_f1():
    gold = torch.zeros(1, len(TREE))
    gold[0, [0, 1]] = 1
    chosen = torch.tensor([[0, 1, MAP.stop]])
    plain = f1_gains(chosen, gold, MAP)
    torch.testing.assert_close(plain, torch.tensor([[2 / 3, 1 / 3, 0.0]]))
    counted = f1_gains(chosen, gold, MAP, count_stop=True)
    torch.testing.assert_close(counted, torch.tensor([[2 / 3, 1 / 3, 0.8 - 1]]))
    worth = returns(plain, 0.9)
    torch.testing.assert_close(worth, torch.tensor([[2 / 3 + 0.3, 1 / 3, 0.0]]))


def test_the_gradient_is_that_of_the_log_probability():
    logits = torch.tensor([[0.3, -0.2]], requires_grad=True)
    log = logits.log_softmax(1)[:, :1]
    (expected,) = torch.autograd.grad(log.sum(), logits, retain_graph=True)
    loss = policy_loss(Walk(None, log, torch.zeros(1, 1)), torch.ones(1, 1), 0.0)
    (found,) = torch.autograd.grad(loss, logits)
    torch.testing.assert_close(found, -expected)


def test_the_entropy_term_alone_opens_the_choice():
    scores = torch.nn.Parameter(torch.randn(len(TREE) + 2) * 2)
    optimiser = torch.optim.SGD([scores], 5.0)
    for _ in range(300):
        walk = take_walk(MAP, lambda here: scores.expand(len(here), -1), 4, 1, sample=False)
        optimiser.zero_grad()
        policy_loss(walk, torch.zeros(4, 1), 1.0).backward()
        optimiser.step()
    chances = scores.detach()[[0, 3, 7, MAP.stop]].softmax(0)
    torch.testing.assert_close(chances, torch.full((4,), 0.25), atol=0.02, rtol=0)
