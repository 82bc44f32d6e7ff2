"""The file that a citation was read from, also where its document has another one by now."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.answer import Citation
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.documents.document import Document, SpanRequest
from agentic_rag.documents.document_access import DocumentAccess, DocumentRight
from agentic_rag.documents.originals import original_behind, original_of
from agentic_rag.documents.ports import Original
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound, no_such_document
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef


@dataclass(frozen=True, slots=True)
class CitationAccess:
    """Whoever may read a run and a document may read the run's citation of it."""

    read_runs: ReadRuns
    documents: DocumentAccess

    async def require(
        self, principal: Principal, workspace: WorkspaceRef, run_id: UUID, marker: int
    ) -> tuple[Run, Citation]:
        """The run and its citation of this number. Errors: `NotFound` codes RUN_NOT_FOUND, CITATION_NOT_FOUND; those of
        `DocumentAccess.require`.
        """
        run = await self.read_runs.get(principal, workspace, run_id)
        if run is None:
            raise NotFound("There is no such run for you.", code="RUN_NOT_FOUND")
        cited = next((one for one in run.answer.citations if one.marker == marker), None)
        if cited is None:
            raise NotFound(f"The run has no citation {marker}.", code="CITATION_NOT_FOUND")
        await self.documents.require(principal, workspace, cited.document_id, DocumentRight.READ)
        return run, cited


@dataclass(frozen=True, slots=True)
class FindCitedOriginal:
    """Finds the original by the revision that the citation quotes: of a page of the web every response stays."""

    citations: CitationAccess
    database: Database

    async def run(
        self, principal: Principal, workspace: WorkspaceRef, run_id: UUID, marker: int
    ) -> tuple[Document, Original]:
        """Errors: those of `CitationAccess.require`; `NotFound` code ORIGINAL_MISSING where the original of this
        revision is not kept, or its text is past the workspace's history.
        """
        _, cited = await self.citations.require(principal, workspace, run_id, marker)
        async with self.database.snapshot(workspace, readers=read_identity(principal)) as snapshot:
            (span,) = await snapshot.documents.revision_spans([SpanRequest(cited.revision_id, 0, 0)])
        async with self.database.transaction(workspace.org_id) as transaction:
            document = await transaction.documents.get(workspace, cited.document_id)
            originals = await transaction.originals.of(workspace, cited.document_id)
        if document is None:
            raise no_such_document()
        version = "" if span is None else span.parser_version
        original = original_behind(cited.document_id, cited.revision_id, version, originals)
        if original is None and document.revision_id == cited.revision_id:
            # A restored document has the revisions of another one.
            return document, original_of(document, originals)
        if original is None:
            raise NotFound("The original that this citation was read from is not kept.", code="ORIGINAL_MISSING")
        return document, original
