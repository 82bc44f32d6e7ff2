"""What a publish changes, and what of it is still to be embedded."""

from uuid import uuid4

from tests.builders import drafts_of, revision_of

from agentic_rag.documents.document import ChunkDraft
from agentic_rag.documents.revision_diff import VisibleChunk, plan_publication

PASSAGES = ["Water flows.", "Ice melts.", "Steam rises."]


def drafts() -> list[ChunkDraft]:
    return drafts_of(revision_of(uuid4(), PASSAGES), PASSAGES)


def visible(draft: ChunkDraft, ordinal: int) -> VisibleChunk:
    return VisibleChunk(
        ordinal, draft.chunk_id, draft.index, draft.start, draft.end, draft.page, draft.line_start, draft.line_end,
        draft.heading_path,
    )  # fmt: skip


def test_only_added_chunks_without_a_vector_are_unpaid() -> None:
    first, second, third = drafts()

    plan = plan_publication([visible(first, 7)], [first, second, third], {second.chunk_id})

    assert [kept.ordinal for kept in plan.diff.kept] == [7]
    assert plan.diff.added == (second, third)
    assert plan.unpaid == (third,)
    assert plan.total == 3


def test_a_forced_plan_keeps_nothing_that_readers_see() -> None:
    first, second, third = drafts()

    plan = plan_publication([visible(first, 7)], [first, second, third], (), keep_none=True)

    assert (plan.diff.kept, plan.diff.removed) == ((), (7,))
    assert plan.unpaid == (first, second, third)
