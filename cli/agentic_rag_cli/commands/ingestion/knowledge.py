"""`rag knowledge`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from agentic_rag.ingestion.sources.knowledge import (
    DEFAULT_DIRECTORIES,
    SETTINGS_FILES,
    KnowledgeDirectory,
    ProjectIdentity,
    ProjectKnowledge,
    folders_of_project,
    folders_without_project,
    former_identities,
    name_without_project,
    parse_knowledge,
    place_of,
    require_own_name,
    source_name,
    validate_project,
)
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, InvalidInput, PolicyRefused, Retryable
from agentic_rag.tenancy.principals import validate_name
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.ingestion import IngestStalled, StallWatch
from agentic_rag_cli.commands.ingestion.knowledge_folders import (
    Folders,
    FolderState,
    LiveTable,
    ServerFolders,
    SystemFolders,
)
from agentic_rag_cli.exits import ExitCode, error_line
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import JsonOption, UrlOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import beside_worker, in_process, on_graphql, wiring_of

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
    project: Annotated[str | None, typer.Option("--project", help="Its name; else that of settings or folder.")] = None,
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
    exist. The documents of a folder that the settings no longer name stay until --delete-missing hides them. Folders of
    other projects in the workspace are left alone.

    Exits with 3 when a folder or a file failed; the others are done all the same. With --url the files are read here,
    and only what the server does not have is sent.

    Example: rag knowledge sync --watch
    """
    stated = read_settings(root, settings)
    named, place = project or stated.project, place_of(str(root.resolve()))
    identity = ProjectIdentity(validate_project(named or root.resolve().name), "" if named else place)
    table = LiveTable(shown=not as_json)
    name = validate_name(workspace, ("workspace",))

    async def run(into: Folders) -> list[FolderState]:
        sources = await into.sources()
        folders = _folders(sources, identity, place, stated.directories)
        begun = KnowledgeRun(into, root, table, tell, delete_missing=delete_missing)
        done = await (begun.watch if watch else begun.once)(folders)
        _tell_unclaimed(await into.sources(), former_identities(sources, identity, place))
        return done

    async def work(system: System) -> list[FolderState]:
        into = SystemFolders(system, (await system.ensure_workspace(name)).ref)
        return await beside_worker(context, system, partial(run, into))

    async def push(client: GraphQLClient) -> list[FolderState]:
        from agentic_rag_cli.commands.documents.pushing import ensure_workspace

        return await run(ServerFolders(client, await ensure_workspace(client, name)))

    def tell(every: Sequence[FolderState]) -> None:
        folders = [one for one in every if not (one.is_dropped and one.state == "absent")]
        shown = {"workspace": workspace, "project": identity.name, "directories": [one.as_json() for one in folders]}
        terminal.show(shown, "\n".join(one.lines() for one in folders), as_json=as_json)

    address = url or wiring_of(context).settings().client.url
    done = on_graphql(context, push, address=address) if address else in_process(context, work)
    tell(done)
    if any(one.needs_attention for one in done):
        raise typer.Exit(ExitCode.PARTIAL)


def read_settings(root: Path, settings: Path | None) -> ProjectKnowledge:
    """What the settings of a project say. Errors: `InvalidInput` code SETTINGS_FILE_INVALID."""
    candidates = [settings] if settings else [root / name for name in SETTINGS_FILES]
    file = next((one for one in candidates if one.is_file()), None)
    if file is None and settings is not None:
        raise InvalidInput(f"There is no file {settings}.", code="SETTINGS_FILE_INVALID", path=("settings",))
    if file is None:
        return ProjectKnowledge()
    try:
        return parse_knowledge(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{file} cannot be read as UTF-8 text.", code="SETTINGS_FILE_INVALID", path=("settings",)
        ) from error


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
            source = ListedSource(folder.source, ())
            if not folder.is_dropped:
                source = PlacedSource(self.into.read(self.root / path), source.source_id, f"{path}/")
            options = SyncOptions(
                delete_missing=self.delete_missing,
                keeps_off=True,
                metadata=metadata,
                formerly=(*(source_name(one, path) for one in folder.former), name_without_project(path)),
            )
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
        folder.documents = await self.into.documents(folder.source)


def _folders(
    sources: Sequence[str], project: ProjectIdentity, place: str, stated: Sequence[KnowledgeDirectory] | None
) -> list[FolderState]:
    """The folders of a project: those that its settings name, and those that brought documents and that they name no
    longer; without settings the default ones. Errors: `InvalidInput` code PROJECT_AMBIGUOUS.
    """
    require_own_name(sources, project)
    former = former_identities(sources, project, place)
    if stated is None:
        return [FolderState(project, one, is_stated=False, former=former) for one in DEFAULT_DIRECTORIES]
    named = {one.path for one in stated}
    return [
        *(FolderState(project, one, is_stated=True, former=former) for one in stated),
        *(
            FolderState(one, KnowledgeDirectory(path), is_stated=True, is_dropped=True)
            for one in (project, *former)
            for path in folders_of_project(sources, one)
            if path not in named
        ),
    ]


def _tell_unclaimed(sources: Sequence[str], former: Sequence[ProjectIdentity]) -> None:
    left = [path for one in former for path in folders_of_project(sources, one)]
    folders = [*folders_without_project(sources), *left]
    if folders:
        terminal.note(
            f"Documents of {', '.join(folders)} carry no project: they came before it was stated, and this project has "
            "no such files. They answer until their own project is synchronised, or `rag doc delete` takes them away."
        )


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
