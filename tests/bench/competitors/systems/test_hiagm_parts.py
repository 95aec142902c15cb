"""HiAGM's structure encoder and its penalty, against values made by hand."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from small_systems import SMALL  # noqa: E402

from hierseed.core.tree import Tree  # noqa: E402
from hierseed_bench.competitors.systems.hiagm import HiAGMConfig, Network  # noqa: E402
from hierseed_bench.competitors.systems.paths import PaddedTree  # noqa: E402
from hierseed_bench.competitors.systems.structure import (  # noqa: E402
    RecursivePenalty,
    Structure,
    child_shares,
)
from hierseed_bench.competitors.systems.supervised import Rows, micro_macro_f1  # noqa: E402

TREE = PaddedTree(Tree([-1, 0, 0, -1, 3, 3]))  # 0 > {1, 2}, 3 > {4, 5}


def shares():
    return child_shares(TREE, TREE.sets(np.array([1, 1, 1, 2])))


def test_shares_are_those_of_the_parents_documents():
    assert shares().tolist() == [1, 0.75, 0.25, 1, 0.5, 0.5]  # 3 has none: equal shares


def test_messages_go_along_the_edges_as_the_equations_say():
    torch.manual_seed(0)
    layer = Structure(TREE, shares(), 4).eval()
    for bias in (layer.up_bias, layer.down_bias, layer.up_gate_bias, layer.down_gate_bias):
        torch.nn.init.normal_(bias)
    nodes = torch.randn(2, 6, 4)
    gate = torch.sigmoid
    with torch.no_grad():
        found = layer(nodes)
        for k, (parent, children, share) in enumerate(
            [
                (-1, [1, 2], 1),
                (0, [], 0.75),
                (0, [], 0.25),
                (-1, [4, 5], 1),
                (3, [], 0.5),
                (3, [], 0.5),
            ]
        ):
            own = nodes[:, k]
            up = sum((nodes[:, c] for c in children), torch.zeros(2, 4)) + layer.up_bias[k]
            down = (share * nodes[:, parent] if parent >= 0 else 0) + layer.down_bias[k]
            w_up, w_down, w_own = layer.gates.unbind(1)
            expected = (
                up * gate(own @ w_up + layer.up_gate_bias[k])[:, None]
                + down * gate(own @ w_down + layer.down_gate_bias[k])[:, None]
                + own * gate(own @ w_own)[:, None]
            )
            torch.testing.assert_close(found[:, k], expected.relu())


def test_only_edges_of_the_tree_are_trained():
    layer = Structure(TREE, shares(), 4)
    layer(torch.randn(3, 6, 4)).sum().backward()
    edges = layer.edges.bool()
    assert (layer.up.grad[~edges] == 0).all()
    assert (layer.up.grad[edges] != 0).any()
    assert (layer.down.grad[~edges.T] == 0).all()
    assert (layer.down.grad[edges.T] != 0).any()


def network(**options):
    torch.manual_seed(1)
    words = torch.nn.Embedding(30, 8, padding_idx=0)
    return Network(words, HiAGMConfig(**SMALL["hiagm"] | options), TREE, shares())


ROWS = Rows(torch.randint(1, 30, (3, 7)), torch.tensor([7, 3, 1]))


def test_the_structure_is_wired_in_and_dropout_is_off_when_it_answers():
    model = network().eval()
    with torch.no_grad():
        before = model(ROWS)
        assert torch.equal(before, model(ROWS))
        model.structure.up.zero_()
        model.structure.down.zero_()
        assert not torch.equal(before, model(ROWS))
    model.train()
    assert not torch.equal(model(ROWS), model(ROWS))
    assert network(structure=False).structure is None


def test_padding_takes_no_part_in_the_largest_over_time():
    model = network().eval()
    for layer in model.text.convolutions:
        torch.nn.init.constant_(layer.bias, 1.0)  # what a window over padding would give
    with torch.no_grad():
        together = model(ROWS)
        alone = model(Rows(ROWS.words[2:, :1], ROWS.lengths[2:]))
    torch.testing.assert_close(together[2:], alone)


def test_the_penalty_equals_the_one_made_by_hand():
    weight = torch.tensor([[1.0, 2.0], [3.0, 5.0], [0.0, 0.0]])
    # parents -1, 0, 1: half of (4 + 9) and half of (9 + 25)
    assert RecursivePenalty.apply(weight, torch.tensor([-1, 0, 1])) == 0.5 * 13 + 0.5 * 34


def test_the_gradient_of_the_penalty_is_its_slope():
    torch.manual_seed(2)
    weight = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    parent = torch.tensor([-1, 0, 0, 1, -1])
    assert torch.autograd.gradcheck(lambda w: RecursivePenalty.apply(w, parent), (weight,))


def test_f1_equals_sklearns():
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(0)
    gold, logits = (rng.random((40, 6)) > 0.7).astype(float), rng.normal(size=(40, 6))
    micro, macro = micro_macro_f1(gold, logits)
    assert micro == pytest.approx(f1_score(gold, logits > 0, average="micro"))
    assert macro == pytest.approx(f1_score(gold, logits > 0, average="macro"))
