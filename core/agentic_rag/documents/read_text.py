"""The stored text of a document, which citations count in, a part at a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.documents.document import SpanRequest, TextLayout
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit_read
from agentic_rag.tenancy.shown_versions import find_version

MAX_CHARACTERS = 100_000
"""Code points of one part."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """`text` is [start, start + len(text)) of the document's text, in code points."""

    text: str
    start: int
    layout: TextLayout
    corpus_version: int
    """As the caller is shown it."""

    @property
    def end(self) -> int:
        """Behind the last code point."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class ReadText:
    """The use case behind `Document.text` and `GET /v1/documents/{id}/text`."""

    database: Database
    telemetry: Telemetry

    async def run(
        self,
        principal: Principal,
        workspace: WorkspaceRef,
        document_id: UUID,
        start: int = 0,
        end: int | None = None,
        as_of: int | None = None,
        as_of_time: datetime | None = None,
    ) -> TextPart:
        """The text from `start` to `end`, at most `MAX_CHARACTERS` of it, as readers of the version see it, that of
        `as_of` or the newest at `as_of_time`. An end
        behind the text is the text's. Who read which part is in the audit log.

        Errors: `NotFound` code TEXT_NOT_PUBLISHED for a document without published text, or with text that the caller
        may not read; `InvalidInput` codes OPTION_OUT_OF_RANGE and AS_OF_UNAVAILABLE.
        """
        if start < 0 or (end is not None and end < start):
            raise InvalidInput(
                "A part of a text has a start of at least 0 and an end behind it.",
                code="OPTION_OUT_OF_RANGE",
                path=("start",),
            )
        if as_of is not None and as_of_time is not None:
            raise InvalidInput("Give `asOf` or `asOfTime`, not both.", path=("asOfTime",))
        readers = read_identity(principal)
        at = await find_version(self.database, workspace, readers, as_of, as_of_time)
        async with self.database.snapshot(workspace, at, readers=readers) as snapshot:
            layout = await snapshot.documents.layout(document_id, snapshot.access.access_ids)
            if layout is None:
                # The same for a document that is not there, and for text that the caller may not read.
                raise NotFound("There is no published text of this document for you.", code="TEXT_NOT_PUBLISHED")
            last = min(layout.characters, start + MAX_CHARACTERS, layout.characters if end is None else end)
            request = SpanRequest(layout.revision_id, start, max(start, last))
            (span,) = await snapshot.documents.revision_spans([request])
            version = await snapshot.shown(snapshot.version)
        part = TextPart("" if span is None else span.text, start, layout, version)
        act, place = AuditAction.READ_TEXT, {"start": part.start, "end": part.end}
        await audit_read(self.database, self.telemetry, act, workspace, document_id, principal.subject_id, **place)
        return part
