"""The difference between a new revision and a document's visible chunks. Only added chunks are embedded."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document import ChunkDraft


@dataclass(frozen=True, slots=True)
class VisibleChunk:
    """A published chunk visible at the newest version: its ids and its place."""

    ordinal: int
    chunk_id: UUID
    index: int
    start: int
    end: int
    page: int | None
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptChunk:
    """A chunk whose text is visible already: its ordinal, vector, postings and mentions stay. Its row is rewritten only
    when it `moved`.
    """

    ordinal: int
    draft: ChunkDraft
    moved: bool


@dataclass(frozen=True, slots=True)
class RevisionDiff:
    """`added` and `kept` together are the new revision, each by index; `removed` are ordinals."""

    added: tuple[ChunkDraft, ...]
    kept: tuple[KeptChunk, ...]
    removed: tuple[int, ...]


def diff_revision(visible: Sequence[VisibleChunk], drafts: Sequence[ChunkDraft]) -> RevisionDiff:
    """Compare the visible chunks with a new revision, by chunk id (document, normalised text, occurrence)."""
    by_id = {chunk.chunk_id: chunk for chunk in visible}
    added: list[ChunkDraft] = []
    kept: list[KeptChunk] = []
    for draft in drafts:
        chunk = by_id.pop(draft.chunk_id, None)
        if chunk is None:
            added.append(draft)
        else:
            kept.append(KeptChunk(chunk.ordinal, draft, _place(chunk) != _place(draft)))
    return RevisionDiff(tuple(added), tuple(kept), tuple(sorted(chunk.ordinal for chunk in by_id.values())))


def replace_all(visible: Sequence[VisibleChunk], drafts: Sequence[ChunkDraft]) -> RevisionDiff:
    """Replace all visible chunks, even equal ones: for stores that cannot be trusted."""
    return RevisionDiff(tuple(drafts), (), tuple(sorted(chunk.ordinal for chunk in visible)))


def _place(chunk: VisibleChunk | ChunkDraft) -> tuple[object, ...]:
    return (
        chunk.index,
        chunk.start,
        chunk.end,
        chunk.page,
        chunk.line_start,
        chunk.line_end,
        chunk.heading_path,
    )


@dataclass(frozen=True, slots=True)
class PublicationPlan:
    """The changes of a publish; `unpaid` are the added chunks without a vector."""

    diff: RevisionDiff
    unpaid: tuple[ChunkDraft, ...]

    @property
    def total(self) -> int:
        """Chunks of the new revision."""
        return len(self.diff.kept) + len(self.diff.added)


def plan_publication(
    visible: Sequence[VisibleChunk], drafts: Sequence[ChunkDraft], paid: Collection[UUID], *, keep_none: bool = False
) -> PublicationPlan:
    """Compare the chunks that readers see with a new revision. `paid` are the ids of chunks whose vectors are there;
    `keep_none` makes every chunk anew.
    """
    diff = replace_all(visible, drafts) if keep_none else diff_revision(visible, drafts)
    return PublicationPlan(diff, tuple(draft for draft in diff.added if draft.chunk_id not in paid))
