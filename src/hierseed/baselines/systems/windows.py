"""Convolution over words and the largest over time, with a gradient that knows it is sparse."""

from __future__ import annotations

from typing import Any

from hierseed.baselines.systems.backend import F, torch


def largest_over_time(words: Any, weight: Any, bias: Any, lengths: Any = None) -> Any:
    """Largest answer of every filter over all windows of a text, at least 0: (texts, filters).

    The largest passes its gradient on to a single window. On a CPU all windows are looked at
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


def _all(words: Any, weight: Any, bias: Any, lengths: Any) -> Any:
    found = F.conv1d(words.transpose(1, 2), weight, bias)
    if lengths is None:
        return found
    time = torch.arange(found.shape[2], device=found.device)
    outside = time >= lengths.to(found.device, non_blocking=True)[:, None]
    return found.masked_fill(outside[:, None], -torch.inf)
