"""What a corpus is now, and what its caller may read: the first look of every question."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from functools import partial

import msgspec

from agentic_rag.adapters.postgres.models.space_rows import space_from
from agentic_rag.adapters.postgres.session.connection import Row
from agentic_rag.adapters.postgres.session.pool import BOUND, ENTERED, PostgresPool, caller_setting
from agentic_rag.adapters.postgres.session.shared_reads import SharedReads
from agentic_rag.adapters.postgres.session.snapshot_header import RememberedHeaders
from agentic_rag.adapters.postgres.tenancy.access import read_sets_above
from agentic_rag.adapters.postgres.tenancy.read_scopes import ReadScopes
from agentic_rag.models.embedding.calibration import CalibratedLine
from agentic_rag.tenancy.access import ReadIdentity, ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import RagConfig
from agentic_rag.workspaces.web_access import WebAccess
from agentic_rag.workspaces.workspace import CorpusHead, WorkspaceKind, effective_rag_config

# Of no readers: the sets are those of `ReadScopes`.
CORPUS_HEAD = f"""
SELECT h.*, pg_postmaster_start_time() AS started, rag_newest_access_set(bound.org_id, $2) AS newest_set
FROM {BOUND} CROSS JOIN {ENTERED} CROSS JOIN LATERAL rag_corpus_head(bound.org_id, $2, '{{}}') h
"""  # noqa: S608 - a constant

MOST_HEADS = 10_000
"""Workspaces of which the last row is kept with what was made of it: about 1 kB each."""


class CorpusHeads:
    """Reads heads. Requests of one caller that come at the same time share a read, and a row that was read before is
    not taken apart again.
    """

    def __init__(self, pool: PostgresPool, scopes: ReadScopes, headers: RememberedHeaders) -> None:
        self._pool = pool
        self._scopes = scopes
        self._headers = headers
        self._reads: SharedReads[CorpusHead | None] = SharedReads()
        self._known: OrderedDict[WorkspaceRef, tuple[Row, CorpusHead]] = OrderedDict()

    async def read(self, workspace: WorkspaceRef, readers: ReadIdentity) -> CorpusHead | None:
        """The head for a caller; None where there is no such workspace for it."""
        caller = caller_setting()
        return await self._reads.run((workspace, readers, caller), partial(self._read, workspace, readers, caller))

    def drop(self, workspace: WorkspaceRef | None) -> None:
        """Keep nothing of the workspace any more, or nothing at all."""
        if workspace is None:
            self._known.clear()
        else:
            self._known.pop(workspace, None)

    async def aclose(self) -> None:
        """End the reads that requests share."""
        await self._reads.aclose()

    async def _read(self, workspace: WorkspaceRef, readers: ReadIdentity, caller: str) -> CorpusHead | None:
        async with self._pool.connection() as connection:
            row = await connection.fetchrow(CORPUS_HEAD, *workspace.key, caller)
            self._headers.compare(workspace, row)
            if row is None:
                return None
            above = partial(read_sets_above, connection, workspace, readers)
            access = await self._scopes.of(workspace, readers, row, above)
        return self._head(workspace, row, access)

    def _head(self, workspace: WorkspaceRef, row: Row, access: ReadScope) -> CorpusHead:
        known = self._known.get(workspace)
        if known is None or known[0] != row:
            known = self._known[workspace] = row, _head_from(row, access)
            self._known.move_to_end(workspace)
            if len(self._known) > MOST_HEADS:
                self._known.popitem(last=False)
        head = known[1]
        return head if head.access == access else replace(head, access=access)


def _head_from(row: Row, access: ReadScope) -> CorpusHead:
    kinds = msgspec.convert(row["calibrated_kinds"] or {}, dict[str, CalibratedLine])
    return CorpusHead(
        version=row["corpus_version"],
        space=None if row["space_id"] is None else space_from(row).space,
        support_threshold=row["support_threshold"],
        access=access,
        rag_config=effective_rag_config(
            WorkspaceKind(row["kind"]), msgspec.convert(row["rag_config"], RagConfig | None)
        ),
        kind_thresholds=tuple((kind, line.threshold) for kind, line in sorted(kinds.items())),
        similarity_exponent=row["similarity_exponent"],
        web=msgspec.convert(row["web"] or {}, WebAccess),
        organisation_allows_web=row["organisation_allows_web"],
    )
