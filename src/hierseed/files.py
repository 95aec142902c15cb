"""Files of hierseed: the folder of fetched models, checksums, locks, and atomic writes.

A checksum detects damage and careless edits. It is no signature: whoever can write the file can
also write a matching checksum.

An atomic write fills a partial file and renames it, so that readers never see an incomplete one.

A killed process can leave a hidden `.name.*.partial` behind. A partial file or folder is locked for
as long as its writer lives, so the next write to the same name can delete those that are left.
On Windows nothing is locked and leftovers stay: it renames no file that is open.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from hierseed.errors import name_some

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

# Unix locks whole files and folders by advice, so that others may still read and write them.
# Windows locks bytes of files for everybody: only files made for the purpose can be locked.
LOCKS_ANYTHING = fcntl is not None
CHECKSUM = "sha256"  # the key under which a JSON object carries its own checksum


def model_home() -> Path:
    """`$HIERSEED_HOME`, or `hierseed` in the platform's folder for caches."""
    chosen = os.environ.get("HIERSEED_HOME")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "hierseed"


def model_folder(name: str) -> Path:
    """The folder of one fetched model."""
    return model_home() / "models" / name


def file_sha256(file: Path) -> str:
    """SHA-256 of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def json_sha256(body: dict[str, Any], before: str = "") -> str:
    """SHA-256 of a JSON object, whatever the order of its keys; `before` chains it to another."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256((before + canonical).encode()).hexdigest()


def with_checksum(body: dict[str, Any], before: str = "") -> dict[str, Any]:
    """The same object with its own checksum."""
    return {**body, CHECKSUM: json_sha256(body, before)}


def checked_object(text: str | bytes, before: str = "") -> dict[str, Any]:
    """Parse the result of `with_checksum`; ValueError says what is wrong with it."""
    try:
        body = json.loads(text)
        if not isinstance(body, dict):
            raise ValueError(f"it holds a {type(body).__name__} where an object is expected")
        if CHECKSUM not in body:
            raise ValueError("it has no checksum")
        content = {name: value for name, value in body.items() if name != CHECKSUM}
        if body[CHECKSUM] != json_sha256(content, before):
            raise ValueError("its checksum differs")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return body


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


SUFFIX = ".partial"
LEFT_BY_SYSTEMS = {".DS_Store", "Thumbs.db", "desktop.ini"}  # made by operating systems
LARGEST = 1 << 30  # bytes of a JSON file that is parsed


@contextlib.contextmanager
def atomic_file(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a partial path to write to; it becomes `path` when the block ends without error.

    The partial file exists at once, so a folder that can't be written to is found
    before the long step and not after it. The ending of the name is kept, for
    writers that look at it.
    """
    target = _real(path)
    if target.is_dir():
        raise IsADirectoryError(21, "a folder has this name", str(path))
    _sweep(target)
    partial, handle = _make_partial_file(path, target)
    try:
        yield partial
        _flush_to_disk(partial)
        _keep_mode(partial, target)
        os.replace(partial, target)
        _flush_to_disk(target.parent)
    finally:
        _close(handle)
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_folder(path: str | PathLike[str], marker: str | None = None) -> Iterator[Path]:
    """Give a partial folder to fill; it becomes `path` when the block ends without error.

    A folder that is there already is replaced only if it is empty, or holds the file `marker` (the
    sign that we wrote it) and nothing that we did not write.
    """
    target = _real(path)
    if target.suffix == SUFFIX and target.is_dir():  # inside another such block, which renames
        yield target
        return
    _refuse_foreign(target, marker)
    _sweep(target)
    partial, handle = _make_partial_folder(path, target)
    try:
        yield partial
        os.chmod(partial, 0o777 & ~_umask())
        for file in partial.rglob("*"):
            _flush_to_disk(file)
        if target.exists():
            _refuse_foreign(target, marker)  # a file may have been put there meanwhile
            _exchange(partial, target)
        else:
            os.rename(partial, target)
        _flush_to_disk(target.parent)
    finally:
        _close(handle)
        shutil.rmtree(partial, ignore_errors=True)


def check_folder(path: str | PathLike[str], marker: str | None = None) -> None:
    """Raise now what `atomic_folder` would raise after the long step that comes before it."""
    target = _real(path)
    _refuse_foreign(target, marker)
    partial, handle = _make_partial_folder(path, target)
    _close(handle)
    with contextlib.suppress(FileNotFoundError):  # another process swept it
        os.rmdir(partial)


def _make_partial_file(path: str | PathLike[str], target: Path) -> tuple[Path, int]:
    """Make an empty file that is locked, and return it with its open handle."""
    while True:
        with _naming_target(path):
            handle, name = tempfile.mkstemp(
                prefix=f".{target.name}.",
                suffix=SUFFIX + "".join(target.suffixes[-2:]),
                dir=target.parent,
            )
        if not LOCKS_ANYTHING:
            os.close(handle)
            return Path(name), -1
        if _lock_new(handle, name):
            return Path(name), handle


def _make_partial_folder(path: str | PathLike[str], target: Path) -> tuple[Path, int]:
    """Make an empty folder that is locked, and return it with its open handle."""
    while True:
        with _naming_target(path):
            name = tempfile.mkdtemp(prefix=f".{target.name}.", suffix=SUFFIX, dir=target.parent)
        if not LOCKS_ANYTHING:
            return Path(name), -1
        try:
            handle = os.open(name, os.O_RDONLY)
        except FileNotFoundError:  # swept
            continue
        if _lock_new(handle, name):
            return Path(name), handle


def _lock_new(handle: int, name: str) -> bool:
    """Lock what was just made; False if another process swept it before it was locked."""
    try:
        lock(handle)
        if os.path.samestat(os.fstat(handle), os.stat(name)):
            return True
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(handle)
    return False


def _close(handle: int) -> None:
    if handle >= 0:
        os.close(handle)


@contextlib.contextmanager
def _naming_target(path: str | PathLike[str]) -> Iterator[None]:
    """Name the target file in an error, not the partial one."""
    try:
        yield
    except OSError as fault:
        if fault.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        reason = f"its folder can't be written to ({fault.strerror}); name another one"
        raise type(fault)(fault.errno, reason, str(path)) from None


def _real(path: str | PathLike[str]) -> Path:
    """Follow links, so that the file behind one is replaced and the link stays."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(2, "its folder does not exist; make it first", str(path))
    return target


def _refuse_foreign(target: Path, marker: str | None) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise NotADirectoryError(20, "a file has this name; name another folder", str(target))
    if marker is None or not (target / marker).is_file():
        if any(target.iterdir()):
            reason = "the folder holds other files and will not be replaced; name a new one"
            raise FileExistsError(17, reason, str(target))
    elif foreign := foreign_files(target, marker):
        reason = (
            f"the folder holds files that hierseed did not write ({name_some(foreign)}) and will "
            "not be replaced; move them elsewhere, or name another folder"
        )
        raise FileExistsError(17, reason, str(target))


def _sweep(target: Path) -> None:
    """Delete what killed writers of the same name left behind."""
    if not LOCKS_ANYTHING:
        return
    for leftover in target.parent.glob(f".{_literal(target.name)}.*{SUFFIX}*"):
        with contextlib.suppress(OSError):
            handle = os.open(leftover, os.O_RDONLY)
            try:
                lock(handle)  # fails while the writer is alive
                shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
            finally:
                os.close(handle)


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _keep_mode(partial: Path, target: Path) -> None:
    """Give the rights of the file replaced, or those of any new file (mkstemp gives 0600)."""
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    os.chmod(partial, mode)


def _flush_to_disk(path: Path) -> None:
    """Ask for the bytes to reach the disk before the rename does; folders too where possible."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _exchange(partial: Path, target: Path) -> None:
    """Swap two folders in one step where the system can, else in two renames."""
    if _swap(os.fsencode(partial), os.fsencode(target)):
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=SUFFIX, dir=target.parent))
    os.rename(target, aside / "old")
    os.rename(partial, target)
    shutil.rmtree(aside, ignore_errors=True)


def _swap(one: bytes, other: bytes) -> bool:
    """Exchange two names in one step; False where the system or the disk can't."""
    try:
        system = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(system.renamex_np(one, other, 2) == 0)
        return bool(system.renameat2(-100, one, -100, other, 2) == 0)
    except (AttributeError, OSError, TypeError):  # TypeError: Windows has no library of this kind
        return False


def foreign_files(folder: Path, marker: str) -> list[str]:
    """Files that no JSON file of ours names, as paths inside the folder.

    Each JSON file that hierseed saves has its own checksum and names the files next to it.
    `marker` is ours even if it was damaged.
    """
    ours = {folder / marker}
    for file in folder.rglob("*.json"):
        ours.update(_named_by(file))
    return sorted(
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if (file.is_symlink() or not file.is_dir())
        and file not in ours
        and file.name not in LEFT_BY_SYSTEMS
    )


def _named_by(file: Path) -> Iterator[Path]:
    try:
        body = checked_object(file.read_bytes()) if file.stat().st_size < LARGEST else {}
    except (OSError, ValueError):
        return
    if not body:
        return
    yield file
    for key, ending in (("arrays", ".npy"), ("files", "")):
        names = body.get(key)
        if isinstance(names, dict):
            yield from (file.parent / f"{name}{ending}" for name in names)
