"""Answers as bytes for the cache: JSON arrays in field order, so that a hit decodes in a fraction of a millisecond.

The first element names the layout; bytes of another layout are unreadable and count as a miss.
"""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

import orjson

from agentic_rag.answering.answer import (
    Abstention,
    AbstentionReason,
    Answer,
    AnswerDebug,
    Citation,
    FetchedText,
    Outcome,
    SearchSettings,
    SelfCheckReport,
    Support,
    TextSpan,
)
from agentic_rag.answering.gate_decision import Directives, Downgrade, FeatureContribution, GateDecision
from agentic_rag.answering.plan import AnswerType, Plan, SubQuestion, ToolCall, ToolRequest
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.language.prompt_injection import Suspicion
from agentic_rag.retrieval.candidates import ArmScore, CandidateTrace, Hop, HopKind, Retriever
from agentic_rag.retrieval.fusion import FusionMethod, FusionWeights
from agentic_rag.tenancy.principals import WorkspaceRef

LAYOUT = 4
"""Raise it with every change of the values below or of their order."""

Row = list[Any]
"""A decoded JSON array: its element types are those that `encode` wrote, checked by the round-trip property."""


class UnreadableAnswer(ValueError):
    """The bytes are not an answer of this layout."""


def encode(answer: Answer) -> bytes:
    """The answer as bytes; equal answers give equal bytes."""
    return orjson.dumps(
        [
            LAYOUT,
            answer.text,
            answer.outcome.value,
            None if answer.abstention is None else _abstention_row(answer.abstention),
            [_citation_row(one) for one in answer.citations],
            [one.value for one in answer.degraded],
            _gate_row(answer.gate),
            _debug_row(answer.debug),
        ]
    )


def decode(value: bytes) -> Answer:
    """The answer that `encode` wrote. Errors: `UnreadableAnswer`."""
    try:
        row: Row = orjson.loads(value)
        if row[0] != LAYOUT:
            raise UnreadableAnswer("The bytes have another layout.")
        return Answer(
            text=row[1],
            outcome=_OUTCOMES[row[2]],
            abstention=None if row[3] is None else _abstention(row[3]),
            citations=tuple([_citation(one) for one in row[4]]),
            degraded=tuple([_DEPENDENCIES[one] for one in row[5]]),
            gate=_gate(row[6]),
            debug=_debug(row[7]),
        )
    except (ValueError, LookupError, TypeError) as error:
        raise UnreadableAnswer("The bytes are not an answer.") from error


_OUTCOMES = {one.value: one for one in Outcome}
_DEPENDENCIES = {one.value: one for one in Dependency}
_RETRIEVERS = {one.value: one for one in Retriever}
_SUSPICIONS = {one.value: one for one in Suspicion}
_HOP_KINDS = {one.value: one for one in HopKind}


def _arm_rows(arms: tuple[ArmScore, ...]) -> Row:
    return [[arm.retriever.value, arm.rank, arm.raw, arm.normalised, arm.weight] for arm in arms]


def _arms(rows: Row) -> tuple[ArmScore, ...]:
    return tuple([ArmScore(_RETRIEVERS[row[0]], row[1], row[2], row[3], row[4]) for row in rows])


def _path_rows(path: tuple[Hop, ...]) -> Row:
    return [
        [
            one.kind.value,
            one.via,
            one.from_chunk_id.hex,
            one.from_document_id.hex,
            one.from_title,
            one.to_chunk_id.hex,
            one.to_document_id.hex,
            one.to_title,
        ]
        for one in path
    ]


def _path(rows: Row) -> tuple[Hop, ...]:
    return tuple(
        [
            Hop(
                _HOP_KINDS[row[0]],
                row[1],
                UUID(row[2]),
                UUID(row[3]),
                row[4],
                UUID(row[5]),
                UUID(row[6]),
                row[7],
            )
            for row in rows
        ]
    )


def _citation_row(one: Citation) -> Row:
    return [
        one.marker,
        one.document_id.hex,
        one.revision_id.hex,
        one.chunk_id.hex,
        one.ordinal,
        one.title,
        one.source_path,
        one.url,
        one.snippet,
        one.source_span.start,
        one.source_span.end,
        [[span.start, span.end] for span in one.answer_spans],
        one.page,
        one.line_start,
        one.line_end,
        one.heading_path,
        one.score,
        _arm_rows(one.arms),
        one.origin,
        one.verified,
        _path_rows(one.path),
        None if one.read_at is None else one.read_at.isoformat(),
        [flag.value for flag in one.flags],
    ]


def _citation(row: Row) -> Citation:
    return Citation(
        row[0],
        UUID(row[1]),
        UUID(row[2]),
        UUID(row[3]),
        row[4],
        row[5],
        row[6],
        row[7],
        row[8],
        TextSpan(row[9], row[10]),
        tuple([TextSpan(start, end) for start, end in row[11]]),
        row[12],
        row[13],
        row[14],
        tuple(row[15]),
        row[16],
        _arms(row[17]),
        row[18],
        row[19],
        _path(row[20]),
        None if row[21] is None else datetime.fromisoformat(row[21]),
        _flags(row[22]),
    )


def _abstention_row(one: Abstention) -> Row:
    return [one.reason.value, one.explanation, [_citation_row(near) for near in one.nearest]]


def _abstention(row: Row) -> Abstention:
    return Abstention(AbstentionReason(row[0]), row[1], tuple([_citation(near) for near in row[2]]))


def _gate_row(gate: GateDecision) -> Row:
    directives = gate.directives
    return [
        [directives.use_retrieval, directives.use_search, directives.use_crawl],
        gate.plan_type,
        gate.score,
        list(gate.thresholds.items()),
        _contribution_rows(gate.contributions),
        [[one.before, one.after, one.reason] for one in gate.downgrades],
        gate.weights_version,
        gate.mode,
    ]


def _contribution_rows(contributions: tuple[FeatureContribution, ...]) -> Row:
    return [[one.name, one.value, one.weight, one.contribution] for one in contributions]


def _contributions(rows: Row) -> tuple[FeatureContribution, ...]:
    return tuple([FeatureContribution(*one) for one in rows])


def _gate(row: Row) -> GateDecision:
    return GateDecision(
        Directives(*row[0]),
        row[1],
        row[2],
        MappingProxyType(dict(row[3])),
        _contributions(row[4]),
        tuple([Downgrade(*one) for one in row[5]]),
        row[6],
        row[7],
    )


def _debug_row(debug: AnswerDebug) -> Row:
    plan, check, support = debug.plan, debug.self_check, debug.support
    return [
        None
        if plan is None
        else [
            [[part.text, part.depends_on] for part in plan.sub_questions],
            plan.answer_type.value,
            [[tool.tool, tool.argument] for tool in plan.tools],
            plan.planner,
        ],
        debug.standalone_question,
        debug.rewritten_query,
        debug.hyde_text,
        [
            [
                one.chunk_id.hex,
                one.document_id.hex,
                one.title,
                one.score,
                _arm_rows(one.arms),
                one.dropped_because,
                _path_rows(one.path),
                [flag.value for flag in one.flags],
            ]
            for one in debug.candidates
        ],
        [[one.tool, one.argument, one.result, one.error_code, one.seconds] for one in debug.tool_calls],
        None
        if check is None
        else [check.citation_coverage, check.unsupported_claims, check.guardrails, check.repaired],
        None if support is None else [support.score, support.threshold, _contribution_rows(support.contributions)],
        None if debug.search is None else _search_row(debug.search),
        [[one.revision_id.hex, one.url, one.title, one.text] for one in debug.fetched],
    ]


def _debug(row: Row) -> AnswerDebug:
    plan, check, support = row[0], row[6], row[7]
    return AnswerDebug(
        None
        if plan is None
        else Plan(
            tuple([SubQuestion(text, tuple(before)) for text, before in plan[0]]),
            AnswerType(plan[1]),
            tuple([ToolRequest(*tool) for tool in plan[2]]),
            plan[3],
        ),
        row[1],
        row[2],
        row[3],
        tuple([_trace(one) for one in row[4]]),
        tuple([ToolCall(*one) for one in row[5]]),
        None if check is None else SelfCheckReport(check[0], tuple(check[1]), tuple(check[2]), check[3]),
        None if support is None else Support(support[0], support[1], _contributions(support[2])),
        None if row[8] is None else _search(row[8]),
        tuple([FetchedText(UUID(one[0]), one[1], one[2], one[3]) for one in row[9]]),
    )


def _trace(row: Row) -> CandidateTrace:
    return CandidateTrace(
        UUID(row[0]), UUID(row[1]), row[2], row[3], _arms(row[4]), row[5], _path(row[6]), _flags(row[7])
    )


def _flags(values: Row) -> tuple[Suspicion, ...]:
    return tuple([_SUSPICIONS[value] for value in values])


def _search_row(one: SearchSettings) -> Row:
    weights, narrowed = one.weights, one.filter
    return [
        one.top_k,
        one.min_score,
        one.fusion.value,
        [weights.vector, weights.graph, weights.lexical_share],
        one.per_document,
        one.diversity,
        [
            [document.hex for document in narrowed.document_ids],
            narrowed.source_path_prefix,
            narrowed.media_types,
            [document.hex for document in narrowed.without_ids],
        ],
        one.reranker,
        one.similarity_threshold,
    ]


def _search(row: Row) -> SearchSettings:
    documents, prefix, media_types, without = row[6]
    return SearchSettings(
        row[0],
        row[1],
        FusionMethod(row[2]),
        FusionWeights(*row[3]),
        row[4],
        row[5],
        DocumentFilter(
            tuple([UUID(one) for one in documents]), prefix, tuple(media_types), tuple([UUID(one) for one in without])
        ),
        row[7],
        row[8] if len(row) > 8 else 0.0,
    )


_MARK = b"rag1"
_UUID_BYTES = 16
_ANSWER_AT = len(_MARK) + 2 * _UUID_BYTES


class TenantGuard:
    """Counts and logs what it stops. It must never have anything to stop: that is an incident."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry

    def check_owner(self, asking: WorkspaceRef, owner: WorkspaceRef, place: str) -> bool:
        """True when what was found at `place` belongs to the workspace that asked."""
        if owner == asking:
            return True
        self._telemetry.count("rag_tenant_leaks_total")
        self._telemetry.event(
            "rag_tenant_leak",
            level="error",
            place=place,
            asking_organisation=str(asking.org_id),
            owning_organisation=str(owner.org_id),
        )
        return False


def encode_entry(workspace: WorkspaceRef, answer: Answer) -> bytes:
    """The answer as a cache keeps it, with whose it is."""
    return _MARK + workspace.org_id.bytes + workspace.workspace_id.bytes + encode(answer)


def decode_entry(entry: bytes) -> tuple[WorkspaceRef, Answer]:
    """Whose the entry is, and its answer. Errors: `UnreadableAnswer`."""
    if not entry.startswith(_MARK) or len(entry) < _ANSWER_AT:
        raise UnreadableAnswer("the entry does not say whose it is")
    middle = len(_MARK) + _UUID_BYTES
    owner = WorkspaceRef(UUID(bytes=entry[len(_MARK) : middle]), UUID(bytes=entry[middle:_ANSWER_AT]))
    return owner, decode(entry[_ANSWER_AT:])
