"""Gate: what this run may do."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.lazy_snapshot import Reads
from agentic_rag.answering.query.gate import decide, signals_of
from agentic_rag.answering.query.planner import arithmetic_of
from agentic_rag.answering.query.standalone import standalone
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.state_machine import Stage


class GateStage:
    """Decides from signals of the question, the conversation and the corpus."""

    stage = Stage.GATE

    async def run(self, state: RunState, reads: Reads) -> StageResult:
        """Attach the gate's decision."""
        asked = standalone(state.text, state.question.history)
        signals = signals_of(
            asked.text,
            content_terms=len(terms_of(asked.text)),
            follows_up=asked.changed,
            calculation=arithmetic_of(asked.text) is not None,
            corpus_empty=state.corpus_version == 0,
        )
        return StageResult(replace(state, gate=decide(signals)))
