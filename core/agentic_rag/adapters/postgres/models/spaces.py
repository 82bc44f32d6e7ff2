"""`models.embedding.ports.SpaceStore` on Postgres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta

import msgspec

from agentic_rag.adapters.postgres.jobs.jobs import PostgresJobStore
from agentic_rag.adapters.postgres.models import spaces_sql as sql
from agentic_rag.adapters.postgres.models.space_rows import register_space, space_from
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
from agentic_rag.adapters.postgres.session.halfvec import encode_halfvecs
from agentic_rag.jobs.job import graph_job
from agentic_rag.kernel.errors import NotFound, SpaceMismatch
from agentic_rag.models.embedding.calibration import CalibrationRecord
from agentic_rag.models.embedding.ports import ChunkWithoutVector
from agentic_rag.models.embedding.recall_gate import RecallComparison, RecallGate
from agentic_rag.models.embedding.space import (
    SPACE_TRANSITIONS,
    EmbeddingSpace,
    SpaceRecord,
    SpaceState,
    must_start_fill,
)
from agentic_rag.tenancy.principals import WorkspaceRef


class PostgresSpaceStore:
    """Inside a transaction of one organisation. With `is_followed`, a switch enqueues, in this transaction, a job that
    updates the graph outside Postgres.
    """

    def __init__(self, connection: PostgresConnection, *, is_followed: bool = False) -> None:
        self._connection = connection
        self._is_followed = is_followed

    async def all(self, workspace: WorkspaceRef) -> Sequence[SpaceRecord]:
        return [
            value_from(SpaceRecord, row, registered=space_from(row))
            for row in await self._connection.fetch(sql.ALL, *workspace.key)
        ]

    async def begin(self, workspace: WorkspaceRef, space: EmbeddingSpace, gate: RecallGate | None) -> SpaceRecord:
        await self._lock(workspace)
        known = await self.all(workspace)
        record = next((one for one in known if one.registered.space == space), None)
        must_start_fill(record, [one for one in known if one.state is SpaceState.FILLING])
        registered = await register_space(self._connection, workspace, space)
        await self._connection.execute(
            sql.BEGIN, *workspace.key, registered.space_id, None if gate is None else asdict(gate)
        )
        return next(one for one in await self.all(workspace) if one.registered == registered)

    async def gate(self, workspace: WorkspaceRef, space_id: int) -> RecallGate | None:
        stored = await self._connection.fetchval(sql.GATE, *workspace.key, space_id)
        return msgspec.convert(stored, RecallGate | None)

    async def missing(
        self, workspace: WorkspaceRef, space_id: int, after: int, limit: int
    ) -> Sequence[ChunkWithoutVector]:
        rows = await self._connection.fetch(sql.MISSING, *workspace.key, space_id, after, limit)
        return [value_from(ChunkWithoutVector, row) for row in rows]

    async def fill(self, workspace: WorkspaceRef, space_id: int, vectors: Mapping[int, bytes]) -> bool:
        await self._lock(workspace)
        row = await self._connection.fetchrow(sql.STATE, *workspace.key, space_id)
        if row is None or row["state"] != SpaceState.FILLING.value:
            return False
        try:
            wire = encode_halfvecs(list(vectors.values()), row["dimensions"])
        except ValueError as error:
            raise SpaceMismatch(f"The vectors do not fit the space: {error}.") from error
        await self._connection.execute(sql.FILL, *workspace.key, space_id, list(vectors), wire)
        return True

    async def hold(self, workspace: WorkspaceRef, space_id: int) -> bool:
        await self._announce(workspace)
        await self._lock(workspace)
        row = await self._connection.fetchrow(sql.STATE, *workspace.key, space_id)
        return row is not None and row["state"] == SpaceState.FILLING.value

    async def activate(self, workspace: WorkspaceRef, space_id: int, grace: timedelta) -> int | None:
        await self._announce(workspace)
        await self._lock(workspace)
        row = await self._connection.fetchrow(sql.STATE, *workspace.key, space_id)
        if row is None or SpaceState.ACTIVE not in SPACE_TRANSITIONS[SpaceState(row["state"])]:
            raise NotFound(
                f"The embedding space {space_id} no longer exists; start the switch again.", code="SPACE_GONE"
            )
        if await self.missing(workspace, space_id, -1, 1):
            return None
        await self._connection.execute(sql.RETIRE, *workspace.key, space_id, grace)
        await self._connection.execute(sql.ACTIVATE, *workspace.key, space_id)
        version: int = await self._connection.fetchval(sql.NEXT_VERSION, *workspace.key, space_id, self._is_followed)
        return version

    async def record_verdict(self, workspace: WorkspaceRef, space_id: int, verdict: RecallComparison) -> None:
        await self._connection.execute(sql.RECORD_VERDICT, *workspace.key, space_id, asdict(verdict))

    async def calibration(self, workspace: WorkspaceRef, space_id: int) -> CalibrationRecord:
        stored = await self._connection.fetchval(sql.CALIBRATION, *workspace.key, space_id)
        return msgspec.convert(stored or {}, CalibrationRecord)

    async def set_calibration(self, workspace: WorkspaceRef, space_id: int, record: CalibrationRecord) -> bool:
        stored = msgspec.to_builtins(record)
        changed = await self._connection.change(sql.SET_CALIBRATION, *workspace.key, space_id, record.threshold, stored)
        return changed == 1

    async def abandon(self, workspace: WorkspaceRef, space_id: int, grace: timedelta) -> bool:
        await self._lock(workspace)
        return await self._connection.change(sql.ABANDON, *workspace.key, space_id, grace) == 1

    async def drop_old_spaces(self, workspace: WorkspaceRef, limit: int) -> bool:
        await self._lock(workspace)
        left = limit
        for row in await self._connection.fetch(sql.EXPIRED, *workspace.key):
            space_id: int = row["space_id"]
            left -= await self._connection.change(sql.DROP_VECTORS, *workspace.key, space_id, left)
            if left == 0:
                return True
            await self._connection.execute(sql.DROP_STAGED_VECTORS, *workspace.key, space_id)
            await self._connection.execute(sql.DROP_SPACE, *workspace.key, space_id)
        return False

    async def _announce(self, workspace: WorkspaceRef) -> None:
        """Enqueue the graph job. Its row is locked before the workspace's, as everywhere."""
        if self._is_followed:
            await PostgresJobStore(self._connection, workspace.org_id).enqueue(graph_job(workspace))

    async def _lock(self, workspace: WorkspaceRef) -> None:
        if await self._connection.fetchrow(sql.LOCK_WORKSPACE, *workspace.key) is None:
            raise NotFound(f"There is no workspace {workspace.workspace_id}.", code="WORKSPACE_NOT_FOUND")
