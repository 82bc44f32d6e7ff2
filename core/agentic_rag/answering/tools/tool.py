"""The interface of a tool that a question can call for."""

from __future__ import annotations

from typing import ClassVar, Protocol

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.plan import AnswerType, ToolRequest
from agentic_rag.answering.run_state import RunState, StageResult


class Tool(Protocol):
    """A tool. Only the words of a question choose one; retrieved text never does.

    A new tool is a file with such a class and a row in `tools.registry.TOOLS`.
    """

    name: ClassVar[str]
    answer_type: ClassVar[AnswerType | None] = None
    """The answer type of a question that is nothing but a call of this tool; None when the call only adds evidence."""
    is_cacheable: ClassVar[bool] = True
    """A later call with the same argument gives the same result at the same corpus version."""
    names_documents: ClassVar[bool] = False
    """The result names a document of the corpus, so only readers of that document may see it."""
    needs_retrieval: ClassVar[bool] = False
    """The tool reads the corpus, so it runs only where the gate allows retrieval."""

    def wanted(self, question: str) -> tuple[str, ...]:
        """The arguments with which a question (folded) calls for the tool; empty when it does not."""
        ...

    def mask(self, question: str) -> str:
        """The question as it is planned and searched for when the tool runs."""
        return question

    async def run(self, request: ToolRequest, state: RunState, reads: LazySnapshot, seconds: float) -> StageResult:
        """The state with the call and what it found; `StageEvent.FINISH` when the call answers the question.

        `seconds` is the time left of the run.
        """
        ...
