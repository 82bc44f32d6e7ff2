"""Synchronises a directory of this machine with a workspace of a server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from agentic_rag.ingestion.sync import SyncOptions, SyncResult
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag.tenancy.principals import validate_name
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import node_id
from agentic_rag_cli.client.pushing import AT_ONCE, Push, patiently
from agentic_rag_cli.commands.documents.ingestion import (
    STALL_SECONDS,
    FileOutcome,
    IngestStalled,
    IngestSummary,
    ProgressReport,
    StallWatch,
    outcomes,
    plan_outcomes,
    preview,
    report,
    state_outcome,
)

if TYPE_CHECKING:
    from agentic_rag.ingestion.ports import SourceConnector

_POLL_SECONDS = 0.25


async def push_directory(
    client: GraphQLClient,
    workspace: str,
    directory: Path,
    options: SyncOptions,
    *,
    wait: bool,
    progress: ProgressReport,
) -> IngestSummary:
    """Send what the server does not have of a directory; the workspace is created when it is missing, except in a dry
    run. With `wait` return when every file is done. Errors: `IngestStalled`, `InvalidInput` for an invalid workspace
    name, those of `Push.run`.
    """
    from agentic_rag.bootstrap import DirectorySource

    began = time.monotonic()
    name = validate_name(workspace, ("workspace",))
    source = DirectorySource(directory)
    if options.dry_run:
        result = await _plan(client, name, source, options, progress)
        return report(name, directory, plan_outcomes(result), result, began)
    workspace_id = await ensure_workspace(client, name)
    result = await Push(client, workspace_id, source, options, progress).run()
    waited = await _wait_for(client, workspace_id, result.waiting_for, wait=wait, progress=progress)
    return report(name, directory, outcomes(result, waited), result, began)


async def ensure_workspace(client: GraphQLClient, name: str) -> str:
    """The public id of the workspace of that name, created when it is missing."""
    known = await _find_workspace(client, name)
    return known or (await client.fetch(queries.CREATE_WORKSPACE, input={"name": name}))["workspace"]["id"]


async def _find_workspace(client: GraphQLClient, name: str) -> str | None:
    return next((one["id"] for one in await client.fetch(queries.WORKSPACES) if one["name"] == name), None)


async def _plan(
    client: GraphQLClient, name: str, source: SourceConnector, options: SyncOptions, progress: ProgressReport
) -> SyncResult:
    known = await _find_workspace(client, name)
    return await preview(source) if known is None else await Push(client, known, source, options, progress).run()


async def _wait_for(
    client: GraphQLClient, workspace_id: str, documents: Sequence[UUID], *, wait: bool, progress: ProgressReport
) -> list[FileOutcome]:
    """What became of each document, a few at a time; without `wait` as they are. Errors: `IngestStalled`."""
    left, done, watch = [*documents], list[FileOutcome](), StallWatch()
    while left:
        looked = [await _state(client, workspace_id, one) for one in left[:AT_ONCE]]
        found = [None if one is None else state_outcome(one["sourcePath"], one) for one in looked]
        unfinished = [wait and one is not None and one.outcome == "QUEUED" for one in found]
        done += [one for one, waits in zip(found, unfinished, strict=True) if one is not None and not waits]
        left = [one for one, waits in zip(left, unfinished, strict=False) if waits] + left[AT_ONCE:]
        progress(len(documents) - len(left), len(documents), "")
        if all(unfinished):
            if watch.is_stalled(looked):
                raise IngestStalled(
                    f"{len(left)} files are not done and nothing moved for {STALL_SECONDS:.0f} s. The jobs stay "
                    "queued: see `rag job list`, and whether a `rag worker` runs."
                )
            await asyncio.sleep(_POLL_SECONDS)
    return done


async def _state(client: GraphQLClient, workspace_id: str, document: UUID) -> Mapping[str, Any] | None:
    public_id = node_id(workspace_id, str(document), NodeKind.DOCUMENT)
    return await patiently(lambda: client.fetch(queries.DOCUMENT_STATE, id=public_id))
