"""How an answer came about, in the schema."""

from __future__ import annotations

from uuid import UUID

import strawberry

from agentic_rag.answering import answer as answers
from agentic_rag.answering import plan as plans
from agentic_rag.answering import run as run_values
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.retrieval import candidates
from agentic_rag_server.graphql.answering.citations import ArmScore, Hop, Suspicion, show_arms, show_path
from agentic_rag_server.graphql.answering.gate import FeatureContribution, show_contributions

AnswerType = strawberry.enum(plans.AnswerType, description="What kind of answer the question asks for.")


@strawberry.type(description="A part of the question.")
class SubQuestion:
    """`dependsOn` are positions of parts that are answered first."""

    text: str
    depends_on: list[int]


@strawberry.type(description="A tool the plan chose.")
class ToolRequest:
    """A tool and its argument."""

    tool: str
    argument: str


@strawberry.type(description="What the planner made of the question.")
class Plan:
    """The plan of a run."""

    sub_questions: list[SubQuestion]
    answer_type: AnswerType  # type: ignore[valid-type]
    tools: list[ToolRequest]
    planner: str = strawberry.field(description="`rules`, or the model's name.")


@strawberry.type(description="A tool that ran, and what it gave.")
class ToolCall:
    """A finished call."""

    tool: str
    argument: str
    result: str | None
    error_code: str | None
    seconds: float


@strawberry.type(description="A passage that retrieval proposed.")
class Candidate:
    """A fused candidate."""

    source_id: strawberry.ID
    chunk_id: strawberry.ID
    title: str
    score: float
    scores: list[ArmScore]
    dropped_because: str | None = strawberry.field(description="Null when the answer could use it.")
    path: list[Hop] = strawberry.field(description="The trail that raised it; empty without one.")
    flags: list[Suspicion] = strawberry.field(  # type: ignore[valid-type]
        description="As those of a citation; looked for in passages that the answer could use."
    )


@strawberry.type(description="What the self-check found.")
class SelfCheck:
    """The last stage's report."""

    citation_coverage: float = strawberry.field(description="Share of sentences with a verified citation, 0 to 1.")
    unsupported_claims: list[str]
    guardrails: list[str]
    repaired: bool


@strawberry.type(description="How far the passages found support an answer.")
class Support:
    """The figure that decides between an answer and an abstention."""

    score: float = strawberry.field(description="0 to 1.")
    threshold: float = strawberry.field(description="Below it the question is abstained on.")
    contributions: list[FeatureContribution]


@strawberry.type(description="One stage of a run.")
class StageTiming:
    """When a stage began after the run's start, how long it took, and how it ended."""

    stage: str
    started: float = strawberry.field(description="Seconds.")
    seconds: float
    outcome: str = strawberry.field(
        description="`ok`, `ok: model` when a chat model did it, `skipped: why`, `degraded: what`, or an error code."
    )


@strawberry.type(description="A page from the web that the question named.")
class FetchedPage:
    """Kept with the run: citations of it were verified against this text."""

    url: str = strawberry.field(description="After redirects.")
    title: str
    text: str


@strawberry.type(description="How the answer came about.")
class AnswerDebug:
    """The trace of a run; what takes converting is converted only when a query asks for it."""

    standalone_question: str | None
    rewritten_query: str | None
    hyde_text: str | None
    source: strawberry.Private[run_values.Run]

    @strawberry.field
    def plan(self) -> Plan | None:
        """How the question was taken apart; null where nothing was planned."""
        plan = self.source.answer.debug.plan
        return _plan(plan) if plan else None

    @strawberry.field
    def candidates(self) -> list[Candidate]:
        """The passages that retrieval found, the best first."""
        workspace_id = self.source.workspace.workspace_id
        return [_candidate(candidate, workspace_id) for candidate in self.source.answer.debug.candidates]

    @strawberry.field
    def tool_calls(self) -> list[ToolCall]:
        """What tools were asked, and what they answered or why not."""
        return [
            ToolCall(
                tool=call.tool,
                argument=call.argument,
                result=call.result,
                error_code=call.error_code,
                seconds=call.seconds,
            )
            for call in self.source.answer.debug.tool_calls
        ]

    @strawberry.field
    def fetched_pages(self) -> list[FetchedPage]:
        """The web pages that were read for the answer."""
        return [FetchedPage(url=it.url, title=it.title, text=it.text) for it in self.source.answer.debug.fetched]

    @strawberry.field
    def self_check(self) -> SelfCheck | None:
        """What the self-check kept and dropped; null where nothing was checked."""
        report = self.source.answer.debug.self_check
        return _self_check(report) if report else None

    @strawberry.field(description="Null when the answer does not come from passages.")
    def support(self) -> Support | None:
        """How far the passages found support the answer."""
        support = self.source.answer.debug.support
        return _support(support) if support else None

    @strawberry.field
    def timings(self) -> list[StageTiming]:
        """How long each stage took."""
        return show_timings(self.source)


def show_debug(run: run_values.Run) -> AnswerDebug:
    """The trace of a run as a value of the schema."""
    debug = run.answer.debug
    return AnswerDebug(
        standalone_question=debug.standalone_question,
        rewritten_query=debug.rewritten_query,
        hyde_text=debug.hyde_text,
        source=run,
    )


def show_timings(run: run_values.Run) -> list[StageTiming]:
    """The stages of a run."""
    return [
        StageTiming(stage=it.stage, started=it.started, seconds=it.seconds, outcome=it.outcome) for it in run.stages
    ]


def _plan(plan: plans.Plan) -> Plan:
    return Plan(
        sub_questions=[SubQuestion(text=it.text, depends_on=list(it.depends_on)) for it in plan.sub_questions],
        answer_type=plan.answer_type,
        tools=[ToolRequest(tool=it.tool, argument=it.argument) for it in plan.tools],
        planner=plan.planner,
    )


def _candidate(candidate: candidates.CandidateTrace, workspace_id: UUID) -> Candidate:
    return Candidate(
        source_id=strawberry.ID(encode(NodeKind.DOCUMENT, workspace_id, candidate.document_id)),
        chunk_id=strawberry.ID(encode(NodeKind.CHUNK, workspace_id, candidate.chunk_id)),
        title=candidate.title,
        score=candidate.score,
        scores=show_arms(candidate.arms),
        dropped_because=candidate.dropped_because,
        path=show_path(candidate.path, workspace_id),
        flags=list(candidate.flags),
    )


def _support(support: answers.Support) -> Support:
    return Support(
        score=support.score, threshold=support.threshold, contributions=show_contributions(support.contributions)
    )


def _self_check(report: answers.SelfCheckReport) -> SelfCheck:
    return SelfCheck(
        citation_coverage=report.citation_coverage,
        unsupported_claims=list(report.unsupported_claims),
        guardrails=list(report.guardrails),
        repaired=report.repaired,
    )
