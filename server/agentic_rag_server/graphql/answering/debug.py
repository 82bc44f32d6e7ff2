"""How an answer came about, in the schema."""

from uuid import UUID

import strawberry

from agentic_rag.answering import plan as plans
from agentic_rag.answering import run as run_values
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.documents.where import where_terms
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.retrieval import candidates
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.graphql.answering.citations import ArmScore, Hop, Suspicion, show_arms, show_path
from agentic_rag_server.graphql.answering.gate import FeatureContribution
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import inner, to_schema

AnswerType = strawberry.enum(plans.AnswerType, description="What kind of answer the question asks for.")


@strawberry.type(description="A part of the question.")
class SubQuestion:
    text: str
    depends_on: list[int]


@strawberry.type(description="A tool the plan chose.")
class ToolRequest:
    tool: str
    argument: str


@strawberry.type(description="What the planner made of the question.")
class Plan:
    sub_questions: list[SubQuestion]
    answer_type: AnswerType  # type: ignore[valid-type]
    tools: list[ToolRequest]
    planner: str = strawberry.field(description="`rules`, or the model's name.")
    filters: list[str] = strawberry.field(
        description="What narrowed the search, as terms of `where`; empty when every document was searched."
    )


@strawberry.type(description="A tool that ran, and what it gave.")
class ToolCall:
    tool: str
    argument: str
    result: str | None
    error_code: str | None
    seconds: float


@strawberry.type(description="A passage that retrieval proposed.")
class Candidate:
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
    workspace_id: strawberry.Private[UUID]
    key: strawberry.Private[UUID]

    @inner(
        Action.READ,
        right=DocumentRight.READ,
        description="As `chunk(id)` gives it: null for a passage that the caller may not read any more.",
    )
    async def text(self, info: Info) -> str | None:
        context = info.context
        ref = WorkspaceRef(context.principal.org_id, self.workspace_id)
        found = await context.parts.read_chunk.run(context.principal, ref, self.key)
        return None if found is None or found.chunk is None else found.chunk.text


@strawberry.type(description="What the self-check found.")
class SelfCheck:
    citation_coverage: float = strawberry.field(
        description="Share of sentences with a citation whose quote is verified, 0 to 1."
    )
    unsupported_claims: list[str]
    guardrails: list[str]
    repaired: bool


@strawberry.type(description="How far something is supported, with what that is made of.")
class Support:
    score: float = strawberry.field(description="0 to 1.")
    threshold: float = strawberry.field(description="From it on it is enough.")
    contributions: list[FeatureContribution]


@strawberry.type(description="One stage of a run.")
class StageTiming:
    stage: str
    started: float = strawberry.field(description="Seconds.")
    seconds: float
    outcome: str = strawberry.field(
        description="`ok`, `ok: model` when a chat model did it, `skipped: why`, `degraded: what`, or an error code."
    )


@strawberry.type(description="A page from the web that the question named.")
class FetchedPage:
    url: str = strawberry.field(description="After redirects.")
    title: str
    text: str


@strawberry.type(description="The calls of a chat model in one stage of a run, as they stand in the ledger.")
class StageUsage:
    stage: str
    calls: int
    input_tokens: int = strawberry.field(description="As the provider counts them.")
    output_tokens: int
    cost_usd: float | None = strawberry.field(description="Null without a known price.")
    estimated_usd: float | None = strawberry.field(
        description="What its calls were expected to cost just before each was made; null without a known price, and "
        "for runs that were stored before this was kept."
    )

    @strawberry.field(description="Of input and output together.")
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@strawberry.type(description="The run's own calls of a chat model.")
class ChatSpend:
    calls: int
    input_tokens: int = strawberry.field(description="As the provider counts them.")
    output_tokens: int
    cost_usd: float | None = strawberry.field(description="Null without a known price.")


@strawberry.type(description="How the answer came about.")
class AnswerDebug:
    plan: Plan | None
    standalone_question: str | None
    rewritten_query: str | None
    hyde_text: str | None
    tool_calls: list[ToolCall]
    fetched_pages: list[FetchedPage]
    self_check: SelfCheck | None
    support: Support | None = strawberry.field(
        description="How far the passages found support an answer; below the threshold the question is abstained on. "
        "Null when the answer does not come from passages."
    )
    certainty: Support | None = strawberry.field(
        description="How far the cited sentences are the answer; below the threshold the outcome is UNCERTAIN. Null "
        "where that is not weighed."
    )
    timings: list[StageTiming]
    chat: ChatSpend | None = strawberry.field(description="Null when no chat model replied for this run.")
    source: strawberry.Private[run_values.Run]

    @strawberry.field
    def candidates(self) -> list[Candidate]:
        """The passages that retrieval found, best first; converted only when a query selects them."""
        workspace_id = self.source.workspace.workspace_id
        return [_candidate(candidate, workspace_id) for candidate in self.source.answer.debug.candidates]


def show_debug(run: run_values.Run) -> AnswerDebug:
    """The trace of a run."""
    debug = run.answer.debug
    plan = None
    if debug.plan is not None:
        wanted = DocumentFilter() if debug.search is None else debug.search.filter
        plan = to_schema(Plan, debug.plan, filters=list(where_terms(wanted, run.workspace.workspace_id)))
    return to_schema(AnswerDebug, debug, plan=plan, fetched_pages=debug.fetched, timings=run.stages, source=run)


def _candidate(candidate: candidates.CandidateTrace, workspace_id: UUID) -> Candidate:
    return to_schema(
        Candidate,
        candidate,
        source_id=encode(NodeKind.DOCUMENT, workspace_id, candidate.document_id),
        chunk_id=encode(NodeKind.CHUNK, workspace_id, candidate.chunk_id),
        scores=show_arms(candidate.arms),
        path=show_path(candidate.path, workspace_id),
        workspace_id=workspace_id,
        key=candidate.chunk_id,
    )
