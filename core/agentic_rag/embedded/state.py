"""The state of an embedded server between two starts, and the lock that a living one holds."""

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agentic_rag.embedded.errors import EmbeddedServerError, storage_full
from agentic_rag.kernel.errors import is_disk_full


@dataclass(frozen=True, slots=True)
class ServerState:
    """Port of the last start and the password of the server; kept in a file only its owner can read."""

    port: int
    password: str

    @classmethod
    def load(cls, path: Path) -> "ServerState | None":
        """The stored state, or None when there is none.

        Raises EMBEDDED_STATE_BROKEN for an unreadable file, EMBEDDED_HOME_UNUSABLE for somebody else's.
        """
        try:
            stored = cast("object", json.loads(path.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except PermissionError as error:
            raise EmbeddedServerError(
                "EMBEDDED_HOME_UNUSABLE",
                f"{path} belongs to another user: use the account that started the server, "
                "or set AGENTIC_RAG_HOME to another folder.",
            ) from error
        except ValueError as error:
            raise _broken(path) from error
        match stored:
            case {"port": int(port), "password": str(password)}:
                return cls(port, password)
            case _:
                raise _broken(path)

    def save(self, path: Path) -> None:
        """Replace the file atomically: a crash leaves the old state or the new one."""
        write_private(path, json.dumps({"port": self.port, "password": self.password}) + "\n")


def write_private(path: Path, text: str) -> None:
    """Write `text` to `path`, readable by its owner only from the first byte on, atomically and durably."""
    _write_draft(path, text).replace(path)


def create_private(path: Path, text: str) -> None:
    """As `write_private`, where there is no such file; of several processes the first one writes it."""
    draft = _write_draft(path, text)
    try:
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)
    finally:
        draft.unlink()


def _write_draft(path: Path, text: str) -> Path:
    """A file beside `path` that no other process writes."""
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.new-", dir=path.parent)  # its mode is 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        Path(name).unlink()
        raise
    return Path(name)


def make_directory(path: Path, mode: int) -> None:
    """Make `path`, visible to others only once it has its mode; another process may make it meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{path.name}.new-", dir=path.parent))
    draft.chmod(mode)
    try:
        draft.rename(path)
    except OSError:
        draft.rmdir()
        if not path.is_dir():
            raise


class FileLock:
    """An flock on a file; the kernel frees it when the last process that has the descriptor is gone.

    A server has two. The *life* lock is inherited by every process of it: the owner passes the descriptor to
    the watchdog, the watchdog to the server, the server to its children. So "locked" means that some of them
    lives, and "acquired" that none does: no process id has to be trusted. The *owner* lock stays with the
    owner alone: when it is free the server, if any, is on its way out, and nobody should attach to it.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @classmethod
    def acquire(cls, path: Path) -> "FileLock":
        """The lock, after waiting for its holder."""
        return cls._acquire(path, fcntl.LOCK_EX)

    @classmethod
    def try_acquire(cls, path: Path) -> "FileLock | None":
        """The lock, or None while another process holds it."""
        try:
            return cls._acquire(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None

    @classmethod
    def _acquire(cls, path: Path, operation: int) -> "FileLock":
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, operation)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(descriptor)

    @staticmethod
    def has_holder(path: Path) -> bool:
        """Whether a process holds the lock; asking for a shared one keeps those who ask apart from it."""
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def close(self) -> None:
        """Release this process's share; the lock stays held while another process has one."""
        os.close(self.descriptor)


@contextlib.contextmanager
def usable_home(home: Path) -> Generator[None]:
    """Turn errors of files below `home` into STORAGE_FULL or EMBEDDED_HOME_UNUSABLE."""
    try:
        yield
    except OSError as error:
        if is_disk_full(error):
            raise storage_full(f"{home} takes no more files ({error.strerror}).") from error
        raise EmbeddedServerError(
            "EMBEDDED_HOME_UNUSABLE",
            f"{home} cannot be used for the embedded servers ({error}): "
            "set AGENTIC_RAG_HOME to a folder you may write to.",
        ) from error


def _broken(path: Path) -> EmbeddedServerError:
    return EmbeddedServerError(
        "EMBEDDED_STATE_BROKEN",
        f"{path} is damaged, so the server's password is lost: restore the file from a backup, or remove "
        f"{path.parent} to begin with an empty server.",
    )
