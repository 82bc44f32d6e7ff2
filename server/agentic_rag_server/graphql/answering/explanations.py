"""Explanations of runs."""

from uuid import UUID

import strawberry

from agentic_rag.answering.runs import explain as explain_run
from agentic_rag.answering.runs import explanation
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.citations import ArmScore, Hop, Retriever, show_arms, show_path
from agentic_rag_server.graphql.answering.runs import Run, show_run
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import field, to_schema

CandidateFate = strawberry.enum(
    explanation.CandidateFate,
    name="CandidateFate",
    description="What became of a candidate: CITED; NEAREST (shown with an abstention); UNUSED (handed to synthesis, "
    "which needed nothing of it); else the rule that dropped it.",
)
ArmState = strawberry.enum(
    explanation.ArmState,
    description="PROPOSED: among what the arm gave to fusion; BEYOND: further down; NOTHING_SHARED: no term of the "
    "search; NOT_REACHED: no trail leads there, or no vector; NOT_ASKED: the arm had no weight or could not be asked.",
)
WhyNotVerdict = strawberry.enum(
    explanation.WhyNotVerdict,
    description="Why a passage was not handed on. NOT_FOUND is also the answer for passages of other workspaces; "
    "WITHIN_REACH: the same searches find it when they are run again; RERANKED: fusion would have handed it on, the "
    "reranker put others before it; HYDE: by the question alone it would be handed on, with the hypothetical passage "
    "it is not; LATE: the searches could not be run again in time.",
)


@strawberry.type(description="A candidate of a run, and what became of it.")
class ExplainedCandidate:
    rank: int = strawberry.field(description="From 1, in the order of the run.")
    chunk_id: strawberry.ID
    source_id: strawberry.ID
    title: str
    score: float = strawberry.field(description="Fused.")
    scores: list[ArmScore] = strawberry.field(description="What each arm gave it; an arm that is missing gave nothing.")
    path: list[Hop] = strawberry.field(description="The trail that raised it; empty without one.")
    fate: CandidateFate  # type: ignore[valid-type]
    reason: str = strawberry.field(description="The fate in words.")
    markers: list[int] = strawberry.field(description="Of the citations that quote it.")


@strawberry.type(description="Where a passage stands in one arm.")
class ArmStanding:
    retriever: Retriever  # type: ignore[valid-type]
    state: ArmState  # type: ignore[valid-type]
    rank: int | None
    raw: float | None
    normalized: float | None
    weight: float


@strawberry.type(description="Where a passage stands in one search of a run, at the run's corpus version.")
class SearchStanding:
    search: str
    rank: int | None = strawberry.field(description="Among the fused candidates; null when no arm proposed it.")
    reranked: int | None = strawberry.field(description="Rank by the reranker of the run; null without one.")
    score: float | None
    candidates: int = strawberry.field(description="How many were fused.")
    handed_on: int = strawberry.field(description="How many of them are handed to synthesis.")
    least_score: float = strawberry.field(description="Of the last of these.")
    scores: list[ArmStanding]


@strawberry.type(description="Why a passage is not among the candidates of a run.")
class WhyNot:
    chunk_id: strawberry.ID
    title: str
    verdict: WhyNotVerdict  # type: ignore[valid-type]
    explanation: str = strawberry.field(description="The verdict in words, with the figures that decide.")
    candidate: ExplainedCandidate | None = strawberry.field(description="Set when it is a candidate after all.")
    searches: list[SearchStanding]


@strawberry.type(description="Why a run used what it used.")
class RunExplanation:
    run: Run
    searches: list[str] = strawberry.field(description="What was searched for.")
    candidates: list[ExplainedCandidate]
    why_not: list[WhyNot] = strawberry.field(description="In the order asked, each passage once.")


@strawberry.type
class ExplanationQuery:
    @field(
        Action.READ,
        right=Sight.ASKER,
        description="Why a run used what it used; and, for up to 10 passages that were not handed on, why not.",
    )
    async def explain_run(
        self, info: Info, run_id: strawberry.ID, why_not: list[strawberry.ID] | None = None
    ) -> RunExplanation:
        """NOT_FOUND for an unknown run; passages of other workspaces look like unknown ones."""
        context = info.context
        node = decode(run_id, NodeKind.RUN, path=("runId",))
        chunk_ids = [
            decode(one, NodeKind.CHUNK, path=("whyNot", str(place))).key for place, one in enumerate(why_not or ())
        ]
        found = await context.parts.explain.run(context.principal, context.ref(node), node.key, chunk_ids)
        return _show_explanation(found)


def _show_explanation(found: explain_run.Explanation) -> RunExplanation:
    workspace_id = found.run.workspace.workspace_id
    return to_schema(
        RunExplanation,
        found,
        run=show_run(found.run),
        candidates=[_candidate(one, workspace_id) for one in found.candidates],
        why_not=[_why_not(one, workspace_id) for one in found.why_not],
    )


def _candidate(one: explanation.CandidateExplanation, workspace_id: UUID) -> ExplainedCandidate:
    trace = one.trace
    return to_schema(
        ExplainedCandidate,
        one,
        trace,
        chunk_id=encode(NodeKind.CHUNK, workspace_id, trace.chunk_id),
        source_id=encode(NodeKind.DOCUMENT, workspace_id, trace.document_id),
        scores=show_arms(trace.arms),
        path=show_path(trace.path, workspace_id),
    )


def _why_not(one: explanation.WhyNot, workspace_id: UUID) -> WhyNot:
    return to_schema(
        WhyNot,
        one,
        chunk_id=encode(NodeKind.CHUNK, workspace_id, one.chunk_id),
        candidate=None if one.candidate is None else _candidate(one.candidate, workspace_id),
        searches=[_search(placement) for placement in one.searches],
    )


def _search(placement: explanation.SearchPlacement) -> SearchStanding:
    return to_schema(
        SearchStanding,
        placement,
        handed_on=placement.cutoff,
        least_score=placement.cutoff_score,
        scores=[to_schema(ArmStanding, arm, normalized=arm.normalised) for arm in placement.arms],
    )
