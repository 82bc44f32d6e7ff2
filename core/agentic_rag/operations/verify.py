"""Compares every store of a workspace with the published state in Postgres."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agentic_rag.documents.blob_keys import owner_prefix
from agentic_rag.documents.ports import BlobStore
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.formatting import format_count
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.operations.findings import (
    Finding,
    Severity,
    StoredDocument,
    check_access,
    check_chunk,
    check_document,
    check_entities_and_postings,
    finding,
)
from agentic_rag.operations.ports import Inspection, InspectWorkspace, StoredOriginal, WorkspaceHead
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, WorkspaceRef

SHOWN_PER_KIND = 20
"""Findings listed per kind; all are counted."""

DERIVED_SAMPLE = 2_000
"""Chunks whose entities and terms are recomputed unless `full`: about a second."""

HASHED_SAMPLE = 200
"""Originals that are read and hashed unless `full`."""

MOST_PAIRS = 50

FurtherCheck = Callable[[WorkspaceRef], Awaitable[Sequence[Finding]]]
"""An additional check supplied from outside: a graph outside Postgres, recall against exact search."""


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """What was checked, and the findings. `counts` has the number of findings by kind, `findings` the first of
    each kind, `settling` the number of unfinished jobs by kind: when they have ended, a look may show less.
    """

    documents: int
    chunks: int
    derived_chunks: int
    """Chunks whose entities and postings were recomputed."""
    originals: int
    counts: tuple[tuple[str, int], ...]
    findings: tuple[Finding, ...]
    settling: tuple[tuple[str, int], ...]

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(one.severity is Severity.ERROR for one in self.findings)


@dataclass(slots=True)
class _FindingCounts:
    counts: Counter[str] = field(default_factory=Counter[str])
    findings: list[Finding] = field(default_factory=list[Finding])

    def add(self, found: Iterable[Finding], times: int = 1) -> None:
        for one in found:
            if self.counts[one.kind] < SHOWN_PER_KIND:
                self.findings.append(one)
            self.counts[one.kind] += times


@dataclass(slots=True)
class _Postings:
    """The contents of the segments: by ordinal, the length in terms and the number of distinct terms, and the
    access set.
    """

    posted: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    restricted: dict[int, int] = field(default_factory=dict[int, int])
    """Access sets other than the default one."""

    def access(self, ordinal: int) -> int | None:
        """The access set of a chunk; None if it is in no segment."""
        return self.restricted.get(ordinal, DEFAULT_ACCESS_ID) if ordinal in self.posted else None


@dataclass(frozen=True, slots=True)
class VerifyStores:
    """Reads only, in pages. Memory is bounded by a page of documents, a segment, the originals' keys, and some 30 bytes
    per chunk.

    The database is read at one instant. Blobs change on: of those that disagree, only what a later instant still names,
    or still does not name, is a finding.
    """

    inspect: InspectWorkspace
    database: Database
    blobs: BlobStore
    space: Callable[[], EmbeddingSpace]
    """The space of the process, which may have to load its model."""
    further: Sequence[FurtherCheck] = ()

    async def run(self, workspace: WorkspaceRef, *, full: bool = False) -> VerificationReport:
        """Check one workspace; `full` recomputes everything instead of a sample.

        Errors: `NotFound` (workspace), `DependencyUnavailable`.
        """
        tally = _FindingCounts()
        async with self.inspect(workspace) as inspection:
            head = await inspection.head()
            self._check_head(head, workspace, tally)
            postings = await _read_segments(inspection, tally)
            stride = 1 if full else max(1, head.chunks // DERIVED_SAMPLE)
            documents, visible, derived = await self._check_documents(
                inspection, head, workspace, postings, stride, tally
            )
            await _check_ordinals(inspection, postings, visible, tally)
            for anomaly in await inspection.anomalies():
                tally.add([finding(anomaly.kind, anomaly.example, format_count(anomaly.rows, "row"))], anomaly.rows)
            for one, other, chunks in await inspection.duplicate_chunks(MOST_PAIRS):
                tally.add([finding("DUPLICATE_CHUNKS", f"{one} and {other}", format_count(chunks, "passage"))])
            settling = await inspection.unfinished_jobs()
            held = {one.key: one async for one in inspection.originals()}
            doomed = await inspection.blobs_to_delete()
        await self._check_originals(workspace, held, doomed, tally, full=full)
        for check in self.further:
            known = {(one.kind, one.subject) for one in tally.findings}
            tally.add(one for one in await check(workspace) if (one.kind, one.subject) not in known)
        order = {severity: place for place, severity in enumerate(Severity)}
        return VerificationReport(
            documents=documents,
            chunks=len(visible),
            derived_chunks=derived,
            originals=len(held),
            counts=tuple(sorted(tally.counts.items())),
            findings=tuple(sorted(tally.findings, key=lambda one: (order[one.severity], one.store, one.kind))),
            settling=tuple(settling.items()),
        )

    def _check_head(self, head: WorkspaceHead, workspace: WorkspaceRef, tally: _FindingCounts) -> None:
        name = str(workspace.workspace_id)
        if head.space is not None and head.space.space != (space := self.space()):
            tally.add([finding("SPACE_MISMATCH", name, f"{head.space.space.name} against {space.name}")])
        if head.graph_version != head.corpus_version:
            tally.add([finding("GRAPH_BEHIND", name, f"{head.graph_version} of {head.corpus_version}")])

    async def _check_documents(
        self,
        inspection: Inspection,
        head: WorkspaceHead,
        workspace: WorkspaceRef,
        postings: _Postings,
        stride: int,
        tally: _FindingCounts,
    ) -> tuple[int, NDArray[np.int32], int]:
        dimensions = None if head.space is None else head.space.space.dimensions
        documents = derived = 0
        visible: list[NDArray[np.int32]] = []
        by_content: dict[bytes, str] = {}
        async for page in inspection.documents():
            for document in page:
                documents += 1
                tally.add(check_document(document))
                tally.add(check_access(document, postings.access))
                for chunk in document.chunks:
                    tally.add(check_chunk(document.source_path, chunk, dimensions))
                    if chunk.ordinal % stride == 0:
                        derived += 1
                        posted = postings.posted.get(chunk.ordinal)
                        tally.add(check_entities_and_postings(workspace.workspace_id, document, chunk, posted))
                visible.append(np.array([chunk.ordinal for chunk in document.chunks], np.int32))
                _check_same_bytes(document, by_content, tally)
        return documents, np.concatenate([np.array([], np.int32), *visible]), derived

    async def _check_originals(
        self,
        workspace: WorkspaceRef,
        held: Mapping[str, StoredOriginal],
        doomed: Sequence[str],
        tally: _FindingCounts,
        *,
        full: bool,
    ) -> None:
        async with self.database.transaction(workspace.org_id) as transaction:
            stored = await transaction.workspaces.get(workspace.workspace_id)
        blobs: set[str] = set() if stored is None else set(await self.blobs.keys(owner_prefix(stored)))
        unnamed = blobs.difference(held, doomed)
        looked_at = list(held.values())[: None if full else HASHED_SAMPLE]
        faults = [(one, fault) for one in looked_at if (fault := await self._fault_of(one)) is not None]
        if not faults and not unnamed:
            return
        async with self.inspect(workspace) as inspection:
            named = {one.key: one async for one in inspection.originals()}
            unnamed.difference_update(named, await inspection.blobs_to_delete())
        for one, fault in faults:
            if one.key in named:
                tally.add([finding(fault, f"{one.key} of document {one.document_id}")])
        if unnamed and stored is not None:
            unnamed.intersection_update(await self.blobs.keys(owner_prefix(stored)))
        tally.add(finding("BLOB_ORPHAN", key) for key in sorted(unnamed))

    async def _fault_of(self, original: StoredOriginal) -> str | None:
        """The kind of finding that its blob is; None when it holds what came."""
        digest, size = hashlib.sha256(), 0
        try:
            async for piece in self.blobs.stream(original.key):
                digest.update(piece)
                size += len(piece)
        except NotFound:
            return "ORIGINAL_GONE"
        return None if (digest.digest(), size) == (original.content_hash, original.size) else "ORIGINAL_CHANGED"


def _check_same_bytes(document: StoredDocument, by_content: dict[bytes, str], tally: _FindingCounts) -> None:
    """Adds a finding if an earlier document has the same bytes."""
    if document.content_hash is None:
        return
    first = by_content.setdefault(document.content_hash, document.source_path)
    if first != document.source_path:
        tally.add([finding("DUPLICATE_DOCUMENT", f"{first} and {document.source_path}")])


async def _read_segments(inspection: Inspection, tally: _FindingCounts) -> _Postings:
    """Sizes by ordinal; an ordinal in two segments is a finding."""
    postings = _Postings()
    moves = await inspection.access_moves()
    try:
        async for segment in inspection.segments():
            places = np.searchsorted(segment.ordinals, segment.posting_ordinals)
            distinct = np.bincount(places, minlength=len(segment.ordinals))
            for ordinal, length, terms in zip(
                segment.ordinals.tolist(), segment.lengths.tolist(), distinct.tolist(), strict=False
            ):
                if ordinal in postings.posted:
                    tally.add([finding("POSTINGS_TWICE", f"ordinal {ordinal}")])
                postings.posted[ordinal] = (length, terms)
            access = moves.apply(segment.ordinals, segment.access)
            told = access != DEFAULT_ACCESS_ID
            restricted = zip(segment.ordinals[told].tolist(), access[told].tolist(), strict=True)
            postings.restricted.update(restricted)
    except ValueError as error:
        tally.add([finding("SEGMENT_DAMAGED", "a postings segment", str(error))])
    return postings


async def _check_ordinals(
    inspection: Inspection, postings: _Postings, visible: NDArray[np.int32], tally: _FindingCounts
) -> None:
    """Checks that every visible chunk is in a segment, and that segments contain only visible and closed chunks."""
    seen = set(visible.tolist())
    tally.add(finding("POSTINGS_MISSING", f"ordinal {one}") for one in sorted(seen - postings.posted.keys()))
    known = seen.union(await inspection.tombstone_ordinals())
    tally.add(finding("POSTINGS_ORPHAN", f"ordinal {one}") for one in sorted(postings.posted.keys() - known))
