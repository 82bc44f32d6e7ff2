"""The result of `ragAnswer`."""

from __future__ import annotations

import strawberry

from agentic_rag.answering import run as run_values
from agentic_rag_server.graphql.answering.citations import Citation
from agentic_rag_server.graphql.answering.debug import AnswerDebug, show_debug
from agentic_rag_server.graphql.answering.gate import GateDecision, show_gate
from agentic_rag_server.graphql.answering.runs import (
    Abstention,
    Dependency,
    Outcome,
    Run,
    show_abstention,
    show_citations,
    show_run,
)
from agentic_rag_server.graphql.http.errors import UserError


@strawberry.type(description="An answer with its proof; or, in `userErrors`, what to change in the request.")
class RagAnswerPayload:
    """The parts of a run that most clients want; each is converted only when a query asks for it."""

    answer: str | None = strawberry.field(
        description="The text, with markers such as [1]; empty when the outcome is ABSTAINED; null on user errors."
    )
    outcome: Outcome | None  # type: ignore[valid-type]
    degraded: list[Dependency]  # type: ignore[valid-type]
    user_errors: list[UserError]
    source: strawberry.Private[run_values.Run | None]

    @strawberry.field(description="The stored run; null on user errors.")
    def run(self) -> Run | None:
        """Shown when asked for."""
        return show_run(self.source) if self.source else None

    @strawberry.field(description="Set when the outcome is ABSTAINED.")
    def abstention(self) -> Abstention | None:
        """Shown when asked for."""
        return show_abstention(self.source) if self.source else None

    @strawberry.field(description="The proof of each sentence; empty on user errors.")
    def citations(self) -> list[Citation]:
        """Shown when asked for."""
        return show_citations(self.source) if self.source else []

    @strawberry.field(description="What the gate decided, and why; null on user errors.")
    def gate(self) -> GateDecision | None:
        """Shown when asked for."""
        return show_gate(self.source.answer.gate) if self.source else None

    @strawberry.field(description="How the answer came about; null on user errors.")
    def debug(self) -> AnswerDebug | None:
        """Shown when asked for."""
        return show_debug(self.source) if self.source else None


def show_answer(run: run_values.Run) -> RagAnswerPayload:
    """The payload of a run."""
    answer = run.answer
    return RagAnswerPayload(
        answer=answer.text, outcome=answer.outcome, degraded=list(answer.degraded), user_errors=[], source=run
    )


def refuse_answer(errors: list[UserError]) -> RagAnswerPayload:
    """The payload of a request that must be changed first."""
    return RagAnswerPayload(answer=None, outcome=None, degraded=[], user_errors=errors, source=None)
