"""`rag upload`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.readers import readers_of
from agentic_rag_cli.commands.documents.uploading import UploadOutcome, Uploads, upload_files
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import GroupOption, JsonOption, UrlOption, UserOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import beside_worker, in_process, on_graphql, wiring_of


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
    readers = readers_of(user, group)
    address = url or wiring_of(context).settings().client.url

    async def send(client: GraphQLClient) -> list[UploadOutcome]:
        uploads = Uploads(client, await client.workspace_id(workspace), readers)
        with terminal.ProgressLine("uploading") as bar:
            return await upload_files(uploads, files, idempotency_key, wait=wait, progress=bar.update)

    async def send_here(system: System) -> list[UploadOutcome]:
        async with system.client() as client:
            return await beside_worker(context, system, partial(send, client))

    outcomes = on_graphql(context, send, address=address) if address or not wait else in_process(context, send_here)
    lines = [one.line() for one in outcomes]
    terminal.show([one.as_json() for one in outcomes], "\n".join(lines), as_json=as_json)
    if any(one.needs_attention for one in outcomes):
        raise typer.Exit(ExitCode.PARTIAL if any(not one.needs_attention for one in outcomes) else ExitCode.FAILED)
