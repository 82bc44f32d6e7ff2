"""Rewrite: what is searched for, one text per part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.query.rewrite import FINANCE_ALIASES, add_aliases, fill_placeholder
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.state_machine import Stage
from agentic_rag.retrieval.title_match import strip_references


class RewriteStage:
    """Takes out which document is meant and adds aliases; parts that depend on others are completed when those have
    been searched.
    """

    stage = Stage.REWRITE

    def __init__(self, aliases: Mapping[str, str] = FINANCE_ALIASES) -> None:
        self._aliases = aliases

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the search texts."""
        parts = state.plan.sub_questions if state.plan else ()
        texts = (fill_placeholder(part, ()) if part.depends_on else part.text for part in parts)
        searches = tuple(add_aliases(strip_references(text), self._aliases) for text in texts)
        return StageResult(replace(state, searches=searches or (state.standalone,)))
