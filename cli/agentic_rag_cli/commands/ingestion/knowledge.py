"""`rag knowledge`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, InvalidInput, PolicyRefused, Retryable
from agentic_rag.tenancy.principals import WorkspaceRef, validate_name
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.ingestion import IngestStalled, StallWatch
from agentic_rag_cli.exits import ExitCode, error_line
from agentic_rag_cli.in_process import ACTOR, System
from agentic_rag_cli.options import JsonOption, UrlOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import beside_worker, in_process, on_graphql, wiring_of

if TYPE_CHECKING:
    from agentic_rag.ingestion.ports import SourceConnector
    from agentic_rag.ingestion.sources.knowledge import KnowledgeDirectory
    from agentic_rag.ingestion.sync import SyncOptions, SyncResult

app = typer.Typer(help="The folders that a project's agents know.", no_args_is_help=True, rich_markup_mode=None)

_POLL_SECONDS = 0.25
_WATCH_SECONDS = 1.0


@app.callback()
def knowledge() -> None:
    """The folders that a project's agents know."""


@app.command("sync")
def sync(
    context: typer.Context,
    settings: Annotated[
        Path | None, typer.Option("--settings", help="The project's settings; agent/settings.yaml or settings.yaml.")
    ] = None,
    root: Annotated[Path, typer.Option("--root", help="The project that the paths are relative to.")] = Path(),
    workspace: Annotated[
        str, typer.Option("--workspace", "-w", help="Name of the workspace; made when there is none.")
    ] = "knowledge",
    watch: Annotated[bool, typer.Option("--watch", help="Go on whenever a file changes, until Ctrl-C.")] = False,
    delete_missing: Annotated[
        bool, typer.Option("--delete-missing", help="Go on although most files are gone from a folder.")
    ] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a workspace up to date with the folders of `knowledge.directories`, all at once. Without settings the
    folders agent/knowledge, agent/how-to, docs/explanation and agent/skills/knowledge/standards are read, where they
    exist.

    The documents of a folder that the settings no longer name stay until --delete-missing hides them.

    Exits with 3 when a folder or a file failed; the others are done all the same. With --url the files are read here,
    and only what the server does not have is sent.

    Example: rag knowledge sync --watch
    """
    directories, are_stated = read_directories(root, settings)
    table = LiveTable(shown=not as_json)

    name = validate_name(workspace, ("workspace",))

    async def run(into: Folders) -> list[FolderState]:
        folders = [FolderState(one, is_stated=are_stated) for one in directories]
        folders += await _find_dropped(into, directories) if are_stated else []
        begun = KnowledgeRun(into, root, table, tell, delete_missing=delete_missing)
        return await (begun.watch if watch else begun.once)(folders)

    async def work(system: System) -> list[FolderState]:
        into = SystemFolders(system, (await system.ensure_workspace(name)).ref)
        return await beside_worker(context, system, partial(run, into))

    async def push(client: GraphQLClient) -> list[FolderState]:
        from agentic_rag_cli.commands.documents.pushing import ensure_workspace

        return await run(ServerFolders(client, await ensure_workspace(client, name)))

    def tell(every: Sequence[FolderState]) -> None:
        folders = [one for one in every if not (one.is_dropped and one.state == "absent")]
        shown = {"workspace": workspace, "directories": [one.as_json() for one in folders]}
        terminal.show(shown, "\n".join(one.line() for one in folders), as_json=as_json)

    address = url or wiring_of(context).settings().client.url
    done = on_graphql(context, push, address=address) if address else in_process(context, work)
    tell(done)
    if any(one.needs_attention for one in done):
        raise typer.Exit(ExitCode.PARTIAL)


def read_directories(root: Path, settings: Path | None) -> tuple[Sequence[KnowledgeDirectory], bool]:
    """The folders of the settings, and whether the settings name them. Errors: `InvalidInput` code
    SETTINGS_FILE_INVALID.
    """
    from agentic_rag.ingestion.sources.knowledge import DEFAULT_DIRECTORIES, SETTINGS_FILES, parse_knowledge

    candidates = [settings] if settings else [root / name for name in SETTINGS_FILES]
    file = next((one for one in candidates if one.is_file()), None)
    if file is None and settings is not None:
        raise InvalidInput(f"There is no file {settings}.", code="SETTINGS_FILE_INVALID", path=("settings",))
    if file is None:
        return DEFAULT_DIRECTORIES, False
    try:
        stated = parse_knowledge(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{file} cannot be read as UTF-8 text.", code="SETTINGS_FILE_INVALID", path=("settings",)
        ) from error
    return (DEFAULT_DIRECTORIES, False) if stated is None else (stated, True)


@dataclass(slots=True)
class FolderState:
    """One folder of a run: its state, what its synchronisation did, and its documents."""

    directory: KnowledgeDirectory
    is_stated: bool
    is_dropped: bool = False
    """It has documents, and the settings name it no longer."""
    state: str = "waiting"
    result: SyncResult | None = None
    error: AgenticRagError | None = None
    documents: Mapping[DocumentStatus, int] = field(default_factory=dict[DocumentStatus, int])
    signature: str = ""

    @property
    def pending(self) -> int:
        """Documents that are not done."""
        return self.documents.get(DocumentStatus.PENDING, 0) + self.documents.get(DocumentStatus.PROCESSING, 0)

    @property
    def needs_attention(self) -> bool:
        """Whether a person has to look: the folder, a file or a document failed."""
        return self.error is not None or bool(self.documents.get(DocumentStatus.FAILED) or self._counts["unreadable"])

    @property
    def _counts(self) -> dict[str, int]:
        from agentic_rag.ingestion.sources.listing import LEFT_OUT_ON_PURPOSE

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
            "unreadable": sum(one.code not in LEFT_OUT_ON_PURPOSE for one in result.unreadable),
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
            "documents": {one.value.lower(): self.documents.get(one, 0) for one in DocumentStatus},
        }

    def line(self) -> str:
        """The folder in one line."""
        counts = [f"{count} {name}" for name, count in self._counts.items() if count]
        done = [f"{count} {one.value.lower()}" for one, count in self.documents.items() if count]
        fault = f"  [{self.error.code}] {self.error.message}" if self.error else ""
        told = "; ".join(", ".join(part) for part in (counts, done) if part)
        return f"{self.state:<9} {self.directory.path}  ({self.directory.domain})  {told}{fault}".rstrip()


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


@dataclass
class KnowledgeRun:
    """Synchronises folders with a workspace, side by side."""

    into: Folders
    root: Path
    table: LiveTable
    tell: Callable[[Sequence[FolderState]], None]
    """Prints what a round came to."""
    delete_missing: bool = False
    pause: float = _WATCH_SECONDS
    """Between two looks of a watch."""

    async def once(self, folders: Sequence[FolderState]) -> list[FolderState]:
        """One round, until every document is done. Errors: `IngestStalled`."""
        reading = asyncio.gather(*(self._synchronise(one) for one in folders))
        while not reading.done():
            self.table.update(folders)
            await asyncio.wait([reading], timeout=_POLL_SECONDS)
        await reading
        watch = StallWatch()
        while True:
            await asyncio.gather(*(self._count(one) for one in folders))
            for one in folders:
                if one.state == "ingesting" and not one.pending:
                    one.state = "done"
            self.table.update(folders)
            if not any(one.pending for one in folders):
                return list(folders)
            if watch.is_stalled([one.documents for one in folders]):
                raise IngestStalled("Nothing moves any more. The jobs stay queued: see `rag job list`.")
            await asyncio.sleep(_POLL_SECONDS)

    async def watch(self, folders: Sequence[FolderState]) -> list[FolderState]:
        """Round after round, each for the folders that changed since the last, or that an outage kept from being read:
        the stores, or the server, may be away for a while.
        """
        changed: Sequence[FolderState] = folders
        fault = ""
        while True:
            try:
                if changed:
                    await self.once(changed)
                    self.tell(folders)
                    fault = ""
            except (DependencyUnavailable, Retryable) as error:
                if error_line(error) != fault:
                    fault = error_line(error)
                    terminal.note(fault)
                for one in changed:
                    one.signature = _UNREAD
            await asyncio.sleep(self.pause)
            changed = [one for one in folders if await self._signature(one) != one.signature]

    async def _synchronise(self, folder: FolderState) -> None:
        from agentic_rag.documents.metadata import MetadataChange, validate_change
        from agentic_rag.ingestion.sources.placed import PlacedSource
        from agentic_rag.ingestion.sources.pushed import ListedSource
        from agentic_rag.ingestion.sync import SyncOptions

        folder.state, folder.error = "reading", None
        folder.signature = await self._signature(folder)
        path = folder.directory.path
        await self._count(folder)
        if not folder.is_stated and folder.signature == _MISSING and not any(folder.documents.values()):
            folder.state = "absent"
            return
        try:
            metadata = validate_change(MetadataChange(domain=folder.directory.domain))
            source = ListedSource(_source_id(folder), ())
            if not folder.is_dropped:
                source = PlacedSource(self.into.read(self.root / path), source.source_id, f"{path}/")
            options = SyncOptions(delete_missing=self.delete_missing, keeps_off=True, metadata=metadata)
            folder.result = await self.into.synchronise(source, options)
        except AgenticRagError as error:
            if isinstance(error, DependencyUnavailable | Retryable):
                folder.signature = _UNREAD
            folder.state, folder.error = "failed", _still_there(error) if folder.is_dropped else error
        else:
            is_over = folder.is_dropped and not (folder.result.hidden or folder.result.deleted)
            folder.state = "absent" if is_over else "ingesting"

    async def _signature(self, folder: FolderState) -> str:
        """Changes when a file of the folder does."""
        if folder.is_dropped:
            return ""
        try:
            found = await self.into.read(self.root / folder.directory.path).changes(frozenset(), None)
        except AgenticRagError:
            return _MISSING
        return found.cursor if found else ""

    async def _count(self, folder: FolderState) -> None:
        folder.documents = await self.into.documents(_source_id(folder))


async def _find_dropped(into: Folders, directories: Sequence[KnowledgeDirectory]) -> list[FolderState]:
    """Folders that brought documents before, and that the settings name no longer."""
    from agentic_rag.ingestion.sources.knowledge import KnowledgeDirectory

    held = {one.removeprefix(_KNOWLEDGE) for one in await into.sources() if one.startswith(_KNOWLEDGE)}
    gone = sorted(held - {one.path for one in directories})
    return [FolderState(KnowledgeDirectory(path), is_stated=True, is_dropped=True) for path in gone]


_KNOWLEDGE = "knowledge:"

_MISSING = "missing"
_UNREAD = "unread"


def _still_there(error: AgenticRagError) -> AgenticRagError:
    """What is said of a folder that the settings dropped and that still has documents."""
    if error.code != "SOURCE_SHRANK":
        return error
    return PolicyRefused(
        "The settings no longer name this folder. Its documents stay, and answer, until --delete-missing hides them.",
        code=error.code,
    )


def _source_id(folder: FolderState) -> str:
    return f"{_KNOWLEDGE}{folder.directory.path}"
