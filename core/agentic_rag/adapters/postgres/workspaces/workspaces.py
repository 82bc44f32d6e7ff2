"""`workspaces.ports.WorkspaceStore` on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

import msgspec

from agentic_rag.adapters.postgres.models.space_rows import register_space, space_from
from agentic_rag.adapters.postgres.operations.retention import apply_retention
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.kernel.errors import InvalidInput, no_such_workspace
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.operations.canary import canary_workspace
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind

DEFAULT_HISTORY_DAYS = 7

_COLUMNS = """
    workspace_id, name, kind, external_ref, corpus_version, graph_version, active_space, created_at, settings,
    readers, writers
"""

CREATE = f"""
INSERT INTO rag_workspaces (org_id, workspace_id, name, kind, external_ref, settings, history_days)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
RETURNING {_COLUMNS}
"""  # noqa: S608 - a constant list of columns

CREATE_DEFAULT_ACCESS = """
WITH noted AS (
    INSERT INTO rag_version_times (org_id, workspace_id, version, since) VALUES ($1, $2, 0, clock_timestamp())
)
INSERT INTO rag_access_sets (org_id, workspace_id, access_id, principals) VALUES ($1, $2, $3, '{}')
"""

GET = f"SELECT {_COLUMNS} FROM rag_workspaces WHERE org_id = $1 AND workspace_id = $2"  # noqa: S608

GET_MANY = f"""
SELECT {_COLUMNS} FROM rag_workspaces WHERE org_id = $1 AND workspace_id = ANY ($2::uuid[])
"""  # noqa: S608 - a constant list of columns

BY_NAME = f"SELECT {_COLUMNS} FROM rag_workspaces WHERE org_id = $1 AND name = $2"  # noqa: S608

BY_REFERENCE = f"""
SELECT {_COLUMNS} FROM rag_workspaces WHERE org_id = $1 AND kind = $2 AND external_ref = $3
"""  # noqa: S608

LOCK = f"SELECT {_COLUMNS} FROM rag_workspaces WHERE org_id = $1 AND workspace_id = $2 FOR UPDATE"  # noqa: S608

CHANGE_SETTINGS = f"""
UPDATE rag_workspaces SET settings = $3, history_days = $4 WHERE org_id = $1 AND workspace_id = $2
RETURNING {_COLUMNS}
"""  # noqa: S608

SET_ACCESS = f"""
UPDATE rag_workspaces SET readers = $3, writers = $4 WHERE org_id = $1 AND workspace_id = $2
RETURNING {_COLUMNS}
"""  # noqa: S608

# Another's name is looked for before: a violated key would end the transaction.
RENAME = f"""
UPDATE rag_workspaces SET name = $3
WHERE org_id = $1 AND workspace_id = $2 AND NOT EXISTS (
    SELECT FROM rag_workspaces WHERE org_id = $1 AND workspace_id <> $2 AND name = $3
)
RETURNING {_COLUMNS}
"""  # noqa: S608 - a constant list of columns

ALL = f"""
SELECT {_COLUMNS} FROM rag_workspaces WHERE org_id = $1 AND workspace_id <> $2 ORDER BY name
"""  # noqa: S608 - a constant list of columns

ACTIVE_SPACE = """
SELECT s.space_id, s.provider, s.model, s.dimensions, s.precision
FROM rag_workspaces w
JOIN rag_embedding_spaces s
  ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = w.active_space
WHERE w.org_id = $1 AND w.workspace_id = $2
"""


class PostgresWorkspaceStore:
    """Inside a transaction of one organisation."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def create(
        self,
        workspace_id: UUID,
        name: str,
        kind: WorkspaceKind,
        external_ref: str | None,
        settings: WorkspaceSettings,
    ) -> Workspace:
        row = await self._connection.fetchrow(
            CREATE,
            self._org_id,
            workspace_id,
            name,
            kind.value,
            external_ref,
            msgspec.to_builtins(settings),
            _history(settings),
        )
        if row is None:
            taken = f"name {name!r}" if external_ref is None else f"name {name!r} or reference {external_ref!r}"
            raise InvalidInput(f"A workspace with the {taken} exists already.", code="WORKSPACE_EXISTS")
        await self._connection.execute(CREATE_DEFAULT_ACCESS, self._org_id, workspace_id, DEFAULT_ACCESS_ID)
        return self._workspace(row)

    async def get(self, workspace_id: UUID) -> Workspace | None:
        row = await self._connection.fetchrow(GET, self._org_id, workspace_id)
        return None if row is None else self._workspace(row)

    async def get_many(self, workspace_ids: Sequence[UUID]) -> Mapping[UUID, Workspace]:
        rows = await self._connection.fetch(GET_MANY, self._org_id, list(workspace_ids))
        return {row["workspace_id"]: self._workspace(row) for row in rows}

    async def by_name(self, name: str) -> Workspace | None:
        row = await self._connection.fetchrow(BY_NAME, self._org_id, name)
        return None if row is None else self._workspace(row)

    async def by_reference(self, kind: WorkspaceKind, external_ref: str) -> Workspace | None:
        row = await self._connection.fetchrow(BY_REFERENCE, self._org_id, kind.value, external_ref)
        return None if row is None else self._workspace(row)

    async def rename(self, workspace_id: UUID, name: str) -> Workspace:
        if await self.get(workspace_id) is None:
            raise no_such_workspace()
        row = await self._connection.fetchrow(RENAME, self._org_id, workspace_id, name)
        if row is None:
            raise InvalidInput(f"A workspace with the name {name!r} exists already.", code="WORKSPACE_EXISTS")
        return self._workspace(row)

    async def set_access(
        self, workspace_id: UUID, readers: tuple[str, ...] | None, writers: tuple[str, ...] | None
    ) -> Workspace:
        row = await self._connection.fetchrow(SET_ACCESS, self._org_id, workspace_id, readers, writers)
        if row is None:
            raise no_such_workspace()
        return self._workspace(row)

    async def change_settings(
        self, workspace_id: UUID, apply: Callable[[WorkspaceSettings], WorkspaceSettings]
    ) -> Workspace:
        row = await self._connection.fetchrow(LOCK, self._org_id, workspace_id)
        if row is None:
            raise no_such_workspace()
        settings = apply(self._workspace(row).settings)
        changed = await self._connection.fetchrow(
            CHANGE_SETTINGS, self._org_id, workspace_id, msgspec.to_builtins(settings), _history(settings)
        )
        return self._workspace(changed or row)

    async def all(self) -> list[Workspace]:
        hidden = canary_workspace(self._org_id).workspace_id
        return [self._workspace(row) for row in await self._connection.fetch(ALL, self._org_id, hidden)]

    async def apply_retention(self, workspace: WorkspaceRef) -> bool:
        return await apply_retention(self._connection, workspace)

    async def register_space(self, workspace: WorkspaceRef, space: EmbeddingSpace) -> RegisteredSpace:
        return await register_space(self._connection, workspace, space)

    async def active_space(self, workspace: WorkspaceRef) -> RegisteredSpace | None:
        row = await self._connection.fetchrow(ACTIVE_SPACE, *workspace.key)
        return None if row is None else space_from(row)

    def _workspace(self, row: Row) -> Workspace:
        return value_from(Workspace, row, ref=WorkspaceRef(self._org_id, row["workspace_id"]))


def _history(settings: WorkspaceSettings) -> int:
    return DEFAULT_HISTORY_DAYS if settings.history_days is None else settings.history_days
