"""`--follow`: a line on standard error for each step of each document of a workspace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.live_queries import DOCUMENT_EVENTS
from agentic_rag_cli.output import terminal

FollowOption = Annotated[
    bool, typer.Option("--follow", help="Wait, and tell on standard error each step of each document.")
]

LAST_SECONDS = 1.5
"""For changes that are on their way when the work is done: a poll of the server and its answer."""


@asynccontextmanager
async def following(client: GraphQLClient, workspace_id: str) -> AsyncIterator[None]:
    """Tell what happens to documents while the block runs. A stream that breaks off is said; the work goes on."""
    began = asyncio.Event()
    telling = asyncio.ensure_future(_tell(client, workspace_id, began))
    waiting = asyncio.ensure_future(began.wait())
    try:
        await asyncio.wait([telling, waiting], return_when=asyncio.FIRST_COMPLETED)
        yield
        await asyncio.wait([telling], timeout=LAST_SECONDS)
    finally:
        waiting.cancel()
        telling.cancel()
        await asyncio.wait([telling])


async def _tell(client: GraphQLClient, workspace_id: str, began: asyncio.Event) -> None:
    try:
        async with aclosing(client.events(DOCUMENT_EVENTS, workspaceId=workspace_id)) as events:
            async for event in events:
                if event["document"] is None:
                    began.set()
                else:
                    terminal.note(_line(event["document"]))
    except AgenticRagError as broken:
        terminal.note(f"no longer following: {broken.message}")


def _line(document: Mapping[str, Any]) -> str:
    error, chunks = document["error"], document["chunkCount"]
    told = f"{document['chunksDone']}/{chunks} chunks" if chunks else ""
    if error is not None:
        told = f"{error['code']}: {error['message']}"
    return f"{document['status']:<10} {terminal.one_line(document['sourcePath'])}  {told}".rstrip()
