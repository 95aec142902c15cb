"""hierseed: place a large corpus in an expert's taxonomy from a handful of seeds per topic."""

from hierseed.assignments import Assignments
from hierseed.estimator import HierSeed, UnfitHierSeed
from hierseed.taxonomy import Taxonomy

__all__ = ["Assignments", "HierSeed", "Taxonomy", "UnfitHierSeed"]
__version__ = "0.1.0"
