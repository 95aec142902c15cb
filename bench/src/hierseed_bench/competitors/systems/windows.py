"""Convolution over words and the largest over time, with a gradient that knows it is sparse."""

from __future__ import annotations

from typing import Any

from hierseed_bench.competitors.systems.backend import F, torch


def largest_over_time(words: Any, weight: Any, bias: Any, lengths: Any = None) -> Any:
    """Largest answer of every filter over all windows of a text, at least 0: (texts, filters).

    The largest passes its gradient on to a single window. On a CPU all windows are computed
    without one, and the best of each filter once more with it, which costs next to nothing; a
    whole convolution would be gone through backwards twice for gradients that are nearly all 0.

    Parameters
    ----------
    words : (texts, time, numbers)
    weight, bias : as a Conv1d's
    lengths : windows of each text that count; all, unless given
    """
    if words.device.type != "cpu" or not torch.is_grad_enabled():
        return F.relu(_all(words, weight, bias, lengths).amax(dim=2))
    with torch.no_grad():
        best = _all(words, weight, bias, lengths).argmax(dim=2)
    n, time, size = words.shape
    flat = words.reshape(n * time, size)
    first = best + torch.arange(n)[:, None] * time
    answer = bias
    for tap in range(weight.shape[2]):
        here = flat.index_select(0, (first + tap).flatten()).view(*best.shape, size)
        answer = answer + (here * weight[:, :, tap]).sum(dim=2)
    return F.relu(answer)


def largest_of_table(table: Any, numbers: Any, weight: Any, bias: Any) -> Any:
    """The same for words that have fixed vectors in a table, and thus need no gradient.

    On a CPU each word that occurs is multiplied by the filters once, however often it occurs in
    the texts; a window is then a sum of rows.

    Parameters
    ----------
    numbers : (texts, time) rows of the table
    """
    if table.device.type != "cpu":
        return largest_over_time(table[numbers], weight, bias)
    return F.relu(_LargestOfTable.apply(weight, table, numbers) + bias)


class _LargestOfTable(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Any, table: Any, numbers: Any) -> Any:
        time = numbers.shape[1] - weight.shape[2] + 1
        words, place = numbers.unique(return_inverse=True)
        answers = [table[words] @ tap.T for tap in weight.unbind(dim=2)]
        found = F.embedding(place[:, :time], answers[0])
        for step, answer in enumerate(answers[1:], 1):
            found += F.embedding(place[:, step : step + time], answer)
        if not ctx.needs_input_grad[0]:
            return found.amax(dim=1)
        value, best = found.max(dim=1)
        ctx.save_for_backward(table, numbers, best)
        ctx.width = weight.shape[2]
        return value

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, None, None]:
        """A filter learns from the window that was largest in each text, and no other."""
        table, numbers, best = ctx.saved_tensors
        taps = []
        for tap in range(ctx.width):
            here = table[numbers.gather(1, best + tap)]
            taps.append((here * gradient[:, :, None]).sum(dim=0))
        return torch.stack(taps, dim=2), None, None


def _all(words: Any, weight: Any, bias: Any, lengths: Any) -> Any:
    found = F.conv1d(words.transpose(1, 2), weight, bias)
    if lengths is None:
        return found
    time = torch.arange(found.shape[2], device=found.device)
    outside = time >= lengths.to(found.device, non_blocking=True)[:, None]
    return found.masked_fill(outside[:, None], -torch.inf)
