"""Proves that an erased document is gone by reading every store again."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.ports import AnswerCache
from agentic_rag.erasure.certificate import Certificate, ErasedStore
from agentic_rag.erasure.ports import ErasureTrace, ExternalGraph
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Misconfigured, no_such_document
from agentic_rag.kernel.formatting import format_count
from agentic_rag.operations.findings import Finding, Severity
from agentic_rag.tenancy.principals import WorkspaceRef

ERASE = "It stays until it is deleted: rag doc delete ID"
ERASE_AGAIN = "Delete the document again: rag doc delete ID"
WAIT_FOR_JOB = "A worker finishes it as soon as the store answers: rag doctor tells whether one runs"


@dataclass(frozen=True, slots=True)
class ErasureProof:
    """The current state of every store."""

    document_id: UUID
    certificate: Certificate | None
    """None if the document was not erased, or was ingested again since."""
    findings: tuple[Finding, ...]
    past: tuple[Certificate, ...] = ()
    """Of erasures after which the document came back, newest first."""

    @property
    def is_complete(self) -> bool:
        """True if the document was erased and no store contains anything of it."""
        return self.certificate is not None and not any(one.severity is Severity.ERROR for one in self.findings)


class ProveErasure:
    """Reads only. `graph` is the graph outside Postgres, if there is one."""

    def __init__(self, database: Database, cache: AnswerCache, graph: ExternalGraph | None = None) -> None:
        self._database = database
        self._cache = cache
        self._graph = graph

    async def run(self, workspace: WorkspaceRef, document_id: UUID) -> ErasureProof:
        """Reads every store. Errors: `NotFound` (no such document, now or ever), `DependencyUnavailable` (Postgres).
        Any other store that is not reached yields a finding, because nothing is proven there.
        """
        async with self._database.transaction(workspace.org_id) as transaction:
            certificate = await transaction.erasures.certificate(workspace, document_id)
            past = await transaction.erasures.past(workspace, document_id)
            document = await transaction.documents.get(workspace, document_id)
            traces = await transaction.erasures.traces(workspace, document_id)
        if certificate is None and document is None and not traces:
            raise no_such_document()
        subject = str(document_id)
        findings: list[Finding] = []
        remedy = ERASE_AGAIN if document is None else ERASE
        if document is not None:
            message = "The document is not deleted."
            findings.append(Finding("rag_documents", "DOCUMENT_LIVE", Severity.ERROR, subject, message, remedy))
        else:
            findings += [_trace(one, subject) for one in traces]
        findings += await self._outside(workspace, document_id, certificate, remedy)
        if certificate is not None:
            findings += [
                _pending(one.store.value, subject)
                for one in certificate.stores
                if not one.done and (one.store is not ErasedStore.GRAPH or self._graph is None)
            ]
        return ErasureProof(document_id, certificate, tuple(findings), tuple(past))

    async def _outside(
        self, workspace: WorkspaceRef, document_id: UUID, certificate: Certificate | None, remedy: str
    ) -> list[Finding]:
        """The findings of the cache and the external graph."""
        subject = str(document_id)
        found: list[Finding] = []
        try:
            if entries := await self._cache.holding(workspace, subject.encode()):
                found.append(_trace_finding("cache", subject, format_count(entries, "cached answer"), remedy))
        except DependencyUnavailable as error:
            found.append(store_unknown("cache", subject, error))
        if self._graph is None:
            return found
        try:
            nodes = await self._graph.document_nodes(workspace, document_id)
            behind = certificate is not None and await self._graph.version(workspace) < certificate.version
        except (DependencyUnavailable, Misconfigured) as error:
            found.append(store_unknown(ErasedStore.GRAPH.value, subject, error))
        else:
            if nodes:
                found.append(_trace_finding(ErasedStore.GRAPH.value, subject, format_count(nodes, "node"), remedy))
            elif behind:
                found.append(_pending(ErasedStore.GRAPH.value, subject))
        return found


def _trace(trace: ErasureTrace, subject: str) -> Finding:
    if trace.is_pending:
        return _pending(trace.store, subject)
    return _trace_finding(trace.store, subject, format_count(trace.rows, "row"), ERASE_AGAIN)


def _trace_finding(store: str, subject: str, held: str, remedy: str) -> Finding:
    message = f"The document is still told of in {held}."
    return Finding(store, "TRACE_LEFT", Severity.ERROR, subject, message, remedy)


def _pending(store: str, subject: str) -> Finding:
    if store == ErasedStore.PROCESSES.value:
        message = "Not every running server and worker has dropped yet what it holds in memory; it answers nothing."
        remedy = "Look again in a minute; one that hangs stands in rag_processes with its host and pid: end it."
        return Finding(store, "MEMORY_HELD", Severity.WARNING, subject, message, remedy)
    message = "This store has not followed yet."
    return Finding(store, "ERASURE_PENDING", Severity.ERROR, subject, message, WAIT_FOR_JOB)


def store_unknown(store: str, subject: str, error: AgenticRagError) -> Finding:
    message = f"Nothing can be said of this store: {error.message}"
    return Finding(
        store, "STORE_UNREACHABLE", Severity.ERROR, subject, message, "Start it (rag doctor), then ask again."
    )
