"""Upload files and, if wanted, wait until each is READY or FAILED."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.commands.documents.ingestion import STALL_SECONDS, IngestStalled, ProgressReport
from agentic_rag_cli.session import Session

if TYPE_CHECKING:
    from agentic_rag_cli.rest_client import RestClient

PIECE = 64 * 1024
_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class UploadState:
    """Where a document stands, as REST shows it."""

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
    """A file that was taken: `shown` is the server's answer."""

    file: Path
    response: dict[str, Any]


@dataclass(frozen=True, slots=True)
class UploadOutcome:
    """What became of a file: READY, FAILED, QUEUED, UNCHANGED, or REFUSED before anything was stored."""

    file: str
    outcome: str
    response: dict[str, Any]
    code: str | None = None
    message: str | None = None
    chunks: int = 0

    @property
    def needs_attention(self) -> bool:
        """Whether a person has to look at it."""
        return self.outcome in ("FAILED", "REFUSED")

    def as_json(self) -> dict[str, Any]:
        """The JSON form, with the names of the REST API."""
        error = None if self.code is None else {"code": self.code, "message": self.message}
        return {"file": self.file, "outcome": self.outcome, "chunkCount": self.chunks, "error": error, **self.response}


class Uploads(Protocol):
    """A workspace that takes files: in this process, or behind a server."""

    async def upload(self, file: Path, key: str | None) -> dict[str, Any]:
        """Hand a file over; the answer as REST gives it."""
        ...

    async def state_of(self, shown: dict[str, Any]) -> UploadState:
        """Where the document of such an answer stands."""
        ...


class SessionUploads:
    """`Uploads` in this process."""

    def __init__(self, session: Session, workspace: WorkspaceRef, readers: tuple[str, ...] | None = None) -> None:
        self._session = session
        self._workspace = workspace
        self._readers = readers

    async def upload(self, file: Path, key: str | None) -> dict[str, Any]:
        """Hand a file over."""
        import msgspec

        from agentic_rag_server.rest.documents.uploads import show_upload

        upload = await self._session.upload(self._workspace, file.name, pieces_of(file), key, self._readers)
        return msgspec.to_builtins(show_upload(upload))

    async def state_of(self, shown: dict[str, Any]) -> UploadState:
        """Where the document stands."""
        from agentic_rag.kernel.public_ids import NodeKind, decode

        document = await self._session.document(self._workspace, decode(shown["id"], NodeKind.DOCUMENT).key)
        if document is None:
            raise NotFound("The document was deleted meanwhile.")
        fault = document.fault
        return UploadState(
            document.status.value,
            fault.code if fault else None,
            fault.message if fault else None,
            document.chunks_done,
            document.chunk_count,
        )


class RestUploads:
    """`Uploads` through a server."""

    def __init__(self, client: RestClient, workspace_id: str, readers: tuple[str, ...] | None = None) -> None:
        self._client = client
        self._workspace_id = workspace_id
        self._readers = readers

    async def upload(self, file: Path, key: str | None) -> dict[str, Any]:
        """Hand a file over."""
        return await self._client.upload(self._workspace_id, file, key, self._readers)

    async def state_of(self, shown: dict[str, Any]) -> UploadState:
        """Where the document stands."""
        found = await self._client.get(shown["statusUrl"])
        error = found["error"] or {}
        progress = found["progress"]
        return UploadState(
            found["status"], error.get("code"), error.get("message"), progress["chunksDone"], progress["chunkCount"]
        )


async def pieces_of(file: Path) -> AsyncIterator[bytes]:
    """A file's bytes, piece by piece."""
    with await asyncio.to_thread(file.open, "rb") as opened:
        while piece := await asyncio.to_thread(opened.read, PIECE):
            yield piece


async def upload_files(
    uploads: Uploads, files: Sequence[Path], key: str | None, *, wait: bool, progress: ProgressReport
) -> list[UploadOutcome]:
    """Upload one after the other; a file that is refused does not hinder the others. Errors: `IngestStalled`, and
    those that are not about a file.
    """
    outcomes: list[UploadOutcome] = []
    accepted: list[AcceptedUpload] = []
    for number, file in enumerate(files):
        progress(number, len(files), file.name)
        try:
            # One key names one file.
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
