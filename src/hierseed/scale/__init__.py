"""Other engines for the same steps: `core.blocks` on a cluster's workers."""

from hierseed.scale.cluster import ClusterBlocks, ClusterError, connect
from hierseed.scale.mapped import MappedFile

__all__ = ["ClusterBlocks", "ClusterError", "MappedFile", "connect"]
