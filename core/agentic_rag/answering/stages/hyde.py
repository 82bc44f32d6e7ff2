"""HyDE: a hypothetical passage, to be embedded beside the question."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.ports import HypotheticalPassages
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.stages.stage import outcome_of, without_chat
from agentic_rag.answering.state_machine import Stage
from agentic_rag.models.chat.request import LlmResult


class HydeStage:
    """`passages` None: there is no chat model."""

    stage = Stage.HYDE

    def __init__(self, passages: HypotheticalPassages | None) -> None:
        self._passages = passages

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the passage; one that is late or fails is done without."""
        if not state.options.use_hyde:
            return StageResult(state, outcome="skipped: off")
        if self._passages is None:
            return StageResult(state, outcome="skipped: no chat model")
        if state.options.weights.vector == 0:
            return StageResult(state, outcome="skipped: the text arms have no weight")
        written = await self._passages.write(state.question.workspace, state.standalone, state.deadline)
        if isinstance(written, LlmResult):
            return StageResult(replace(state, hyde_text=written.value))
        return StageResult(without_chat(state), outcome=outcome_of([written]))
