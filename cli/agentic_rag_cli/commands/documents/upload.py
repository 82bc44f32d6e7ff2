"""`rag upload`."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as value_field
from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.formatting import format_count
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.following import FollowOption, following
from agentic_rag_cli.commands.documents.ingestion import (
    STALL_SECONDS,
    FileOutcome,
    IngestStalled,
    ProgressReport,
    StallWatch,
    state_outcome,
)
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import (
    DateOption,
    DomainOption,
    FieldOption,
    GroupOption,
    JsonOption,
    KeyOption,
    LanguageOption,
    TagOption,
    UrlOption,
    UserOption,
    WorkspaceOption,
    metadata_input,
    metadata_of,
    readers_input,
    readers_of,
)
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.estimate_view import upload_text
from agentic_rag_cli.wiring import on_graphql, wiring_of


def upload(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", exists=True, dir_okay=False, help="Files to add.")],
    workspace: WorkspaceOption = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option("--idempotency-key", help="Makes repeating the command safe; of several files each gets its own."),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every file is READY or FAILED.")] = False,
    follow: FollowOption = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what embedding the files would cost; store nothing.")
    ] = False,
    user: UserOption = None,
    key: KeyOption = None,
    group: GroupOption = None,
    tag: TagOption = None,
    field: FieldOption = None,
    domain: DomainOption = None,
    language: LanguageOption = None,
    date: DateOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add files to a workspace: the same name is the same document, new bytes a new revision of it.

    Without --user and --group the whole workspace may read a new document, and one that is there keeps its readers.

    Example: rag upload policy.pdf travel.docx --workspace handbook --wait
    """
    readers = readers_of(user, group, key)
    said = metadata_input(metadata_of(tag, field, domain, language, date))
    address = url or wiring_of(context).settings().client.url

    if estimate:
        told = on_graphql(context, lambda client: _estimate(client, workspace, files), address=address)
        _show_estimates(told, as_json=as_json)
        return

    async def send(client: GraphQLClient) -> list[UploadOutcome]:
        workspace_id = await client.workspace_id(workspace)
        uploads = Uploads(client, workspace_id, readers, said)
        if follow:
            async with following(client, workspace_id):
                return await upload_files(uploads, files, idempotency_key, wait=True, progress=lambda *_: None)
        with terminal.ProgressLine("uploading") as bar:
            return await upload_files(uploads, files, idempotency_key, wait=wait, progress=bar.update)

    outcomes = on_graphql(context, send, address=address, with_worker=wait or follow)
    lines = [one.line() for one in outcomes]
    terminal.show([one.as_json() for one in outcomes], "\n".join(lines), as_json=as_json)
    if any(one.needs_attention for one in outcomes):
        raise typer.Exit(ExitCode.PARTIAL if any(not one.needs_attention for one in outcomes) else ExitCode.FAILED)


async def _estimate(client: GraphQLClient, workspace: str | None, files: Sequence[Path]) -> list[dict[str, Any]]:
    """What each file would cost, one after the other. A file that is refused has the code of the refusal."""
    workspace_id = await client.workspace_id(workspace)
    found: list[dict[str, Any]] = []
    for file in files:
        try:
            told = await client.estimate_upload(workspace_id, file)
        except InvalidInput as error:
            told = {"size": None, "mediaType": None, "embedding": None} | {
                "errorCode": error.code,
                "errorMessage": error.message,
            }
        found.append({"file": str(file), **told})
    return found


def _show_estimates(found: list[dict[str, Any]], *, as_json: bool) -> None:
    terminal.show(found, upload_text(found), as_json=as_json)
    refused = [one for one in found if one["embedding"] is None]
    if refused:
        raise typer.Exit(ExitCode.PARTIAL if len(refused) < len(found) else ExitCode.FAILED)


_POLL_SECONDS = 0.25
_FINAL = ("READY", "FAILED")


@dataclass(frozen=True, slots=True)
class UploadOutcome(FileOutcome):
    """The outcome of a file: READY, FAILED, QUEUED, UNCHANGED, or REFUSED before anything was stored. `response` is the
    server's answer.
    """

    response: Mapping[str, Any] = value_field(default_factory=dict[str, Any])

    def as_json(self) -> dict[str, Any]:
        """The JSON form, with the names of the REST API."""
        error = None if self.code is None else {"code": self.code, "message": self.message}
        return {"file": self.path, "outcome": self.outcome, "chunkCount": self.chunks, "error": error, **self.response}

    def line(self) -> str:
        """The file and its outcome in one line; of a file that waits, where."""
        place = self.response.get("queuePlace") if self.outcome == "QUEUED" else None
        return FileOutcome.line(self) + (f"  {_told(place)}" if place else "")


@dataclass(frozen=True, slots=True)
class Uploads:
    """Uploads files to a workspace; new documents get `readers`."""

    client: GraphQLClient
    workspace_id: str
    readers: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] | None = None

    async def upload(self, file: Path, key: str | None) -> dict[str, Any]:
        """Upload a file. The result has the field names of the REST API."""
        digest, size = await asyncio.to_thread(_digest, file)
        taken = await self.client.upload(self.workspace_id, file, key, readers_input(self.readers), self.metadata)
        document, job = taken["document"], taken["job"]
        return {
            "id": document["id"],
            "workspaceId": document["workspaceId"],
            "sourcePath": document["sourcePath"],
            "size": size,
            "contentSha256": digest,
            "unchanged": taken["unchanged"],
            "jobId": None if job is None else job["id"],
            "queuePlace": None if job is None else job.get("queuePlace"),
            "statusUrl": f"/v1/workspaces/{document['workspaceId']}/documents/{document['id']}",
        }

    async def state_of(self, response: Mapping[str, Any]) -> dict[str, Any]:
        """The state of an upload's document. Errors: `NotFound`."""
        found = await self.client.fetch(queries.DOCUMENT_STATE, id=response["id"])
        if found is None:
            raise NotFound("The document was deleted meanwhile.")
        return found

    async def place_of(self, response: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Where the job of an upload waits; None when it does not."""
        job = response["jobId"] and await self.client.fetch(queries.QUEUE_PLACE, id=response["jobId"])
        return job and job["queuePlace"]


def _told(place: Mapping[str, Any]) -> str:
    """Where a job waits, in words."""
    seconds = place["estimatedSeconds"]
    return f"{format_count(place['before'], 'job')} before it" + (f", about {seconds:.0f} s" if seconds else "")


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
    found = state_outcome(str(file), state)
    outcome = "UNCHANGED" if response["unchanged"] else found.outcome
    said = found.code, found.message, found.chunks, found.unread, found.beside, found.recognised
    return UploadOutcome(found.path, outcome, *said, response)


async def _states(
    uploads: Uploads, accepted: Sequence[Mapping[str, Any]], progress: ProgressReport, *, wait: bool
) -> list[dict[str, Any]]:
    watch = StallWatch()
    while True:
        states = [await uploads.state_of(one) for one in accepted]
        if not wait or all(one["status"] in _FINAL for one in states):
            return states
        if watch.is_stalled(states):
            raise IngestStalled(
                f"Nothing moved for {STALL_SECONDS:.0f} s. The jobs stay queued: see whether a `rag worker` runs."
            )
        done, count = sum(one["chunksDone"] for one in states), sum(one["chunkCount"] for one in states)
        place = None if count else await uploads.place_of(accepted[-1])
        progress(done, max(count, done + 1), _told(place) if place else "chunks")
        await asyncio.sleep(_POLL_SECONDS)
