"""Documents, their immutable revisions, and the chunks that cite them.

All offsets are Unicode code points into the revision's text, end exclusive.
"""

from __future__ import annotations

import enum
import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from types import MappingProxyType
from uuid import UUID

from agentic_rag.documents.metadata import DocumentMetadata, FieldCondition
from agentic_rag.kernel.ids import derive_uuid
from agentic_rag.tenancy.principals import WorkspaceRef


class DocumentStatus(enum.Enum):
    """The state of a document's ingestion; `STATUS_TRANSITIONS` lists the legal moves."""

    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    READY = "READY"
    FAILED = "FAILED"


STATUS_TRANSITIONS: Mapping[DocumentStatus, frozenset[DocumentStatus]] = MappingProxyType(
    {
        DocumentStatus.PENDING: frozenset({DocumentStatus.PROCESSING, DocumentStatus.FAILED}),
        DocumentStatus.PROCESSING: frozenset({DocumentStatus.READY, DocumentStatus.FAILED, DocumentStatus.PENDING}),
        DocumentStatus.READY: frozenset({DocumentStatus.PENDING}),
        DocumentStatus.FAILED: frozenset({DocumentStatus.PENDING}),
    }
)
"""When a new revision of a READY document fails, its status is FAILED and the old chunks stay visible."""


class BlockKind(enum.Enum):
    """The kind of a span of text, as far as the loader can tell."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CODE = "code"
    FRONT_MATTER = "front_matter"
    """What a text begins with to say what it is: in one chunk with the first lines of the text that follows."""
    RUNNING = "running"
    """Headers, footers and numbers of pages: part of the text, in no chunk."""
    ASIDE = "aside"
    """What of a page stands beside its main content: at the end of the text, in no chunk, told (`left_out`)."""


BESIDE_TEXT = frozenset({BlockKind.RUNNING, BlockKind.ASIDE})
"""Kinds of blocks that are in no chunk."""


@dataclass(frozen=True, slots=True)
class Block:
    """A structural span of a parsed text. `level`: 1–6 for headings, 0 for that of a file in a file and all else."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class PageSpan:
    """Page `number` (from 1) covers [start, end) of the text."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A parser's result: the text that citations are verified against, and its structure. `blocks` are sorted, do not
    overlap, and lie inside the text; text between them is white space only. `pages` is empty where a format has none.
    """

    text: str
    blocks: tuple[Block, ...]
    pages: tuple[PageSpan, ...]
    title: str | None
    media_type: str
    parser: str
    parser_version: str
    language: str | None = None
    """Programming language for source code, else None."""
    unread_pages: tuple[int, ...] = ()
    """The numbers of pages, files in a file, pictures or objects that cannot be read; what they say is missing."""
    parts: int = 0
    """How many files an archive or a mail holds, or how many `unread_unit`s any other file; 0 where pages count."""
    unread_unit: str = "file"
    published: date | None = None
    """When the document was published, as it says itself; None where it does not say."""
    recognised_pages: tuple[int, ...] = ()
    """The numbers of pages whose words an engine recognised in a picture of them: it may have misread some."""

    @property
    def main_text(self) -> str:
        """The text without what stands beside the main content of its pages."""
        return without_asides(self.text, self.blocks)


def without_asides(text: str, blocks: Sequence[Block]) -> str:
    """A text without what stands beside the main content of its pages."""
    if all(one.kind is not BlockKind.ASIDE for one in blocks):
        return text
    return "\n\n".join(text[one.start : one.end] for one in blocks if one.kind is not BlockKind.ASIDE)


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it has an ordinal: `text == revision.text[start:end]`.

    Pages and lines count from 1; `page` is None for formats without pages.
    """

    chunk_id: UUID
    index: int
    text: str
    start: int
    end: int
    page: int | None
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]
    content_hash: bytes
    """SHA-256 of the normalised text (32 bytes)."""
    tokens: int | None = None
    """The sum of its pieces' tokens, a few more than the whole text has; None where tokens were not counted."""


@dataclass(frozen=True, slots=True)
class StagedChunk:
    """A chunk of an unpublished revision; once embedded, `vector` is its bytes (little-endian float16) in the space
    numbered `space_id`. It carries no text: the caller that stages a revision has it.
    """

    index: int
    chunk_id: UUID
    vector: bytes | None
    space_id: int | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A published chunk as a reader sees it at one corpus version."""

    ordinal: int
    chunk_id: UUID
    document_id: UUID
    revision_id: UUID
    index: int
    text: str
    start: int
    end: int
    page: int | None
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]
    document_title: str
    source_path: str
    url: str | None
    media_type: str
    has_recognised_pages: bool = False
    """Whether words of its document, in any revision, may be recognised ones: `RevisionSpan` tells of which spans."""


@dataclass(frozen=True, slots=True)
class ChunkPosition:
    """The position of a chunk: its `index` in a document's revision."""

    document_id: UUID
    revision_id: UUID
    index: int


@dataclass(frozen=True, slots=True)
class DocumentFault:
    """Why a document is FAILED."""

    code: str
    message: str
    attempts: int
    retryable: bool


@dataclass(frozen=True, slots=True)
class Document:
    """One source (file, upload, URL) of a workspace and its state."""

    workspace: WorkspaceRef
    document_id: UUID
    source_path: str
    title: str
    url: str | None
    file_name: str
    media_type: str
    size: int
    uploaded_by: str
    """The owner: the subject that uploaded it first, or to whom it was handed over."""
    access_id: int
    status: DocumentStatus
    fault: DocumentFault | None
    revision_id: UUID | None
    """The published revision; None until the first publish."""
    content_hash: bytes | None
    """SHA-256 of the original bytes that were last published."""
    chunk_count: int
    chunks_done: int
    """Chunks of the revision in progress that are embedded (equals `chunk_count` when READY)."""
    created_at: datetime
    updated_at: datetime
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])
    writers: tuple[str, ...] = ()
    """Principals that may replace the content, beside the owner and those who manage the workspace."""
    metadata: DocumentMetadata = DocumentMetadata()
    is_withdrawn: bool = False
    """Hidden by one of its writers, who may restore it."""
    is_missing: bool = False
    """Hidden until its source has it again; erased when the grace ends."""


@dataclass(frozen=True, slots=True)
class Revision:
    """The immutable text of a document that citations are verified against."""

    revision_id: UUID
    document_id: UUID
    text: str
    text_hash: bytes
    pages: tuple[PageSpan, ...]
    parser: str
    parser_version: str
    title: str | None = None
    """The document's title at the time of this revision; its chunks were analysed under it."""
    recognised_pages: str = ""
    """Which of its pages were recognised in pictures, as `recognised_provenance` writes them."""


@dataclass(frozen=True, slots=True)
class SpanRequest:
    """Asks for `text[start:end]` of a revision."""

    revision_id: UUID
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RevisionSpan:
    """A span as stored: its text, and the page that holds its first character (None for formats without pages)."""

    text: str
    page: int | None
    read_at: datetime | None = None
    """When this revision was read from its source; None where the store has no date."""
    web_origin: str | None = None
    """How a page of the web came to the corpus (`ingestion.web`); None for every other document."""
    published: date | None = None
    """When the text was published, as it says itself; None where it does not say, and for earlier revisions."""
    is_recognised: bool = False
    """Whether words of it were recognised in a picture: they may be misread."""
    parser_version: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section: its headings from the outermost on, and where its first passage starts."""

    heading_path: tuple[str, ...]
    start: int


@dataclass(frozen=True, slots=True)
class TextLayout:
    """The revision that readers of a version see, without its text."""

    revision_id: UUID
    characters: int
    pages: tuple[PageSpan, ...]
    outline: tuple[TextSection, ...]


def outline_of(passages: Iterable[tuple[tuple[str, ...], int]]) -> tuple[TextSection, ...]:
    """The sections of passages, given as heading path and start in the order of the text: one entry for each run of
    passages under the same headings; passages without headings give none.
    """
    outline: list[TextSection] = []
    before: tuple[str, ...] = ()
    for path, start in passages:
        if path and path != before:
            outline.append(TextSection(path, start))
        before = path
    return tuple(outline)


def normalise_for_hash(text: str) -> str:
    """NFKC with runs of white space folded to one space. Chunk texts with the same result count as equal."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def content_hash(text: str) -> bytes:
    """SHA-256 of the normalised text (32 bytes)."""
    return hashlib.sha256(normalise_for_hash(text).encode("utf-8", "surrogatepass")).digest()


def document_id_for(workspace: WorkspaceRef, source_path: str, occurrence: int = 0, *, key: bytes = b"") -> UUID:
    """The id of a source in a workspace: the same path gives the same id, even after losing all job state. Another
    `occurrence` gives another id, for a path whose first document moved away and kept its own. The organisation's
    secret `key` keeps it from whoever knows the path; ids from before there were keys have none.
    """
    again = [occurrence.to_bytes(4, "big")] if occurrence else []
    return derive_uuid(b"document", workspace.workspace_id.bytes, source_path.encode(), *again, key=key)


def revision_id_for(document_id: UUID, content: bytes, parser: str, profile: str) -> UUID:
    """The id of a revision: from the document, the SHA-256 of the original bytes, the parser (name and version) and the
    chunk profile.
    """
    return derive_uuid(b"revision", document_id.bytes, content, parser.encode(), profile.encode())


def chunk_id_for(document_id: UUID, text_hash: bytes, occurrence: int) -> UUID:
    """The stable id of a chunk: from its document (which implies workspace and source), normalised text and occurrence
    number.
    """
    return derive_uuid(b"chunk", document_id.bytes, text_hash, occurrence.to_bytes(4, "big"))


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that an earlier answer cited."""

    document_id: UUID
    chunk_id: UUID


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Restricts every retrieval arm to some documents: to those that all of its properties let through. Empty tuples
    and None do not restrict. Tags, domains and languages are in their stored form.
    """

    document_ids: tuple[UUID, ...] = ()
    source_path_prefix: str | None = None
    media_types: tuple[str, ...] = ()
    without_ids: tuple[UUID, ...] = ()
    """Excluded documents."""
    path_globs: tuple[str, ...] = ()
    """The source path matches one of them, as `documents.where.glob_pattern` reads it."""
    tags: tuple[tuple[str, ...], ...] = ()
    """The document has at least one tag of each tuple."""
    domains: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """`de` lets `de-at` through too."""
    date_from: date | None = None
    date_to: date | None = None
    """Included. A document without a date passes neither bound."""
    fields: tuple[FieldCondition, ...] = ()
    words: tuple[str, ...] = ()
    """Each is a part of the title or of the source path, as `documents.where.split_words` gives them."""

    @property
    def is_empty(self) -> bool:
        """Whether every document passes."""
        return self == DocumentFilter()


ANY_DOCUMENT = DocumentFilter()


@dataclass(frozen=True, slots=True)
class ChunkVersion:
    """A chunk as readers of the versions [visible_from, visible_to) see it; None: still visible."""

    chunk_id: UUID
    ordinal: int
    document_id: UUID
    document_title: str
    visible_from: int
    visible_to: int | None

    def is_visible(self, version: int) -> bool:
        """Whether the chunk is visible at `version`."""
        return self.visible_from <= version and (self.visible_to is None or version < self.visible_to)


def nearest_version(places: Iterable[ChunkVersion], chunk_id: UUID, version: int) -> ChunkVersion | None:
    """The chunk's version visible at `version`, else its newest; None for an unknown chunk."""
    of_chunk = [place for place in places if place.chunk_id == chunk_id]
    return max(of_chunk, key=lambda place: (place.is_visible(version), place.visible_from), default=None)
