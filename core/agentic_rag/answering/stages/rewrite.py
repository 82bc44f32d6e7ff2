"""Rewrite: the text to search for, one per sub-question."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.query.rewrite import fill_placeholder
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.retrieval.title_match import strip_references


class RewriteStage:
    """Removes references to documents. A sub-question that waits for another is completed later."""

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the search texts."""
        question = state.question
        texts = (fill_placeholder(part, ()) if part.depends_on else part.text for part in question.sub_questions)
        searches = tuple(strip_references(text) for text in texts)
        return StageResult(replace(state, question=replace(question, searches=searches)))
