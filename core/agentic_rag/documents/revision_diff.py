"""What a new revision changes of a document that readers see: only what is added is paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agentic_rag.documents.document import ChunkDraft


class PublishedChunk(Protocol):
    """A published chunk: its stable ids and where it stands."""

    @property
    def ordinal(self) -> int: ...
    @property
    def chunk_id(self) -> UUID: ...
    @property
    def index(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def page(self) -> int | None: ...
    @property
    def line_start(self) -> int: ...
    @property
    def line_end(self) -> int: ...
    @property
    def heading_path(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class UnchangedChunk:
    """A chunk whose text readers already see; `moved` when it stands elsewhere now."""

    ordinal: int
    draft: ChunkDraft
    moved: bool


@dataclass(frozen=True, slots=True)
class RevisionDiff:
    """`added` and `kept` together are the new revision, each by index; `removed` are ordinals."""

    added: tuple[ChunkDraft, ...]
    kept: tuple[UnchangedChunk, ...]
    removed: tuple[int, ...]


def diff_revision(visible: Sequence[PublishedChunk], drafts: Sequence[ChunkDraft]) -> RevisionDiff:
    """Compare what readers see with a new revision, by chunk id (document, normalised text, occurrence)."""
    by_id = {chunk.chunk_id: chunk for chunk in visible}
    added: list[ChunkDraft] = []
    kept: list[UnchangedChunk] = []
    for draft in drafts:
        chunk = by_id.pop(draft.chunk_id, None)
        if chunk is None:
            added.append(draft)
        else:
            kept.append(UnchangedChunk(chunk.ordinal, draft, _place(chunk) != _place(draft)))
    return RevisionDiff(tuple(added), tuple(kept), tuple(sorted(chunk.ordinal for chunk in by_id.values())))


def replace_all(visible: Sequence[PublishedChunk], drafts: Sequence[ChunkDraft]) -> RevisionDiff:
    """Keep nothing of what readers see, even where it is the same: for stores that are not to be trusted."""
    return RevisionDiff(tuple(drafts), (), tuple(sorted(chunk.ordinal for chunk in visible)))


def _place(chunk: PublishedChunk | ChunkDraft) -> tuple[object, ...]:
    return (
        chunk.index,
        chunk.start,
        chunk.end,
        chunk.page,
        chunk.line_start,
        chunk.line_end,
        chunk.heading_path,
    )
