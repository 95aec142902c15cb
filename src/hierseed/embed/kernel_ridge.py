"""Kernel ridge regression with a quadratic kernel, and predictions whose sums are exact.

The kernel is k(x, z) = x·z + QUADRATIC (x·z)². Its linear part is a plain matrix; its quadratic
part is spanned by the first rows of the training data, the landmarks, so that the cost of a
prediction does not grow with the training data.

Features and coefficients are rounded to so few bits that every sum in a prediction is exact in
float64. So no prediction depends on the other rows, on the number of threads or on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Floats
from hierseed.threads import one_thread

Single = NDArray[np.float32]

QUADRATIC = 0.2  # weight of the quadratic part; features consist of three blocks of unit length
LANDMARKS = 2_000
RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # penalties tried
FREE = 1e-9  # penalty of the constant
JITTER = 1e-3  # of the mean diagonal entry, so that equal landmarks do no harm
ROWS = 1_000  # at a time
BITS = 12  # behind the binary point, of features and of products of features
COEFFICIENT_BITS = 20  # of the largest coefficient


@dataclass(frozen=True)
class KernelRidge:
    """A fitted regression.

    Attributes
    ----------
    centre : subtracted from every row
    landmarks : rows that the quadratic part compares with
    coefficients : of the features, then the constant, then the squared products with landmarks
    explained : share of the variance of held-out targets that it explains
    """

    centre: Single
    landmarks: Single
    coefficients: Single
    explained: float = float("nan")

    def predict(self, X: Single) -> Single:
        """One row of targets per row."""
        found = np.empty((len(X), self.coefficients.shape[1]), dtype=np.float32)
        wide = self.coefficients.astype(np.float64)
        for start in range(0, len(X), ROWS):
            rows = _expand(X[start : start + ROWS], self.centre, self.landmarks)
            found[start : start + ROWS] = rows @ wide
        return found


def fit_kernel_ridge(X: Single, Y: Single, X_held: Single, Y_held: Single) -> KernelRidge:
    """Fit with the penalty that explains most of the variance of the held-out targets."""
    d = X.shape[1]
    with one_thread():  # the order of a sum depends on the number of threads
        centre = _round(X.mean(axis=0, dtype=np.float64), BITS).astype(np.float32)
        landmarks = _round(X[:LANDMARKS] - centre, BITS).astype(np.float32)
        size = d + 1 + len(landmarks)
        products, sums = np.zeros((size, size)), np.zeros((size, Y.shape[1]))
        for start in range(0, len(X), ROWS):
            rows = _expand(X[start : start + ROWS], centre, landmarks)
            products += rows.T @ rows
            sums += rows.T @ Y[start : start + ROWS].astype(np.float64)
        penalty = _penalty(d, landmarks)
        held, target = _expand(X_held, centre, landmarks), Y_held.astype(np.float64)
        spread = max(float(((target - target.mean(axis=0)) ** 2).sum()), 1e-12)
        best, most = np.zeros_like(sums), -np.inf
        for ridge in RIDGES:
            found = np.linalg.solve(products + ridge * penalty, sums)
            explained = 1 - float(((held @ found - target) ** 2).sum()) / spread
            if explained > most:
                best, most = found, explained
    bits = COEFFICIENT_BITS - int(np.ceil(np.log2(max(np.abs(best).max(), 1e-30))))
    return KernelRidge(centre, landmarks, _round(best, bits).astype(np.float32), most)


def _expand(X: Single, centre: Single, landmarks: Single) -> Floats:
    """The features, a constant, and the squared products with the landmarks."""
    rows = _round(X - centre, BITS)
    squares = _round((rows @ landmarks.T.astype(np.float64)) ** 2, BITS)
    return np.hstack([rows, np.ones((len(rows), 1)), squares])


def _penalty(d: int, landmarks: Single) -> Floats:
    """The squared norm of the function, as a quadratic form in the coefficients."""
    wide = landmarks.astype(np.float64)
    quadratic = (wide @ wide.T) ** 2 / QUADRATIC
    quadratic += JITTER * np.trace(quadratic) / max(len(wide), 1) * np.eye(len(wide))
    penalty = np.zeros((d + 1 + len(wide),) * 2)
    penalty[:d, :d] = np.eye(d)
    penalty[d, d] = FREE
    penalty[d + 1 :, d + 1 :] = quadratic
    return penalty


def _round(values: Floats | Single, bits: int) -> Floats:
    """Round to multiples of 2 ** -bits."""
    return np.rint(np.ldexp(np.asarray(values, dtype=np.float64), bits)) / 2.0**bits
