"""Variants of HierSeed: ours, and the paper to the letter. docs/fidelity.md gives the reasons."""

from __future__ import annotations

from typing import Any

TO_THE_END = 10_000  # Lloyd iterations that no k-means of a level needs

PAPER: dict[str, Any] = {
    "stop_rule": "within",  # Eq. 4 alone
    "tol": 0.0,  # "while Equation 4 is minimized"
    "refine_max_iter": TO_THE_END,  # Voronoi iterations, without a limit
    "refine_tol": 0.0,
    "sphere": "deviation",  # "statistics (mean and standard deviation) of all errors"
    "sphere_triples": "all",  # "for all combination of three points"
    "overlap": "fitting",  # inference by Eq. 3 alone
    "only_child": "zero",  # twice the distance of the furthest child, which is 0
}
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": PAPER,
    "paper-nyt": PAPER | {"les_weight": 0.0},  # appendix D: weight 4 on WOS and RCV1, 0 on NYT
}
