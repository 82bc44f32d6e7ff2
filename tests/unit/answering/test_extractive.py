"""What a part's sentences are, and in which order, is decided without a model."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid5

import pytest

from agentic_rag.answering.extraction.candidate_units import CandidateUnit
from agentic_rag.answering.extraction.extractive import DraftSentence, PartDraft, add_figures, draft_part, join_parts
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.plan import AnswerType
from agentic_rag.documents.document import Chunk
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import Candidate, Passage


def passage(ordinal: int, title: str, text: str, score: float = 0.6) -> Passage:
    document = uuid5(UUID(int=0), title)
    chunk = Chunk(
        ordinal, uuid5(document, str(ordinal)), document, document, 0, text, 0, len(text), 1, 1, 1, (), title, title,
        None, "application/pdf",
    )  # fmt: skip
    return Passage(chunk, Candidate(ordinal, score - ordinal / 100, ()), (0,))


def drafted(question: str, kind: AnswerType, passages: list[Passage]) -> PartDraft:
    part = build_subquery(question, kind, dict.fromkeys(query_terms(question), 0.5))
    return draft_part(part, 0, passages, 2)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Is the north gate locked at night?", "The north gate is locked at night."),
        ("Is Berlin larger than Hamburg?", "Hamburg is larger than Berlin."),
        ("Did the board approve the merger?", "The board refused to approve the merger."),
        ("Was the bridge closed in 2020?", "The bridge was closed in 2019 and reopened in 2020."),
        ("Was order 17 shipped?", "Order No. 17 was shipped."),
    ],
)
def test_a_yes_or_no_question_is_answered_by_what_the_source_says(question: str, sentence: str):
    found = drafted(question, AnswerType.YES_NO, [passage(1, "Notes", sentence)])

    assert [one.text for one in found.sentences] == [sentence]


ROWS = "(In millions)\n2022 2023\n" + "\n".join(f"Mooring costs 1,{place}04 1,{place}86" for place in range(1, 5))
SHARES = "Mooring costs grew by {} %.\n\nMooring costs fell by {} %."
FEES = "What were the mooring costs of the north quay?"
PLAIN = [
    passage(3, "Report one", ROWS, 0.4),
    passage(4, "Report two", ROWS, 0.4),
    passage(5, "Report one", SHARES.format(2, 3), 0.4),
    passage(6, "Report two", SHARES.format(4, 5), 0.4),
]
DISAGREEING = [
    passage(1, "Notes", "The mooring costs of the north quay were 40 euros for every ship.", 0.9),
    passage(2, "Rules", "The mooring costs of the north quay were 45 euros for every ship.", 0.9),
]


ROW = ROWS.split("\n")[-1]


def figure(passage_at: int, quote: str, kind: UnitKind = UnitKind.TABLE_ROW) -> CandidateUnit:
    text = PLAIN[passage_at].chunk.text
    start = text.index(quote)
    span = (start, start + len(quote))
    return CandidateUnit(passage_at, *span, kind, 0, 0, 0, 0, True, span, None, 1.0)


def test_the_row_leads_the_answer_to_a_question_for_a_figure():
    found = drafted(FEES, AnswerType.FIGURE, [*PLAIN, DISAGREEING[0]])

    answer = add_figures(found.sentences, [figure(0, ROW)], PLAIN + DISAGREEING, frozenset(), conflicting=False)

    assert "Report one — Mooring costs (in millions) — 2022: 1,404; 2023: 1,486" in answer[0].text
    assert DISAGREEING[0].chunk.text in [one.text for one in answer]


def test_a_row_is_cited_with_the_names_of_its_columns():
    (answer,) = add_figures([], [figure(0, ROW)], PLAIN, frozenset(), conflicting=False)

    assert [PLAIN[0].chunk.text[one.start : one.end] for one in (answer, *answer.more_quotes)] == [
        ROW,
        "(In millions)\n2022 2023",
    ]


def test_a_row_whose_columns_are_named_in_the_passage_before_is_read_with_them():
    head, row = ROWS.split("\n", 2)[:2], "Mooring costs 1,104 1,186"
    alone = replace(passage(3, "Report", row), table_head="\n".join(head) + "\n")
    unit = CandidateUnit(0, 0, len(row), UnitKind.TABLE_ROW, 0, 0, 0, 0, True, (0, len(row)), None, 1.0)

    (answer,) = add_figures([], [unit], [alone], frozenset(), conflicting=False)

    assert answer.text == "Report — Mooring costs (in millions) — 2022: 1,104; 2023: 1,186."
    assert answer.more_quotes == ()


def test_sentences_that_disagree_lead_the_answer_before_any_row():
    found = drafted(FEES, AnswerType.FIGURE, [*DISAGREEING, *PLAIN])

    answer = add_figures(found.sentences, [figure(0, ROW)], PLAIN, frozenset(), conflicting=True)

    assert found.conflicting
    assert {one.text for one in answer[:2]} == {one.chunk.text for one in DISAGREEING}
    assert answer[-1].text.startswith("Report one")


def test_beside_figures_an_answer_holds_what_adds_to_them_once():
    sentence = PLAIN[2].chunk.text.split("\n")[0]
    quoted = add_figures([], [figure(2, sentence, UnitKind.PROSE)], PLAIN, frozenset(), conflicting=False)
    rows = add_figures([], [figure(1, ROW)], PLAIN, frozenset(), conflicting=False)

    answer = add_figures([*quoted, *rows], [figure(2, sentence, UnitKind.PROSE)], PLAIN, frozenset(), conflicting=False)

    assert [one.text for one in answer] == [one.text for one in quoted]


def test_a_figure_that_the_self_check_refused_is_not_said_again():
    refused = frozenset({(PLAIN[0].chunk.ordinal, PLAIN[0].chunk.text.index(ROW))})

    assert add_figures([], [figure(0, ROW)], PLAIN, refused, conflicting=False) == ()


CARGO = """Cargo | Planned | Actual
--- | --- | ---
Grain A | 1,204 | 88
Grain B | 17 | 18
Grain C | 9 | 8
Grain D | 3 | 4
Grain E | 5 | 6
Grain F | 7 | 2"""


def test_a_row_is_found_by_its_label_and_quoted_with_the_names_of_its_columns():
    found = drafted("What was the actual figure for grain F?", AnswerType.FIGURE, [passage(1, "Port", CARGO)])

    first = found.sentences[0]
    assert first.text == "Grain F — Planned: 7; Actual: 2."
    assert [CARGO[one.start : one.end] for one in (first, *first.more_quotes)] == [
        "Grain F | 7 | 2",
        "Cargo | Planned | Actual",
    ]


def test_a_line_that_announces_something_answers_only_with_it():
    code = "On macOS:\n\n```sh\nbrew install larder\n\nlarder check\n```"
    ask = "How do I install larder on macOS?"

    with_code = drafted(ask, AnswerType.FACT, [passage(1, "Guide", code)])
    with_items = drafted(
        ask,
        AnswerType.FACT,
        [passage(1, "Guide", "On macOS install larder by:\n\n- the package manager brew\n- a package of ours")],
    )
    alone = drafted(ask, AnswerType.FACT, [passage(1, "Guide", "On macOS install larder by:")])

    assert with_code.sentences[0].text == code
    assert with_items.sentences[0].text == "On macOS install larder by: - the package manager brew - a package of ours."
    assert alone.sentences == ()


def test_what_overlapping_passages_and_pages_hold_twice_is_said_once():
    text = "The board is elected at the yearly meeting. It has five members."
    whole = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)
    same = replace(whole, passage=1)
    cut = replace(whole, passage=2, end=43, text="The board is elected at the yearly meeting.")
    other = replace(whole, passage=2, text="The board meets in May.")

    assert join_parts([PartDraft((whole, same, cut, other), (), False)]) == (whole, other)
    assert join_parts([PartDraft((whole, cut), (), True)]) == (whole, cut)


def test_what_another_document_says_without_a_word_of_the_question_is_not_quoted() -> None:
    question = "What is the claim number of the car?"
    part = build_subquery(question, AnswerType.FACT, dict.fromkeys(query_terms(question), 0.5))
    passages = [passage(1, "Repair", "The claim number of the car is 999."), passage(2, "Fees", "It uses 5000 of gas.")]
    best = replace(draft_part(part, 0, passages, 3).units[0], score=0.9)
    other = replace(best, passage=1, end=len(passages[1].chunk.text), mask=0, context_mask=0, fits=True)

    alike = draft_part(part, 0, passages, 3, ranked=[best, other]).sentences
    about_it = draft_part(part, 0, passages, 3, ranked=[best, replace(other, context_mask=1)]).sentences

    assert [one.passage for one in alike] == [0]
    assert [one.passage for one in about_it] == [0, 1]
