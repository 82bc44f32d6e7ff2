"""The values of one ingestion: what its job asks for, what it found, and what it reports."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from agentic_rag.documents.document import Document, ParsedDocument, Revision
from agentic_rag.documents.ports import Original
from agentic_rag.documents.revision_diff import RevisionDiff, VisibleChunk
from agentic_rag.documents.unread_pages import state_recognised
from agentic_rag.jobs.job import Lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.errors import ParseFailed, Permanent
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.ports import Embedder
from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.web.fetch_policy import needs_script
from agentic_rag.web.page_paths import ORIGIN, stated_charset

CONTENT_ARGUMENT = "content"
"""The job argument that holds the SHA-256 of the original, in hex."""

FORCE_ARGUMENT = "force"
"""The job argument that makes every chunk anew, keeping nothing that is published."""

SOURCE_PROVENANCE = "source"
"""The provenance entry that says where a document came from: the kind of a source, a colon, and its location."""
WEB_SOURCE = "web"
"""That entry of a page that a search or a crawl fetched."""
_WEB_SOURCES = frozenset({WEB_SOURCE, "sitemap"})


class IngestStage(enum.Enum):
    """The stages of an ingestion, in their order. What is published already needs none of them."""

    READ = "read"
    PARSE = "parse"
    CHUNK = "chunk"
    DIFF = "diff"
    EMBED = "embed_chunks"
    INDEX = "index"
    """Postings, and the entities that rules find; beside EMBED where one batch holds all texts."""
    EXTRACT = "extract"
    """The entities that a model finds."""
    PUBLISH = "publish"


class IngestOutcome(enum.Enum):
    """How an ingestion ended."""

    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    GONE = "gone"
    """The document was deleted meanwhile: nothing is left to do."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What one ingestion did and what it paid for."""

    document_id: UUID
    outcome: IngestOutcome
    version: int | None = None
    """The corpus version that shows the revision."""
    embedded: int = 0
    """Chunks sent to the embedder by this attempt."""
    recovered: int = 0
    """Chunks an earlier attempt had paid for."""
    kept: int = 0
    removed: int = 0


@dataclass(slots=True)
class IngestRun:
    """An ingestion under way. A fresh look replaces `document`, `visible`, `space` and `embedder`."""

    lease: Lease
    progress: JobProgress
    document: Document
    space: RegisteredSpace
    embedder: Embedder
    profile: str
    visible: list[VisibleChunk]
    content_hash: bytes
    forced: bool
    originals: Mapping[bytes, Original]
    """The document's originals by content."""
    vectors: dict[UUID, bytes] = field(default_factory=dict[UUID, bytes])
    """The vectors paid for so far, by chunk id."""
    embedded: int = 0
    recovered: int = 0

    @property
    def is_web_page(self) -> bool:
        """Whether the document came from the web: nobody chose its file."""
        return self.document.provenance.get(SOURCE_PROVENANCE, "").partition(":")[0] in _WEB_SOURCES

    @property
    def charset(self) -> str:
        """The code page that the document's server stated; empty where none did."""
        return stated_charset(self.document.provenance)

    def refuse_shell(self, content: bytes, text: str) -> None:
        """Errors: `ParseFailed` code NEEDS_SCRIPT of a page with this main text that a search or a crawl brought and
        that only scripts fill.
        """
        if ORIGIN in self.document.provenance and needs_script(content, text):
            raise ParseFailed("The page's text is made by scripts, which nobody runs.", code="NEEDS_SCRIPT")

    def original(self) -> Original:
        """The original that the job names. Errors: `Permanent` when it is no longer stored."""
        original = self.originals.get(self.content_hash)
        if original is None:
            raise original_missing(self.document)
        return original

    def revision(self, revision_id: UUID, parsed: ParsedDocument) -> Revision:
        """The revision that the parsed text makes."""
        return Revision(
            revision_id=revision_id,
            document_id=self.document.document_id,
            text=parsed.text,
            text_hash=hashlib.sha256(parsed.text.encode("utf-8", "surrogatepass")).digest(),
            pages=parsed.pages,
            parser=parsed.parser,
            parser_version=parsed.parser_version,
            title=parsed.title or self.document.title,
            recognised_pages=state_recognised(parsed),
        )

    def report(
        self, outcome: IngestOutcome, version: int | None = None, diff: RevisionDiff | None = None
    ) -> IngestReport:
        """The report of an ingestion that ends now."""
        return IngestReport(
            document_id=self.document.document_id,
            outcome=outcome,
            version=version,
            embedded=self.embedded,
            recovered=self.recovered,
            kept=len(diff.kept) if diff else 0,
            removed=len(diff.removed) if diff else 0,
        )


def log_report(telemetry: Telemetry, report: IngestReport) -> None:
    """Count and log what an ingestion did."""
    telemetry.count("rag_chunks_total", report.embedded, paid="embedded")
    telemetry.count("rag_chunks_total", report.kept + report.recovered, paid="kept")
    telemetry.event(
        "rag_document_ingested",
        document_id=str(report.document_id),
        outcome=report.outcome.value,
        version=report.version,
        embedded=report.embedded,
        recovered=report.recovered,
        kept=report.kept,
        removed=report.removed,
    )


def original_missing(document: Document) -> Permanent:
    """The error for a document whose original is gone."""
    return Permanent(
        f"The original of {document.source_path} is not in the blob store. Ingest the source again.",
        code="ORIGINAL_MISSING",
    )


def document_id_of(lease: Lease) -> UUID:
    """The document of a leased job. Errors: `Permanent`."""
    if lease.job.document_id is None:
        raise Permanent("An ingest job names no document.", code="JOB_ARGUMENTS_INVALID")
    return lease.job.document_id


def content_hash_of(lease: Lease) -> bytes:
    """The SHA-256 of the original that a leased job names. Errors: `Permanent`."""
    try:
        return bytes.fromhex(lease.job.arguments[CONTENT_ARGUMENT])
    except (KeyError, ValueError) as error:
        raise Permanent("An ingest job names no original.", code="JOB_ARGUMENTS_INVALID") from error
