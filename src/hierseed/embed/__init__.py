"""Text to float32 matrices: one file per embedder, preparation, and a store on disk."""

from hierseed.embed.choose import choose_embedder, get_embedder, load_embedder, save_embedder
from hierseed.embed.embedder import Embedder, TrainedEmbedder
from hierseed.embed.prepare import Preparation, Prepared

__all__ = [
    "Embedder",
    "Preparation",
    "Prepared",
    "TrainedEmbedder",
    "choose_embedder",
    "get_embedder",
    "load_embedder",
    "save_embedder",
]
