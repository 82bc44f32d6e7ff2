"""What publishing a revision changes, and what of it is still to be embedded."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document import ChunkDraft
from agentic_rag.documents.revision_diff import RevisionDiff, VisibleChunk, diff_revision, replace_all


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
