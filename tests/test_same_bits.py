"""Same input, same bits: whatever the order of rows, the offset of the vectors, or the clock."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy, UnfitHierSeed
from hierseed.core.mixture.em import initialise
from hierseed.core.mixture.sample import SAMPLE
from hierseed.errors import CorpusError
from hierseed.estimators.anchored import fitting

ESTIMATORS = [AnchoredHierSeed, HierSeed, UnfitHierSeed]


def world(seed, n=400, d=10):
    """Documents around nine leaves, with six seeds each; values that float32 holds exactly."""
    rng = np.random.default_rng(seed)
    taxonomy = Taxonomy.from_paths([f"{a} > {b}" for a in "ABC" for b in "xyz"])
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    centres = rng.normal(size=(len(taxonomy), d)) * 1.2
    truth = rng.choice(leaves, n)
    X = np.round((centres[truth] + rng.normal(size=(n, d))) * 64) / 64
    y = np.full(n, -1)
    for leaf in leaves:
        y[np.flatnonzero(truth == leaf)[:6]] = leaf
    return taxonomy, X.astype(np.float32), y


def contents(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_two_identical_fits_give_identical_folders(estimator, tmp_path):
    taxonomy, X, y = world(0)
    for name in ("a", "b"):
        estimator(taxonomy).fit(X, y).save(tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_a_start_beside_the_pass_over_the_corpus_changes_no_bit(tmp_path, monkeypatch):
    """With threads, one fits the sample while the others sum up a corpus larger than it."""
    taxonomy, X, y = world(0, n=SAMPLE + 1000)
    begun = []
    monkeypatch.setattr(
        fitting,
        "initialise",
        lambda *given: begun.append(threading.current_thread().name) or initialise(*given),
    )
    for jobs in (1, 3):
        model = AnchoredHierSeed(taxonomy, n_jobs=jobs).fit(X, y)
        model.n_jobs = None
        model.save(tmp_path / str(jobs))
        assert (begun[-1] == "MainThread") == (jobs == 1)
    assert contents(tmp_path / "1") == contents(tmp_path / "3")


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("n", [600, 2000, SAMPLE + 1000])
def test_threads_of_the_matrix_library_change_no_bit(estimator, n, tmp_path):
    """Sums over so many topics are shared among threads; the sample is the corpus, or a part."""
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_paths([f"{i // 10} > {i}" for i in range(150)])
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    topic = rng.choice(leaves, n)
    topic[: len(leaves)] = leaves
    X = rng.normal(size=(len(taxonomy), 300))[topic] + rng.normal(size=(n, 300))
    y = np.where(np.arange(n) < 450, topic, -1)
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads, user_api="blas"):
            estimator(taxonomy, n_jobs=1).fit(X, y).save(tmp_path / str(threads))
    assert contents(tmp_path / "1") == contents(tmp_path / "2") == contents(tmp_path / "4")


@pytest.mark.parametrize("seed", range(4))
def test_calibration_curves_do_not_depend_on_the_order_of_rows(seed):
    taxonomy, X, y = world(seed)
    order = np.random.default_rng(seed + 100).permutation(len(X))
    straight = AnchoredHierSeed(taxonomy).fit(X, y)
    shuffled = AnchoredHierSeed(taxonomy).fit(X[order], y[order])
    np.testing.assert_array_equal(straight.curve_, shuffled.curve_)
    np.testing.assert_array_equal(straight.labels_[order], shuffled.labels_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_common_offset_changes_no_label_or_is_refused(estimator, dtype):
    taxonomy, X, y = world(1)
    labels = estimator(taxonomy).fit(X, y).labels_
    refused = []
    for offset in (1, 10, 100, 1_000, 10_000, 100_000):
        moved = (X + dtype(offset)).astype(dtype)
        try:
            found = estimator(taxonomy).fit(moved, y).labels_
        except CorpusError as fault:
            refused.append(offset)
            assert "Subtract their mean" in str(fault)  # noqa: PT017
            centred = moved.astype("float64") - moved.mean(axis=0, dtype="float64")
            found = estimator(taxonomy).fit(centred, y).labels_
        np.testing.assert_array_equal(found, labels)
    assert refused == [1_000, 10_000, 100_000]
