"""Gate: what this run may do."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.query.gate import decide, extract_signals
from agentic_rag.answering.query.planner import find_arithmetic
from agentic_rag.answering.query.standalone import make_standalone
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.state_machine import Stage


class GateStage:
    """Decides from signals of the question, the conversation and the corpus."""

    stage = Stage.GATE

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the gate's decision."""
        asked = make_standalone(state.text, state.question.history)
        signals = extract_signals(
            asked.text,
            content_terms=len(terms_of(asked.text)),
            follows_up=asked.is_rewrite,
            calculation=find_arithmetic(asked.text) is not None,
            corpus_empty=state.corpus_version == 0,
        )
        return StageResult(replace(state, gate=decide(signals)))
