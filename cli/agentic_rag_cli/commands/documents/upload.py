"""`rag upload`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.settings import Settings
from agentic_rag_cli.commands.documents.readers import readers_of
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import GroupOption, JsonOption, UrlOption, UserOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import Wiring, run_async, wiring_of

if TYPE_CHECKING:
    from agentic_rag_cli.commands.documents.uploading import UploadOutcome


def upload(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", exists=True, dir_okay=False, help="Files to add.")],
    workspace: WorkspaceOption = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option("--idempotency-key", help="Makes repeating the command safe; of several files each gets its own."),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every file is READY or FAILED.")] = False,
    user: UserOption = None,
    group: GroupOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add files to a workspace: the same name is the same document, new bytes a new revision of it.

    Without --user and --group the whole workspace may read a new document, and one that is there keeps its readers.

    Example: rag upload policy.pdf travel.docx --workspace handbook --wait
    """
    wiring = wiring_of(context)
    settings = wiring.settings()
    readers = readers_of(user, group)
    address = url or settings.client.url
    if address:
        outcomes = run_async(_remote(wiring, settings, address, files, workspace, idempotency_key, readers, wait=wait))
    else:
        with wiring.servers(settings) as ready:
            outcomes = run_async(_local(wiring, ready, files, workspace, idempotency_key, readers, wait=wait))
    if as_json:
        terminal.result_json([one.as_json() for one in outcomes])
    else:
        for one in outcomes:
            terminal.result(terminal.file_line(one.outcome, str(one.file), one.code, one.message, one.chunks))
    if any(one.needs_attention for one in outcomes):
        raise typer.Exit(ExitCode.PARTIAL if any(not one.needs_attention for one in outcomes) else ExitCode.FAILED)


async def _remote(
    wiring: Wiring,
    settings: Settings,
    address: str,
    files: list[Path],
    workspace: str | None,
    key: str | None,
    readers: tuple[str, ...] | None,
    *,
    wait: bool,
) -> list[UploadOutcome]:
    from agentic_rag_cli.client.access import token_of
    from agentic_rag_cli.client.graphql_client import GraphQLClient
    from agentic_rag_cli.commands.documents.uploading import RestUploads, upload_files
    from agentic_rag_cli.rest_client import RestClient

    token = token_of(settings)
    async with GraphQLClient(address, token, settings.answering.timeout_ms, wiring.transport) as client:
        workspace_id = await client.workspace_id(workspace)
    bar = terminal.ProgressLine("uploading")
    async with RestClient(address, token, wiring.transport) as rest:
        try:
            return await upload_files(
                RestUploads(rest, workspace_id, readers), files, key, wait=wait, progress=bar.update
            )
        finally:
            bar.close()


async def _local(
    wiring: Wiring,
    settings: Settings,
    files: list[Path],
    workspace: str | None,
    key: str | None,
    readers: tuple[str, ...] | None,
    *,
    wait: bool,
) -> list[UploadOutcome]:
    from agentic_rag_cli.commands.documents.uploading import SessionUploads, upload_files
    from agentic_rag_cli.listing import the_workspace
    from agentic_rag_cli.processes.children import Children, silent

    async with wiring.session(settings) as session, Children(silent, settings.jobs.drain_seconds) as children:
        chosen = (await the_workspace(session, workspace)).ref
        if wait and not await session.worker_running():
            await wiring.start_worker(children, settings)
        bar = terminal.ProgressLine("uploading")
        uploads = SessionUploads(session, chosen, readers)
        try:
            return await children.guard(upload_files(uploads, files, key, wait=wait, progress=bar.update))
        finally:
            bar.close()
