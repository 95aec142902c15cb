"""Scores of a hierarchical assignment against gold labels.

`score` gives everything, per level and under both protocols; the single measures
(`bcubed`, `v_measure`, `hierarchical`, …) are there for use by themselves.
"""

from hierseed.evaluate.calibration import Calibration, calibration, thresholds
from hierseed.evaluate.left_out import LeftOutScore, score_left_out
from hierseed.evaluate.measures import accuracy, bcubed, hierarchical, macro_f1, v_measure
from hierseed.evaluate.protocol import PROTOCOLS, LevelScore, Score, Scores, score

__all__ = [
    "PROTOCOLS",
    "Calibration",
    "LeftOutScore",
    "LevelScore",
    "Score",
    "Scores",
    "accuracy",
    "bcubed",
    "calibration",
    "hierarchical",
    "macro_f1",
    "score",
    "score_left_out",
    "thresholds",
    "v_measure",
]
