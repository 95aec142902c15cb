"""Text to float32 matrices: one file per embedder, preparation, and a store on disk."""

from hierseed.embed.choose import choose_embedder, get_embedder, load_embedder, save_embedder
from hierseed.embed.corpus import embed_corpus
from hierseed.embed.embedder import Embedder, TrainedEmbedder
from hierseed.embed.prepare import Preparation, Prepared
from hierseed.embed.store import VectorStore

__all__ = [
    "Embedder",
    "Preparation",
    "Prepared",
    "TrainedEmbedder",
    "VectorStore",
    "choose_embedder",
    "embed_corpus",
    "get_embedder",
    "load_embedder",
    "save_embedder",
]
