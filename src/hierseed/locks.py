"""Lock an open file against other processes, on Unix and on Windows."""

from __future__ import annotations

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

# Unix locks whole files and folders by advice, so that others may still read and write them.
# Windows locks bytes of files for everybody: only files made for the purpose can be locked.
LOCKS_ANYTHING = fcntl is not None


def lock(handle: int, *, wait: bool = False) -> None:
    """Lock a file until it is closed, however its process ends.

    Raises `BlockingIOError` if another process holds the lock, unless `wait` is true.
    """
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    while True:
        try:
            msvcrt.locking(handle, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            return
        except OSError as fault:  # LK_LOCK gives up after ten seconds
            if not wait:
                raise BlockingIOError(fault.errno, "another process has locked it") from None
