"""AnchoredHierSeed: this package's own method, the default (docs/method.md)."""

from hierseed.estimators.anchored.estimator import AnchoredHierSeed
from hierseed.estimators.anchored.fitting import UnseededTopicWarning

__all__ = ["AnchoredHierSeed", "UnseededTopicWarning"]
