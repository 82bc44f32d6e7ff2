"""A summary is the section that sums a document up, else the one that the question is about."""

from dataclasses import replace

from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.extractive import draft_part
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.shapes.question_kind import QuestionKind, question_kind
from agentic_rag.answering.shapes.summary import summing_section

REPORT = """# Harbour report May

Written by the harbour board.

## Summary

The crane is three weeks late. The costs have fallen.

## Crane

The crane needs a second coat of paint.
"""
RULES = """# Harbour rules

## Mooring

Boats moor at the north quay. Visitors pay for each night.

## Fishing

Nobody fishes from the pier.
"""


def _said(question: str, *texts: str) -> str:
    passages = [passage(place, text.split("\n")[0][2:], text) for place, text in enumerate(texts)]
    part = build_subquery(question, AnswerType.FACT, {})
    sentences = summing_section(part, 0, passages, draft_part(part, 0, passages, 3), frozenset())
    return "\n".join(one.text for one in sentences)


def test_a_document_is_summed_up_by_its_summary():
    said = _said("Summarise the harbour report of May.", RULES, REPORT)
    assert said == "The crane is three weeks late. The costs have fallen."


def test_a_document_may_be_meant_by_its_file_name():
    part = build_subquery("Summarise report-2024-05", AnswerType.FACT, {})
    report, rules = passage(0, "Works on the quay", REPORT), passage(1, "Rules", RULES)
    named = replace(report, chunk=replace(report.chunk, source_path="board/report-2024-05.md"))
    (said,) = summing_section(part, 0, [rules, named], draft_part(part, 0, [rules, named], 3), frozenset())
    assert said.text == "The crane is three weeks late. The costs have fallen."


def test_rules_are_summed_up_by_their_section():
    assert _said("Sum up the rules on mooring.", RULES, REPORT) == (
        "Boats moor at the north quay. Visitors pay for each night."
    )


def test_the_question_is_known_in_each_language():
    for question in (
        "Please summarise the May report.",
        "What did the board decide? Short overview please.",
        "Fasse den Bericht vom Mai zusammen.",
        "Resume el informe de mayo, por favor.",
    ):
        assert question_kind(question, AnswerType.FACT) is QuestionKind.SUMMARY, question
