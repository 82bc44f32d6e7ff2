"""The folders of `rag knowledge sync`: how each stands, how they are shown, and what they are brought into."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.sources.knowledge import KnowledgeDirectory, ProjectIdentity, source_name
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.in_process import ACTOR, System
from agentic_rag_cli.output import terminal

if TYPE_CHECKING:
    from agentic_rag.ingestion.ports import SourceConnector
    from agentic_rag.ingestion.sources.source import UnreadableItem
    from agentic_rag.ingestion.sync import SyncOptions, SyncResult


@dataclass(slots=True)
class FolderState:
    """One folder of a run: its state, what its synchronisation did, and its documents."""

    project: ProjectIdentity
    directory: KnowledgeDirectory
    is_stated: bool
    is_dropped: bool = False
    """It has documents, and the settings name it no longer."""
    former: Sequence[ProjectIdentity] = ()
    """As what its project was known before."""
    state: str = "waiting"
    result: SyncResult | None = None
    error: AgenticRagError | None = None
    documents: Mapping[DocumentStatus, int] = field(default_factory=dict[DocumentStatus, int])
    signature: str = ""

    @property
    def source(self) -> str:
        """What its documents carry as their `source`."""
        return source_name(self.project, self.directory.path)

    @property
    def pending(self) -> int:
        """Documents that are not done."""
        return self.documents.get(DocumentStatus.PENDING, 0) + self.documents.get(DocumentStatus.PROCESSING, 0)

    @property
    def needs_attention(self) -> bool:
        """Whether a person has to look: the folder, a file or a document failed."""
        return self.error is not None or bool(self.documents.get(DocumentStatus.FAILED) or self._counts["unreadable"])

    @property
    def unreadable(self) -> list[UnreadableItem]:
        """Files that were not taken and that nobody left out on purpose."""
        from agentic_rag.ingestion.sources.listing import LEFT_OUT_ON_PURPOSE

        every = () if self.result is None else self.result.unreadable
        return [one for one in every if one.code not in LEFT_OUT_ON_PURPOSE]

    @property
    def _counts(self) -> dict[str, int]:
        result = self.result
        if result is None:
            return dict.fromkeys(("new", "changed", "moved", "hidden", "returned", "unchanged", "unreadable"), 0)
        return {
            "new": len(result.new),
            "changed": len(result.changed),
            "moved": len(result.moved),
            "hidden": len(result.hidden) + len(result.deleted),
            "returned": len(result.returned),
            "unchanged": result.unchanged,
            "unreadable": len(self.unreadable),
        }

    def as_json(self) -> dict[str, Any]:
        """The JSON form, with stable names."""
        return {
            "path": self.directory.path,
            "domain": self.directory.domain,
            "description": self.directory.description,
            "state": self.state,
            "error": None if self.error is None else {"code": self.error.code, "message": self.error.message},
            **self._counts,
            "unreadableFiles": [
                {"path": one.path, "code": one.code, "message": one.message} for one in self.unreadable
            ],
            "documents": {one.value.lower(): self.documents.get(one, 0) for one in DocumentStatus},
        }

    def line(self) -> str:
        """The folder in one line."""
        counts = [f"{count} {name}" for name, count in self._counts.items() if count]
        done = [f"{count} {one.value.lower()}" for one, count in self.documents.items() if count]
        fault = f"  [{self.error.code}] {self.error.message}" if self.error else ""
        told = "; ".join(", ".join(part) for part in (counts, done) if part)
        line = f"{self.state:<9} {self.directory.path}  ({self.directory.domain})  {told}{fault}"
        return terminal.one_line(line.rstrip())

    def lines(self) -> str:
        """The folder, and each file that was not taken, with the reason."""
        refused = (f"  {one.path}  [{one.code}] {one.message}" for one in self.unreadable)
        return "\n".join([self.line(), *map(terminal.one_line, refused)])


class LiveTable:
    """A line for each folder, redrawn in place on a terminal; elsewhere a line when a folder's state changes."""

    def __init__(self, *, shown: bool) -> None:
        self._lives = shown and sys.stderr.isatty()
        self._shown = shown
        self._drawn = 0
        self._last: dict[str, str] = {}

    def update(self, folders: Sequence[FolderState]) -> None:
        """Show the folders as they are."""
        if self._lives:
            up = f"\033[{self._drawn}F" if self._drawn else ""
            lines = [f"\033[K{terminal.shorten(one.line(), 160)}" for one in folders]
            print(up + "\n".join(lines), file=sys.stderr, flush=True)
            self._drawn = len(lines)
            return
        for one in folders if self._shown else ():
            if one.state in ("done", "failed") and self._last.get(one.directory.path) != one.line():
                terminal.note(one.line())
                self._last[one.directory.path] = one.line()


@dataclass(frozen=True, slots=True)
class SystemFolders:
    """The workspace of this process that folders are brought into."""

    system: System
    into: WorkspaceRef

    def read(self, folder: Path) -> SourceConnector:
        """The files of a folder."""
        return self.system.container.directory_source(folder)

    async def sources(self) -> Sequence[str]:
        """The names of the sources that brought its documents."""
        async with self.system.container.database.transaction(self.into.org_id) as transaction:
            return await transaction.sources.brought(self.into)

    async def synchronise(self, source: SourceConnector, options: SyncOptions) -> SyncResult:
        """Bring the workspace up to date with a source."""
        return await self.system.container.sync_source.run(self.into, source, ACTOR, options)

    async def documents(self, source_id: str) -> Mapping[DocumentStatus, int]:
        """The documents of a source by status."""
        async with self.system.container.database.transaction(self.into.org_id) as transaction:
            return await transaction.sources.document_counts(self.into, source_id)


@dataclass(frozen=True, slots=True)
class ServerFolders:
    """The workspace of a server that folders are brought into."""

    client: GraphQLClient
    workspace_id: str

    def read(self, folder: Path) -> SourceConnector:
        """The files of a folder."""
        from agentic_rag.bootstrap import DirectorySource

        return DirectorySource(folder)

    async def sources(self) -> Sequence[str]:
        """The names of the sources that brought its documents."""
        from agentic_rag_cli.client.operator_queries import PUSHED_SOURCES

        return await self.client.fetch(PUSHED_SOURCES, workspaceId=self.workspace_id)

    async def synchronise(self, source: SourceConnector, options: SyncOptions) -> SyncResult:
        """Send what the server does not have of a source."""
        from agentic_rag_cli.client.pushing import Push

        return await Push(self.client, self.workspace_id, source, options).run()

    async def documents(self, source_id: str) -> Mapping[DocumentStatus, int]:
        """The documents of a source by status."""
        from agentic_rag_cli.client.pushing import pushed_documents

        return await pushed_documents(self.client, self.workspace_id, source_id)


Folders = SystemFolders | ServerFolders
