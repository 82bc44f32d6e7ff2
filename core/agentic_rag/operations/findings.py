"""Invariants between the stores of a workspace, and findings for violations."""

from __future__ import annotations

import enum
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from uuid import UUID

import numpy as np

from agentic_rag.documents.document import DocumentStatus, content_hash
from agentic_rag.language.tokenizer import term_counts
from agentic_rag.retrieval.graph.entities import extract_entities


class Severity(enum.Enum):
    """The severity of a finding. Only errors make a check fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation. `kind` is a stable identifier; `subject` names the affected object."""

    store: str
    kind: str
    severity: Severity
    subject: str
    message: str
    remedy: str


REINGEST = "rag doc reingest --force DOCUMENT"
DELETE_AND_INGEST = "Delete the document and ingest its source again."
NO_ACTION = "Nothing must be done."
FILE_A_BUG = "Take a backup, then rag doc reingest --force the documents concerned, and report it: this is a defect."


@dataclass(frozen=True, slots=True)
class FindingRule:
    """Store, severity, message and remedy of a kind of finding."""

    store: str
    severity: Severity
    message: str
    remedy: str


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
RULES: Mapping[str, FindingRule] = MappingProxyType(
    {
        "REVISION_MISSING": FindingRule("revisions", _E, "The document is READY but its revision is gone.", REINGEST),
        "REVISION_TEXT_CHANGED": FindingRule(
            "revisions", _E, "The text is not the one that was hashed.", DELETE_AND_INGEST,
        ),
        "TEXT_PIECES_DIFFER": FindingRule(
            "revisions", _E, "The pieces of a long text do not make up the text.", DELETE_AND_INGEST,
        ),
        "CHUNK_COUNT_WRONG": FindingRule(
            "documents", _E, "The document counts other chunks than readers see.", REINGEST,
        ),
        "CHUNK_GAP": FindingRule("chunks", _E, "The chunks' positions are not 0, 1, 2, …", REINGEST),
        "CHUNK_TEXT_DIFFERS": FindingRule(
            "chunks", _E, "A chunk's text is not what its revision says there.", REINGEST,
        ),
        "CHUNK_HASH_WRONG": FindingRule("chunks", _E, "A chunk's hash is not that of its text.", REINGEST),
        "VECTOR_MISSING": FindingRule("vectors", _E, "A chunk has no vector in the active space.", REINGEST),
        "VECTOR_DIMENSIONS": FindingRule("vectors", _E, "A vector has not the dimensions of its space.", REINGEST),
        "VECTOR_BROKEN": FindingRule("vectors", _E, "A vector is zero or not finite.", REINGEST),
        "VECTOR_NOT_UNIT": FindingRule("vectors", _W, "A vector has not length 1: its cosines are off.", REINGEST),
        "MENTIONS_DIFFER": FindingRule("graph", _W, "A chunk's text names other entities than are stored.", REINGEST),
        "POSTINGS_DIFFER": FindingRule("postings", _E, "A chunk's postings are not those of its text.", REINGEST),
        "POSTINGS_MISSING": FindingRule("postings", _E, "A chunk stands in no segment: words never find it.", REINGEST),
        "POSTINGS_TWICE": FindingRule("postings", _E, "A chunk stands in several segments.", FILE_A_BUG),
        "POSTINGS_ORPHAN": FindingRule("postings", _E, "A segment names a chunk that is not there.", FILE_A_BUG),
        "CHUNK_ACCESS": FindingRule("chunks", _E, "Chunks stand under other readers than their document.", REINGEST),
        "VECTOR_ACCESS": FindingRule("vectors", _E, "Vectors stand under other readers than their document.", REINGEST),
        "MENTION_ACCESS": FindingRule("graph", _E, "Mentions stand under other readers than their document.", REINGEST),
        "POSTINGS_ACCESS": FindingRule(
            "postings", _E, "Postings stand under other readers than their document.", REINGEST,
        ),
        "SEGMENT_DAMAGED": FindingRule("postings", _E, "A segment's arrays do not fit together.", FILE_A_BUG),
        "VECTOR_ORPHAN": FindingRule("vectors", _E, "Vectors of chunks that are not there.", FILE_A_BUG),
        "MENTION_ORPHAN": FindingRule("graph", _E, "Mentions of chunks that are not there.", FILE_A_BUG),
        "ENTITY_MISSING": FindingRule("graph", _E, "Mentions of entities that are not there.", FILE_A_BUG),
        "ENTITY_ORPHAN": FindingRule("graph", _E, "Entities that nobody mentions.", FILE_A_BUG),
        "ENTITY_SOURCE_GONE": FindingRule("graph", _E, "Entities whose first source is gone.", FILE_A_BUG),
        "CLOSED_BUT_VISIBLE": FindingRule("chunks", _E, "Chunks that readers see and searches skip.", FILE_A_BUG),
        "CLOSED_UNMARKED": FindingRule("chunks", _E, "Chunks that are gone and that searches do not skip.", FILE_A_BUG),
        "VISIBILITY_DRIFT": FindingRule(
            "vectors", _E, "Vectors or mentions outlive, or die before, their chunk.", FILE_A_BUG,
        ),
        "CHUNK_TWICE": FindingRule("chunks", _E, "Readers see one chunk of a document twice.", REINGEST),
        "STAGED_LEFTOVER": FindingRule(
            "staged", _W, "Staged work that no job will finish.", "rag doc reingest DOCUMENT, or delete the document."
        ),
        "DOCUMENT_STUCK": FindingRule(
            "documents", _W, "A document waits and no job works on it.", "rag doc reingest DOCUMENT, or ingest again."
        ),
        "TOMBSTONE_LIVE": FindingRule("documents", _E, "A document is both erased and there.", FILE_A_BUG),
        "ORIGINAL_GONE": FindingRule("originals", _E, "An original's blob is not there.", "Ingest the source again."),
        "ORIGINAL_CHANGED": FindingRule(
            "originals", _E, "An original's bytes are not those that came.", "Restore the blob, or ingest again."
        ),
        "BLOB_ORPHAN": FindingRule(
            "originals", _W, "A blob that nothing names: an upload under way, or one that never ended.",
            "Remove it by hand when no upload is under way.",
        ),
        "GRAPH_BEHIND": FindingRule(
            "graph", _W, "The graph has not reached the corpus version.", "rag graph status; a worker follows up."
        ),
        "GRAPH_UNREACHABLE": FindingRule(
            "graph", _E, "The graph outside Postgres does not answer: nothing can be said of it.",
            "Start it (rag doctor), then verify again.",
        ),
        "GRAPH_DIFFERS": FindingRule(
            "graph", _E, "The graph outside Postgres does not hold what Postgres does.", "rag graph rebuild"
        ),
        "SPACE_MISMATCH": FindingRule(
            "vectors", _E, "This process embeds with another model than the workspace answers with.",
            "Set RAG_EMBEDDER and its model back, or switch the workspace's embedding space.",
        ),
        "DUPLICATE_DOCUMENT": FindingRule("documents", _I, "Two documents have the same bytes.", NO_ACTION),
        "DUPLICATE_CHUNKS": FindingRule("chunks", _I, "Two documents share passages word for word.", NO_ACTION),
    }
)  # fmt: skip
"""Every kind of finding."""


def finding(kind: str, subject: str, detail: str = "") -> Finding:
    """A finding of a kind in `RULES`."""
    rule = RULES[kind]
    message = f"{rule.message} ({detail})" if detail else rule.message
    return Finding(rule.store, kind, rule.severity, subject, message, rule.remedy)


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A visible chunk with its data in the other stores."""

    ordinal: int
    index: int
    text: str
    start: int
    end: int
    content_hash: bytes
    heading_path: tuple[str, ...]
    title: str | None
    """The title of its document when the chunk was analysed; None if unknown."""
    revision_text: str | None
    """The text of its revision; None if the revision is gone."""
    vector: bytes | None
    """The vector in the active space, little-endian float16; None if there is none."""
    mentions: frozenset[tuple[UUID, int]]
    """Entity ids with their counts."""
    copies: frozenset[tuple[str, int]]
    """Access sets copied into the search structures, each with the kind of finding that a wrong copy raises."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document with its revision and its visible chunks by index."""

    document_id: UUID
    source_path: str
    title: str
    status: DocumentStatus
    published: bool
    """Whether the document has a current revision."""
    chunk_count: int
    content_hash: bytes | None
    text: str | None
    text_hash: bytes | None
    access_id: int
    """Its access set."""
    chunks: tuple[StoredChunk, ...]


CHUNK_ACCESS, VECTOR_ACCESS, MENTION_ACCESS, POSTINGS_ACCESS = (
    "CHUNK_ACCESS",
    "VECTOR_ACCESS",
    "MENTION_ACCESS",
    "POSTINGS_ACCESS",
)

UNIT_TOLERANCE = 0.02
"""Tolerance of a vector's length: half precision rounds each component by at most 2⁻¹¹ of itself."""


def check_document(document: StoredDocument) -> Iterator[Finding]:
    """Checks a document against its revision and the positions of its chunks. Chunks are counted only for READY
    documents: during ingestion the count is that of the new revision.
    """
    name = document.source_path
    if document.published and document.text is None:
        yield finding("REVISION_MISSING", name)
    if document.text is not None and document.text_hash is not None:
        digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).digest()
        if digest != document.text_hash:
            yield finding("REVISION_TEXT_CHANGED", name)
    if document.status is not DocumentStatus.READY:
        return
    if document.chunk_count != len(document.chunks):
        yield finding("CHUNK_COUNT_WRONG", name, f"{document.chunk_count} counted, {len(document.chunks)} seen")
    if [chunk.index for chunk in document.chunks] != list(range(len(document.chunks))):
        yield finding("CHUNK_GAP", name)


def check_access(document: StoredDocument, posted: Callable[[int], int | None]) -> Iterator[Finding]:
    """Checks the copies of a document's access set on its chunks. `posted` returns the access set of an ordinal's
    postings, or None without postings.
    """
    strayed: Counter[str] = Counter()
    for chunk in document.chunks:
        strayed.update({kind for kind, access_id in chunk.copies if access_id != document.access_id})
        strayed[POSTINGS_ACCESS] += posted(chunk.ordinal) not in (document.access_id, None)
    for kind, chunks in sorted(strayed.items()):
        if chunks:
            yield finding(kind, document.source_path, f"{chunks} of {len(document.chunks)} passages")


def check_chunk(name: str, chunk: StoredChunk, dimensions: int | None) -> Iterator[Finding]:
    """Checks a chunk's text and vector. `dimensions` are those of the active space, None if nothing was
    published yet.
    """
    subject = f"{name} chunk {chunk.index} (ordinal {chunk.ordinal})"
    if chunk.revision_text is None or chunk.revision_text[chunk.start : chunk.end] != chunk.text:
        yield finding("CHUNK_TEXT_DIFFERS", subject)
    if content_hash(chunk.text) != chunk.content_hash:
        yield finding("CHUNK_HASH_WRONG", subject)
    if dimensions is None:
        return
    if chunk.vector is None:
        yield finding("VECTOR_MISSING", subject)
        return
    vector = np.frombuffer(chunk.vector, "<f2").astype(np.float32)
    if len(vector) != dimensions:
        yield finding("VECTOR_DIMENSIONS", subject, f"{len(vector)} instead of {dimensions}")
        return
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or not length:
        yield finding("VECTOR_BROKEN", subject)
    elif abs(length - 1) > UNIT_TOLERANCE:
        yield finding("VECTOR_NOT_UNIT", subject, f"length {length:.3f}")


def check_entities_and_postings(
    workspace_id: UUID, document: StoredDocument, chunk: StoredChunk, posted: tuple[int, int] | None
) -> Iterator[Finding]:
    """Checks what is computed from a chunk's text: its entities and its postings. `posted` is the length in terms and
    the number of distinct terms, None if the chunk is in no segment.
    """
    subject = f"{document.source_path} chunk {chunk.index} (ordinal {chunk.ordinal})"
    found = extract_entities(workspace_id, chunk.text, chunk.heading_path, chunk.title or document.title).entities
    if frozenset((one.entity_id, one.count) for one in found) != chunk.mentions:
        yield finding("MENTIONS_DIFFER", subject)
    terms = term_counts(chunk.text)
    if posted is not None and posted != (terms.length, len(terms.hashes) // 8):
        yield finding("POSTINGS_DIFFER", subject)
