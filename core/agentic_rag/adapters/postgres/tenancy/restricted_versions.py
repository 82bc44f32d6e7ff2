"""Corpus versions as callers are shown them: without those that changed only what they may not read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, WorkspaceRef

MOST_CALLERS = 1_000
MOST_VERSIONS = 64
"""Of one caller: those of old runs and of what retired are asked for too."""

NOTE = """
INSERT INTO rag_restricted_versions (org_id, workspace_id, version, access_id)
SELECT $1, $2, $3, unnest($4::integer[])
"""

# The sets of documents and of all their passages.
SETS_OF = """
SELECT access_id FROM rag_documents WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3::uuid[])
UNION
SELECT access_id FROM rag_chunks WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3)
"""

# $3: the sets that the caller reads; $4, $5: of the versions above the first up to the second those that touch none.
# Each row knows how many restricted versions there are up to its own. The fewer sets are looked up, those that are read
# or the others.
HIDDEN = """
SELECT CASE
    WHEN 2 * cardinality($3::integer[]) <= (
        SELECT max(access_id) FROM rag_access_sets WHERE org_id = $1 AND workspace_id = $2
    )
    THEN coalesce((
        SELECT counted FROM rag_restricted_versions
        WHERE org_id = $1 AND workspace_id = $2 AND version <= $5 ORDER BY version DESC LIMIT 1
    ), 0) - coalesce((
        SELECT counted FROM rag_restricted_versions
        WHERE org_id = $1 AND workspace_id = $2 AND version <= $4 ORDER BY version DESC LIMIT 1
    ), 0) - (
        SELECT count(DISTINCT touched.version)
        FROM unnest($3) AS asked(access_id)
        CROSS JOIN LATERAL (
            SELECT version FROM rag_restricted_versions
            WHERE org_id = $1 AND workspace_id = $2 AND access_id = asked.access_id AND version > $4 AND version <= $5
            OFFSET 0
        ) touched
    )
    ELSE (
        SELECT count(DISTINCT other.version)
        FROM (
            SELECT access_id FROM rag_access_sets WHERE org_id = $1 AND workspace_id = $2
            EXCEPT SELECT unnest($3)
        ) unread
        CROSS JOIN LATERAL (
            SELECT o.version FROM rag_restricted_versions o
            WHERE o.org_id = $1 AND o.workspace_id = $2 AND o.access_id = unread.access_id
              AND o.version > $4 AND o.version <= $5
              AND (
                  SELECT bool_and(r.access_id <> ALL ($3)) FROM rag_restricted_versions r
                  WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.version = o.version
              )
            OFFSET 0
        ) other
    )
END
"""

# $4: a version as it was shown: the version that is shown so first, and hidden ones right behind it show the same. The
# first of them that the workspace keeps is read.
STORED = """
SELECT least($4 + h.all_same, greatest($4 + h.before, w.oldest_version))
FROM rag_workspaces w, (
    SELECT count(*) AS all_same, count(*) FILTER (WHERE shown < $4) AS before
    FROM (
        SELECT version - row_number() OVER (ORDER BY version) AS shown
        FROM (
            SELECT version FROM rag_restricted_versions WHERE org_id = $1 AND workspace_id = $2
            EXCEPT
            SELECT version FROM rag_restricted_versions
            WHERE org_id = $1 AND workspace_id = $2 AND access_id IN (SELECT unnest($3::integer[]))
        ) untouched
    ) hidden
    WHERE shown <= $4
) h
WHERE w.org_id = $1 AND w.workspace_id = $2
"""


async def note_restricted(
    connection: PostgresConnection, workspace: WorkspaceRef, version: int, access_ids: Collection[int]
) -> None:
    """Write down the sets that a version touched, unless everybody reads one of them."""
    if access_ids and DEFAULT_ACCESS_ID not in access_ids:
        await connection.execute(NOTE, *workspace.key, version, sorted(access_ids))


async def sets_of(
    connection: PostgresConnection, workspace: WorkspaceRef, document_ids: Collection[UUID]
) -> frozenset[int]:
    """The access sets of documents and of their passages of every version."""
    rows = await connection.fetch(SETS_OF, *workspace.key, list(document_ids))
    return frozenset(row["access_id"] for row in rows)


class HiddenVersions:
    """How many versions up to some touched nothing of what a caller reads, for those who asked last. Rows of a
    committed version never change, so only what lies between a version and one that is known is counted. What lies
    behind the version of a snapshot may be out of its sight: nothing is counted backwards.
    """

    def __init__(self, most_callers: int = MOST_CALLERS) -> None:
        self._most = most_callers
        self._known: OrderedDict[tuple[WorkspaceRef, tuple[int, ...]], dict[int, int]] = OrderedDict()

    def forget(self) -> None:
        """Forget all: the server may hold another past."""
        self._known.clear()

    async def shown(
        self, connection: PostgresConnection, workspace: WorkspaceRef, scope: ReadScope, version: int
    ) -> int:
        """The number that a caller is shown for a committed version."""
        if scope.is_unrestricted:
            return version
        known = self._of(workspace, scope)
        above = max((one for one in known if one <= version), default=0)
        hidden = known.get(above, 0)
        if above < version:
            access_ids = list(scope.access_ids)
            hidden += await connection.fetchval(HIDDEN, *workspace.key, access_ids, above, version)
            known[version] = hidden
            if len(known) > MOST_VERSIONS:
                del known[next(iter(known))]
        return version - hidden

    def _of(self, workspace: WorkspaceRef, scope: ReadScope) -> dict[int, int]:
        caller = workspace, scope.access_ids
        known = self._known.setdefault(caller, {})
        self._known.move_to_end(caller)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return known


async def stored_version(connection: PostgresConnection, workspace: WorkspaceRef, scope: ReadScope, shown: int) -> int:
    """The first version still kept that a caller is shown under a number."""
    if scope.is_unrestricted:
        return shown
    stored: int = await connection.fetchval(STORED, *workspace.key, list(scope.access_ids), shown)
    return stored
