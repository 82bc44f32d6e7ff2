"""Proves that an erased workspace or organisation is gone by reading every store again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.ports import AnswerCache
from agentic_rag.documents.blob_keys import (
    early_originals_of,
    is_older,
    original_prefixes,
    snapshots_of,
    snapshots_prefix,
)
from agentic_rag.documents.originals import require_folders
from agentic_rag.documents.ports import BlobStore
from agentic_rag.erasure.ports import ExternalGraph
from agentic_rag.erasure.workspace_erasure import BLOBS, CACHE, EXTERNAL_GRAPH, WorkspaceErasure
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured, NotFound
from agentic_rag.kernel.formatting import format_count
from agentic_rag.operations.findings import Finding, Severity
from agentic_rag.operations.prove_erased import WAIT_FOR_JOB, store_unknown
from agentic_rag.tenancy.principals import WorkspaceRef

FROM_BACKUP = "It came after the erasure, by a restore or by hand: look where it comes from, and delete it there."


@dataclass(frozen=True, slots=True)
class WorkspaceErasureProof:
    """The current state of every store."""

    erasure: WorkspaceErasure
    findings: tuple[Finding, ...]
    workspaces: tuple[WorkspaceErasure, ...] = ()
    """Of an organisation the certificates of its workspaces, newest first: no one else can ask for them any more."""

    @property
    def is_complete(self) -> bool:
        """True if no store holds anything of it."""
        return not self.findings


class ProveWorkspaceErasure:
    """Reads only. `graph` is the graph outside Postgres, if there is one."""

    def __init__(
        self, database: Database, cache: AnswerCache, blobs: BlobStore, graph: ExternalGraph | None = None
    ) -> None:
        self._database = database
        self._cache = cache
        self._blobs = blobs
        self._graph = graph

    async def run(self, org_id: UUID, subject_id: UUID) -> WorkspaceErasureProof:
        """Reads every store, whatever the certificate counts. `subject_id` is the workspace, or the organisation.
        Errors: `NotFound` code ERASURE_NOT_FOUND (it was never deleted), `DependencyUnavailable` (Postgres). Any other
        store that is not reached yields a finding, because nothing is proven there.
        """
        async with self._database.transaction(org_id) as transaction:
            erasure = await transaction.workspace_erasures.get(subject_id)
            if erasure is None:
                raise NotFound("There is no certificate: nothing of that id was deleted.", code="ERASURE_NOT_FOUND")
            traces = await transaction.workspace_erasures.traces(subject_id)
            every = [one for one in await transaction.workspace_erasures.all() if not one.is_organisation]
        subject = str(subject_id)
        erased = every if erasure.is_organisation else [erasure]
        found = [_trace(one.store, subject, format_count(one.rows, "row"), erasure) for one in traces]
        if not erasure.is_complete and not found:
            found.append(_pending("rag_erasures", subject))
        for check in (self._cached, self._nodes, self._kept_blobs):
            try:
                found += [_trace(*held, erasure) for held in await check(erasure, erased)]
            except (DependencyUnavailable, Misconfigured) as error:
                store = error.dependency if isinstance(error, DependencyUnavailable) else "settings"
                found.append(store_unknown(store, subject, error))
        return WorkspaceErasureProof(erasure, tuple(found), tuple(every) if erasure.is_organisation else ())

    async def _cached(self, _: WorkspaceErasure, erased: Sequence[WorkspaceErasure]) -> Sequence[tuple[str, str, str]]:
        counts = {one.subject_id: await self._cache.holding(_ref(one), b"") for one in erased}
        return [(CACHE, str(one), format_count(count, "cached answer")) for one, count in counts.items() if count]

    async def _nodes(self, _: WorkspaceErasure, erased: Sequence[WorkspaceErasure]) -> Sequence[tuple[str, str, str]]:
        if self._graph is None:
            return []
        counts = {one.subject_id: await self._graph.workspace_nodes(_ref(one)) for one in erased}
        return [(EXTERNAL_GRAPH, str(one), format_count(count, "node")) for one, count in counts.items() if count]

    async def _kept_blobs(
        self, erasure: WorkspaceErasure, erased: Sequence[WorkspaceErasure]
    ) -> Sequence[tuple[str, str, str]]:
        """Blobs of the organisation, or of the owner that the certificate knows by its digest; those that an agent or
        project of the same reference uploaded since are another's.
        """
        org_id = erasure.org_id
        if any(one.had_blobs for one in erased):
            await require_folders(self._blobs, org_id)
        keys = [key for prefix in original_prefixes(org_id) for key in await self._blobs.keys(prefix)]
        if erasure.is_organisation:
            held = keys + await self._blobs.keys(snapshots_prefix(org_id))
        else:
            own = [key for key in keys if _is_of(key, erasure)]
            async with self._database.transaction(org_id) as transaction:
                own = await transaction.workspace_erasures.unnamed(own)
            held = own + [key for one in erased for key in await self._blobs.keys(snapshots_of(_ref(one)))]
        return [(BLOBS, str(erasure.subject_id), format_count(len(held), "blob"))] if held else []


def _is_of(key: str, erasure: WorkspaceErasure) -> bool:
    if key.startswith(f"{early_originals_of(_ref(erasure))}/"):
        return True
    owner = key.rpartition("/")[0]
    is_owned = erasure.blob_owner in (owner, hashlib.sha256(owner.encode()).hexdigest())
    return is_owned and is_older(key, erasure.requested_at)


def _ref(erasure: WorkspaceErasure) -> WorkspaceRef:
    return WorkspaceRef(erasure.org_id, erasure.subject_id)


def _trace(store: str, subject: str, held: str, erasure: WorkspaceErasure) -> Finding:
    if not erasure.is_complete:
        return _pending(store, subject, held)
    return Finding(store, "TRACE_LEFT", Severity.ERROR, subject, f"There is still {held} of it.", FROM_BACKUP)


def _pending(store: str, subject: str, held: str = "work") -> Finding:
    message = f"The erasure goes on: {held} left."
    return Finding(store, "ERASURE_PENDING", Severity.ERROR, subject, message, WAIT_FOR_JOB)
