"""What remains of paths that lead over an erased document."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from tests.unit.retrieval.test_paths import CHUNKS, LEAGUE, PLAYER, TOWN, UNION, citation

from agentic_rag.answering.answer import Answer, AnswerDebug, Outcome
from agentic_rag.answering.gate_decision import Directives, GateDecision
from agentic_rag.answering.plan import ToolCall
from agentic_rag.answering.runs.redaction import collect_document_ids, drop_unnamed_results, redact_document
from agentic_rag.retrieval.candidates import CandidateTrace, HopKind
from agentic_rag.retrieval.graph.paths import PathStep, describe_steps

PATH = describe_steps(
    [PathStep(PLAYER, LEAGUE, HopKind.SHARES, None), PathStep(LEAGUE, TOWN, HopKind.NAMES, None)], CHUNKS, {}
)


def answer() -> Answer:
    gate = GateDecision(Directives(True), "retrieve", 0.5, {}, (), (), "w", "on")
    town = CHUNKS[TOWN]
    trace = CandidateTrace(town.chunk_id, town.document_id, town.document_title, 0.5, (), None, PATH)
    return Answer(
        "Words.", Outcome.GROUNDED, None, (citation(TOWN, *PATH),), (), gate, AnswerDebug(candidates=(trace,))
    )


def test_a_document_that_only_a_path_leads_over_is_known_to_be_used() -> None:
    assert collect_document_ids(answer()) == {CHUNKS[place].document_id for place in (PLAYER, LEAGUE, TOWN)}


def call(document_id: UUID | None) -> ToolCall:
    return ToolCall("lookup", "plan.md", "Plan (plan.md)", None, 0.0, document_id)


def with_calls(*calls: ToolCall) -> Answer:
    given = answer()
    return replace(given, debug=replace(given.debug, tool_calls=calls))


def test_a_document_that_only_a_call_of_a_tool_names_is_known_to_be_used() -> None:
    named = UUID(int=77)

    assert named in collect_document_ids(with_calls(call(named)))
    assert redact_document(with_calls(call(named)), named).debug.tool_calls == ()


def test_a_result_that_was_stored_without_its_document_is_shown_to_nobody() -> None:
    named, calculated = call(UUID(int=77)), ToolCall("calc", "1 + 1", "2", None, 0.0)

    shown = drop_unnamed_results(with_calls(call(None), named, calculated))

    assert shown.debug.tool_calls == (replace(call(None), result=None), named, calculated)


def test_a_path_over_an_erased_document_goes_whole() -> None:
    left = redact_document(answer(), CHUNKS[LEAGUE].document_id)

    assert left.citations[0].path == ()
    assert left.debug.candidates[0].path == ()
    assert left.citations[0].snippet == "Words."
    assert CHUNKS[LEAGUE].document_title not in repr(left)


def test_a_path_that_leads_elsewhere_stays() -> None:
    given = answer()

    left = redact_document(given, CHUNKS[UNION].document_id)

    assert left.citations == (replace(given.citations[0], answer_spans=()),)
    assert left.debug.candidates == given.debug.candidates
    assert redact_document(given, UUID(int=1)).citations[0].path == PATH
