"""A directory as a source of documents."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from agentic_rag.ingestion.ports import Changes, SourceContent, SourceItem
from agentic_rag.ingestion.sources.listing import HIDDEN, LINK_OUTSIDE, changes_of
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, NotFound
from agentic_rag.kernel.text import is_hidden_name

UNREADABLE = "SOURCE_UNREADABLE"
NOT_A_FILE = "SOURCE_NOT_A_FILE"
NAME_UNUSABLE = "SOURCE_NAME_UNUSABLE"
TOO_LARGE = "SOURCE_TOO_LARGE"

MAX_BYTES = 256 * 1024 * 1024


class DirectorySource:
    """Implements `ingestion.ports.SourceConnector` over the files below `root`.

    Hidden entries and links that leave the root are reported and skipped. Links inside the root are followed, except
    into a loop. A folder that cannot be listed is reported, and its known files do not count as deleted.
    """

    def __init__(self, root: Path, max_bytes: int = MAX_BYTES) -> None:
        self._given = root
        self._root = root.resolve()
        self._max_bytes = max_bytes

    @property
    def source_id(self) -> str:
        """`directory:` and the resolved path."""
        return f"directory:{self._root}"

    async def list(self) -> AsyncIterator[SourceItem | UnreadableItem]:
        """Every item, in path order. Errors: `InvalidInput` code SOURCE_NOT_FOUND or SOURCE_UNREADABLE."""
        await asyncio.to_thread(self.require)
        for entry in await asyncio.to_thread(lambda: [*self._walk(self._root, "", ())]):
            yield entry

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes:
        """Every item, and the known paths that are gone. A directory keeps no journal, so `cursor` only shows whether
        anything changed.
        """
        items: list[SourceItem] = []
        unreadable: list[UnreadableItem] = []
        digest = hashlib.sha256()
        async for entry in self.list():
            digest.update(f"{entry}\n".encode(errors="surrogatepass"))
            if isinstance(entry, SourceItem):
                items.append(entry)
            else:
                unreadable.append(entry)
        return changes_of(known, items, unreadable, digest.hexdigest())

    async def read(self, item: SourceItem, known: str | None = None) -> SourceContent:
        """The content of an item. Errors: `NotFound` when it is gone, `DependencyUnavailable` when it cannot be
        read.
        """
        try:
            return SourceContent(await asyncio.to_thread(self._read, item.path), item.fingerprint)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise NotFound(f"{item.path} is no longer in {self._given}.") from error
        except OSError as error:
            raise DependencyUnavailable(
                f"{item.path} cannot be read: {error.strerror}. Check its permissions.", dependency="source"
            ) from error

    def require(self) -> None:
        """The folder is there and can be listed. Errors: `InvalidInput` code SOURCE_NOT_FOUND or SOURCE_UNREADABLE."""
        try:
            status = self._root.stat()
            if stat.S_ISDIR(status.st_mode):
                os.listdir(self._root)
                return
            fault = "is a file: `rag upload` takes files" if stat.S_ISREG(status.st_mode) else "is no folder"
        except (FileNotFoundError, NotADirectoryError):
            fault = "does not exist"
        except OSError as error:
            raise InvalidInput(
                f"The source directory {self._given} cannot be listed: {error.strerror}. Nothing was changed: see its "
                "permissions, and whether the server of its mount answers.",
                code=UNREADABLE,
                path=("source",),
            ) from error
        raise InvalidInput(
            f"The source directory {self._given} {fault}.",
            code="SOURCE_NOT_FOUND",
            path=("source",),
        )

    def _read(self, path: str) -> bytes:
        file = self._root / path
        # The entry may have become a link out of the root since it was listed.
        if not file.resolve().is_relative_to(self._root):
            raise FileNotFoundError(path)
        with file.open("rb") as content:
            data = content.read(self._max_bytes + 1)
        if len(data) > self._max_bytes:
            raise OSError(0, f"it grew beyond {self._max_bytes} bytes")
        return data

    def _walk(
        self, folder: Path, prefix: str, above: tuple[tuple[int, int], ...]
    ) -> Iterator[SourceItem | UnreadableItem]:
        try:
            status = folder.stat()
            names = os.listdir(folder)
        except OSError as error:
            yield UnreadableItem(prefix.rstrip("/"), UNREADABLE, f"The folder cannot be listed: {error.strerror}.")
            return
        identity = (status.st_dev, status.st_ino)
        if identity in above:
            yield UnreadableItem(prefix.rstrip("/"), NOT_A_FILE, "The link leads back to a folder above it.")
            return
        # Sort a folder with its trailing slash, in the order of its files' paths.
        for name in sorted(names, key=lambda name: f"{name}/" if _is_folder(folder / name) else name):
            yield from self._entry(folder / name, f"{prefix}{name}", (*above, identity))

    def _entry(
        self, path: Path, relative: str, above: tuple[tuple[int, int], ...]
    ) -> Iterator[SourceItem | UnreadableItem]:
        printable = relative.encode(errors="backslashreplace").decode()
        if printable != relative:
            yield UnreadableItem(printable, NAME_UNUSABLE, "The name is not valid UTF-8; rename the file.")
            return
        if is_hidden_name(path.name):
            yield UnreadableItem(relative, HIDDEN, "Hidden entries are left out.")
            return
        try:
            if path.is_symlink() and not path.resolve(strict=True).is_relative_to(self._root):
                yield UnreadableItem(relative, LINK_OUTSIDE, "The link leads out of the source directory.")
                return
            status = path.stat()
        except (OSError, RuntimeError) as error:
            yield UnreadableItem(relative, UNREADABLE, f"It cannot be read: {error}.")
            return
        if stat.S_ISDIR(status.st_mode):
            yield from self._walk(path, f"{relative}/", above)
        else:
            yield self._file(path, relative, status)

    def _file(self, path: Path, relative: str, status: os.stat_result) -> SourceItem | UnreadableItem:
        if not stat.S_ISREG(status.st_mode):
            return UnreadableItem(relative, NOT_A_FILE, "It is neither a file nor a folder.")
        if not os.access(path, os.R_OK):
            return UnreadableItem(relative, UNREADABLE, "This user may not read it.")
        if status.st_size > self._max_bytes:
            return UnreadableItem(relative, TOO_LARGE, f"It is larger than {self._max_bytes} bytes.")
        return SourceItem(relative, status.st_size, f"{status.st_size}:{status.st_mtime_ns}")


def _is_folder(path: Path) -> bool:
    """False where that cannot be told: an entry that does not answer is reported by whoever reads it."""
    try:
        return path.is_dir()
    except OSError:
        return False
