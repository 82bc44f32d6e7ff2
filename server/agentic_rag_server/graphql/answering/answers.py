"""`ragAnswer`: its resolver and its result."""

import strawberry

from agentic_rag.answering import run as run_values
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.citations import Citation
from agentic_rag_server.graphql.answering.debug import AnswerDebug, show_debug
from agentic_rag_server.graphql.answering.gate import GateDecision, show_gate
from agentic_rag_server.graphql.answering.inputs import RagAnswerInput, read_question
from agentic_rag_server.graphql.answering.outside import OutsideReport, show_outside
from agentic_rag_server.graphql.answering.runs import (
    Abstention,
    Dependency,
    Outcome,
    Run,
    show_abstention,
    show_citations,
    show_run,
)
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, mutation


@strawberry.type(description="An answer with its citations; or, in `userErrors`, what to change in the request.")
class RagAnswerPayload(Payload):
    answer: str | None = strawberry.field(
        default=None,
        description="The text, with markers such as [1]; empty when the outcome is ABSTAINED; null on user errors.",
    )
    outcome: Outcome | None = None  # type: ignore[valid-type]
    degraded: list[Dependency] = strawberry.field(default_factory=list)  # type: ignore[valid-type]
    source: strawberry.Private[run_values.Run | None] = None

    @strawberry.field(description="The stored run; null on user errors.")
    def run(self) -> Run | None:
        return show_run(self.source) if self.source else None

    @strawberry.field(description="Null when the outcome is GROUNDED or CONFLICTING.")
    def abstention(self) -> Abstention | None:
        return show_abstention(self.source) if self.source else None

    @strawberry.field(description="The quotes behind the sentences; empty on user errors.")
    def citations(self) -> list[Citation]:
        return show_citations(self.source) if self.source else []

    @strawberry.field(description="What the gate decided, and why; null on user errors.")
    def gate(self) -> GateDecision | None:
        return show_gate(self.source.answer.gate) if self.source else None

    @strawberry.field(description="What looking outside brought; null for a run that did not look.")
    def outside(self) -> OutsideReport | None:
        return show_outside(self.source.answer.outside) if self.source else None

    @strawberry.field(description="How the answer came about; null on user errors.")
    def debug(self) -> AnswerDebug | None:
        return show_debug(self.source) if self.source else None


async def ask_question(info: Info, input: RagAnswerInput) -> RagAnswerPayload:
    """Answers one question over one workspace."""
    context = info.context
    question = read_question(input, await context.named_workspace(input.workspace_id, input.workspace))
    return show_answer(await context.parts.answer.ask(context.principal, question))


def show_answer(run: run_values.Run) -> RagAnswerPayload:
    """The answer of a run."""
    answer = run.answer
    return RagAnswerPayload(answer=answer.text, outcome=answer.outcome, degraded=list(answer.degraded), source=run)


@strawberry.type
class AnswerQuery:
    rag_answer = mutation(
        Action.ASK,
        RagAnswerPayload,
        right=Sight.ORGANISATION,
        description="The same as the mutation, for clients that think of asking as reading.",
    )(ask_question)


@strawberry.type
class AnswerMutation:
    rag_answer = mutation(
        Action.ASK,
        RagAnswerPayload,
        right=Sight.ORGANISATION,
        description="Answer a question over a workspace; each sentence has a citation whose quote is verified.",
    )(ask_question)
