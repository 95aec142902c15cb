"""A GRU that trains fast on a CPU: the weights and outputs of nn.GRU with an explicit gradient.

PyTorch has fast recurrent kernels for GPUs alone. On a CPU its gradient takes some thirty small
operations a word; here a word takes one product and a few operations in place, and whatever does
not wait for the word before (inputs, all gradients of weights) is one product for the batch.
"""

from __future__ import annotations

from typing import Any

from hierseed_bench.competitors.systems.backend import nn, torch

PackedSequence = nn.utils.rnn.PackedSequence


class GRU(nn.GRU):
    """One call for packed words: states of all words, and each row's last one."""

    def forward(self, packed: Any) -> tuple[Any, Any]:
        """As nn.GRU's, which is called where it is the faster: on a GPU, and without gradients."""
        if packed.data.device.type != "cpu" or not torch.is_grad_enabled():
            return super().forward(packed)
        sizes, data, last = packed.batch_sizes.tolist(), packed.data, []
        for layer in range(self.num_layers):
            found = []
            for suffix in ("", "_reverse")[: 1 + self.bidirectional]:
                weights = [
                    getattr(self, f"{name}_l{layer}{suffix}")
                    for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
                ]
                inputs = nn.functional.linear(data, *weights[:2])
                states = Recurrence.apply(inputs, *weights[2:], sizes, bool(suffix))
                found.append(states)
                last.append(_last(states, sizes, bool(suffix)))
            data = torch.cat(found, dim=1)
        order = packed.unsorted_indices
        end = torch.stack(last)
        answer = PackedSequence(data, packed.batch_sizes, packed.sorted_indices, order)
        return answer, end if order is None else end[:, order]


def _last(states: Any, sizes: list[int], backwards: bool) -> Any:
    """State of each row after its last word, which is its first where words go backwards."""
    if backwards:
        return states[: sizes[0]]
    # row r ends at the last step that has more than r rows
    ends, start = [0] * sizes[0], 0
    for size in sizes:
        ends[:size] = range(start, start + size)
        start += size
    return states[torch.tensor(ends)]


class Recurrence(torch.autograd.Function):
    """States from the inputs' part of the gates (reset, update, new), one direction."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Any, weight: Any, bias: Any, sizes: list[int], backwards: bool
    ) -> Any:
        """Go along the words; keep the gates for the way back."""
        h = weight.shape[1]
        n, gates = len(inputs), torch.empty_like(inputs)
        states, befores, hidden_new = (inputs.new_empty(n, h) for _ in range(3))
        state = inputs.new_zeros(sizes[0], h)
        turned = weight.t().contiguous()
        for start, size in _steps(sizes, backwards):
            at, here = slice(start, start + size), state[:size]
            befores[at] = here
            own = torch.addmm(bias, here, turned)
            both = gates[at, : 2 * h]
            torch.add(inputs[at, : 2 * h], own[:, : 2 * h], out=both).sigmoid_()
            hidden_new[at] = own[:, 2 * h :]
            new = gates[at, 2 * h :]
            torch.addcmul(inputs[at, 2 * h :], both[:, :h], own[:, 2 * h :], out=new).tanh_()
            torch.lerp(new, here, both[:, h:], out=states[at])
            state[:size] = states[at]
        ctx.save_for_backward(weight, befores, gates, hidden_new)
        ctx.way = (sizes, backwards)
        return states

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, ...]:
        """Go back along the words."""
        weight, befores, gates, hidden_new = ctx.saved_tensors
        sizes, backwards = ctx.way
        h = weight.shape[1]
        reset, update, new = gates.split(h, dim=1)
        # factors that need no order: slopes of the gates, and of a state on each of them
        by_new = (1 - update) * (1 - new * new)
        by_update = (befores - new) * update * (1 - update)
        by_reset = hidden_new * reset * (1 - reset)
        to_inputs = torch.empty_like(gates)
        to_own = torch.empty_like(gates)
        carried = gradient.new_zeros(sizes[0], h)
        for start, size in reversed(list(_steps(sizes, backwards))):
            at, carry = slice(start, start + size), carried[:size]
            carry += gradient[at]
            new_slope = torch.mul(carry, by_new[at], out=to_inputs[at, 2 * h :])
            torch.mul(carry, by_update[at], out=to_inputs[at, h : 2 * h])
            torch.mul(new_slope, by_reset[at], out=to_inputs[at, :h])
            to_own[at, : 2 * h] = to_inputs[at, : 2 * h]
            torch.mul(new_slope, reset[at], out=to_own[at, 2 * h :])
            carry *= update[at]
            carry.addmm_(to_own[at], weight)
        return to_inputs, to_own.t() @ befores, to_own.sum(dim=0), None, None


def _steps(sizes: list[int], backwards: bool) -> Any:
    """First row and number of rows of each step, in the order they are taken."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    steps = list(zip(starts, sizes))
    return reversed(steps) if backwards else steps
