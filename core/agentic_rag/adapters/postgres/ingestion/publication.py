"""`ingestion.ports.Publisher` on Postgres: publishing; `erasure.py` and `compaction.py` hold the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from uuid import UUID

from agentic_rag.adapters.postgres.documents.staging import ADD_REVISIONS, revision_arguments
from agentic_rag.adapters.postgres.erasure.erasure import erase
from agentic_rag.adapters.postgres.ingestion import publication_sql as sql
from agentic_rag.adapters.postgres.ingestion.compaction import compact
from agentic_rag.adapters.postgres.ingestion.publication_rows import Batch, batch_of, shift_ordinals, slices
from agentic_rag.adapters.postgres.jobs.jobs import PostgresJobStore
from agentic_rag.adapters.postgres.retrieval.segments import ADD_SEGMENT, segment_arguments
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.adapters.postgres.tenancy.restricted_versions import note_restricted
from agentic_rag.documents.metadata import change_json
from agentic_rag.erasure.ports import Erasure
from agentic_rag.ingestion.ports import DocumentPublication, Published
from agentic_rag.jobs.job import graph_job
from agentic_rag.kernel.errors import NotFound, SpaceMismatch, SpaceSwitched
from agentic_rag.tenancy.principals import WorkspaceRef

ROWS_PER_STATEMENT = 4096
"""A message then holds about 3 MB of chunk texts, or as much of 384-dimensional vectors."""


def space_switch_error(space_id: int) -> SpaceSwitched:
    """The error for vectors of a space that is no longer active."""
    return SpaceSwitched(f"The workspace was switched away from embedding space {space_id}: embed again.")


class PostgresPublisher:
    """Inside a transaction of one organisation. With `is_followed`, every change enqueues, in this transaction, a job
    that updates the graph outside Postgres.
    """

    def __init__(self, connection: PostgresConnection, *, is_followed: bool = False) -> None:
        self._connection = connection
        self._is_followed = is_followed

    async def publish(
        self, workspace: WorkspaceRef, space_id: int, batch: Sequence[DocumentPublication]
    ) -> list[Published]:
        dimensions = await self._dimensions(workspace, space_id)
        accesses, refusals = await self._admit(workspace, batch)
        accepted = [publication for publication in batch if publication.document_id not in refusals]
        version = None
        if accepted:
            version = await self._write(workspace, space_id, batch_of(accepted, accesses, dimensions))
            touched = {accesses[one.document_id] for one in accepted}
            await note_restricted(self._connection, workspace, version, touched)
        return [
            Published(publication.document_id, None, refusals[publication.document_id])
            if publication.document_id in refusals
            else Published(publication.document_id, version)
            for publication in batch
        ]

    async def erase(
        self, workspace: WorkspaceRef, document_id: UUID, job_id: UUID | None = None, fence: int | None = None
    ) -> Erasure | None:
        return await erase(self._connection, workspace, document_id, job_id, fence, is_followed=self._is_followed)

    async def compact(self, workspace: WorkspaceRef) -> int | None:
        return await compact(self._connection, workspace)

    async def _dimensions(self, workspace: WorkspaceRef, space_id: int) -> int:
        row = await self._connection.fetchrow(sql.SPACE, *workspace.key, space_id)
        if row is None:
            raise NotFound(f"There is no workspace {workspace.workspace_id}.")
        if row["dimensions"] is None:
            raise SpaceMismatch(
                f"The vectors are of embedding space {space_id}, which the workspace does not know; it answers in "
                f"space {row['active_space']}."
            )
        if row["active_space"] not in (None, space_id):
            raise space_switch_error(space_id)
        dimensions: int = row["dimensions"]
        return dimensions

    async def _admit(
        self, workspace: WorkspaceRef, batch: Sequence[DocumentPublication]
    ) -> tuple[Mapping[UUID, int], dict[UUID, str]]:
        """Lock the documents (in id order, against deadlocks), then the jobs. Returns the access set of each document,
        and the refusal code of each that may not be published.
        """
        key = workspace.key
        rows = await self._connection.fetch(
            sql.LOCK_DOCUMENTS,
            *key,
            [publication.document_id for publication in batch],
        )
        current = {row["document_id"]: row["revision_id"] for row in rows}
        jobs = [publication.job_id for publication in batch if publication.job_id is not None]
        fences: dict[UUID, int] = {}
        if jobs:
            fences = {row["job_id"]: row["fence"] for row in await self._connection.fetch(sql.LOCK_JOBS, *key, jobs)}
        refusals: dict[UUID, str] = {}
        for publication in batch:
            document_id = publication.document_id
            if publication.job_id is not None and fences.get(publication.job_id) != publication.fence:
                refusals[document_id] = "LEASE_LOST"
            elif document_id not in current:
                refusals[document_id] = "ERASED"
            elif current[document_id] != publication.expected:
                refusals[document_id] = "STALE"
        await self._ensure_revisions(
            workspace, [publication for publication in batch if publication.document_id not in refusals]
        )
        return {row["document_id"]: row["access_id"] for row in rows}, refusals

    async def _ensure_revisions(self, workspace: WorkspaceRef, accepted: Sequence[DocumentPublication]) -> None:
        """Insert missing revisions: direct ingestion publishes without staging. The text of a staged revision is not
        sent again.
        """
        key = workspace.key
        wanted = {publication.revision.revision_id: publication.revision for publication in accepted}
        if not wanted:
            return
        held = await self._connection.fetch(sql.HOLD_REVISIONS, *key, list(wanted))
        missing = wanted.keys() - {row["revision_id"] for row in held}
        if missing:
            await self._connection.executemany(
                ADD_REVISIONS, [(*key, *revision_arguments(wanted[one])) for one in sorted(missing)]
            )

    async def _write(self, workspace: WorkspaceRef, space_id: int, batch: Batch) -> int:
        """Take the workspace's lock, the version and the ordinals in one statement, then write."""
        key = workspace.key
        if self._is_followed:
            # Before the workspace's row, as everywhere: a finishing graph job compares versions under the workspace's
            # lock.
            await PostgresJobStore(self._connection, workspace.org_id).enqueue(graph_job(workspace))
        head = await self._connection.fetchrow(sql.NEXT_VERSION, *key, len(batch.vectors), space_id, self._is_followed)
        if head is None:
            # The workspace exists (`_dimensions` read it): a switch of the embedding space came between.
            raise space_switch_error(space_id)
        version: int = head["version"]
        first: int = head["first_ordinal"]
        if batch.removed or batch.moved.ordinal:
            await self._connection.execute(sql.CLOSE, *key, version, batch.removed, batch.moved.ordinal)
        for columns, offset in ((batch.added, first), (batch.moved, 0)):
            if columns.ordinal:
                await self._insert(sql.ADD_CHUNKS, (*key, version), columns.values(offset))
        if batch.vectors:
            ordinals = range(first, first + len(batch.vectors))
            await self._insert(
                sql.ADD_EMBEDDINGS, (*key, version, space_id), (ordinals, batch.added.access_id, batch.vectors)
            )
            segment = shift_ordinals(batch.segment, first, version)
            await self._connection.execute(ADD_SEGMENT, *key, *segment_arguments(segment))
        await self._write_graph(key, version, first, batch)
        await self._set_ready(key, version, batch)
        return version

    async def _write_graph(self, key: tuple[UUID, UUID], version: int, first: int, batch: Batch) -> None:
        """Write entities and mentions under the workspace's lock: an erasure that drops an unmentioned entity holds the
        same lock.
        """
        if not batch.entities:
            return
        entities = sorted(batch.entities.items(), key=lambda item: item[0].int)  # UUIDs compare in Python, slowly
        await self._connection.execute(
            sql.ADD_ENTITIES,
            *key,
            [entity_id for entity_id, _ in entities],
            [entity.key for _, (entity, _) in entities],
            [entity.name for _, (entity, _) in entities],
            [entity.kind for _, (entity, _) in entities],
            [document_id for _, (_, document_id) in entities],
        )
        mentions = batch.mentions
        for start in range(0, len(mentions.entity_id), ROWS_PER_STATEMENT):
            piece = slice(start, start + ROWS_PER_STATEMENT)
            ordinals = mentions.ordinal[piece]
            chunks = slice(ordinals[0], ordinals[-1] + 1)
            before = mentions.first[start] - 1
            links = slice(before, mentions.last[piece][-1])
            await self._connection.execute(
                sql.ADD_MENTIONS,
                *key,
                version,
                mentions.entity_id[piece],
                [ordinal - chunks.start for ordinal in ordinals],
                mentions.count[piece],
                [place - before for place in mentions.first[piece]],
                [place - before for place in mentions.last[piece]],
                mentions.related[links],
                mentions.weights[links],
                first + chunks.start,
                batch.added.document_id[chunks],
                batch.added.access_id[chunks],
            )

    async def _set_ready(self, key: tuple[UUID, UUID], version: int, batch: Batch) -> None:
        accepted = batch.accepted
        await self._connection.execute(
            sql.SET_READY,
            *key,
            version,
            [publication.document_id for publication in accepted],
            [publication.revision.revision_id for publication in accepted],
            [publication.content_hash for publication in accepted],
            [len(publication.added) + len(publication.kept) for publication in accepted],
            [publication.title for publication in accepted],
            [publication.media_type for publication in accepted],
            [publication.expected for publication in accepted],
            [json.dumps(dict(publication.provenance)) for publication in accepted],
            [json.dumps(change_json(publication.metadata)) for publication in accepted],
        )

    async def _insert(self, statement: str, head: tuple[object, ...], columns: Sequence[Sequence[object]]) -> None:
        for piece in slices(columns, ROWS_PER_STATEMENT):
            await self._connection.execute(statement, *head, *piece)
