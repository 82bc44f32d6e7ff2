"""The header of a snapshot: what a corpus is at one instant, as it is read and as a process remembers it."""

from __future__ import annotations

from collections import OrderedDict

from agentic_rag.adapters.postgres.session.connection import Row
from agentic_rag.tenancy.principals import WorkspaceRef

MOST_HEADERS = 10_000
"""Workspaces whose last header is remembered: each is a few hundred bytes, and some for each segment."""

_STARTED = "pg_postmaster_start_time()"

_HEADER = """
SELECT w.corpus_version, w.oldest_version, w.access_version, w.titles_changed, {started} AS started,
       (SELECT max(g.access_id) FROM rag_access_sets g
        WHERE g.org_id = w.org_id AND g.workspace_id = w.workspace_id) AS newest_set,
       s.space_id, s.provider, s.model, s.dimensions, s.precision,
       w.active_space,
       ARRAY (
           SELECT segment_id FROM rag_segments g
           WHERE g.org_id = w.org_id AND g.workspace_id = w.workspace_id
           ORDER BY visible_from, segment_id
       ) AS segment_ids,
       (SELECT count(*) FROM rag_segments g
        WHERE g.org_id = w.org_id AND g.workspace_id = w.workspace_id
          AND g.visible_from <= coalesce({as_of}, w.corpus_version)) AS segments_seen,
       EXISTS (
           SELECT FROM rag_vector_indexes i
           WHERE i.org_id = w.org_id AND i.workspace_id = w.workspace_id AND i.space_id = s.space_id
             AND i.state = 'READY'
       ) AS is_indexed
FROM rag_workspaces w
LEFT JOIN rag_embedding_spaces s
  ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = coalesce({space}, w.active_space)
WHERE w.org_id = $1 AND w.workspace_id = $2
"""

# The first statement of the transaction; it fixes the snapshot that later statements read. `told` is all of a row.
HEADER = """
SELECT header.*, header::text AS told FROM ({header}) AS header
""".format(header=_HEADER.format(as_of="$3::integer", space="$4::smallint", started=_STARTED))

TOLD = f"SELECT header::text FROM ({_HEADER.format(as_of='NULL', space='NULL', started=_STARTED)}) AS header"  # noqa: S608
"""`told` of the newest version and the active space, for $1 the organisation and $2 the workspace."""

REPLAYED = f"""
SELECT header::text FROM ({_HEADER.format(as_of="NULL", space="NULL", started="$3::timestamptz")}) AS header
WHERE pg_is_in_recovery() AND EXISTS (SELECT FROM pg_stat_wal_receiver WHERE pid IS NOT NULL)
  AND (SELECT system_identifier FROM pg_control_system()) = $4
  AND (pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn()
       OR clock_timestamp() < pg_last_xact_replay_timestamp() + interval '1 second')
"""  # noqa: S608 - constants
"""`told` as a replica has it whose primary started at $3 and has the `SYSTEM` $4; no row where the replica is cut off,
is none or one of another server, or has received what it has not replayed and is older than a second: titles and
metadata, of which the header does not tell, lag so far.
"""

SYSTEM = "SELECT system_identifier FROM pg_control_system()"
"""Which server the data are of: a replica has that of its primary. A restored copy has the same workspaces at the same
versions and another identifier.
"""

_OF_A_HEAD = ("started", "corpus_version", "access_version", "newest_set")


class RememberedHeaders:
    """The header that this process read last of each workspace, for snapshots of the newest version."""

    def __init__(self) -> None:
        self._rows: OrderedDict[WorkspaceRef, Row] = OrderedDict()

    def find(self, workspace: WorkspaceRef) -> Row | None:
        """The last header, which may be stale."""
        return self._rows.get(workspace)

    def keep(self, workspace: WorkspaceRef, row: Row) -> None:
        """Remember a header that was read."""
        self._rows[workspace] = row
        self._rows.move_to_end(workspace)
        if len(self._rows) > MOST_HEADERS:
            self._rows.popitem(last=False)

    def drop(self, workspace: WorkspaceRef | None) -> None:
        """Forget the header of the workspace, or all."""
        if workspace is None:
            self._rows.clear()
        else:
            self._rows.pop(workspace, None)

    def compare(self, workspace: WorkspaceRef, head: Row | None) -> None:
        """Forget a header of which a row of `CORPUS_HEAD` says that it is stale."""
        known = self._rows.get(workspace)
        if known is not None and (head is None or any(head[name] != known[name] for name in _OF_A_HEAD)):
            del self._rows[workspace]
