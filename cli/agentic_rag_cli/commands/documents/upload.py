"""`rag upload`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag.settings import Settings
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.readers import readers_of
from agentic_rag_cli.commands.documents.uploading import UploadOutcome, Uploads, upload_files
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import GroupOption, JsonOption, UrlOption, UserOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.processes.children import Children, silent
from agentic_rag_cli.wiring import Wiring, on_graphql, run_async, wiring_of


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

    async def send(client: GraphQLClient) -> list[UploadOutcome]:
        uploads = Uploads(client, await client.workspace_id(workspace), readers)
        bar = terminal.ProgressLine("uploading")
        try:
            return await upload_files(uploads, files, idempotency_key, wait=wait, progress=bar.update)
        finally:
            bar.close()

    if address or not wait:
        outcomes = on_graphql(context, send, address=address)
    else:
        with wiring.servers(settings) as ready:
            outcomes = run_async(_with_worker(wiring, ready, send))
    if as_json:
        terminal.result_json([one.as_json() for one in outcomes])
    else:
        for one in outcomes:
            terminal.result(terminal.file_line(one.outcome, str(one.file), one.code, one.message, one.chunks))
    if any(one.needs_attention for one in outcomes):
        raise typer.Exit(ExitCode.PARTIAL if any(not one.needs_attention for one in outcomes) else ExitCode.FAILED)


async def _with_worker(
    wiring: Wiring, settings: Settings, send: Callable[[GraphQLClient], Coroutine[Any, Any, list[UploadOutcome]]]
) -> list[UploadOutcome]:
    async with wiring.system(settings) as system, Children(silent, settings.jobs.drain_seconds) as children:
        if not await system.worker_running():
            await wiring.start_worker(children, settings)
        async with system.client() as client:
            return await children.guard(send(client))
