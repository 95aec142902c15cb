"""hierseed: place a large corpus in an expert's taxonomy from a handful of seeds per topic."""

from hierseed.taxonomy import Taxonomy

__all__ = ["Taxonomy"]
__version__ = "0.1.0"
