"""Parts made fast by hand: the same answers and gradients as PyTorch's own, word for word."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from torch import nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402

from hierseed.core.tree import Tree  # noqa: E402
from hierseed_bench.competitors.systems.bow_cnn import Policy  # noqa: E402
from hierseed_bench.competitors.systems.embedding import Words  # noqa: E402
from hierseed_bench.competitors.systems.gru import GRU  # noqa: E402
from hierseed_bench.competitors.systems.hilap import HiLAPConfig  # noqa: E402
from hierseed_bench.competitors.systems.supervised import Rows, adam, collect  # noqa: E402
from hierseed_bench.competitors.systems.walk import Map  # noqa: E402
from hierseed_bench.competitors.systems.windows import (  # noqa: E402
    largest_of_table,
    largest_over_time,
)

LENGTHS = torch.tensor([3, 9, 1, 9, 4])


@pytest.mark.parametrize(("layers", "both"), [(1, False), (1, True), (2, True)])
def test_the_gru_answers_and_learns_as_pytorchs(layers, both):
    torch.manual_seed(0)
    shape = {"num_layers": layers, "bidirectional": both, "batch_first": True}
    theirs, ours = (kind(6, 4, **shape).double() for kind in (nn.GRU, GRU))
    ours.load_state_dict(theirs.state_dict())
    words = torch.randn(5, 9, 6, dtype=torch.float64)
    seen = []
    for model in (theirs, ours):
        given = words.clone().requires_grad_()
        packed = pack_padded_sequence(given, LENGTHS, batch_first=True, enforce_sorted=False)
        states, last = model(packed)
        states, _ = pad_packed_sequence(states, batch_first=True)
        with torch.random.fork_rng():
            torch.manual_seed(1)
            pull = (states * torch.randn_like(states)).sum() + (last * torch.randn_like(last)).sum()
        pull.backward()
        weights = (parameter.grad for parameter in model.parameters())
        seen.append([states, last, given.grad, *weights])
    for one, other in zip(*seen):
        torch.testing.assert_close(one, other)


def test_the_largest_window_is_found_and_alone_is_moved():
    torch.manual_seed(0)
    layer = nn.Conv1d(4, 6, 3).double()
    words = torch.randn(5, 9, 4, dtype=torch.float64)
    seen = []
    for dense in (True, False):
        given = words.clone().requires_grad_()
        layer.zero_grad()
        if dense:
            every = layer(given.transpose(1, 2)).relu()
            late = torch.arange(7) >= (LENGTHS - 2).clamp(min=1)[:, None]
            found = every.masked_fill(late[:, None], 0).amax(dim=2)
        else:
            windows = (LENGTHS - 2).clamp(min=1)
            found = largest_over_time(given, layer.weight, layer.bias, windows)
            with torch.no_grad():  # all windows at once, as on a GPU
                again = largest_over_time(given, layer.weight, layer.bias, windows)
            torch.testing.assert_close(found, again)
        (found * torch.arange(30.0, dtype=torch.float64).view(5, 6)).sum().backward()
        seen.append([found, given.grad, layer.weight.grad.clone(), layer.bias.grad.clone()])
    for one, other in zip(*seen):
        torch.testing.assert_close(one, other)


def test_windows_of_fixed_words_are_sums_of_rows():
    torch.manual_seed(0)
    table, layer = torch.randn(30, 4, dtype=torch.float64), nn.Conv1d(4, 6, 3).double()
    numbers, seen = torch.randint(0, 30, (5, 9)), []
    for words in (table[numbers], None):
        layer.zero_grad()
        given = (layer.weight, layer.bias)
        if words is None:
            found = largest_of_table(table, numbers, *given)
            with torch.no_grad():
                torch.testing.assert_close(found, largest_of_table(table, numbers, *given))
        else:
            found = largest_over_time(words, *given)
        (found * torch.arange(30.0, dtype=torch.float64).view(5, 6)).sum().backward()
        seen.append([found, layer.weight.grad.clone(), layer.bias.grad.clone()])
    for one, other in zip(*seen):
        torch.testing.assert_close(one, other)


def test_a_table_of_trained_words_learns_as_a_table_of_all():
    torch.manual_seed(0)
    start = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    start[0] = 0.0
    words = torch.tensor([[5, 7, 0], [7, 19, 5]])
    few = Words(start, words.unique().numpy())
    every = nn.Embedding.from_pretrained(torch.tensor(start), freeze=False, padding_idx=0)
    for table in (few, every):
        optimiser = adam(table, 0.1)
        for _ in range(3):
            optimiser.zero_grad()
            table(words).square().sum().backward()
            optimiser.step()
    assert len(few.weight) == 4  # and padding among them
    few.eval()
    torch.testing.assert_close(few(torch.arange(20)), every.weight)
    assert not torch.equal(every.weight[5], torch.tensor(start[5]))


def test_words_that_no_training_text_has_are_worn_away_by_decay_anyhow():
    config = HiLAPConfig()
    vectors = nn.Parameter(torch.empty(200).uniform_(-(30_000**-0.5), 30_000**-0.5))
    optimiser = torch.optim.Adam([vectors], config.rate, weight_decay=config.decay)
    for _ in range(400):
        vectors.grad = torch.zeros_like(vectors)
        optimiser.step()
    assert vectors.abs().max() < 1e-6
    policy = Policy(50, torch.tensor([0, 3, 9]), config, Map.of(Tree([-1, -1]), "cpu"))
    assert policy.place[[0, 3, 4, 9]].tolist() == [0, 2, 0, 3]


def test_answers_come_back_in_the_order_of_the_documents():
    rows = Rows(torch.arange(1, 22).view(7, 3), torch.tensor([3, 1, 2, 3, 1, 2, 3]))
    model = nn.Module()
    model.forward = lambda batch: batch.words[:, :1]
    assert collect(model, rows, 7, 2).ravel().tolist() == [1, 4, 7, 10, 13, 16, 19]
