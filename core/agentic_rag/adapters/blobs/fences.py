"""Stores the highest fence of a file in a hidden file next to it, which also serves as the writers' lock."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Generator
from pathlib import Path

from agentic_rag.kernel.errors import LeaseLost

PREFIX = ".fence-"
_MAX_DIGITS = 20


def fence_of(path: Path) -> Path:
    """The file that stores the fence of the file at `path`."""
    return path.with_name(f"{PREFIX}{path.name}")


def write_with_fence(path: Path, fence: int, write: Callable[[], None]) -> None:
    """Run `write` unless a higher fence was used. The fence is on disk before the content, so a crash between the two
    can only refuse more. Errors: `LeaseLost`.
    """
    with _hold_lock(fence_of(path)) as descriptor:
        seen = int(os.pread(descriptor, _MAX_DIGITS, 0) or b"0")
        if fence < seen:
            raise LeaseLost("A newer holder of the job has written this blob: stop, change nothing.")
        os.pwrite(descriptor, str(fence).zfill(_MAX_DIGITS).encode(), 0)
        os.fsync(descriptor)
        write()


def remove_with_fence(path: Path, remove: Callable[[], None]) -> None:
    """Run `remove` and delete the fence, if there is one."""
    fence = fence_of(path)
    if not fence.exists():
        remove()
        return
    with _hold_lock(fence):
        remove()
        fence.unlink(missing_ok=True)


@contextlib.contextmanager
def _hold_lock(path: Path) -> Generator[int]:
    """Opens the file at `path` and locks it against other processes; reopens it if it was unlinked during the wait."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue  # The folder was removed after it was created.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(descriptor, path):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return os.fstat(descriptor).st_ino == there.st_ino
