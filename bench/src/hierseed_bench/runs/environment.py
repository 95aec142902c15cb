"""The environment of a run, for its record: versions, commit, machine, memory used."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hierseed.errors import ModelError
from hierseed_bench.repository import ROOT

PACKAGES = ("hierseed", "numpy", "scipy", "scikit-learn")
SOURCES = ("src", "bench/src")  # what a result depends on; docs and results may change


def versions(more: tuple[str, ...] = ()) -> dict[str, str]:
    """Versions of Python and of the packages that compute."""
    found = {"python": platform.python_version()}
    for package in (*PACKAGES, *more):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def provenance(threads: int = 1, packages: tuple[str, ...] = ()) -> dict[str, Any]:
    """The environment of a record: versions, commit, source, machine."""
    return {
        "versions": versions(packages),
        "commit": commit(),
        "source": source_digest(),
        "machine": machine() | {"threads": threads},
    }


def commit() -> str:
    """Return the commit of the source, with `+` if the source has uncommitted changes.

    A copy of the source without git takes it from HIERSEED_COMMIT. Empty for an installed copy.
    """
    head = _git("rev-parse", "--short=12", "HEAD")
    if not head:
        return os.environ.get("HIERSEED_COMMIT", "")
    return head + ("+" if _git("status", "--porcelain", "--", *SOURCES) else "")


def source_digest() -> str:
    """Return a hash of every Python file of the source, which needs no git to compute."""
    files = [file for part in SOURCES for file in (ROOT / part).rglob("*.py")]
    return _digest((file.relative_to(ROOT).as_posix(), _blob(file)) for file in files)


def committed_digest(commit: str) -> str:
    """Return the `source_digest` of a commit; empty if there is no such commit."""
    listed = _git("ls-tree", "-r", commit, "--", *SOURCES).splitlines()
    entries = (line.split(maxsplit=3) for line in listed)
    files = [(path, blob) for _, _, blob, path in entries if path.endswith(".py")]
    return _digest(files) if files else ""


def _digest(files: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f"{blob} {path}\n" for path, blob in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _blob(file: Path) -> str:
    """Return the name that git gives to a file's content."""
    content = file.read_bytes()
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def _git(*words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=30
        )
    except OSError:  # no git here
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def require_clean_tree(allow_dirty: bool = False) -> None:
    """Refuse to make records from source with uncommitted changes: they could not be reproduced."""
    if commit().endswith("+") and not allow_dirty:
        raise ModelError(
            "the source has uncommitted changes, so a record would name a commit that does not "
            "hold the code that made it. Commit them first, or use --allow-dirty"
        )


def machine() -> dict[str, Any]:
    """Describe processor, cores, memory and system; nothing that names the machine."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gib": _memory_gib(),
        "system": platform.system(),
        "architecture": platform.machine(),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def _memory_gib() -> float:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return 0.0


class PeakMemory:
    """Peak of the process's memory inside a block, in MiB; `extra` is above where it began.

    Linux lets a process reset its own peak. Elsewhere the peak is that of the process so far.
    """

    def __enter__(self) -> PeakMemory:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="utf-8", newline="\n")
        self.start = _status("VmRSS") or 0.0
        self.peak = self.extra = 0.0
        return self

    def __exit__(self, *_: object) -> None:
        self.peak = _status("VmHWM") or _peak_so_far()
        self.extra = max(self.peak - self.start, 0.0) if self.start else 0.0


def _status(field: str) -> float | None:
    try:
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None


def _peak_so_far() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
