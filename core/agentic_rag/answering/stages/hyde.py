"""HyDE: a hypothetical passage, embedded beside the question."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.ports import HypotheticalPassages
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.stages.stage import degraded_outcome, note_degraded
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.models.chat.request import LlmResult


class HydeStage:
    """`passages` is None without a chat model."""

    def __init__(self, passages: HypotheticalPassages | None) -> None:
        self._passages = passages

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the passage. The run goes on without one that is late or fails."""
        if not state.options.use_hyde:
            return StageResult(state, outcome="skipped: off")
        if self._passages is None:
            return StageResult(state, outcome="skipped: no chat model")
        if state.options.search.weights.vector == 0:
            return StageResult(state, outcome="skipped: the text arms have no weight")
        question = state.question
        passage = await self._passages.write(question.asked.workspace, question.text, state.deadline)
        if isinstance(passage, LlmResult):
            return StageResult(replace(state, question=replace(question, hyde_text=passage.value)))
        return StageResult(note_degraded(state, Dependency.CHAT_MODEL), outcome=degraded_outcome([passage]))
