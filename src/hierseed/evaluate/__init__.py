"""Scores of a hierarchical assignment against gold labels.

`score` gives everything, per level and under both protocols; the single measures
(`bcubed`, `v_measure`, `hierarchical`, …) are there for use by themselves.
"""

from hierseed.evaluate.ancestors import hierarchical
from hierseed.evaluate.bcubed import bcubed
from hierseed.evaluate.calibration import Calibration, calibration, thresholds
from hierseed.evaluate.catch import Catch, caught
from hierseed.evaluate.classes import accuracy, macro_f1
from hierseed.evaluate.protocol import PROTOCOLS, LevelScore, Score, Scores, score
from hierseed.evaluate.vmeasure import v_measure

__all__ = [
    "PROTOCOLS",
    "Calibration",
    "Catch",
    "LevelScore",
    "Score",
    "Scores",
    "accuracy",
    "bcubed",
    "calibration",
    "caught",
    "hierarchical",
    "macro_f1",
    "score",
    "thresholds",
    "v_measure",
]
