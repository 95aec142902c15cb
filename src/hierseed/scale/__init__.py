"""Other engines for the same steps: `core.blocks` on a cluster's workers."""

from hierseed.scale.client import ClusterError, ClusterWarning, connect, disconnect
from hierseed.scale.cluster import ClusterBlocks
from hierseed.scale.mapped import MappedFile

__all__ = [
    "ClusterBlocks",
    "ClusterError",
    "ClusterWarning",
    "MappedFile",
    "connect",
    "disconnect",
]
