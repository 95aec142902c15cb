"""The array functions of `core.arrays`, for torch on one device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.arrays import Arrays


def fetch(values: Tensor) -> NDArray[Any]:
    """Bring a small result back to the host."""
    found: NDArray[Any] = values.cpu().numpy()
    return found


WORDS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


class TorchArrays(Arrays):
    """Functions on tensors of one device; what is not here is inherited."""

    int8, int32, index, bool = torch.int8, torch.int32, torch.int32, torch.bool
    float32, float64 = torch.float32, torch.float64
    piece = 1 << 18
    few = 1 << 16  # numbers: for so few torch's own functions do

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def asarray(self, values: Any, dtype: torch.dtype | None = None) -> Tensor:
        return torch.as_tensor(values, dtype=dtype, device=self.device)

    def to_numpy(self, values: Tensor) -> NDArray[Any]:
        return fetch(values)

    def full(self, shape: int | tuple[int, ...], value: Any, dtype: torch.dtype) -> Tensor:
        size = shape if isinstance(shape, tuple) else (shape,)
        return torch.full(size, value, dtype=dtype, device=self.device)

    def arange(self, n: int) -> Tensor:
        return torch.arange(n, device=self.device)

    def astype(self, values: Tensor, dtype: torch.dtype) -> Tensor:
        return values.to(dtype)

    def copy(self, values: Tensor) -> Tensor:
        return values.clone()

    def concat(self, parts: Sequence[Tensor], axis: int = 0) -> Tensor:
        return torch.cat(list(parts), dim=axis)

    def where(self, condition: Tensor, one: Any, other: Any) -> Tensor:
        return torch.where(condition, one, other)

    def flatnonzero(self, mask: Tensor) -> Tensor:
        return torch.nonzero(mask)[:, 0]

    def nonzero(self, mask: Tensor) -> tuple[Tensor, Tensor]:
        row, column = torch.nonzero(mask, as_tuple=True)
        return row, column

    def min(self, values: Tensor, axis: int) -> Tensor:
        return values.amin(dim=axis)

    def max(self, values: Tensor, axis: int) -> Tensor:
        return values.amax(dim=axis)

    def argmax(self, values: Tensor, axis: int) -> Tensor:
        values = values.to(torch.uint8) if values.dtype == torch.bool else values
        return values.argmax(dim=axis)

    def sort_rows(self, values: Tensor) -> Tensor:
        return values.sort(dim=1)[0]

    def two_smallest(self, values: Tensor) -> tuple[Tensor, Tensor]:
        two = values.topk(2, dim=1, largest=False)[0]
        return two[:, 0], two[:, 1]

    def largest(self, values: Tensor, k: int) -> Tensor:
        return values.topk(k, dim=1)[0].flip(1)

    def argsort(self, values: Tensor) -> Tensor:
        return torch.argsort(values, stable=True)

    def argsort_groups(self, groups: Tensor, n_groups: int) -> Tensor:
        return torch.argsort(groups, stable=True)

    def cumulative_max(self, values: Tensor) -> Tensor:
        return values.cummax(dim=0)[0]

    def sqrt(self, values: Tensor) -> Tensor:
        return values.sqrt_()

    def exp(self, values: Tensor) -> Tensor:
        return values.exp_()

    def log(self, values: Tensor) -> Tensor:
        return values.log()

    def log1p(self, values: Tensor) -> Tensor:
        return values.log1p()

    def rint(self, values: Tensor) -> Tensor:
        return values.round_()

    def minimum(self, values: Tensor, other: Tensor) -> Tensor:
        return torch.minimum(values, other)

    def interp(self, values: Tensor, knots: NDArray[Any], heights: NDArray[Any]) -> Tensor:
        rise = self.asarray(np.diff(heights) / np.diff(knots))
        x, y = self.asarray(knots), self.asarray(heights)
        at = (torch.searchsorted(x, values, right=True) - 1).clamp_(0, len(rise) - 1)
        found = rise[at] * (values - x[at]) + y[at]
        found = torch.where(values < x[0], y[0], found)
        return torch.where(values >= x[-1], y[-1], found)

    def matmul(self, one: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
        return torch.matmul(one, other, out=out)

    def squared_norms(self, values: Tensor) -> Tensor:
        return values.square().sum(dim=1)

    def wide_squared_norms(self, values: Tensor) -> Tensor:
        kernels = self._kernels(values)
        if kernels and values.is_contiguous():
            norms: Tensor = kernels.squared_norms(values)
            return norms
        return values.double().square().sum(dim=1)

    def words(self, values: Tensor) -> Tensor:
        values = values.contiguous()
        size = 8 if values.shape[1] * values.element_size() % 8 == 0 else values.element_size()
        return values.view(WORDS[size]).long()

    def isfinite(self, values: Tensor) -> Tensor:
        return values.isfinite()

    def bincount(self, groups: Tensor, n_groups: int, weights: Tensor | None = None) -> Tensor:
        if weights is None:
            return torch.bincount(groups, minlength=n_groups)
        return weights.new_zeros(n_groups).index_add_(0, groups, weights)

    def scale_and_round(self, values: Tensor, factor: float) -> Tensor:
        kernels = self._kernels(values)
        if kernels and values.is_contiguous() and kernels.is_power_of_two(factor):
            rounded: Tensor = kernels.scale_and_round(values, factor)
            return rounded
        return (values.double() * factor).round_()

    def round_directions(self, X: Tensor, centre: Any, length: float) -> Tensor:
        kernels = self._kernels(X)
        if kernels and X.is_contiguous():
            rounded: Tensor = kernels.round_directions(X, self.asarray(centre), length)
            return rounded
        return super().round_directions(X, centre, length)

    def whole_product(self, U: Tensor, V: Tensor) -> Tensor:
        kernels = self._kernels(U)
        if kernels and U.is_contiguous():
            product: Tensor = kernels.whole_product(U, V)
            return product
        return super().whole_product(U, V)

    def sum_of_nearest(
        self, similarity: Tensor, k: int, values: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        kernels = self._kernels(similarity)
        if kernels and similarity.is_contiguous() and len(values) <= kernels.MOST_REFERENCES:
            found: tuple[Tensor, Tensor, Tensor] = kernels.sum_of_nearest(similarity, k, values)
            return found
        return super().sum_of_nearest(similarity, k, values)

    def round_shares(self, L: Tensor, scale: Tensor | float) -> tuple[Tensor, Tensor]:
        kernels = self._kernels(L)
        if kernels and L.stride(1) == 1:
            if not isinstance(scale, Tensor):
                scale = self.full(L.shape[1], scale, self.float64)
            found: tuple[Tensor, Tensor] = kernels.round_shares(L, scale)
            return found
        return super().round_shares(L, scale)

    def _kernels(self, values: Tensor) -> Any:
        """The module of kernels; None without a card or Triton, and where little is to do."""
        if not values.is_cuda or values.numel() < self.few:
            return None
        try:
            from hierseed.engines.torch import row_kernels
        except ImportError:
            return None
        return row_kernels
