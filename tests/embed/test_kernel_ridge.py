"""The student's regression: against scikit-learn's, and the same bits whatever the batch."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as Oracle

from hierseed.embed.kernel_ridge import FREE, QUADRATIC, RIDGES, fit_kernel_ridge


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 12)).astype(np.float32) / 4
    Y = X @ random.normal(size=(12, 3)) + (X @ random.normal(size=(12, 3))) ** 2
    Y += 0.05 * random.normal(size=Y.shape)
    return X, Y.astype(np.float32)


@pytest.fixture(scope="module")
def fitted(data):
    X, Y = data
    return fit_kernel_ridge(X[:300], Y[:300], X[300:], Y[300:])


def test_it_agrees_with_scikit_learn(data, fitted):
    X, Y = (part.astype(np.float64) for part in data)
    X = X - X[:300].mean(axis=0)

    products = X @ X[:300].T
    gram = products + QUADRATIC * products**2 + 1 / FREE  # the constant is nearly free
    every = [
        Oracle(alpha=ridge, kernel="precomputed").fit(gram[:300], Y[:300]).predict(gram)
        for ridge in RIDGES
    ]
    wanted = min(every, key=lambda one: ((one - Y)[300:] ** 2).sum())
    left = ((fitted.predict(data[0]) - wanted) ** 2).sum() / ((wanted - wanted.mean(0)) ** 2).sum()
    assert left < 1e-3


def test_a_quadratic_function_is_learned(data, fitted):
    X, Y = data
    linear = np.linalg.lstsq(np.pad(X[:300], ((0, 0), (0, 1)), constant_values=1), Y[:300])[0]
    missed = (np.pad(X[300:], ((0, 0), (0, 1)), constant_values=1) @ linear - Y[300:]) ** 2
    spread = ((Y[300:] - Y[300:].mean(axis=0)) ** 2).sum()
    assert fitted.explained > 0.97 > 0.9 > 1 - missed.sum() / spread


def test_the_bits_of_a_row_depend_on_nothing_else(data, fitted):
    X = data[0]
    whole = fitted.predict(X)
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(fitted.predict(X[order]), whole[order])
    for size in (1, 3, 7, 64):
        np.testing.assert_array_equal(fitted.predict(X[:size]), whole[:size])
