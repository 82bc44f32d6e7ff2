from dataclasses import replace
from uuid import UUID

import pytest

from agentic_rag.answering.answer import Support
from agentic_rag.answering.evidence.answerability import (
    extract_features,
    is_enough_without_lead,
    is_held,
    score_support,
    support_weights,
)
from agentic_rag.answering.evidence.intermediate_answers import find_intermediate_answers
from agentic_rag.answering.extraction.answer_type_match import states_answer
from agentic_rag.answering.extraction.extractive import PartDraft, draft_part
from agentic_rag.answering.extraction.reading import MOST_APART, ReadSigns
from agentic_rag.answering.extraction.subquery import build_subquery, find_literals
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.documents.document import Chunk
from agentic_rag.retrieval.candidates import ArmScore, Candidate, Passage, Retriever
from agentic_rag.retrieval.confidence import RankingConfidence


def _passage(text: str, title: str = "Report", ordinal: int = 1, score: float = 0.5) -> Passage:
    chunk = Chunk(
        ordinal, UUID(int=ordinal), UUID(int=ordinal), UUID(int=ordinal), 0, text, 0, len(text), None, 1, 1, (), title,
        f"{ordinal}.md", None, "text/markdown",
    )  # fmt: skip
    arms = (ArmScore(Retriever.DENSE, 1, score, score, 0.4), ArmScore(Retriever.LEXICAL, 1, score, score, 0.4))
    return Passage(chunk, Candidate(ordinal, score, arms))


def _drafted(question: str, *passages: Passage, found: tuple[str, ...] = ()) -> tuple[PartDraft, float]:
    part = build_subquery(question, detect_answer_type(question), {}, found)
    draft = draft_part(part, 0, passages, 2)
    signs = extract_features(part, draft, passages, (), RankingConfidence(0.5, 0.5, 0.2, 0.1))
    return draft, score_support(signs).score


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("What failed on SKN-04?", "The bearing failed on SKN-04.", "The bearing failed on SKN-03."),
        ("What revenue came in the third quarter?", "Q3 revenue was £5.", "Revenue of the first quarter was £5."),
        ("What salary does Halla earn?", "The salary Halla can earn is £9.", "Halla can earn praise for £9."),
        ("When was it opened?", "It was opened on 9 May 2024.", "It was opened with some delay."),
        ("How long is the wait?", "The wait is 15 minutes.", "The wait is at 15 metres."),
        ("What is the name of the trawler?", "The trawler was the *Anna*.", "The trawler came near."),
    ],
)
def test_evidence_that_lacks_what_the_question_asks_or_names_supports_less(
    question: str, better: str, worse: str
) -> None:
    assert _drafted(question, _passage(better))[1] > _drafted(question, _passage(worse))[1]


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("When is a segment deleted?", "It goes as soon as all of it is delivered.", "A segment may be deleted."),
        ("When do I salt the beans?", "Salt is added at the end.", "The beans are salted."),
        ("From which day do I need a note?", "A note is needed from the third day on.", "A note is needed."),
        ("When must the room be free?", "It must be free by 8 pm.", "It must be free."),
        ("Until when can I cancel?", "You can cancel up to ten days before.", "You can cancel within reason."),
        ("When will I get my deposit?", "It is paid three weeks after you leave.", "It is paid for three weeks."),
    ],
)
def test_a_rule_says_when_by_what_happens_or_recurs(question: str, answer: str, other: str) -> None:
    assert detect_answer_type(question) is AnswerType.DATE
    assert states_answer(answer, AnswerType.DATE, question)
    assert not states_answer(other, AnswerType.DATE, question)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("When does the night shift start?", "It starts at 22 h.", "It takes 4 h."),
        ("When can I walk on the floor?", "After 4 h it is dry.", "It is painted for 4 h."),
        ("When does the yard close?", "The yard is open 7–19 h.", "It is 9 h long."),
        ("When is the fee due?", "It is due on the last day of each month.", "It is 20 crowns each month."),
    ],
)
def test_how_long_or_how_often_something_takes_is_not_when_it_happens(question: str, answer: str, other: str) -> None:
    assert states_answer(answer, AnswerType.DATE, question)
    assert not states_answer(other, AnswerType.DATE, question)


@pytest.mark.parametrize("question", ["When was the yard closed?", "When will the yard close?"])
def test_what_happened_once_has_a_date(question: str) -> None:
    assert not states_answer("It closed at the end of the season.", AnswerType.DATE, question)


def test_a_unit_that_is_judged_to_answer_speaks_for_the_passages_more_than_another_speaks_against_them() -> None:
    question = "Who paints the hull?"
    part = build_subquery(question, detect_answer_type(question), {}, ())
    near = _passage("Oona Pellgrave does it.")
    draft = draft_part(part, 0, [near], 2)

    def score(odds: float) -> float:
        read = ReadSigns(0.1, 0.0, odds)
        signs = extract_features(part, draft, [near], (), RankingConfidence(0.5, 0.5, 0.2, 0.1), read=read)
        return sum(one.contribution for one in score_support(signs, weights=support_weights(read)).contributions)

    assert score(2.0) - score(0.0) > score(0.0) - score(-2.0) > 0
    assert score(6.0) == score(4.0) > score(3.0)


def test_the_marks_of_a_question_are_its_figures_identifiers_and_periods() -> None:
    assert find_literals("Did SKN-03 make 1,200 kW in the third quarter of 2025, by 4 May?") == (
        "skn-03",
        "1,200",
        "2025",
        "third quarter",
        "may",
    )
    assert find_literals("May I go?") == ()


def test_evidence_for_a_second_hop_must_name_what_the_first_found() -> None:
    draft, without = _drafted(
        "Who manages Otter Voe?", _passage("Oona Pellgrave manages the site."), found=("Otter Voe",)
    )
    assert draft.units == ()
    draft, named = _drafted(
        "Who manages Otter Voe?", _passage("Casimir Druett manages Otter Voe."), found=("Otter Voe",)
    )
    assert draft.units
    assert named > without


def test_findings_are_names_that_the_question_lacks_nearest_to_what_it_asks_for() -> None:
    workspace = UUID(int=7)
    sentence = "In May Brannoch Sound was cut off."
    assert find_intermediate_answers(workspace, "Which site was cut off?", [sentence]) == ("Brannoch Sound",)
    row = "C1 — Turbines: SKN-01; Work: change to HG-460 grease."
    assert find_intermediate_answers(workspace, "Which grease is used in C1?", [row]) == ("HG-460",)
    assert find_intermediate_answers(workspace, "Which grease is used?", ["Nothing is said."]) == ()


def test_the_best_sentence_comes_first_and_what_adds_nothing_is_left_out() -> None:
    text = (
        "The report was filed in May 2024. Some people were glad. "
        "The machine returned to service on 24 January 2025 after its bearing failure."
    )
    draft, _ = _drafted("On which date did the machine return to service after the bearing failure?", _passage(text))
    assert [sentence.text for sentence in draft.sentences] == [
        "The machine returned to service on 24 January 2025 after its bearing failure."
    ]


def test_a_list_is_answered_by_the_rows_of_the_table_that_its_heading_names() -> None:
    text = (
        "Who received grants in 2024\n\nRecipient | Purpose | Sum\nFenn School | A laboratory | £12,000\n"
        "Sailing Club | Two boats | £8,500"
    )
    draft, _ = _drafted("Which groups received grants in 2024?", _passage(text))
    assert [sentence.text for sentence in draft.sentences] == [
        "Fenn School — Purpose: A laboratory; Sum: £12,000.",
        "Sailing Club — Purpose: Two boats; Sum: £8,500.",
    ]


def test_a_value_without_a_subject_says_which_document_it_is_from() -> None:
    draft, _ = _drafted("What is the rotor diameter?", _passage("Rotor diameter\n20.0 m\nBlades\n2", "Selkie 1200"))
    assert draft.sentences[0].text == "Selkie 1200 — Rotor diameter: 20.0 m."


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which turbine has the heavier nacelle: the Kelpie 600?", AnswerType.FIGURE),
        ("Which came earlier: the fire?", AnswerType.DATE),
        ("Which groups received a grant?", AnswerType.LIST),
        ("What does one joint cost?", AnswerType.FIGURE),
        ("Which process is used?", AnswerType.FACT),
    ],
)
def test_the_wording_tells_the_kind_of_answer(question: str, kind: AnswerType) -> None:
    assert detect_answer_type(question) is kind


@pytest.mark.parametrize(("top", "is_near"), [(0.3, True), (0.0, False)])
def test_what_stands_in_several_documents_need_not_lead_to_have_several_readings(top: float, is_near: bool) -> None:
    passages = [_passage("The limit of a claim is 140 euros."), _passage("The limit is 50 MB.", "Mail", 2)]
    part = build_subquery("How high is the limit?", AnswerType.FIGURE, {})
    draft = draft_part(part, 0, passages, 2)

    def support(read: ReadSigns) -> Support:
        standing = RankingConfidence(top, top, top / 2, 0.0)
        signs = extract_features(part, draft, passages, (), standing, read=read)
        return score_support(signs, weights=support_weights(read))

    level = support(ReadSigns(0.25, 0.0, 0.2))
    assert not level.enough
    assert is_enough_without_lead(level) is is_near
    assert support(ReadSigns(0.25, MOST_APART, 0.2)).enough is is_near


@pytest.mark.parametrize(
    ("covered", "apart", "odds", "expected"),
    [(0.2, 0.0, -3.0, False), (0.9, 0.0, -3.0, True), (0.2, 0.2, -3.0, True), (0.2, 0.0, 3.0, True)],
)
def test_high_scores_of_the_search_do_not_stand_for_what_the_passages_lack(
    covered: float, apart: float, odds: float, expected: bool
) -> None:
    part = build_subquery("Who built the mill?", AnswerType.PERSON, {})
    read = ReadSigns(0.0, apart, odds)
    found = RankingConfidence(1.0, 1.0, 0.2, 0.1)
    signs = replace(extract_features(part, PartDraft((), (), False), (), (), found, read=read), covered=covered)

    assert is_held(score_support(signs, weights=support_weights(read))) is expected


def test_where_no_model_reads_the_words_alone_decide() -> None:
    passage = _passage("The canteen is closed.")
    part = build_subquery("Who built the mill?", AnswerType.PERSON, {})
    signs = extract_features(part, PartDraft((), (), False), (passage,), (), RankingConfidence(0.5, 0.5, 0.2, 0.1))

    assert is_held(score_support(signs, weights=support_weights(None)))
