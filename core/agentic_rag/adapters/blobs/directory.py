"""Original bytes in a local directory."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import secrets
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from pathlib import Path
from typing import BinaryIO

from agentic_rag.adapters.blobs.fences import remove_with_fence, write_with_fence
from agentic_rag.adapters.blobs.keys import key_parts
from agentic_rag.adapters.blobs.marker import MARKER, holds_blobs, is_marked, mark
from agentic_rag.documents.originals import folder_missing, place_unmarked
from agentic_rag.documents.ports import StoredBlob
from agentic_rag.kernel.errors import DependencyUnavailable, NotFound, is_disk_full

PIECE = 64 * 1024

_UNFINISHED = ".part-"
"""Prefix of temporary file names; no key can begin with it, so a crash leaves nothing that looks like a blob."""


class DirectoryBlobStore:
    """`documents.ports.BlobStore`. A blob is complete or absent: it is written to a temporary file, synced,
    then renamed.

    With `was_used`, which tells whether blobs were stored before, an empty directory that was is not taken for this
    store: it may be the place of a volume that is not mounted, which would hide what is written there. The first use
    marks the directory, also one from before there were marks.
    """

    def __init__(self, root: Path, was_used: Callable[[], Awaitable[bool]] | None = None) -> None:
        self._root = root
        self._was_used = was_used

    async def put(self, key: str, content: bytes, fence: int | None = None) -> None:
        """Store `content` under `key` atomically. With a `fence`, fails if a higher one was used before."""
        path = self._path(key)
        await self._require_place(key)
        with _translate_errors(key):
            if fence is None:
                await asyncio.to_thread(_write, path, content)
            else:
                await asyncio.to_thread(write_with_fence, path, fence, lambda: _write(path, content))

    async def put_stream(self, key: str, pieces: AsyncIterator[bytes]) -> StoredBlob:
        """Store the bytes of `pieces` under `key`; a failure leaves nothing."""
        path = self._path(key)
        await self._require_place(key)
        digest, size = hashlib.sha256(), 0
        with _translate_errors(key):
            unfinished, descriptor = await asyncio.to_thread(_begin, path)
        file = os.fdopen(descriptor, "wb")
        try:
            try:
                async for piece in pieces:
                    digest.update(piece)
                    size += len(piece)
                    with _translate_errors(key):
                        await _run_to_end(file.write, piece)
                with _translate_errors(key):
                    await _run_to_end(_finish, file, unfinished, path)
            finally:
                # Closing writes what is buffered, which a full disk refuses again.
                with _translate_errors(key):
                    file.close()
        except asyncio.CancelledError:
            # The cancellation may come after the file was renamed.
            for left in (unfinished, path):
                left.unlink(missing_ok=True)
            raise
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        return StoredBlob(size, digest.digest())

    async def read(self, key: str) -> bytes:
        path = self._path(key)
        async with self._missing_for_good(key):
            return await asyncio.to_thread(path.read_bytes)

    async def stream(self, key: str, part: range | None = None) -> AsyncIterator[bytes]:
        path = self._path(key)
        async with self._missing_for_good(key):
            file = await asyncio.to_thread(_open_at, path, part.start if part else 0)
        left = sys.maxsize if part is None else len(part)
        try:
            while left:
                with _translate_errors(key):
                    piece = await asyncio.to_thread(file.read, min(PIECE, left))
                if not piece:
                    return
                left -= len(piece)
                yield piece
        finally:
            file.close()

    async def delete(self, key: str) -> bool:
        """Errors: also `DependencyUnavailable` where the blob is missing, and so is the mark or a folder that storing
        the blob made and deleting it leaves: this is another directory, such as the place of a volume that is not
        mounted, and the blob may lie on.
        """
        parts = key_parts(key)
        path, kept = self._path(key), self._root.joinpath(*parts[:-2])
        try:
            with _translate_errors(key):
                await asyncio.to_thread(remove_with_fence, path, lambda: _remove(path))
        except NotFound as missing:
            # With the last blob that lies in it by itself, the directory goes.
            if len(parts) > 1 and not await _is_folder(key, kept):
                raise folder_missing(str(kept)) from missing
            await self._require_place(key, is_to_read=True)
            return False
        return True

    async def keys(self, prefix: str) -> list[str]:
        start = self._path(prefix) if prefix else self._root
        await self._require_place(prefix, is_to_read=True)
        with _translate_errors(prefix):
            return await asyncio.to_thread(lambda: sorted(_below(self._root, start)))

    async def has_folder(self, prefix: str) -> bool:
        return await _is_folder(prefix, self._path(prefix))

    def _path(self, key: str) -> Path:
        return self._root.joinpath(*key_parts(key))

    async def _require_place(self, key: str, *, is_to_read: bool = False) -> None:
        """Marks the directory at its first use; what is read may lie where nothing can be written, such as a mount for
        reading. Errors: `DependencyUnavailable`, with code BLOBS_NOT_THERE where this is another directory than blobs
        were stored in.
        """
        if self._was_used is None:
            return
        with _translate_errors(key):
            if await asyncio.to_thread(is_marked, self._root):
                return
            is_ours = await asyncio.to_thread(holds_blobs, self._root)
        if not is_ours and await self._was_used():
            raise place_unmarked(str(self._root), MARKER)
        forgiven = (OSError,) if is_ours and is_to_read else ()
        with _translate_errors(key), contextlib.suppress(*forgiven):
            await asyncio.to_thread(mark, self._root)

    @contextlib.asynccontextmanager
    async def _missing_for_good(self, key: str) -> AsyncGenerator[None]:
        """Nothing is missing in a directory that is not the store's."""
        try:
            with _translate_errors(key):
                yield
        except NotFound:
            await self._require_place(key, is_to_read=True)
            raise


async def _is_folder(key: str, path: Path) -> bool:
    """Errors: `DependencyUnavailable` where that cannot be told, as of a mount whose server is away."""
    with _translate_errors(key):
        return await asyncio.to_thread(path.is_dir)


async def _run_to_end(do: Callable[..., object], *arguments: object) -> None:
    """Run in a thread. On cancellation, wait for the thread, which cannot be stopped, before raising."""
    running = asyncio.ensure_future(asyncio.to_thread(do, *arguments))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


@contextlib.contextmanager
def _translate_errors(key: str) -> Generator[None]:
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise NotFound(f"There is no blob {key}.") from error
    except OSError as error:
        if is_disk_full(error):
            raise DependencyUnavailable(
                f"The disk of the blob directory is full ({error.strerror}): free some space, then try again.",
                dependency="blobs",
                code="STORAGE_FULL",
            ) from error
        raise DependencyUnavailable(
            f"The blob directory refused blob {key}: {error.strerror}. Check its disk and permissions.",
            dependency="blobs",
        ) from error


def _open_at(path: Path, start: int) -> BinaryIO:
    file = path.open("rb")
    file.seek(start)
    return file


def _write(path: Path, content: bytes) -> None:
    unfinished, descriptor = _begin(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            _finish(file, unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _begin(path: Path) -> tuple[Path, int]:
    """A new temporary file next to `path`, and its descriptor."""
    unfinished = path.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
    return unfinished, _create(unfinished)


def _finish(file: BinaryIO, unfinished: Path, path: Path) -> None:
    """Sync a written file and rename it to its final path."""
    file.flush()
    os.fsync(file.fileno())
    unfinished.replace(path)
    _sync_directory(path.parent)


def _create(path: Path) -> int:
    """Open a new file, with retries: `_remove` may delete the empty folder before the file is created, or while `mkdir`
    checks it (which raises `FileExistsError`).
    """
    for _ in range(10):
        with contextlib.suppress(FileNotFoundError, FileExistsError):
            return _create_once(path)
    return _create_once(path)


def _create_once(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    path.unlink()
    with contextlib.suppress(OSError):  # Not empty, or in use by another writer.
        path.parent.rmdir()


def _below(root: Path, start: Path) -> Iterator[str]:
    """Errors: `OSError` of a folder that cannot be read: it may hold some."""
    if start.is_file():
        yield start.relative_to(root).as_posix()
    for folder, _, names in os.walk(start, onerror=_raise_unless_gone):
        for name in names:
            if not name.startswith("."):
                yield (Path(folder) / name).relative_to(root).as_posix()


def _raise_unless_gone(error: OSError) -> None:
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        raise error
