"""Text to float32 matrices: one file per embedder, preparation, and a store on disk."""

from typing import TYPE_CHECKING, Any

from hierseed.embed.choose import choose_embedder, get_embedder, load_embedder, save_embedder
from hierseed.embed.corpus import embed_corpus
from hierseed.embed.embedder import Embedder, TrainedEmbedder
from hierseed.embed.store import VectorStore

if TYPE_CHECKING:
    from hierseed.embed.prepare import Preparation, Prepared

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


def __getattr__(name: str) -> Any:
    """Import `prepare` late: it needs scikit-learn, which takes longer to load than to embed."""
    if name in ("Preparation", "Prepared"):
        from hierseed.embed import prepare

        return getattr(prepare, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
