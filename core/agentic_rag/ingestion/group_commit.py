"""Group commit: documents of one workspace that wait for a publish share the next one."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from uuid import UUID

from agentic_rag.ingestion.ports import DocumentPublication, Published
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import DependencyUnavailable, Retryable
from agentic_rag.tenancy.principals import WorkspaceRef

COMPACT_KEY = "segments"
"""One compaction of a workspace waits at a time."""

COMPACT_EVERY = 32
"""Corpus versions between two compactions: each publish adds one postings segment."""


def is_compaction_due(version: int, every: int = COMPACT_EVERY) -> bool:
    """Whether the publish that made this corpus version asks for a compaction. The version is the workspace's own
    count, so it does not matter which processes publish, nor how long they live.
    """
    return version % every == 0


def compaction_job(workspace: WorkspaceRef) -> NewJob:
    """The job that merges the workspace's segments and drops what is past its history."""
    return NewJob(workspace, JobKind.COMPACT, COMPACT_KEY, {})


@dataclass(slots=True)
class _PendingPublication:
    publication: DocumentPublication
    outcome: asyncio.Future[Published]


@dataclass(slots=True)
class _PublishQueue:
    """The documents of one workspace that wait, and the task that publishes them."""

    waiting: deque[_PendingPublication] = field(default_factory=deque[_PendingPublication])
    publisher: asyncio.Task[None] | None = None


class GroupCommitPublisher:
    """A publish takes the workspace's lock and a synchronous commit, whatever it holds; so while one is in flight the
    documents behind it gather, and go together. A document alone never waits for company.
    """

    def __init__(
        self,
        database: Database,
        *,
        max_documents: int = 64,
        max_chunks: int = 2_000,
        compact_every: int = COMPACT_EVERY,
    ) -> None:
        self._database = database
        self._max_documents = max_documents
        self._max_chunks = max_chunks
        self._compact_every = compact_every
        self._lines: dict[tuple[WorkspaceRef, int], _PublishQueue] = {}

    async def publish(self, workspace: WorkspaceRef, space_id: int, publication: DocumentPublication) -> Published:
        """Publish one document, perhaps together with others. Errors: those of `Publisher.publish` and `Database`."""
        key = (workspace, space_id)
        line = self._lines.setdefault(key, _PublishQueue())
        entry = _PendingPublication(publication, asyncio.get_running_loop().create_future())
        line.waiting.append(entry)
        if line.publisher is None:
            line.publisher = asyncio.create_task(self._drain(key, line), name="group publish")
        # A caller that is cancelled takes only itself out; a publication already in flight is guarded by its fence.
        return await entry.outcome

    async def _drain(self, key: tuple[WorkspaceRef, int], line: _PublishQueue) -> None:
        try:
            while line.waiting:
                batch = self._next_batch(line)
                if batch:
                    await self._publish(*key, batch)
        finally:
            for entry in line.waiting:
                entry.outcome.cancel()
            self._lines.pop(key, None)

    def _next_batch(self, line: _PublishQueue) -> list[_PendingPublication]:
        batch: list[_PendingPublication] = []
        documents: set[UUID] = set()
        chunks = 0
        while line.waiting and len(batch) < self._max_documents:
            publication = line.waiting[0].publication
            size = len(publication.added) + len(publication.kept)
            if batch and (chunks + size > self._max_chunks or publication.document_id in documents):
                break
            entry = line.waiting.popleft()
            if not entry.outcome.done():
                batch.append(entry)
                documents.add(publication.document_id)
                chunks += size
        return batch

    async def _publish(self, workspace: WorkspaceRef, space_id: int, batch: list[_PendingPublication]) -> None:
        commit = asyncio.create_task(self._commit(workspace, space_id, batch), name="publish")
        try:
            await asyncio.wait([commit])
        except asyncio.CancelledError:
            commit.cancel()
            for entry in batch:
                entry.outcome.cancel()
            raise
        error = commit.exception()
        if error is not None and len(batch) > 1 and not isinstance(error, Retryable | DependencyUnavailable):
            # One of them cannot be published: the others shall not fail with it.
            for entry in batch:
                await self._publish(workspace, space_id, [entry])
            return
        for entry in batch:
            if entry.outcome.done():
                continue
            if error is not None:
                entry.outcome.set_exception(error)  # Whatever it is: the waiters' jobs judge it.
            else:
                entry.outcome.set_result(commit.result()[entry.publication.document_id])

    async def _commit(
        self, workspace: WorkspaceRef, space_id: int, batch: list[_PendingPublication]
    ) -> dict[UUID, Published]:
        async with self._database.transaction(workspace.org_id) as transaction:
            results = await transaction.publisher.publish(workspace, space_id, [entry.publication for entry in batch])
            published = [result.document_id for result in results if result.version is not None]
            if published:
                await transaction.originals.supersede(workspace, published)
            if any(one.version is not None and is_compaction_due(one.version, self._compact_every) for one in results):
                await transaction.jobs.enqueue(compaction_job(workspace))
        return {result.document_id: result for result in results}
