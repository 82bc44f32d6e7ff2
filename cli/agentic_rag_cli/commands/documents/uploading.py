"""Uploads files and optionally waits until each is READY or FAILED."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.ingestion import STALL_SECONDS, IngestStalled, ProgressReport
from agentic_rag_cli.commands.documents.readers import readers_input

_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class UploadState:
    """The state of a document, in the terms of the REST API."""

    status: str
    code: str | None = None
    message: str | None = None
    chunks_done: int = 0
    chunk_count: int = 0

    @property
    def is_final(self) -> bool:
        """READY or FAILED."""
        return self.status in ("READY", "FAILED")


@dataclass(frozen=True, slots=True)
class AcceptedUpload:
    """An accepted file; `response` is the server's answer."""

    file: Path
    response: dict[str, Any]


@dataclass(frozen=True, slots=True)
class UploadOutcome:
    """The outcome of a file: READY, FAILED, QUEUED, UNCHANGED, or REFUSED before anything was stored."""

    file: str
    outcome: str
    response: dict[str, Any]
    code: str | None = None
    message: str | None = None
    chunks: int = 0

    @property
    def needs_attention(self) -> bool:
        """Whether a person has to look at the file."""
        return self.outcome in ("FAILED", "REFUSED")

    def as_json(self) -> dict[str, Any]:
        """The JSON form, with the names of the REST API."""
        error = None if self.code is None else {"code": self.code, "message": self.message}
        return {"file": self.file, "outcome": self.outcome, "chunkCount": self.chunks, "error": error, **self.response}


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

    async def state_of(self, response: dict[str, Any]) -> UploadState:
        """The state of an upload's document. Errors: `NotFound`."""
        found = await self.client.fetch(queries.DOCUMENT_STATE, id=response["id"])
        if found is None:
            raise NotFound("The document was deleted meanwhile.")
        error = found["error"] or {}
        return UploadState(
            found["status"], error.get("code"), error.get("message"), found["chunksDone"], found["chunkCount"]
        )


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
    accepted: list[AcceptedUpload] = []
    for number, file in enumerate(files):
        progress(number, len(files), file.name)
        try:
            # Several files need one key each.
            shown = await uploads.upload(file, key if key is None or len(files) == 1 else f"{key}:{file.name}")
        except (InvalidInput, NotFound) as error:
            if error.code == "WORKSPACE_NOT_FOUND":
                raise
            outcomes.append(UploadOutcome(str(file), "REFUSED", {}, error.code, error.message))
        else:
            accepted.append(AcceptedUpload(file, shown))
    progress(len(files), len(files), "")
    for one, standing in zip(accepted, await _standings(uploads, accepted, progress, wait=wait), strict=True):
        outcome = "UNCHANGED" if one.response["unchanged"] else standing.status if standing.is_final else "QUEUED"
        outcomes.append(
            UploadOutcome(str(one.file), outcome, one.response, standing.code, standing.message, standing.chunk_count)
        )
    return outcomes


async def _standings(
    uploads: Uploads, accepted: Sequence[AcceptedUpload], progress: ProgressReport, *, wait: bool
) -> list[UploadState]:
    last: list[UploadState] = []
    moved = time.monotonic()
    while True:
        standings = [await uploads.state_of(one.response) for one in accepted]
        if not wait or all(one.is_final for one in standings):
            return standings
        if standings != last:
            last, moved = standings, time.monotonic()
        elif time.monotonic() - moved > STALL_SECONDS:
            raise IngestStalled(
                f"Nothing moved for {STALL_SECONDS:.0f} s. The jobs stay queued: see whether a `rag worker` runs."
            )
        done, count = sum(one.chunks_done for one in standings), sum(one.chunk_count for one in standings)
        progress(done, max(count, done + 1), "chunks")
        await asyncio.sleep(_POLL_SECONDS)
