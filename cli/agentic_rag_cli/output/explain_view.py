"""An explanation of a run as the command line shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any
from uuid import UUID

from agentic_rag.answering.runs.explanation import (
    ArmPlacement,
    ArmState,
    CandidateExplanation,
    CandidateFate,
    SearchPlacement,
    WhyNot,
)
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.retrieval.candidates import ArmScore, Retriever
from agentic_rag_cli.output.path_view import hop_json, path_text, view_hop
from agentic_rag_cli.output.terminal import table

if TYPE_CHECKING:
    from agentic_rag.answering.runs.explain import Explanation

_WIDTH = 100
_TITLE = 44

_FATES = {
    CandidateFate.CITED: "cited",
    CandidateFate.NEAREST: "shown as nearest",
    CandidateFate.UNUSED: "not needed",
    CandidateFate.TOP_K: "below the cut",
    CandidateFate.PER_DOCUMENT: "document is full",
    CandidateFate.NEAR_DUPLICATE: "near duplicate",
    CandidateFate.DIVERSITY: "too much alike",
    CandidateFate.MIN_SCORE: "score too low",
    CandidateFate.SIMILARITY: "not similar enough",
    CandidateFate.CONTEXT_BUDGET: "context is full",
    CandidateFate.DROPPED: "dropped",
}

_STATES = {
    ArmState.BEYOND: "below 1,000",
    ArmState.NOTHING_SHARED: "no shared term",
    ArmState.NOT_REACHED: "–",
    ArmState.NOT_ASKED: "not asked",
}
"""Of an arm without a rank."""


def explanation_json(found: Explanation) -> dict[str, Any]:
    """The JSON form, with the field names of the GraphQL API."""
    run = found.run
    workspace_id = run.workspace.workspace_id
    return {
        "runId": encode(NodeKind.RUN, workspace_id, run.run_id),
        "question": run.question,
        "outcome": run.answer.outcome.value,
        "corpusVersion": run.versions.corpus_version,
        "searches": list(found.searches),
        "candidates": [_candidate_json(story, workspace_id) for story in found.candidates],
        "whyNot": [_why_not_json(one, workspace_id) for one in found.why_not],
    }


def _candidate_json(story: CandidateExplanation, workspace_id: UUID) -> dict[str, Any]:
    trace = story.trace
    return {
        "rank": story.rank,
        "chunkId": encode(NodeKind.CHUNK, workspace_id, trace.chunk_id),
        "sourceId": encode(NodeKind.DOCUMENT, workspace_id, trace.document_id),
        "title": trace.title,
        "score": trace.score,
        "scores": [
            {
                "retriever": arm.retriever.name,
                "rank": arm.rank,
                "raw": arm.raw,
                "normalized": arm.normalised,
                "weight": arm.weight,
            }
            for arm in trace.arms
        ],
        "path": [hop_json(view_hop(hop, workspace_id)) for hop in trace.path],
        "fate": story.fate.name,
        "reason": story.reason,
        "markers": list(story.markers),
    }


def _why_not_json(one: WhyNot, workspace_id: UUID) -> dict[str, Any]:
    return {
        "chunkId": encode(NodeKind.CHUNK, workspace_id, one.chunk_id),
        "title": one.title,
        "verdict": one.verdict.name,
        "explanation": one.explanation,
        "candidate": None if one.candidate is None else _candidate_json(one.candidate, workspace_id),
        "searches": [_search_json(standing) for standing in one.searches],
    }


def _search_json(standing: SearchPlacement) -> dict[str, Any]:
    return {
        "search": standing.search,
        "rank": standing.rank,
        "reranked": standing.reranked,
        "score": standing.score,
        "candidates": standing.candidates,
        "handedOn": standing.cutoff,
        "leastScore": standing.cutoff_score,
        "scores": [
            {
                "retriever": arm.retriever.name,
                "state": arm.state.name,
                "rank": arm.rank,
                "raw": arm.raw,
                "normalized": arm.normalised,
                "weight": arm.weight,
            }
            for arm in standing.arms
        ],
    }


def explanation_text(found: Explanation) -> str:
    """The candidates as a table, the trails that led to them, and the verdicts that were asked for."""
    run = found.run
    parts = [f"Q: {run.question}\n{run.answer.outcome.value}, read at corpus version {run.versions.corpus_version}"]
    if found.searches and found.searches != (run.question,):
        parts.append("\n".join(["Searched for:", *(f"  {search}" for search in found.searches)]))
    if found.candidates:
        parts += [_candidates(found.candidates), *_trails(found.candidates, run.workspace.workspace_id)]
    else:
        parts.append("No passage was found, or none was looked for.")
    parts += [_why_not(one, run.workspace.workspace_id) for one in found.why_not]
    return "\n\n".join(parts)


def _candidates(told: Sequence[CandidateExplanation]) -> str:
    rows = [
        (
            story.rank,
            f"{story.trace.score:.3f}",
            *_arms(story.trace.arms),
            " ".join([_FATES[story.fate], *(f"[{marker}]" for marker in story.markers)]),
            _short(story.trace.title),
        )
        for story in told
    ]
    return table(("RANK", "SCORE", "DENSE", "LEXICAL", "GRAPH", "FATE", "TITLE"), rows) + (
        "\n(in the order of the run; of an arm: the rank in it, and its score from 0 to 1)"
    )


def _arms(arms: Iterable[ArmScore]) -> list[str]:
    by_arm = {arm.retriever: f"#{arm.rank} {arm.normalised:.3f}" for arm in arms}
    return [by_arm.get(arm, "–") for arm in Retriever]


def _trails(told: Sequence[CandidateExplanation], workspace_id: UUID) -> list[str]:
    lines = [
        f"  {story.rank}  {path_text([view_hop(hop, workspace_id) for hop in story.trace.path])}"
        for story in told
        if story.trace.path
    ]
    return ["\n".join(["Raised by trails:", *lines])] if lines else []


def _why_not(one: WhyNot, workspace_id: UUID) -> str:
    name = _short(one.title) if one.title else encode(NodeKind.CHUNK, workspace_id, one.chunk_id)
    lines = [fill(f"Why not “{name}”? {one.explanation}", _WIDTH)]
    if one.searches:
        rows = [
            (
                "–" if standing.rank is None else f"#{standing.rank} {standing.score:.3f}",
                *(_standing(arm) for arm in standing.arms),
                standing.search,
            )
            for standing in one.searches
        ]
        lines.append(table(("FUSED", *(arm.name for arm in Retriever), "SEARCH"), rows))
    return "\n".join(lines)


def _standing(arm: ArmPlacement) -> str:
    if arm.rank is None or arm.normalised is None:
        return _STATES.get(arm.state, "–")
    return f"#{arm.rank} {arm.normalised:.3f}" + (" (too low)" if arm.state is ArmState.BEYOND else "")


def _short(title: str) -> str:
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
