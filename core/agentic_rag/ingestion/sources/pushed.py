"""A source whose files a client sends: it lists all that it has, and then sends what is awaited."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.documents.upload_arguments import validate_source_path
from agentic_rag.ingestion.ports import Changes, SourceContent, SourceItem
from agentic_rag.ingestion.sources.listing import changes_of, require_few
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.kernel.errors import InvalidInput, NotFound

_NAME = re.compile(r"(checkout|directory|knowledge|project):.{1,1000}")
"""As the sources that a command line reads are named; sources that are followed have names of their own."""

_DIGEST_BYTES = hashlib.sha256().digest_size


def is_pushed_name(text: str) -> bool:
    """Whether a source of that name is one that a client sends or a command reads."""
    return _NAME.fullmatch(text) is not None and text.isprintable()


def validate_pushed_name(text: str) -> str:
    """The name of a source that a client sends. Errors: `InvalidInput` code SOURCE_INVALID."""
    if not is_pushed_name(text):
        raise _invalid("A source that is sent is named `directory:PATH` or `project:NAME/PATH`.", "source")
    return text


def list_file(path: str, content_hash: bytes, size: int, readable_by: tuple[str, ...] | None = None) -> SourceItem:
    """A file of a listing. Errors: `InvalidInput` code SOURCE_INVALID."""
    if len(content_hash) != _DIGEST_BYTES or size < 0:
        raise _invalid(f"The listing states no SHA-256 and size of {path!r}.", "file")
    return SourceItem(
        require_sent_path(path),
        size,
        f"sha256:{content_hash.hex()}",
        readable_by=readable_by,
        content_hash=content_hash,
    )


def require_sent_path(path: str) -> str:
    """Errors: `InvalidInput` code SOURCE_INVALID for a path that no document can have."""
    try:
        if validate_source_path(path) == path:
            return path
    except InvalidInput as error:
        raise _invalid(error.message, "file") from error
    raise _invalid(f"The path {path!r} begins or ends with a space.", "file")


def _invalid(message: str, *path: str) -> InvalidInput:
    return InvalidInput(message, code="SOURCE_INVALID", path=path)


@dataclass(frozen=True, slots=True)
class ListedSource:
    """Implements `ingestion.ports.SourceConnector` over all that a client has. Errors: `InvalidInput` code
    SOURCE_INVALID for a path that stands there twice, SOURCE_TOO_MANY_ITEMS.
    """

    source_id: str
    items: Sequence[SourceItem]
    unreadable: Sequence[UnreadableItem] = ()

    def __post_init__(self) -> None:
        require_few(len(self.items) + len(self.unreadable))
        if len({one.path for one in self.items}) < len(self.items):
            raise _invalid("A path stands in the listing twice.", "file")

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes:
        """All files, and the known paths that are gone."""
        return changes_of(known, self.items, self.unreadable, "")

    async def read(self, item: SourceItem, known: str | None = None) -> SourceContent:
        """Nothing: files are listed here. Errors: `NotFound`."""
        raise NotFound(f"{item.path} is only listed.")


@dataclass(frozen=True, slots=True)
class SentFile:
    """Implements `ingestion.ports.SourceConnector` over one listed file, with its bytes."""

    source_id: str
    listed: SourceItem
    data: bytes

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes:
        """The file; of others nothing is told."""
        return Changes((replace(self.listed, content_hash=None),), (), (), "")

    async def read(self, item: SourceItem, known: str | None = None) -> SourceContent:
        """The bytes that came."""
        return SourceContent(self.data, self.listed.fingerprint)
