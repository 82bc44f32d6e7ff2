"""The evaluation's figures, on answers small enough to count by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.dataset import golden_set, load_dataset, parse_dataset
from agentic_rag_eval.harness import as_json, as_table, evaluate
from agentic_rag_eval.metrics import percentile, score, summarise
from agentic_rag_eval.records import AskRecord, CitedSpan, EmbeddingUsage, EvalQuestion, RetrievedSpan


def question(answers: tuple[str, ...] = ("42 MW",), gold: tuple[str, ...] = ("a.md", "b.md")) -> EvalQuestion:
    return EvalQuestion("q1", "How much?", answers, gold, "figure")


def record(answer: str = "It is 42  mw.", outcome: str = "GROUNDED", cited: tuple[str, ...] = ("a.md",)) -> AskRecord:
    return AskRecord(
        answer=answer,
        outcome=outcome,
        citations=tuple(CitedSpan(path, "text", is_stored=True) for path in cited),
        retrieved=("a.md", "c.md", "b.md"),
        citation_coverage=1.0,
        seconds=0.5,
        stage_seconds={"retrieve": 0.25},
    )


def test_recall_counts_gold_documents_among_the_first_k() -> None:
    assert score(question(), record(), k=2).figures["recall@2"] == 0.5
    assert score(question(), record(), k=3).figures["recall@3"] == 1.0


def test_an_answer_is_contained_whatever_its_case_and_spacing() -> None:
    assert score(question(), record(), k=5).figures["answer_contained"] == 1.0
    assert score(question(), record(answer="It is 43 MW."), k=5).figures["answer_contained"] == 0.0


def test_part_of_a_word_or_number_is_no_answer() -> None:
    assert score(question(answers=("2 MW",)), record(), k=5).figures["answer_contained"] == 0.0


def test_a_list_needs_every_item() -> None:
    wanted = EvalQuestion("q", "Which?", ("red", "blue"), ("a.md",), "list")

    assert score(wanted, record(answer="Red and blue."), k=5).figures["answer_contained"] == 1.0
    assert score(wanted, record(answer="Red only."), k=5).figures["answer_contained"] == 0.0


def test_abstaining_is_right_only_where_nothing_can_be_answered() -> None:
    silent = record(answer="", outcome="ABSTAINED", cited=())

    assert score(question(answers=(), gold=()), silent, k=5).right
    assert not score(question(), silent, k=5).right


def test_without_known_answers_a_cited_gold_document_is_right() -> None:
    known_document = question(answers=())

    assert score(known_document, record(), k=5).right
    assert not score(known_document, record(cited=("c.md",)), k=5).right
    assert score(known_document, record(outcome="ABSTAINED", cited=()), k=5).figures["false_abstention"] == 1.0


def test_the_summary_separates_false_abstention_from_missed_abstention() -> None:
    silent = record(answer="", outcome="ABSTAINED", cited=())
    unanswerable = question(answers=(), gold=())
    scores = [
        score(question(), record(), 5),
        score(question(), silent, 5),
        score(unanswerable, silent, 5),
        score(unanswerable, record(), 5),
    ]

    summary = summarise(scores, 5)

    means = {name: interval.mean for name, interval in summary.figures.items()}
    assert means["false_abstention"] == 0.5
    assert means["abstention_recall"] == 0.5
    assert means["abstention_precision"] == 0.5
    assert means["hit_rate"] == 0.5
    assert summary.latency["total"] == (0.5, 0.5)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2.0), (0.95, 4.0), (1.0, 4.0), (0.0, 1.0)])
def test_percentiles_are_by_nearest_rank(share: float, expected: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], share) == expected


async def test_the_report_lists_what_went_wrong() -> None:
    async def ask(_: EvalQuestion) -> AskRecord:
        return record(answer="no idea")

    seen: list[tuple[int, int]] = []
    report = await evaluate([question()], ask, k=5, progress=lambda done, total: seen.append((done, total)))

    assert seen == [(1, 1)]
    assert "not as wanted (1)" in as_table(report)
    assert as_json(report)["questions"][0]["right"] is False


@pytest.mark.parametrize("text", ["", "not json", '{"id": 1}', '{"id": 1, "question": "  "}', "[]"])
def test_a_broken_dataset_names_its_line(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_dataset(text, "set.jsonl")

    assert caught.value.code == "DATASET_INVALID"
    assert "set.jsonl" in str(caught.value)


def test_a_missing_dataset_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_dataset(tmp_path / "none.jsonl")

    assert caught.value.code == "DATASET_MISSING"


def test_the_golden_set_is_large_and_has_enough_unanswerable_questions() -> None:
    questions = golden_set()

    assert len(questions) >= 30
    assert sum(not one.answerable for one in questions) >= 8


@pytest.mark.parametrize(
    ("place", "found"),
    [
        (RetrievedSpan("a.md", 100, 200), True),
        (RetrievedSpan("a.md", 121, 200), False),
        (RetrievedSpan("b.md", 100, 200), False),
        (None, False),
    ],
)
def test_a_span_is_found_by_a_chunk_of_its_document_that_holds_all_of_it(
    place: RetrievedSpan | None, found: bool
) -> None:
    asked = replace(question(gold=("a.md",)), gold_spans=((120, 130), (900, 910)))
    elsewhere = RetrievedSpan("c.md", 0, 10)
    first = replace(record(), spans=(elsewhere, place))

    assert score(asked, first, k=3).figures["span@5"] == float(found)
    assert score(asked, replace(record(), spans=(*[elsewhere] * 5, place)), k=3).figures["span@5"] == 0.0


def test_where_the_places_of_chunks_are_not_known_there_is_no_such_figure() -> None:
    assert "span@5" not in score(replace(question(gold=("a.md",)), gold_spans=((1, 2),)), record(), k=5).figures


@pytest.mark.parametrize(
    ("spans", "gold"), [([[5, 5]], ["a"]), ([[-1, 5]], ["a"]), ([[1, 5]], ["a", "b"]), ([[1]], ["a"])]
)
def test_gold_spans_that_say_nothing_are_refused(spans: list[list[int]], gold: list[str]) -> None:
    line = json.dumps({"id": "1", "question": "What?", "answers": ["x"], "gold_ids": gold, "gold_spans": spans})

    with pytest.raises(InvalidInput, match="set:1"):
        parse_dataset(line, "set")


def test_what_questions_cost_is_added_up_only_when_it_is_known_of_each() -> None:
    paid = [score(question(), replace(record(), usage=EmbeddingUsage(tokens, 0.25)), 5) for tokens in (3, 4)]

    assert summarise(paid, 5).usage == EmbeddingUsage(7, 0.5)
    assert summarise([*paid, score(question(), record(), 5)], 5).usage is None
    unpriced = score(question(), replace(record(), usage=EmbeddingUsage(5, None)), 5)
    assert summarise([*paid, unpriced], 5).usage == EmbeddingUsage(12, None)
