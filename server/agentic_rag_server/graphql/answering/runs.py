"""Runs in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from agentic_rag.answering import answer as answers
from agentic_rag.answering import run as run_values
from agentic_rag.kernel import dependency
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag_server.graphql.answering.citations import Citation, show_citation
from agentic_rag_server.graphql.answering.debug import AnswerDebug, StageTiming, show_debug, show_timings
from agentic_rag_server.graphql.answering.gate import GateDecision, show_gate
from agentic_rag_server.graphql.http.nodes import Node

Outcome = strawberry.enum(answers.Outcome, description="How a run ended. Abstaining is an outcome, not an error.")
AbstentionReason = strawberry.enum(answers.AbstentionReason, description="Why there is no answer.")
Dependency = strawberry.enum(dependency.Dependency, description="What was missing while an answer was made.")
CacheOutcome = strawberry.enum(run_values.CacheOutcome, description="What the answer cache did.")


@strawberry.type(description="Why there is no answer, with the nearest passages.")
class Abstention:
    """An honest nothing."""

    reason: AbstentionReason  # type: ignore[valid-type]
    explanation: str
    nearest: list[Citation]


@strawberry.type(description="What an answer was made with.")
class RunVersions:
    """Versions that reproduce a run."""

    corpus_version: int
    graph_version: int
    space: str | None = strawberry.field(description="The embedding space.")
    weights_version: str
    pipeline_version: str
    models: list[str]


@strawberry.type(description="One execution of the answering pipeline, as stored.")
class Run(Node):
    """A run as clients see it."""

    workspace_id: strawberry.ID
    trace_id: str
    question: str
    subject: str = strawberry.field(description="Who asked.")
    created_at: datetime
    seconds: float
    cache: CacheOutcome  # type: ignore[valid-type]
    outcome: Outcome  # type: ignore[valid-type]
    answer: str
    degraded: list[Dependency]  # type: ignore[valid-type]
    source: strawberry.Private[run_values.Run]

    @strawberry.field(description="What the answer was made with.")
    def versions(self) -> RunVersions:
        """Shown when asked for."""
        it = self.source.versions
        return RunVersions(
            corpus_version=it.corpus_version,
            graph_version=it.graph_version,
            space=it.space,
            weights_version=it.weights_version,
            pipeline_version=it.pipeline_version,
            models=list(it.models),
        )

    @strawberry.field(description="Set when the outcome is ABSTAINED.")
    def abstention(self) -> Abstention | None:
        """Shown when asked for."""
        return show_abstention(self.source)

    @strawberry.field(description="The proof of each sentence.")
    def citations(self) -> list[Citation]:
        """Shown when asked for."""
        return show_citations(self.source)

    @strawberry.field(description="What the gate decided, and why.")
    def gate(self) -> GateDecision:
        """Shown when asked for."""
        return show_gate(self.source.answer.gate)

    @strawberry.field(description="How the answer came about.")
    def debug(self) -> AnswerDebug:
        """Shown when asked for."""
        return show_debug(self.source)

    @strawberry.field(description="The stages, in the order they ran.")
    def stages(self) -> list[StageTiming]:
        """Shown when asked for."""
        return show_timings(self.source)


def show_run(run: run_values.Run) -> Run:
    """A run of the domain as one of the schema."""
    workspace_id = run.workspace.workspace_id
    return Run(
        id=strawberry.ID(encode(NodeKind.RUN, workspace_id, run.run_id)),
        workspace_id=strawberry.ID(encode_workspace(workspace_id)),
        trace_id=run.trace_id,
        question=run.question,
        subject=run.subject,
        created_at=run.created_at,
        seconds=run.seconds,
        cache=run.cache,
        outcome=run.answer.outcome,
        answer=run.answer.text,
        degraded=list(run.answer.degraded),
        source=run,
    )


def show_abstention(run: run_values.Run) -> Abstention | None:
    """Why a run gave no answer; None when it gave one."""
    found = run.answer.abstention
    if found is None:
        return None
    nearest = [show_citation(citation, run.workspace.workspace_id) for citation in found.nearest]
    return Abstention(reason=found.reason, explanation=found.explanation, nearest=nearest)


def show_citations(run: run_values.Run) -> list[Citation]:
    """The citations of a run's answer."""
    workspace_id = run.workspace.workspace_id
    return [show_citation(citation, workspace_id) for citation in run.answer.citations]
