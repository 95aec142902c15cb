"""AnchoredHierSeed: this package's own method, the default (docs/method.md)."""

from hierseed.anchored.estimator import AnchoredHierSeed
from hierseed.anchored.seeding import UnseededTopicWarning

__all__ = ["AnchoredHierSeed", "UnseededTopicWarning"]
