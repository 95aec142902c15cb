"""The processors that a process may use, as joblib counts them."""

import os

import pytest
from joblib import cpu_count

from hierseed import threads


def test_it_is_what_joblib_counts():
    assert threads.usable_cpus() == cpu_count()


@pytest.mark.parametrize(
    ("limit", "expected"), [("150000 100000", 2), ("50000 100000", 1), ("max 100000", 8), ("", 8)]
)
def test_a_container_has_what_it_was_given(limit, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    monkeypatch.setattr(threads, "QUOTA", tmp_path / "cpu.max")
    (tmp_path / "cpu.max").write_text(limit)
    assert threads.usable_cpus() == expected


@pytest.mark.parametrize(("quota", "expected"), [("250000", 3), ("-1", 8), (None, 8)])
def test_an_older_container_too(quota, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    monkeypatch.setattr(threads, "QUOTA", tmp_path / "none")
    monkeypatch.setattr(threads, "OLD_QUOTA", (tmp_path / "quota", tmp_path / "period"))
    if quota:
        (tmp_path / "quota").write_text(quota)
        (tmp_path / "period").write_text("100000")
    assert threads.usable_cpus() == expected
