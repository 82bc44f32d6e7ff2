"""The natural questions agree with their documents, and their judge sees every lie that is planted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.quality.natural import (
    CORPORA,
    FOUR_LANGUAGES,
    HALVES,
    NATURAL,
    NATURAL_OWN,
    NEAR_MISSES,
    NaturalQuestion,
    Verdict,
    count_sentences,
    holds,
    judge_natural,
    language_rows,
    natural_questions,
    natural_rows,
    plain_text,
    tokens_of,
)

SETS = (NATURAL, NATURAL_OWN, FOUR_LANGUAGES, NEAR_MISSES)
QUESTIONS = [one for name in SETS for half in HALVES[name] for one in natural_questions(half)]
STEPS = NaturalQuestion(
    question_id="office-01",
    question="How do I book the van?",
    kind="how-to",
    outcome="ANSWERED",
    must=(("calendar",), ("form V-2", "paper form"), ("1,200 pounds",)),
    must_not=("form V-9", "^no"),
    sources=(),
    max_sentences=3,
)
WHOLE = "Look into the calendar. [1] Fill in form V-2. [1] Pay £1200. [2]"


@pytest.mark.slow
def test_each_accepted_string_stands_in_a_source() -> None:
    missing: list[str] = []
    for one in QUESTIONS:
        texts = [tokens_of(f"{source} {plain_text(CORPORA / source)}") for source in one.sources]
        for group in one.must:
            if not all(any(holds(text, accepted) for text in texts) for accepted in group):
                missing.append(f"{one.question_id}: {group}")
    assert missing == []


@pytest.mark.slow
def test_no_forbidden_string_stands_beside_the_answer() -> None:
    spoilt = [
        f"{one.question_id}: {forbidden}"
        for one in QUESTIONS
        for source in one.sources
        for line in map(tokens_of, plain_text(CORPORA / source).splitlines())
        for forbidden in one.must_not
        if not forbidden.startswith("^") and holds(line, forbidden)
        if any(holds(line, accepted) for group in one.must for accepted in group)
    ]
    assert spoilt == []


def test_ids_are_unique_and_no_question_is_in_both_halves() -> None:
    ids = Counter(one.question_id for one in QUESTIONS)
    texts = Counter(one.question.casefold() for one in QUESTIONS)
    assert [one for one, times in (*ids.items(), *texts.items()) if times > 1] == []


def test_each_of_four_languages_has_sixty_questions_and_twelve_of_them_are_not_stated() -> None:
    of_four = [one for half in HALVES[FOUR_LANGUAGES] for one in natural_questions(half)]
    counted = Counter((one.corpus.partition("-")[0], one.outcome) for one in of_four)
    languages = ("french", "german", "japanese", "spanish")
    assert counted == {
        (language, outcome): count
        for language in languages
        for outcome, count in (("ANSWERED", 48), ("NOT_STATED", 12))
    }


def test_what_is_not_stated_has_no_source_and_every_other_question_has_one() -> None:
    assert {one.outcome for one in QUESTIONS} == {"ANSWERED", "NOT_STATED", "CONFLICTING"}
    assert all(bool(one.sources) == bool(one.must) == (one.outcome != "NOT_STATED") for one in QUESTIONS)
    assert all(len(one.must) == 2 for one in QUESTIONS if one.outcome == "CONFLICTING")


@pytest.mark.parametrize("name", [NATURAL, FOUR_LANGUAGES, NEAR_MISSES])
def test_both_halves_have_every_kind_of_question(name: str) -> None:
    kinds = [{(one.outcome, one.kind) for one in natural_questions(half)} for half in HALVES[name]]
    dev, held = ({kind for outcome, kind in half if outcome == "ANSWERED"} for half in kinds)
    assert dev == held


@pytest.mark.parametrize(
    ("outcome", "answer", "verdict"),
    [
        ("GROUNDED", WHOLE, Verdict.RIGHT),
        ("PARTIALLY_GROUNDED", WHOLE, Verdict.RIGHT),
        ("CONFLICTING", WHOLE, Verdict.PARTLY),
        ("GROUNDED", "Look into the calendar. [1]", Verdict.PARTLY),
        ("GROUNDED", "The van is white. [1]", Verdict.WRONG),
        ("GROUNDED", f"{WHOLE} Then form V-9. [1]", Verdict.WRONG),
        ("GROUNDED", f"No: {WHOLE}", Verdict.WRONG),
        ("GROUNDED", WHOLE + " The van is white. [3]" * 7, Verdict.BURIED),
        ("GROUNDED", WHOLE.replace("1200", "11,200"), Verdict.PARTLY),
        ("ABSTAINED", WHOLE, Verdict.ABSTAINED),
        ("UNCERTAIN", WHOLE, Verdict.RIGHT),
        ("UNCERTAIN", WHOLE + " The van is white. [3]" * 7, Verdict.BURIED),
        ("UNCERTAIN", "The van is white. [1]", Verdict.WRONG),
    ],
)
def test_an_answer_is_judged_by_what_it_says(outcome: str, answer: str, verdict: Verdict) -> None:
    assert judge_natural(STEPS, outcome, answer).verdict is verdict


def test_a_wrong_answer_that_calls_itself_grounded_is_counted_and_one_that_does_not_is_not() -> None:
    assert judge_natural(STEPS, "GROUNDED", "The van is white.").is_wrong_but_grounded
    assert not judge_natural(STEPS, "PARTIALLY_GROUNDED", "The van is white.").is_wrong_but_grounded
    assert not judge_natural(STEPS, "GROUNDED", "Look into the calendar.").is_wrong_but_grounded


def test_an_uncertain_wrong_answer_is_neither_grounded_nor_an_abstention_and_has_its_own_row() -> None:
    judged = [judge_natural(STEPS, "UNCERTAIN", "The van is white.")]
    rows = {row.name.removeprefix("natural questions, dev: "): row.measured for row in natural_rows("dev", judged)}
    assert rows["wrong as UNCERTAIN"].startswith("100")
    assert rows["wrong but GROUNDED"].startswith("0.0")
    assert rows["false abstention, of those with an answer"].startswith("0.0")


def test_an_uncertain_answer_to_what_is_not_stated_is_wrong() -> None:
    unanswerable = replace(STEPS, outcome="NOT_STATED", must=(), must_not=())
    assert judge_natural(unanswerable, "UNCERTAIN", WHOLE).is_wrong_but_uncertain


def test_calling_nothing_grounded_shows_in_the_row_of_right_answers() -> None:
    timid = natural_rows("dev", [judge_natural(STEPS, "UNCERTAIN", WHOLE)])
    assert next(row.measured for row in timid if "of those right and complete" in row.name).startswith("0.0")


def test_what_no_document_states_is_answered_by_nothing() -> None:
    unanswerable = replace(STEPS, outcome="NOT_STATED", must=(), must_not=())
    assert judge_natural(unanswerable, "ABSTAINED", "").verdict is Verdict.RIGHT
    assert judge_natural(unanswerable, "GROUNDED", WHOLE).is_wrong_but_grounded


def test_a_conflict_shows_both_sides_and_says_so() -> None:
    sides = replace(STEPS, outcome="CONFLICTING", must=(("25 days",), ("26 days",)), must_not=())
    both, one = "25 days. [1] Another page: 26 days. [2]", "You have 25 days. [1]"
    assert judge_natural(sides, "CONFLICTING", both).verdict is Verdict.RIGHT
    assert judge_natural(sides, "CONFLICTING", one).verdict is Verdict.PARTLY
    assert judge_natural(sides, "GROUNDED", both).verdict is Verdict.PARTLY
    assert judge_natural(sides, "GROUNDED", one).is_wrong_but_grounded
    assert judge_natural(sides, "ABSTAINED", "").verdict is Verdict.ABSTAINED


def test_a_later_text_beside_the_earlier_one_is_right_where_the_question_allows_it() -> None:
    amended = replace(STEPS, or_conflicting=True)
    assert judge_natural(amended, "CONFLICTING", WHOLE).verdict is Verdict.RIGHT


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It costs £1,200.", "1200 pounds"),
        ("Es kostet 1.200 Euro.", "€1200"),
        ("Cinco días y 2,5 %", "5 días"),
        ("von 2,5 Prozent", "2.5 per cent"),
        ("the **Head** of\n  People", "head of people"),
        ("fourteen-day trial", "14 day"),
        ("担当は千葉健太郎です。", "千葉健太郎"),
        ("費用は３，０００円です", "3,000円"),
    ],
)
def test_spelling_does_not_count(text: str, wanted: str) -> None:
    assert holds(tokens_of(text), wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("15 days", "5 days"), ("7.4.12", "7.4.1"), ("£1,200.50", "1200 pounds"), ("13,000円", "3,000円")],
)
def test_a_part_of_a_number_is_another_number(text: str, wanted: str) -> None:
    assert not holds(tokens_of(text), wanted)


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("Call Dr. Voss on 12. May at No. 4 again. [1] Then wait.", 2),
        ("1. Open the valve. [1]\n2. Close it. [1]\n\n| a | b |", 3),
        ("The rate is £21.35. [1] 3.1 The price is 7,450 pounds. [2]", 2),
        ("", 0),
        ("Yes: they may. It is free! Is it? It is.", 4),
        ("電源を切ります。30分待ちます。", 2),
    ],
)
def test_sentences_are_counted_as_they_are_read(answer: str, sentences: int) -> None:
    assert count_sentences(answer) == sentences


def test_the_rows_miss_where_wrong_answers_are_called_grounded() -> None:
    right = [judge_natural(STEPS, "GROUNDED", WHOLE)] * 9
    rows = natural_rows("dev", [*right, judge_natural(STEPS, "GROUNDED", "The van is white.")])
    assert [row.name for row in rows if not row.ok] == ["natural questions, dev: wrong but GROUNDED"]
    assert all(row.ok for row in natural_rows("dev", [*right, judge_natural(STEPS, "ABSTAINED", "")]))


def test_the_rows_of_a_language_miss_where_half_of_its_answers_are_wrong() -> None:
    right = replace(judge_natural(STEPS, "GROUNDED", WHOLE), question=replace(STEPS, question_id="french-coffee-01"))
    wrong = replace(right, verdict=Verdict.WRONG)
    rows = language_rows({"languages-dev": [right] * 6 + [wrong] * 4, "languages-held": [wrong] * 2})
    assert [row.name for row in rows if not row.ok] == ["questions in French: right and complete"]
    measured = {row.name: row.measured for row in rows}
    assert measured["questions in French, dev: wrong but GROUNDED"].startswith("40.0")
    assert measured["questions in French, held: wrong but GROUNDED"].startswith("100")
