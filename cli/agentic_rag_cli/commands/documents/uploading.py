"""Uploads files and optionally waits until each is READY or FAILED."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.ingestion import STALL_SECONDS, FileOutcome, IngestStalled, ProgressReport
from agentic_rag_cli.commands.documents.readers import readers_input

_POLL_SECONDS = 0.25
_FINAL = ("READY", "FAILED")


@dataclass(frozen=True, slots=True)
class UploadOutcome(FileOutcome):
    """The outcome of a file: READY, FAILED, QUEUED, UNCHANGED, or REFUSED before anything was stored. `response` is the
    server's answer.
    """

    response: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def as_json(self) -> dict[str, Any]:
        """The JSON form, with the names of the REST API."""
        error = None if self.code is None else {"code": self.code, "message": self.message}
        return {"file": self.path, "outcome": self.outcome, "chunkCount": self.chunks, "error": error, **self.response}


@dataclass(frozen=True, slots=True)
class Uploads:
    """Uploads files to a workspace; new documents get `readers`."""

    client: GraphQLClient
    workspace_id: str
    readers: tuple[str, ...] | None = None

    async def upload(self, file: Path, key: str | None) -> dict[str, Any]:
        """Upload a file. The result has the field names of the REST API."""
        digest, size = await asyncio.to_thread(_digest, file)
        taken = await self.client.upload(self.workspace_id, file, key, readers_input(self.readers))
        document, job = taken["document"], taken["job"]
        return {
            "id": document["id"],
            "workspaceId": document["workspaceId"],
            "sourcePath": document["sourcePath"],
            "size": size,
            "contentSha256": digest,
            "unchanged": taken["unchanged"],
            "jobId": None if job is None else job["id"],
            "statusUrl": f"/v1/workspaces/{document['workspaceId']}/documents/{document['id']}",
        }

    async def state_of(self, response: Mapping[str, Any]) -> dict[str, Any]:
        """The state of an upload's document. Errors: `NotFound`."""
        found = await self.client.fetch(queries.DOCUMENT_STATE, id=response["id"])
        if found is None:
            raise NotFound("The document was deleted meanwhile.")
        return found


def _digest(file: Path) -> tuple[str, int]:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest(), content.tell()


async def upload_files(
    uploads: Uploads, files: Sequence[Path], key: str | None, *, wait: bool, progress: ProgressReport
) -> list[UploadOutcome]:
    """Upload one file after the other; a refused file does not stop the others. Errors: `IngestStalled`, and errors
    that do not concern a single file.
    """
    outcomes: list[UploadOutcome] = []
    accepted: list[tuple[Path, dict[str, Any]]] = []
    for number, file in enumerate(files):
        progress(number, len(files), file.name)
        try:
            # Several files need one key each.
            own_key = key if key is None or len(files) == 1 else f"{key}:{file.name}"
            accepted.append((file, await uploads.upload(file, own_key)))
        except (InvalidInput, NotFound) as error:
            if error.code == "WORKSPACE_NOT_FOUND":
                raise
            outcomes.append(UploadOutcome(str(file), "REFUSED", error.code, error.message))
    progress(len(files), len(files), "")
    states = await _states(uploads, [response for _, response in accepted], progress, wait=wait)
    return outcomes + [
        _outcome(file, response, state) for (file, response), state in zip(accepted, states, strict=True)
    ]


def _outcome(file: Path, response: Mapping[str, Any], state: Mapping[str, Any]) -> UploadOutcome:
    error = state["error"] or {}
    outcome = "UNCHANGED" if response["unchanged"] else state["status"] if state["status"] in _FINAL else "QUEUED"
    return UploadOutcome(str(file), outcome, error.get("code"), error.get("message"), state["chunkCount"], response)


async def _states(
    uploads: Uploads, accepted: Sequence[Mapping[str, Any]], progress: ProgressReport, *, wait: bool
) -> list[dict[str, Any]]:
    last: list[dict[str, Any]] = []
    moved = time.monotonic()
    while True:
        states = [await uploads.state_of(one) for one in accepted]
        if not wait or all(one["status"] in _FINAL for one in states):
            return states
        if states != last:
            last, moved = states, time.monotonic()
        elif time.monotonic() - moved > STALL_SECONDS:
            raise IngestStalled(
                f"Nothing moved for {STALL_SECONDS:.0f} s. The jobs stay queued: see whether a `rag worker` runs."
            )
        done, count = sum(one["chunksDone"] for one in states), sum(one["chunkCount"] for one in states)
        progress(done, max(count, done + 1), "chunks")
        await asyncio.sleep(_POLL_SECONDS)
