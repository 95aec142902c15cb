"""Other engines for the same steps: `core.blocks` on a cluster's workers."""

from hierseed.engines.client import ClusterError, ClusterWarning, connect, disconnect
from hierseed.engines.cluster import ClusterBlocks
from hierseed.engines.mapped import MappedFile

__all__ = [
    "ClusterBlocks",
    "ClusterError",
    "ClusterWarning",
    "MappedFile",
    "connect",
    "disconnect",
]
