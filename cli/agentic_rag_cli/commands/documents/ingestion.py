"""Synchronises a directory with a workspace and optionally waits until its documents are done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.metadata import NO_CHANGE, MetadataChange
from agentic_rag.documents.unread_pages import (
    RECOGNISED_PROVENANCE,
    UnreadPages,
    read_left_out,
    read_recognised_pages,
    read_unread_pages,
)
from agentic_rag.kernel.errors import Retryable
from agentic_rag.kernel.formatting import format_count
from agentic_rag.tenancy.principals import WorkspaceRef, validate_name
from agentic_rag_cli.in_process import ACTOR, System
from agentic_rag_cli.output.answer_view import unread_text
from agentic_rag_cli.output.terminal import one_line

if TYPE_CHECKING:
    from agentic_rag.ingestion.ports import SourceConnector
    from agentic_rag.ingestion.sync import SyncResult

STALL_SECONDS = 120.0
"""Seconds without any progress after which waiting ends."""

_POLL_SECONDS = 0.1
_POLL_SHARE = 5
"""A poll that took t seconds is followed by a pause of at least 5 t."""

_FINISHED = frozenset({DocumentStatus.READY.value, DocumentStatus.FAILED.value})
_HIDDEN_MESSAGE = "gone from the source: erased after the grace, unless it comes back"
_LEFT_OUT_ON_PURPOSE = frozenset({"SOURCE_HIDDEN", "SOURCE_LINK_OUTSIDE"})

ProgressReport = Callable[[int, int, str], None]


class StallWatch:
    """Tells when what a command waits for stands still."""

    def __init__(self) -> None:
        self._moved = time.monotonic()
        self._last: object = None

    def is_stalled(self, state: object) -> bool:
        """Whether `state` has been the same for `STALL_SECONDS`."""
        if state != self._last:
            self._moved, self._last = time.monotonic(), state
        return time.monotonic() - self._moved > STALL_SECONDS


class IngestStalled(Retryable):
    """No progress for a while; the jobs stay queued."""

    code = "INGEST_STALLED"


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """The outcome of a file: READY, FAILED, QUEUED, MOVED, HIDDEN, RETURNED, DELETED, UNREADABLE or
    SKIPPED; in a dry run NEW, CHANGED or GONE.
    """

    path: str
    outcome: str
    code: str | None = None
    message: str | None = None
    chunks: int = 0
    unread: UnreadPages | None = None
    beside: int = 0
    """Characters beside the main content of a web page."""
    recognised: int = 0
    """Pages whose words were recognised in pictures of them."""

    @property
    def needs_attention(self) -> bool:
        """Whether a person has to look at the file."""
        return self.outcome in ("FAILED", "UNREADABLE", "REFUSED")

    def line(self) -> str:
        """The file and its outcome in one line: the reason for a refusal, or the number of chunks."""
        chunks = f"  {format_count(self.chunks, 'chunk')}" if self.chunks else ""
        if self.unread is not None:
            chunks += f", {unread_text(asdict(self.unread))} could not be read"
        if self.recognised:
            chunks += f", {format_count(self.recognised, 'page')} recognised in pictures"
        if self.beside:
            chunks += f", {format_count(self.beside, 'character')} left out"
        return f"{self.outcome:<10} {one_line(self.path)}{f'  [{self.code}] {self.message}' if self.code else chunks}"


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """The result of one `rag ingest`. Unchanged files are only counted."""

    workspace: str
    source: str
    files: tuple[FileOutcome, ...]
    unchanged: int
    dry_run: bool
    seconds: float

    def count(self, outcome: str) -> int:
        """The number of files with this outcome."""
        return sum(file.outcome == outcome for file in self.files)

    @property
    def failures(self) -> int:
        """The number of files that a person has to look at."""
        return sum(file.needs_attention for file in self.files)

    def as_json(self) -> dict[str, Any]:
        """The JSON form, with stable names."""
        return {
            "workspace": self.workspace,
            "source": self.source,
            "dryRun": self.dry_run,
            "ready": self.count("READY"),
            "queued": self.count("QUEUED"),
            "unchanged": self.unchanged,
            "hidden": self.count("HIDDEN"),
            "returned": self.count("RETURNED"),
            "deleted": self.count("DELETED"),
            "failed": self.failures,
            "seconds": self.seconds,
            "files": [asdict(file) for file in self.files],
        }

    def summary(self) -> str:
        """One line with the number of files by outcome."""
        kinds = dict.fromkeys(file.outcome for file in self.files)
        counts = [f"{self.count(kind)} {kind.lower()}" for kind in kinds]
        counts += [f"{self.unchanged} unchanged"] if self.unchanged else []
        return f"{self.workspace}: {', '.join(counts) or 'the source holds no file'} ({self.seconds:.1f} s)"


async def plan_directory(system: System, workspace: str, directory: Path) -> IngestSummary:
    """The plan of a synchronisation; changes nothing, even when the workspace is missing."""
    from agentic_rag.ingestion.sync import SyncOptions

    began = time.monotonic()
    workspace = validate_name(workspace, ("workspace",))
    known = await system.find_workspace(workspace)
    source = system.container.directory_source(directory)
    if known is None:
        result = await preview(source)
    else:
        result = await system.container.sync_source.run(known.ref, source, ACTOR, SyncOptions(dry_run=True))
    return report(workspace, directory, plan_outcomes(result), result, began)


async def ingest_directory(
    system: System,
    workspace: str,
    directory: Path,
    readers: tuple[str, ...] = (),
    *,
    wait: bool,
    progress: ProgressReport,
    delete_missing: bool = False,
    metadata: MetadataChange = NO_CHANGE,
) -> IngestSummary:
    """Synchronise a directory; the workspace is created when it is missing, and new files get `readers`. `metadata` is
    said of every file. With `wait`
    return when every file is done. `delete_missing` confirms that many files are gone.

    Errors: `IngestStalled`, `InvalidInput` for an invalid workspace name, those of the session.
    """
    from agentic_rag.ingestion.sync import SyncOptions

    began = time.monotonic()
    workspace = validate_name(workspace, ("workspace",))
    into = await system.ensure_workspace(workspace)
    source = system.container.directory_source(directory)
    options = SyncOptions(delete_missing=delete_missing, readable_by=readers, metadata=metadata)
    result = await system.container.sync_source.run(into.ref, source, ACTOR, options)
    documents = await _documents_of(system, into.ref, directory, result, wait=wait, progress=progress)
    waited = [_outcome(path, one) for path, one in documents.items() if one.document_id in result.waiting_for]
    return report(workspace, directory, outcomes(result, waited, documents.keys()), result, began)


async def preview(source: SourceConnector) -> SyncResult:
    """The plan of a synchronisation with an empty workspace."""
    from agentic_rag.ingestion.sync import SyncResult

    found = await source.changes(frozenset(), None)
    return SyncResult(
        new=tuple(item.path for item in found.upserted) if found else (),
        changed=(),
        unchanged=0,
        in_progress=0,
        deleted=(),
        unreadable=found.unreadable if found else (),
        waiting_for=(),
        dry_run=True,
    )


def report(
    workspace: str, directory: Path, files: list[FileOutcome], result: SyncResult, began: float
) -> IngestSummary:
    """What a synchronisation that began at that second came to."""
    return IngestSummary(
        workspace=workspace,
        source=str(directory),
        files=tuple(sorted(files, key=lambda file: file.path)),
        unchanged=result.unchanged,
        dry_run=result.dry_run,
        seconds=round(time.monotonic() - began, 3),
    )


async def _documents_of(
    system: System,
    workspace: WorkspaceRef,
    directory: Path,
    result: SyncResult,
    *,
    wait: bool,
    progress: ProgressReport,
) -> Mapping[str, Document]:
    """The directory's documents, once those of `result` are finished and the deleted ones are gone."""
    source_id = system.container.directory_source(directory).source_id
    watch = StallWatch()
    while True:
        asked = time.monotonic()
        async with system.container.database.transaction(workspace.org_id) as transaction:
            documents = await transaction.documents.paths(workspace, source_id)
        seconds = time.monotonic() - asked
        waiting = [one for one in documents.values() if one.document_id in result.waiting_for]
        unfinished = [one for one in waiting if one.status.value not in _FINISHED]
        leaving = [path for path in result.deleted if path in documents]
        total = len(result.waiting_for) + len(result.deleted)
        progress(total - len(unfinished) - len(leaving), total, unfinished[0].source_path if unfinished else "")
        if not wait or not (unfinished or leaving):
            return documents
        state = ([(one.document_id, one.status, one.chunks_done) for one in unfinished], leaving)
        if watch.is_stalled(state):
            raise IngestStalled(
                f"{len(unfinished) + len(leaving)} files are not done and nothing moved for {STALL_SECONDS:.0f} s. "
                "The jobs stay queued: see `rag job list`, and whether a `rag worker` runs."
            )
        await asyncio.sleep(max(_POLL_SECONDS, _POLL_SHARE * seconds))


def plan_outcomes(result: SyncResult) -> list[FileOutcome]:
    """What would become of each file."""
    gone = result.hidden + result.deleted
    plan = (
        ("NEW", result.new),
        ("CHANGED", result.changed),
        ("MOVED", result.moved),
        ("GONE", gone),
        ("RETURNED", result.returned),
    )
    return [FileOutcome(path, outcome) for outcome, paths in plan for path in paths] + _unreadable_outcomes(result)


def _outcome(path: str, document: Document) -> FileOutcome:
    fault, left_out = document.fault, read_left_out(document.provenance)
    recognised = read_recognised_pages(document.provenance.get(RECOGNISED_PROVENANCE))
    return FileOutcome(
        path,
        document.status.value if document.status.value in _FINISHED else "QUEUED",
        code=fault.code if fault else None,
        message=fault.message if fault else None,
        chunks=document.chunk_count,
        unread=read_unread_pages(document.provenance),
        beside=0 if left_out is None else left_out.characters,
        recognised=0 if recognised is None else recognised.count,
    )


def state_outcome(path: str, state: Mapping[str, Any]) -> FileOutcome:
    """What became of a file whose document a server shows."""
    error = state["error"] or {}
    return FileOutcome(
        path,
        state["status"] if state["status"] in _FINISHED else "QUEUED",
        error.get("code"),
        error.get("message"),
        state["chunkCount"],
        UnreadPages(**state["unreadPages"]) if state.get("unreadPages") else None,
        (state.get("leftOut") or {}).get("characters", 0),
        (state.get("recognisedPages") or {}).get("count", 0),
    )


def outcomes(
    result: SyncResult, waited: Sequence[FileOutcome], present: Collection[str] | None = None
) -> list[FileOutcome]:
    """What became of each file: those that were ingested (`waited`), and the others. Of files that are gone for good
    the document is erased where `present` has no such path.
    """
    files = [*_unreadable_outcomes(result), *waited]
    handled = {file.path for file in files}
    files += [FileOutcome(path, "MOVED") for path in result.moved if path not in handled]
    files += [FileOutcome(path, "RETURNED") for path in result.returned if path not in handled]
    files += [FileOutcome(path, "HIDDEN", message=_HIDDEN_MESSAGE) for path in result.hidden]
    queued = result.deleted if present is None else present
    return files + [FileOutcome(path, "QUEUED" if path in queued else "DELETED") for path in result.deleted]


def _unreadable_outcomes(result: SyncResult) -> list[FileOutcome]:
    return [
        FileOutcome(
            item.path, "SKIPPED" if item.code in _LEFT_OUT_ON_PURPOSE else "UNREADABLE", item.code, item.message
        )
        for item in result.unreadable
    ]
