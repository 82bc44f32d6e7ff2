"""Reads the texts that a caller may read, and reports what the workspace's profile wants to know of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.answer import date_of
from agentic_rag.documents.document import ANY_DOCUMENT, Chunk, SpanRequest
from agentic_rag.kernel.concurrency import untold
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.operations.profiles.code import CodeFindings, report_code
from agentic_rag.operations.profiles.marketing import MarketingFindings, report_marketing
from agentic_rag.operations.profiles.texts import ReportedText, join_chunks
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit_passages

MOST_PASSAGES = 20_000
"""The newest ones are read: about 10 MB of text."""
MOST_BRANDS = 20
LONGEST_BRAND = 80
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class MarketingReport:
    """`is_complete` is False where older passages than the newest `MOST_PASSAGES` were left out."""

    findings: MarketingFindings
    is_complete: bool


@dataclass(frozen=True, slots=True)
class CodeReport:
    """As `MarketingReport`."""

    findings: CodeFindings
    is_complete: bool


@dataclass(frozen=True, slots=True)
class ReportProfile:
    """The use case behind `marketingReport` and `codeReport`. Nothing is stored: what is erased is in no report."""

    database: Database
    telemetry: Telemetry
    reading: Callable[[WorkspaceRef], AbstractContextManager[None]] = untold

    async def marketing(
        self, principal: Principal, workspace: WorkspaceRef, brands: Sequence[str], since: datetime | None = None
    ) -> MarketingReport:
        """What the documents say of the brands: those dated `since` then, else all. Of which documents sentences are
        handed out is in the audit log. Errors: `InvalidInput` code OPTION_OUT_OF_RANGE; `NotFound`.
        """
        named = _names(brands)
        with self.reading(workspace):
            texts, is_complete = await self._texts(principal, workspace)
            if since is not None:
                texts = [one for one in texts if one.dated is not None and one.dated >= since]
            findings = await asyncio.to_thread(report_marketing, texts, named)
        told = [one.place.document_id for voice in findings.brands for one in voice.sentences]
        await self._record(principal, workspace, [*told, *(one.promotion.document_id for one in findings.disclosures)])
        return MarketingReport(findings, is_complete)

    async def code(self, principal: Principal, workspace: WorkspaceRef) -> CodeReport:
        """How stale the code is, by its own files. Audit and errors: those of `marketing`."""
        with self.reading(workspace):
            texts, is_complete = await self._texts(principal, workspace)
            findings = await asyncio.to_thread(report_code, texts)
        places = [one.place for one in (*findings.left_over, *findings.failed)]
        places += [place for one in findings.drift for place in (one.used_at, one.stated_at)]
        await self._record(principal, workspace, [one.document_id for one in places])
        return CodeReport(findings, is_complete)

    async def _record(self, principal: Principal, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> None:
        await audit_passages(self.database, self.telemetry, workspace, principal.subject_id, document_ids)

    async def _texts(self, principal: Principal, workspace: WorkspaceRef) -> tuple[list[ReportedText], bool]:
        chunks: list[Chunk] = []
        async with self.database.snapshot(workspace, readers=read_identity(principal)) as snapshot:
            access = snapshot.access.access_ids
            ordinals = sorted(await snapshot.documents.ordinals_matching(ANY_DOCUMENT, access))
            kept = ordinals[-MOST_PASSAGES:]
            for start in range(0, len(kept), _BATCH):
                chunks += await snapshot.documents.chunks(kept[start : start + _BATCH], access)
            revisions = list({one.document_id: one.revision_id for one in chunks}.items())
            spans = await snapshot.documents.revision_spans([SpanRequest(one, 0, 0) for _, one in revisions])
        dates = {
            document_id: None if span is None else date_of(span.published, span.read_at)
            for (document_id, _), span in zip(revisions, spans, strict=True)
        }
        texts = await asyncio.to_thread(join_chunks, chunks)
        return [replace(one, dated=dates[one.document_id]) for one in texts], len(kept) == len(ordinals)


def _names(brands: Sequence[str]) -> list[str]:
    named = list({" ".join(one.split()).casefold(): " ".join(one.split()) for one in brands}.values())
    if not 1 <= len(named) <= MOST_BRANDS or not all(1 <= len(one) <= LONGEST_BRAND for one in named):
        raise InvalidInput(
            f"Name 1 to {MOST_BRANDS} brands of 1 to {LONGEST_BRAND} characters.",
            code="OPTION_OUT_OF_RANGE",
            path=("brands",),
        )
    return named
