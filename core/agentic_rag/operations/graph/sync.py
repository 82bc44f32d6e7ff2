"""Brings a graph outside Postgres to the corpus version: the body of GRAPH jobs, and the operators' commands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from functools import partial
from time import monotonic
from typing import TypeVar

from agentic_rag.jobs.job import JobRef, Lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.concurrency import untold
from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.operations.findings import Finding, finding
from agentic_rag.operations.graph.ports import GraphFeed, GraphWriter, TransactionEnded
from agentic_rag.operations.graph.projection import (
    CHUNKS_PER_TRANSACTION,
    ChangedDocument,
    DocumentBatch,
    GraphChange,
    GraphChangeBatch,
    GraphChunk,
    GraphCounts,
    GraphCursor,
    GraphWatermark,
    build_change,
    entities_in,
    graph_since,
    split_change,
)
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit_entry

_Result = TypeVar("_Result")

DOCUMENTS = 64
"""Documents compared at a time."""
CLEARED_PER_CHUNK = 16
"""Nodes that a transaction deletes in the place of each chunk that it may add."""
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each further try of a step whose transaction the graph ended."""
SMALLER = 4
"""Each further try puts this part of the chunks into a transaction; after a quick one it is so many times as many."""
QUICK_SECONDS = 1.0
"""A transaction that took no longer may be `SMALLER` times as large and ends long before the graph ends it."""
TRIES = 3
"""Attempts when a graph differs: a publish between the two counts looks like a difference once."""


@dataclass(slots=True)
class Pace:
    """How a step goes on whose transactions the graph ends: smaller and later, until one is quick again."""

    most: int
    size: int = field(init=False)
    """Chunks of a transaction."""
    failures: int = 0
    """Transactions that were ended since one was not."""
    done: int = 0
    """Documents that are brought."""

    def __post_init__(self) -> None:
        self.size = self.most

    def shrink(self) -> None:
        """The graph ended a transaction."""
        self.failures += 1
        self.size = max(1, self.size // SMALLER)

    def advance(self, documents: int, seconds: float) -> None:
        """So many more documents are brought, by transactions of so many seconds."""
        self.done, self.failures = self.done + documents, 0
        if seconds <= QUICK_SECONDS:
            self.size = min(self.most, self.size * SMALLER)


@dataclass(frozen=True, slots=True)
class GraphStatus:
    """The state of a workspace's graph. `held` is None if the graph does not answer (`fault` says why) or is in
    Postgres; in Postgres it always equals `expected` and is never behind.
    """

    is_outside: bool
    corpus_version: int
    graph_version: int
    expected: GraphCounts
    held: GraphCounts | None = None
    fault: str | None = None
    is_steady: bool = True
    """Neither store changed while both were read: their counts may be compared."""

    @property
    def lag(self) -> int:
        """Corpus versions that the graph is behind."""
        return max(0, self.corpus_version - self.graph_version)

    @property
    def is_equal(self) -> bool:
        """Whether the graph is up to date and has the expected counts."""
        return self.fault is None and self.lag == 0 and self.held in (None, self.expected)


@dataclass(frozen=True, slots=True)
class GraphSync:
    """Follows Postgres, which it reads in short transactions. A document may therefore be newer than the graph's
    recorded version; it is compared again when the graph reaches that version. Safe to stop and rerun at any point.
    """

    feed: GraphFeed
    writer: GraphWriter | None
    telemetry: Telemetry
    documents: int = DOCUMENTS
    chunks: int = CHUNKS_PER_TRANSACTION
    pauses: Sequence[float] = PAUSES
    reading: Callable[[WorkspaceRef], AbstractContextManager[None]] = untold
    """Told while texts of a batch are held."""

    async def run(self, lease: Lease, progress: JobProgress) -> bool:
        """The body of GRAPH jobs; True if it completed the job itself, with its last write.

        An outage of the graph, a refused login, or a graph that ends each transaction, is no failure of the job: the
        job ends, and upkeep enqueues another while the graph is behind.
        Errors: `LeaseLost`, `Retryable`, `DependencyUnavailable` (Postgres).
        """
        if self.writer is None:
            await self.feed.settle(lease)
            return False
        try:
            return await self._follow(lease, self.writer, progress)
        except (DependencyUnavailable, Misconfigured, TransactionEnded) as error:
            if isinstance(error, DependencyUnavailable) and error.dependency == "postgres":
                raise
            self.telemetry.event(
                "rag_graph_unreachable",
                level="warning",
                workspace_id=str(lease.job.workspace.workspace_id),
                code=error.code,
            )
            return False

    async def rebuild(self, workspace: WorkspaceRef, actor: str) -> JobRef | None:
        """Clear and refill the workspace's graph; returns the job that does it, or None if the graph is in Postgres and
        always correct. Errors: `NotFound`, `DependencyUnavailable`.
        """
        if self.writer is None:
            return None
        act = AuditAction.REBUILD_GRAPH
        return await self.feed.restart(
            workspace, audit_entry(self.telemetry, act, workspace, workspace.workspace_id, actor)
        )

    async def counts(self, workspace: WorkspaceRef) -> GraphCounts:
        """The counts of the graph outside Postgres; zeros without one. Errors: `DependencyUnavailable`."""
        return GraphCounts() if self.writer is None else await self.writer.counts(workspace)

    async def status(self, workspace: WorkspaceRef) -> GraphStatus:
        """The graph's state next to what Postgres expects. Errors: `NotFound`, `DependencyUnavailable`
        (Postgres only).
        """
        position = await self.feed.position(workspace)
        expected = await self.feed.counts(workspace)
        if self.writer is None:
            return GraphStatus(False, position.corpus_version, position.corpus_version, expected)
        try:
            watermark = await self.writer.watermark(workspace)
            held = await self.writer.counts(workspace)
            is_steady = watermark == await self.writer.watermark(workspace)
        except (DependencyUnavailable, Misconfigured, TransactionEnded) as error:
            fault = f"[{error.code}] {error.message}"
            return GraphStatus(True, position.corpus_version, position.graph_version, expected, fault=fault)
        # The lower version: a requested rebuild that has not begun shows in Postgres only.
        reached = max(0, min(position.graph_version, watermark.version))
        is_steady = is_steady and position == await self.feed.position(workspace)
        return GraphStatus(True, position.corpus_version, reached, expected, held, is_steady=is_steady)

    async def _follow(self, lease: Lease, writer: GraphWriter, progress: JobProgress) -> bool:
        workspace = lease.job.workspace
        persist = partial(self._persist, workspace, progress)
        fence, watermark = await persist(partial(self._claim, writer, lease, progress))
        since = graph_since(await self.feed.position(workspace), watermark)
        if since == 0 and watermark.version != 0:
            await self.feed.record_watermark(workspace, fence, 0)
            while await persist(partial(_clear, writer, workspace, fence)):
                pass
        cursor = GraphCursor(since)
        while True:
            with self.reading(workspace):
                batch = await self.feed.next_changes(workspace, cursor, self.documents)
                await persist(partial(self._bring, writer, workspace, fence, batch, progress))
            if batch.is_last:
                await persist(partial(_reach, writer, workspace, fence, batch.corpus_version, batch.corpus_version))
                if await self.feed.complete_job(lease, fence, batch.corpus_version):
                    return True
            elif since and batch.complete > cursor.version:
                # A first fill reports no version before it is complete: it may lack old documents as well as new ones.
                await persist(partial(_reach, writer, workspace, fence, batch.complete, batch.corpus_version))
                await self.feed.record_watermark(workspace, fence, batch.complete)
            cursor = batch.cursor

    async def _persist(
        self, workspace: WorkspaceRef, progress: JobProgress, step: Callable[[Pace], Awaitable[_Result]]
    ) -> _Result:
        """Run a step. When the graph ends one of its transactions it goes on after a pause, with fewer chunks in each.
        Errors: those of the step, after as many ends as there are pauses without a transaction between that passed.
        """
        pace = Pace(self.chunks)
        while True:
            try:
                return await step(pace)
            except TransactionEnded as error:
                if pace.failures == len(self.pauses):
                    raise
                pause = self.pauses[pace.failures]
                pace.shrink()
                name = str(workspace.workspace_id)
                self.telemetry.event(
                    "rag_graph_step_repeated", level="warning", workspace_id=name, code=error.code, chunks=pace.size
                )
                await asyncio.sleep(pause)
            finally:
                progress.advance()

    async def _claim(
        self, writer: GraphWriter, lease: Lease, progress: JobProgress, _: Pace
    ) -> tuple[int, GraphWatermark]:
        """A new fence at each try: whether the graph took the last one is not known."""
        workspace = lease.job.workspace
        above = (await writer.watermark(workspace)).fence
        progress.advance()
        fence = await self.feed.claim(lease, above)
        return fence, await writer.claim(workspace, fence)

    async def _bring(
        self,
        writer: GraphWriter,
        workspace: WorkspaceRef,
        fence: int,
        batch: DocumentBatch,
        progress: JobProgress,
        pace: Pace,
    ) -> None:
        """Bring the documents of a batch in the graph to their state in Postgres; repeated, it goes on where it was."""
        while pace.done < len(batch.documents):
            together = max(1, self.documents * pace.size // self.chunks)
            documents = batch.documents[pace.done : pace.done + together]
            seconds = 0.0
            held = await writer.document_ordinals(workspace, [document.document_id for document in documents])
            progress.advance()
            gone = [document.document_id for document in documents if document.source is None]
            if losses := {one: len(held[one]) + 1 for one in gone if one in held}:
                await self.feed.losing(workspace, losses)
            for part in split_change(documents, held, pace.size):
                change = await self._change(writer, workspace, documents, part)
                progress.advance()
                began = monotonic()
                await writer.apply(workspace, fence, batch.corpus_version, change)
                seconds = max(seconds, monotonic() - began)
                progress.advance()
            pace.advance(len(documents), seconds)

    async def _change(
        self,
        writer: GraphWriter,
        workspace: WorkspaceRef,
        documents: Sequence[ChangedDocument],
        part: GraphChangeBatch,
    ) -> GraphChange:
        """What one transaction does of the change of these documents."""
        removed = await writer.chunks(workspace, part.removed) if part.removed else []
        touched = entities_in(removed)
        gone = [document.document_id for document in documents if document.source is None]
        if gone and part.is_last:
            touched.update(await writer.entities_first_seen_in(workspace, gone))
        ordinals = [ordinal for _, ordinal, _ in part.added]
        mentions, entities = await self.feed.payload(workspace, ordinals, sorted(touched))
        added = [
            GraphChunk(
                ordinal,
                chunk_id,
                document.document_id,
                tuple(one for one in mentions.get(ordinal, ()) if one.entity_id in entities),
            )
            for document, ordinal, chunk_id in part.added
        ]
        return build_change(documents, part, removed, added, entities.values())


async def _clear(writer: GraphWriter, workspace: WorkspaceRef, fence: int, pace: Pace) -> int:
    return await writer.clear(workspace, fence, pace.size * CLEARED_PER_CHUNK)


async def _reach(writer: GraphWriter, workspace: WorkspaceRef, fence: int, version: int, target: int, _: Pace) -> None:
    await writer.set_watermark(workspace, fence, version, target)


class GraphCheck:
    """Compares a graph outside Postgres with what Postgres expects in it: a part of `rag verify`. Finds nothing if the
    graph is in Postgres: its rows are checked with all others.
    """

    def __init__(self, sync: GraphSync) -> None:
        self._sync = sync

    async def run(self, workspace: WorkspaceRef) -> Sequence[Finding]:
        """The findings. Errors: `NotFound`, `DependencyUnavailable` (Postgres)."""
        status = await self._sync.status(workspace)
        for _ in range(TRIES - 1):
            if not _differs(status):
                break
            status = await self._sync.status(workspace)
        name = str(workspace.workspace_id)
        if status.fault is not None:
            return [finding("GRAPH_UNREACHABLE", name, status.fault)]
        if status.lag:
            return [finding("GRAPH_BEHIND", name, f"it stands at {status.graph_version} of {status.corpus_version}")]
        if _differs(status) and not status.is_steady:
            return [finding("GRAPH_BEHIND", name, f"it is written at version {status.corpus_version}")]
        return [finding("GRAPH_DIFFERS", name, _difference(status))] if _differs(status) else []


def _differs(status: GraphStatus) -> bool:
    return status.is_outside and not status.lag and status.held is not None and status.held != status.expected


def _difference(status: GraphStatus) -> str:
    """The counts that differ, such as "3 sources instead of 2"."""
    told: list[str] = []
    for one in fields(status.expected):
        held, expected = getattr(status.held, one.name), getattr(status.expected, one.name)
        if held != expected:
            told.append(f"{held} {one.name} instead of {expected}")
    return ", ".join(told)
