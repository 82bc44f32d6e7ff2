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

_HIDDEN = """
SELECT CASE
    WHEN cardinality($3::integer[]) <= 5 * ((
        SELECT max(access_id) FROM rag_access_sets WHERE org_id = $1 AND workspace_id = $2
    ) + 1 - cardinality($3::integer[]))
    THEN coalesce((
        SELECT counted FROM rag_restricted_versions
        WHERE org_id = $1 AND workspace_id = $2 AND version <= {upto} ORDER BY version DESC LIMIT 1
    ), 0) - coalesce((
        SELECT counted FROM rag_restricted_versions
        WHERE org_id = $1 AND workspace_id = $2 AND version <= {above} ORDER BY version DESC LIMIT 1
    ), 0) - (
        SELECT count(DISTINCT touched.version)
        FROM unnest($3) AS asked(access_id)
        CROSS JOIN LATERAL (
            SELECT version FROM rag_restricted_versions
            WHERE org_id = $1 AND workspace_id = $2 AND access_id = asked.access_id
              AND version > {above} AND version <= {upto}
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
              AND o.version > {above} AND o.version <= {upto}
              AND (
                  SELECT bool_and(r.access_id <> ALL ($3)) FROM rag_restricted_versions r
                  WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.version = o.version
              )
            OFFSET 0
        ) other
    )
END
"""

# $3: the sets that the caller reads; $4, $5: of the versions above the first up to the second those that touch none.
# Each row knows how many restricted versions there are up to its own. Those of sets that are read are looked up, or
# those of the others, where they are few: each of them costs five times as much, since its other sets are looked at.
HIDDEN = _HIDDEN.format(above="$4", upto="$5")

# $3: the sets that the caller reads; $4: a version as it was shown; $5: one that is shown below it, of which $6 up to
# it are hidden; $7: one that is shown so or above, or none. The first that is shown so is found by halves: `low` is
# shown below it and `high` is not, and `hidden` are those up to `low`. Hidden ones right behind it show the same: where
# the workspace keeps no older one, its oldest is read if it is one of them. What was never shown is behind the newest.
STORED = f"""
WITH RECURSIVE halves AS (
    SELECT $5::integer AS low, least($7::integer, w.corpus_version + 1) AS high, $6::bigint AS hidden
    FROM rag_workspaces w WHERE w.org_id = $1 AND w.workspace_id = $2
    UNION ALL
    SELECT CASE WHEN is_below THEN middle ELSE low END, CASE WHEN is_below THEN high ELSE middle END,
           CASE WHEN is_below THEN upto ELSE hidden END
    FROM (
        SELECT h.*, half.middle, counted.upto, half.middle - counted.upto < $4 AS is_below
        FROM halves h
        CROSS JOIN LATERAL (SELECT (h.low + h.high) / 2 AS middle) half
        CROSS JOIN LATERAL (
            SELECT h.hidden + ({_HIDDEN.format(above="h.low", upto="half.middle")}) AS upto OFFSET 0
        ) counted
        WHERE h.high - h.low > 1
    ) looked
), found AS (
    SELECT low, high, hidden FROM halves ORDER BY high - low LIMIT 1
)
SELECT f.low, f.hidden,
       CASE WHEN w.oldest_version > f.high AND f.high <= w.corpus_version
                 AND w.oldest_version - f.high = ({_HIDDEN.format(above="f.high", upto="w.oldest_version")})
            THEN w.oldest_version ELSE f.high END AS version
FROM found f, rag_workspaces w
WHERE w.org_id = $1 AND w.workspace_id = $2
"""  # noqa: S608 - constants


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
    behind the version of a snapshot may be out of its sight: nothing is counted backwards from there.
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
            self._keep(known, version, hidden)
        return version - hidden

    async def stored(
        self, connection: PostgresConnection, workspace: WorkspaceRef, scope: ReadScope, shown: int
    ) -> int:
        """The first version still kept that a caller is shown under a number; one that is not there where it was never
        shown.
        """
        if scope.is_unrestricted or shown < 0:
            return shown
        known = self._of(workspace, scope)
        below = max((one for one, hidden in known.items() if one - hidden < shown), default=-1)
        above = min((one for one, hidden in known.items() if one - hidden >= shown), default=None)
        asked = (list(scope.access_ids), shown, below, known.get(below, 0), above)
        row = await connection.fetchrow(STORED, *workspace.key, *asked)
        if row is None:
            return shown
        if row["low"] >= 0:
            self._keep(known, row["low"], row["hidden"])
        return row["version"]

    @staticmethod
    def _keep(known: dict[int, int], version: int, hidden: int) -> None:
        known[version] = hidden
        if len(known) > MOST_VERSIONS:
            del known[next(iter(known))]

    def _of(self, workspace: WorkspaceRef, scope: ReadScope) -> dict[int, int]:
        caller = workspace, scope.access_ids
        known = self._known.setdefault(caller, {})
        self._known.move_to_end(caller)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return known
