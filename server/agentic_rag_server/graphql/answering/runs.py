"""Stored runs."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

import strawberry

from agentic_rag.answering import answer as answers
from agentic_rag.answering import run as run_values
from agentic_rag.answering.runs.run_filter import RunFilter
from agentic_rag.kernel import dependency
from agentic_rag.kernel.clock import with_zone
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode, encode, encode_workspace
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.citations import Citation, show_citation
from agentic_rag_server.graphql.answering.debug import AnswerDebug, StageTiming, StageUsage, show_debug
from agentic_rag_server.graphql.answering.feedback import Feedback, show_feedback
from agentic_rag_server.graphql.answering.gate import GateDecision, show_gate
from agentic_rag_server.graphql.answering.outside import OutsideReport, show_outside
from agentic_rag_server.graphql.http.context import Info, RequestContext, page_request
from agentic_rag_server.graphql.http.fields import Connection, Node, connection_of, field, inner, to_schema

Outcome = strawberry.enum(
    answers.Outcome,
    description="How a run ended. Abstaining is an outcome, not an error. UNCERTAIN: the nearest text is quoted; it "
    "is not established that it answers. UNDERSPECIFIED: the question fits several things; each is answered on a line "
    "of its own that says what it is about. CONFLICTING: two sources disagree, and both are quoted.",
)
AbstentionReason = strawberry.enum(
    answers.AbstentionReason,
    description="Why there is no answer, or no whole or certain one. NOT_STATED: the passages are about the subject, "
    "but do not state what is asked. UNDERSPECIFIED: the question does not say which of several things it means. "
    "OTHER_LANGUAGE: the passages are in another language than the question; ask in theirs.",
)
Dependency = strawberry.enum(dependency.Dependency, description="What was missing while an answer was made.")
CacheOutcome = strawberry.enum(run_values.CacheOutcome, description="What the answer cache did.")


@strawberry.type(description="Why there is no answer, with the nearest passages; or none that is whole or certain.")
class Abstention:
    reason: AbstentionReason  # type: ignore[valid-type]
    explanation: str
    nearest: list[Citation]


@strawberry.type(description="What an answer was made with.")
class RunVersions:
    corpus_version: int
    graph_version: int
    space: str | None = strawberry.field(description="The embedding space.")
    weights_version: str
    pipeline_version: str
    models: list[str]


@strawberry.type(description="One execution of the answering pipeline, as stored.")
class Run(Node):
    workspace_id: strawberry.ID
    trace_id: str
    question: str
    subject: str = strawberry.field(description="Who asked.")
    thread_id: strawberry.ID | None = strawberry.field(description="The thread of the caller's that it is a turn of.")
    created_at: datetime
    seconds: float
    cache: CacheOutcome  # type: ignore[valid-type]
    outcome: Outcome  # type: ignore[valid-type]
    answer: str
    degraded: list[Dependency]  # type: ignore[valid-type]
    stages: list[StageTiming] = strawberry.field(description="The stages, in the order they ran.")
    source: strawberry.Private[run_values.Run]

    @strawberry.field(description="Null when the outcome is GROUNDED or CONFLICTING.")
    def abstention(self) -> Abstention | None:
        return show_abstention(self.source)

    @inner(Action.READ, right=Sight.ASKER, description="What the answer was made with.")
    async def versions(self, info: Info) -> RunVersions:
        made = self.source.versions
        corpus, graph = await info.context.shown_versions(
            self.source.workspace, made.corpus_version, made.graph_version
        )
        return to_schema(RunVersions, made, corpus_version=corpus, graph_version=graph)

    @inner(
        Action.READ,
        right=Sight.ASKER,
        description="What the caller said of it; for those who manage the workspace what everybody said.",
    )
    async def feedback(self, info: Info) -> list[Feedback]:
        context, workspace = info.context, self.source.workspace
        said = await context.parts.feedback.of_run(context.principal, workspace, self.source.run_id)
        return [show_feedback(one, workspace.workspace_id) for one in said]

    @strawberry.field(
        description="What its calls of a chat model used, by stage; empty where none was made for it, as for an answer "
        "from the cache. The embedding of the question is in the usage of the workspace only."
    )
    def usage(self) -> list[StageUsage]:
        return [to_schema(StageUsage, one, one.spend) for one in self.source.answer.debug.usage]

    @strawberry.field(description="The quotes behind the sentences.")
    def citations(self) -> list[Citation]:
        return show_citations(self.source)

    @strawberry.field(description="What the gate decided, and why.")
    def gate(self) -> GateDecision:
        return show_gate(self.source.answer.gate)

    @strawberry.field(description="What looking outside brought; null for a run that did not look.")
    def outside(self) -> OutsideReport | None:
        return show_outside(self.source.answer.outside)

    @strawberry.field(description="How the answer came about.")
    def debug(self) -> AnswerDebug:
        return show_debug(self.source)


@strawberry.type(description="One page of runs.")
class RunConnection(Connection[Run]):
    count: strawberry.Private[Callable[[], Awaitable[int]]]

    @inner(Action.READ, right=Sight.ASKER, description="How many runs all pages together show.")
    async def total_count(self, info: Info) -> int:
        return await self.count()


@strawberry.input(description="Narrows a list of runs; what is left out does not restrict.")
class RunFilterInput:
    words: str | None = strawberry.field(
        default=None,
        description="A part of the question, at most 200 characters; the case of letters does not count. Answers are "
        "not searched: they may hold words that the caller may no longer read.",
    )
    outcomes: list[Outcome] | None = None  # type: ignore[valid-type]
    since: datetime | None = strawberry.field(default=None, description="Asked at this time or later.")
    before: datetime | None = strawberry.field(default=None, description="Asked earlier than this.")


@strawberry.type
class RunQuery:
    @field(Action.READ, right=Sight.ASKER, description="A run by its id.")
    async def run(self, info: Info, id: strawberry.ID) -> Run | None:
        return await find_run(info.context, decode(id, NodeKind.RUN))

    @field(Action.READ, right=Sight.ASKER, description="Runs of a workspace, newest first.")
    async def runs(
        self,
        info: Info,
        workspace_id: strawberry.ID,
        first: int = 50,
        after: str | None = None,
        filter: RunFilterInput | None = None,
    ) -> RunConnection:
        context = info.context
        request, wanted = page_request(first, after), _read_filter(filter or RunFilterInput())
        return await show_runs(context, await context.workspace(workspace_id), request, wanted)


async def show_runs(
    context: RequestContext, workspace: WorkspaceRef, request: PageRequest, wanted: RunFilter
) -> RunConnection:
    """A page of the runs that the filter admits, as far as the caller may see them."""
    reading, principal = context.parts.read_runs, context.principal
    page = await reading.page(principal, workspace, request, wanted)
    return connection_of(RunConnection, page, show_run, count=partial(reading.count, principal, workspace, wanted))


def _read_filter(given: RunFilterInput) -> RunFilter:
    return RunFilter(
        words=(given.words or "").strip(),
        outcomes=frozenset(given.outcomes or ()),
        since=with_zone(given.since),
        before=with_zone(given.before),
    )


async def find_run(context: RequestContext, node: NodeId) -> Run | None:
    """A run as far as the caller may see it; else None."""
    found = await context.parts.read_runs.get(context.principal, context.ref(node), node.key)
    return show_run(found) if found else None


def show_run(run: run_values.Run) -> Run:
    """A stored run."""
    workspace_id = run.workspace.workspace_id
    return to_schema(
        Run,
        run,
        run.answer,
        id=encode(NodeKind.RUN, workspace_id, run.run_id),
        workspace_id=encode_workspace(workspace_id),
        thread_id=None if run.thread is None else encode(NodeKind.THREAD, workspace_id, run.thread),
        answer=run.answer.text,
        source=run,
    )


def show_abstention(run: run_values.Run) -> Abstention | None:
    """Why a run gave no answer; None when it gave one."""
    found = run.answer.abstention
    if found is None:
        return None
    workspace_id = run.workspace.workspace_id
    return to_schema(Abstention, found, nearest=[show_citation(one, workspace_id) for one in found.nearest])


def show_citations(run: run_values.Run) -> list[Citation]:
    """The citations of a run's answer."""
    workspace_id = run.workspace.workspace_id
    return [show_citation(citation, workspace_id) for citation in run.answer.citations]
