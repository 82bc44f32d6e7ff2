"""Gate: decides whether the run may read the corpus."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.query.gate import decide, extract_signals
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.tools.calc import find_arithmetic


class GateStage:
    """Decides from signals of the question, the conversation and the corpus."""

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the gate's decision."""
        question = state.question
        signals = extract_signals(
            question.text,
            content_terms=len(terms_of(question.text)),
            follows_up=question.is_follow_up,
            calculation=find_arithmetic(question.text) is not None,
            corpus_empty=state.corpus_version == 0,
        )
        return StageResult(replace(state, question=replace(question, gate=decide(signals))))
