"""Other engines for the same steps: workers of a cluster here, a GPU in `torch`."""

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
