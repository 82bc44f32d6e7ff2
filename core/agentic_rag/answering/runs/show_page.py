"""The page that a citation names, with the quoted lines marked."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from uuid import UUID

from agentic_rag.answering.answer import Citation
from agentic_rag.answering.feedback.notice import NoticeFeedback
from agentic_rag.answering.runs.cited_original import CitationAccess
from agentic_rag.answering.runs.page_image import CONTEXT_CHARACTERS, PageImage, QuotedPlace, RenderPage
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.documents.document import SpanRequest
from agentic_rag.documents.document_access import DocumentAccess
from agentic_rag.documents.originals import original_of
from agentic_rag.documents.ports import BlobStore
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound, no_such_document
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit_read

PDF = "application/pdf"
_MOST_BYTES = 16 << 20
"""Of images that a process keeps for the next look."""


class ShowCitedPage:
    """Whoever may read the run and the document sees the page. What is kept is looked up after both rights. `reading`
    tells what is read of a document, until its picture is kept.
    """

    def __init__(
        self,
        read_runs: ReadRuns,
        access: DocumentAccess,
        database: Database,
        blobs: BlobStore,
        render: RenderPage,
        reading: Callable[[WorkspaceRef, UUID], AbstractContextManager[None]],
        telemetry: Telemetry,
        noticed: NoticeFeedback | None = None,
    ) -> None:
        self._citations = CitationAccess(read_runs, access)
        self._database = database
        self._blobs = blobs
        self._render = render
        self._reading = reading
        self._telemetry = telemetry
        self._noticed = noticed
        self._kept: OrderedDict[bytes, PageImage] = OrderedDict()

    def drop(self) -> None:
        """Forget every picture."""
        self._kept.clear()

    async def run(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID, marker: int) -> PageImage:
        """The page; without marks where it is not sure which words are meant. Errors: `NotFound` (codes RUN_NOT_FOUND,
        CITATION_NOT_FOUND, PAGE_NOT_SHOWN, ORIGINAL_MISSING), those of `DocumentAccess.require`, `ParseFailed`,
        `Retryable`, `DependencyUnavailable`.
        """
        run, cited = await self._citations.require(principal, workspace, run_id, marker)
        if cited.page is None:
            raise _not_shown("The citation names no page: read the text at its `sourceSpan`.")
        with self._reading(workspace, cited.document_id):
            key, content_hash = await self._original_of(workspace, cited)
            place = await self._place(principal, workspace, cited, cited.page)
            image = await self._image(key, content_hash, place)
        act = AuditAction.READ_ORIGINAL
        who, what = principal.subject_id, cited.document_id
        await audit_read(self._database, self._telemetry, act, workspace, what, who, page=place.page)
        if self._noticed is not None:
            self._noticed.opened(run, who)
        return image

    async def _original_of(self, workspace: WorkspaceRef, cited: Citation) -> tuple[str, bytes]:
        async with self._database.transaction(workspace.org_id) as transaction:
            document = await transaction.documents.get(workspace, cited.document_id)
            originals = await transaction.originals.of(workspace, cited.document_id)
        if document is None:
            raise no_such_document()
        if document.media_type != PDF and not (cited.is_recognised and document.media_type.startswith("image/")):
            raise _not_shown("Pages are shown of PDFs and pictures: read the text at the citation's `sourceSpan`.")
        return original_of(document, originals).key, document.content_hash or b""

    async def _place(self, principal: Principal, workspace: WorkspaceRef, cited: Citation, page: int) -> QuotedPlace:
        """The quote's part on its first page, with the text around it. Errors: `NotFound` code PAGE_NOT_SHOWN for a
        document that was replaced since: its pages are others.
        """
        async with self._database.snapshot(workspace, readers=read_identity(principal)) as snapshot:
            layout = await snapshot.documents.layout(cited.document_id, snapshot.access.access_ids)
            if layout is None or layout.revision_id != cited.revision_id:
                raise _not_shown("The document was replaced since the run: its pages are others now.")
            span = next((one for one in layout.pages if one.number == page), None)
            if span is None:
                raise _not_shown("The citation's page is none of the document's.")
            start, end = max(cited.source_span.start, span.start), min(cited.source_span.end, span.end)
            first, last = max(span.start, start - CONTEXT_CHARACTERS), min(span.end, end + CONTEXT_CHARACTERS)
            (found,) = await snapshot.documents.revision_spans([SpanRequest(cited.revision_id, first, last)])
        text = "" if found is None else found.text
        before, quote, after = text[: start - first], text[start - first : end - first], text[end - first :]
        return QuotedPlace(page, quote, before, after, cited.is_recognised)

    async def _image(self, key: str, content_hash: bytes, place: QuotedPlace) -> PageImage:
        digest = hashlib.sha256(content_hash)
        for part in (key, str(place.page), place.quote, place.before, place.after):
            digest.update(f"{len(part)}:{part}".encode())
        name = digest.digest()
        image = self._kept.pop(name, None)
        if image is None:
            image = await self._render(await self._blobs.read(key), place)
        self._kept[name] = image
        while sum(len(one.png) for one in self._kept.values()) > _MOST_BYTES:
            self._kept.popitem(last=False)
        return image


def _not_shown(why: str) -> NotFound:
    return NotFound(why, code="PAGE_NOT_SHOWN")
