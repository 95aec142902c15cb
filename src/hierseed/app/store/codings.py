"""Samples that several people code, each without seeing the others."""

from __future__ import annotations

from hierseed.app.project import Project

KEY = "coders"


def add_coder(project: Project, name: str) -> None:
    """Remember the name of a coder."""
    known = project.get(KEY, [])
    if name not in known:
        project.put(KEY, [*known, name])


def coders(project: Project) -> list[str]:
    """Names of all coders, in the order in which they came."""
    found: list[str] = project.get(KEY, [])
    return found
