"""Explanations of runs in the schema."""

from __future__ import annotations

from uuid import UUID

import strawberry

from agentic_rag.answering.runs import explain as explain_run
from agentic_rag.answering.runs import explanation
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag_server.graphql.answering.citations import ArmScore, Hop, Retriever, show_arms, show_path
from agentic_rag_server.graphql.answering.runs import Run, show_run

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
    description="Why a passage is no candidate. NOT_FOUND is also the answer for passages of other workspaces; "
    "WITHIN_REACH: the same searches find it when they are run again; RERANKED: fusion would have handed it on, the "
    "reranker put others before it; HYDE: by the question alone it would be handed on, with the hypothetical passage "
    "it is not; LATE: the searches could not be run again in time.",
)


@strawberry.type(description="A candidate of a run, and what became of it.")
class ExplainedCandidate:
    """A candidate with its reason."""

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
    """Figures are null where there are none."""

    retriever: Retriever  # type: ignore[valid-type]
    state: ArmState  # type: ignore[valid-type]
    rank: int | None
    raw: float | None
    normalized: float | None
    weight: float


@strawberry.type(description="Where a passage stands in one search of a run, at the run's corpus version.")
class SearchStanding:
    """A search is a part of the question, or the whole one."""

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
    """A verdict with its figures."""

    chunk_id: strawberry.ID
    title: str
    verdict: WhyNotVerdict  # type: ignore[valid-type]
    explanation: str = strawberry.field(description="The verdict in words, with the figures that decide.")
    candidate: ExplainedCandidate | None = strawberry.field(description="Set when it is a candidate after all.")
    searches: list[SearchStanding]


@strawberry.type(description="Why a run used what it used.")
class RunExplanation:
    """A run explained."""

    run: Run
    searches: list[str] = strawberry.field(description="What was searched for.")
    candidates: list[ExplainedCandidate]
    why_not: list[WhyNot] = strawberry.field(description="In the order asked, each passage once.")


def show_explanation(found: explain_run.Explanation) -> RunExplanation:
    """An explanation as a value of the schema."""
    workspace_id = found.run.workspace.workspace_id
    return RunExplanation(
        run=show_run(found.run),
        searches=list(found.searches),
        candidates=[_candidate(story, workspace_id) for story in found.candidates],
        why_not=[_why_not(one, workspace_id) for one in found.why_not],
    )


def _candidate(story: explanation.CandidateExplanation, workspace_id: UUID) -> ExplainedCandidate:
    trace = story.trace
    return ExplainedCandidate(
        rank=story.rank,
        chunk_id=strawberry.ID(encode(NodeKind.CHUNK, workspace_id, trace.chunk_id)),
        source_id=strawberry.ID(encode(NodeKind.DOCUMENT, workspace_id, trace.document_id)),
        title=trace.title,
        score=trace.score,
        scores=show_arms(trace.arms),
        path=show_path(trace.path, workspace_id),
        fate=story.fate,
        reason=story.reason,
        markers=list(story.markers),
    )


def _why_not(one: explanation.WhyNot, workspace_id: UUID) -> WhyNot:
    return WhyNot(
        chunk_id=strawberry.ID(encode(NodeKind.CHUNK, workspace_id, one.chunk_id)),
        title=one.title,
        verdict=one.verdict,
        explanation=one.explanation,
        candidate=None if one.candidate is None else _candidate(one.candidate, workspace_id),
        searches=[_search(standing) for standing in one.searches],
    )


def _search(standing: explanation.SearchPlacement) -> SearchStanding:
    return SearchStanding(
        search=standing.search,
        rank=standing.rank,
        reranked=standing.reranked,
        score=standing.score,
        candidates=standing.candidates,
        handed_on=standing.cutoff,
        least_score=standing.cutoff_score,
        scores=[
            ArmStanding(
                retriever=arm.retriever,
                state=arm.state,
                rank=arm.rank,
                raw=arm.raw,
                normalized=arm.normalised,
                weight=arm.weight,
            )
            for arm in standing.arms
        ],
    )
