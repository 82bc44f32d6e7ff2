"""A connector's items at their place in a workspace: under a prefix, chosen by patterns, with their readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from agentic_rag.ingestion.ports import UNKNOWN_SIZE, Changes, SourceConnector, SourceContent, SourceItem
from agentic_rag.ingestion.sources.listing import changes_of
from agentic_rag.ingestion.sources.readers import READERS_FILE, ReaderRule, parse_readers, readers_of_path
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.kernel.errors import NotFound


class PlacedSource:
    """Implements `ingestion.ports.SourceConnector` over another one, whose paths know no prefix."""

    def __init__(self, inner: SourceConnector, source_id: str, prefix: str = "", include: Sequence[str] = ()) -> None:
        self._inner = inner
        self._source_id = source_id
        self._prefix = prefix
        self._include = tuple(include)

    @property
    def source_id(self) -> str:
        """The name that the documents carry."""
        return self._source_id

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes | None:
        """What the source holds, as the workspace names it. Errors: also those of `parse_readers`."""
        inside = frozenset(path.removeprefix(self._prefix) for path in known if path.startswith(self._prefix))
        found = await self._inner.changes(inside, cursor)
        if found is None:
            return None
        rules = await self._rules()
        items = [
            replace(item, path=f"{self._prefix}{item.path}", readable_by=readers_of_path(rules, item.path))
            for item in found.upserted
            if self._takes(item.path)
        ]
        unreadable = [
            UnreadableItem(f"{self._prefix}{item.path}", item.code, item.message)
            for item in found.unreadable
            if item.path != READERS_FILE
        ]
        return changes_of(known, items, unreadable, found.cursor)

    async def read(self, item: SourceItem, known: str | None = None) -> SourceContent | None:
        """The content of an item."""
        return await self._inner.read(replace(item, path=item.path.removeprefix(self._prefix)), known)

    def _takes(self, path: str) -> bool:
        return not self._include or any(fnmatchcase(path, pattern) for pattern in self._include)

    async def _rules(self) -> tuple[ReaderRule, ...]:
        try:
            content = await self._inner.read(SourceItem(READERS_FILE, UNKNOWN_SIZE, ""))
        except NotFound:
            return ()
        return () if content is None else parse_readers(content.data.decode("utf-8", "replace"))
