"""The corpus on a GPU: an engine of `core.blocks` whose steps are written for torch.

Each file is the twin of the one of the same name in `core`; a step that has no twin runs on the
processor. See `twins` for the list.
"""

from hierseed.errors import MissingDependency

try:
    import torch
except ImportError as absent:
    raise MissingDependency("torch", "gpu", "a fit on a GPU") from absent

from hierseed.engines.torch.blocks import NoGpuWarning, TorchBlocks

__all__ = ["NoGpuWarning", "TorchBlocks", "torch"]
