"""The corpus on a GPU: an engine of `core.blocks` that runs the steps of `core` with torch.

`arrays` and `block` bring what the steps ask for, `launch` and `kernels` do it in Triton on a card.
"""

from hierseed.errors import MissingDependency

try:
    import torch
except ImportError as absent:
    raise MissingDependency("torch", "gpu", "a fit on a GPU") from absent

from hierseed.engines.torch.blocks import HostStepWarning, NoGpuWarning, TorchBlocks

__all__ = ["HostStepWarning", "NoGpuWarning", "TorchBlocks", "torch"]
