"""Proves a stored run again: every quote is read back from its source and compared."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.answer import Citation, FetchedText
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.redaction import SOURCE_ERASED
from agentic_rag.answering.tools.web_pages import page_span
from agentic_rag.documents.document import CitedPassage, RevisionSpan, SpanRequest
from agentic_rag.erasure.certificate import Certificate
from agentic_rag.erasure.delete import show_certificate
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef


class QuoteState(enum.Enum):
    """What became of the quote of a citation."""

    VERIFIED = "VERIFIED"
    """It stands in its source, letter by letter, at its place."""
    CHANGED = "CHANGED"
    """The source holds other words there, or is not kept any more."""
    ERASED = "ERASED"
    """The document was erased."""
    HIDDEN = "HIDDEN"
    """The caller may not read the document."""


@dataclass(frozen=True, slots=True)
class QuoteCheck:
    """A citation and what became of its quote. `citation` is None for a hidden one."""

    marker: int
    state: QuoteState
    reason: str
    """The state in words."""
    citation: Citation | None = None
    certificate: Certificate | None = None
    """Of the erasure; None too where the document came back since."""
    stands_now: bool = False
    """Whether the newest version still shows the passage."""


@dataclass(frozen=True, slots=True)
class RunVerification:
    """A run as its reader may see it, and each of its citations checked at `checked_at`."""

    run: Run
    checks: tuple[QuoteCheck, ...]
    checked_at: datetime

    @property
    def holds(self) -> bool:
        """Whether every quote is verified. True as well for a run that quotes nothing."""
        return all(one.state is QuoteState.VERIFIED for one in self.checks)


@dataclass(frozen=True, slots=True)
class VerifyRun:
    """The use case behind `verifyRun` and `rag run verify`. Reads only."""

    database: Database
    runs: ReadRuns
    clock: Clock

    async def run(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> RunVerification:
        """Check a run for a caller who may see it. Errors: `NotFound` code RUN_NOT_FOUND, `DependencyUnavailable`."""
        found = await self.runs.get_with_hidden(principal, workspace, run_id)
        if found is None:
            raise NotFound("There is no such run, or it is past its retention.", code="RUN_NOT_FOUND")
        run, hidden = found
        citations = run.answer.citations
        stored = await self._read_back(principal, run, citations)
        certificates = await self._certificates(principal, run, citations)
        visible = await self._visible(principal, run, citations)
        checks = [
            _check(one, span, certificates.get(one.document_id), stands_now=one.chunk_id in visible)
            for one, span in zip(citations, stored, strict=True)
        ]
        checks += [
            QuoteCheck(marker, QuoteState.HIDDEN, "You may not read the document of this citation.")
            for marker in hidden
        ]
        return RunVerification(run, tuple(sorted(checks, key=lambda one: one.marker)), self.clock.now())

    async def _read_back(
        self, principal: Principal, run: Run, citations: Sequence[Citation]
    ) -> Sequence[RevisionSpan | None]:
        """The stored text of each span: of a page from the web the copy that is kept with the run."""
        requests = [SpanRequest(one.revision_id, one.source_span.start, one.source_span.end) for one in citations]
        async with self.database.snapshot(run.workspace, readers=read_identity(principal)) as snapshot:
            stored = await snapshot.documents.revision_spans(requests)
        fetched: Sequence[FetchedText] = run.answer.debug.fetched
        return [page_span(request, fetched) or span for request, span in zip(requests, stored, strict=True)]

    async def _certificates(
        self, principal: Principal, run: Run, citations: Sequence[Citation]
    ) -> Mapping[UUID, Certificate]:
        erased = {one.document_id for one in citations if is_erased(one)}
        found: dict[UUID, Certificate] = {}
        async with self.database.transaction(run.workspace.org_id) as transaction:
            for document_id in sorted(erased):
                certificate = await transaction.erasures.certificate(run.workspace, document_id)
                if certificate is not None:
                    found[document_id] = certificate
        return {
            document_id: await show_certificate(self.database, run.workspace, principal, certificate)
            for document_id, certificate in found.items()
        }

    async def _visible(self, principal: Principal, run: Run, citations: Sequence[Citation]) -> frozenset[UUID]:
        """The cited chunks that the newest version shows to the caller."""
        cited = [CitedPassage(one.document_id, one.chunk_id) for one in citations]
        async with self.database.snapshot(run.workspace, readers=read_identity(principal)) as snapshot:
            chunks = await snapshot.documents.chunks_by_citation(cited, snapshot.access.access_ids)
        return frozenset(one.chunk_id for one in chunks)


def is_erased(citation: Citation) -> bool:
    """Whether the words of a citation were erased with its document."""
    return citation.snippet == SOURCE_ERASED and not citation.verified


def _check(
    citation: Citation, stored: RevisionSpan | None, certificate: Certificate | None, *, stands_now: bool
) -> QuoteCheck:
    if is_erased(citation):
        reason = (
            "The document was erased." if certificate else "The document was erased, and another came in its place."
        )
        return QuoteCheck(citation.marker, QuoteState.ERASED, reason, citation, certificate)
    if stored is None:
        reason = "The text that was quoted is not kept any more."
        return QuoteCheck(citation.marker, QuoteState.CHANGED, reason, citation, stands_now=stands_now)
    if stored.text != citation.snippet:
        reason = "Other words stand at the place of the quote."
        return QuoteCheck(citation.marker, QuoteState.CHANGED, reason, citation, stands_now=stands_now)
    later = "" if stands_now else " The newest version of the document does not show the passage any more."
    reason = f"The quote stands in its source, letter by letter.{later}"
    return QuoteCheck(citation.marker, QuoteState.VERIFIED, reason, citation, stands_now=stands_now)
