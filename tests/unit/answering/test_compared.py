"""Rows and sides that a question names together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, PartDraft, draft_part
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_blocks import TextBlockKind
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.query.planner import detect_answer_type, plan_question
from agentic_rag.answering.shapes.compared import compared_rows, name_sides
from agentic_rag.answering.shapes.items import quote_rows
from agentic_rag.answering.shapes.rank_blocks import rank_blocks
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import Passage

CAMPAIGNS = """# Campaigns

| No. | Dates | Machines | Work | Budget |
|---|---|---|---|---|
| C1 | 5 to 16 May | K-01, K-02 | Bearing grease | £48,000 |
| C2 | 2 to 13 June | K-04, K-05 | Bearing grease | £41,000 |
| C3 | 7 to 18 July | K-07 | Gearbox oil | £36,400 |
"""


def subquery(question: str) -> Subquery:
    return build_subquery(question, detect_answer_type(question), dict.fromkeys(query_terms(question), 0.5))


def rows_listed(question: str, text: str) -> list[str]:
    part, passages = subquery(question), [passage(1, "Schedule", text)]
    (table,) = rank_blocks(part, 0, passages, {TextBlockKind.TABLE})
    return [one.text.split(" ")[0] for one in quote_rows(part, table, passages, 0)]


def test_things_that_a_question_joins_are_listed_each_by_its_row() -> None:
    assert rows_listed("Which machines have their bearing greased in May and June?", CAMPAIGNS) == ["C1", "C2"]
    assert rows_listed("Which machines are worked on in June or July?", CAMPAIGNS) == ["C2", "C3"]


def test_a_row_that_holds_all_that_is_joined_is_listed_alone() -> None:
    text = CAMPAIGNS.replace("K-07 | Gearbox oil", "K-07 | Gearbox oil and hoses").replace(
        "K-04, K-05 |", "K-04 | Gear oil,"
    )

    assert rows_listed("Which machines get new oil and hoses?", text) == ["C3"]


def test_things_that_a_question_joins_are_found_in_any_case() -> None:
    assert rows_listed("Which machines have their bearing greased in may and june?", CAMPAIGNS) == ["C1", "C2"]


def test_a_table_of_nothing_but_joined_things_is_listed_whole() -> None:
    assert rows_listed("Which machines are worked on in May, June and July?", CAMPAIGNS) == ["-"]


@pytest.mark.parametrize(
    "question",
    [
        "Which machines are not greased in May and June?",
        "Which machines aren't greased in May and June?",
        "Which machines are greased in all months but May and June?",
        "Which machines are greased in all months except May and June?",
        "Which machines are greased in months other than May and June?",
        "Which machines run without May and June?",
        "Which machines are greased between May and June?",
        "Which machines have no grease in May and June?",
        "Which machines are never greased in May and June?",
        "Which machines are greased neither in April nor in May and June?",
        "Which machines are greased in months excluding May and June?",
        "Which machines are greased apart from May and June?",
        "Which machines are greased outside May and June?",
        "Which machines are greased in both May and June?",
    ],
)
def test_joined_things_that_a_question_takes_away_are_not_what_it_asks_for(question: str) -> None:
    assert rows_listed(question, CAMPAIGNS) != ["C1", "C2"]


def test_what_stands_above_a_table_does_not_choose_between_rows_of_joined_things() -> None:
    text = CAMPAIGNS.replace("K-04, K-05 | Bearing grease", "K-04, K-05 | Grease of both campaigns")

    assert rows_listed("Which campaigns are in May and June?", text) == ["C1", "C2"]


def compared(question: str) -> list[str]:
    part, passages = subquery(question), [passage(1, "Schedule", CAMPAIGNS)]
    draft = draft_part(part, 0, passages, 2)
    return [one.text.split(" ")[0] for one in compared_rows(part, 0, passages, draft, frozenset())]


def test_rows_that_only_say_which_thing_is_meant_are_not_what_is_asked_for() -> None:
    assert compared("What budget do C1 and C2 have?") == ["C1", "C2"]
    assert compared("What does a pail of the grease used in C1 and C2 cost?") == []


SHEETS = [
    passage(1, "Pump Kelm 60: data sheet", "Power 12 kW\n\nThe mass of the housing is 62 kg."),
    passage(2, "Pump Selm 20: data sheet", "Power 14 kW\n\nThe Selm 20 has a housing with a mass of 118 kg."),
]


def sides_said(question: str, passages: Sequence[Passage]) -> list[str]:
    parts = [subquery(one.text) for one in plan_question(question).sub_questions]
    asked = [(part, [one]) for part, one in zip(parts, passages, strict=True)]
    drafts = [draft_part(part, 0, [one], 1) for part, one in zip(parts, passages, strict=True)]
    placed = [_of_part(draft, place) for place, draft in enumerate(drafts)]
    return [one.text for draft in name_sides(asked, placed) for one in draft.sentences]


def _of_part(draft: PartDraft, place: int) -> PartDraft:
    return replace(draft, sentences=tuple(replace(one, part=place) for one in draft.sentences))


def test_a_sentence_that_does_not_say_of_which_side_it_is_stands_behind_the_title_that_does() -> None:
    said = sides_said("Which pump has the heavier housing, the Kelm 60 or the Selm 20?", SHEETS)

    assert said == [
        "Pump Kelm 60: data sheet — The mass of the housing is 62 kg.",
        "The Selm 20 has a housing with a mass of 118 kg.",
    ]


def test_a_title_that_names_neither_side_is_not_put_before_it() -> None:
    other = [passage(1, "Pumps", SHEETS[0].chunk.text), SHEETS[1]]

    assert sides_said("Which pump has the heavier housing, the Kelm 60 or the Selm 20?", other)[0] == (
        "The mass of the housing is 62 kg."
    )


def test_a_title_that_names_half_a_side_is_not_put_before_it() -> None:
    other = [passage(1, "Pump Kelm 20: data sheet", SHEETS[0].chunk.text), SHEETS[1]]

    assert sides_said("Which pump has the heavier housing, the Kelm 60 or the Selm 20?", other)[0] == (
        "The mass of the housing is 62 kg."
    )


def test_a_heading_about_another_thing_stands_between_a_title_and_a_sentence() -> None:
    text = "Power 12 kW\n\n# Selm 20 for comparison\n\nThe mass of the housing is 118 kg."
    other = [passage(1, SHEETS[0].chunk.document_title, text), SHEETS[1]]

    assert sides_said("Which pump has the heavier housing, the Kelm 60 or the Selm 20?", other)[0] == (
        "The mass of the housing is 118 kg."
    )


def test_the_nearest_heading_that_names_a_side_stands_before_its_sentence() -> None:
    text = "Power 12 kW\n\n# Kelm 60\n\nThe mass of the housing is 62 kg."
    other = [passage(1, "Pumps", text), SHEETS[1]]

    assert sides_said("Which pump has the heavier housing, the Kelm 60 or the Selm 20?", other)[0] == (
        "Kelm 60 — The mass of the housing is 62 kg."
    )


def test_a_sentence_about_the_other_side_does_not_stand_behind_the_title_of_this_one() -> None:
    said = "The housing of the Selm 20 is heavier by 56 kg."
    other = [passage(1, SHEETS[0].chunk.document_title, said), SHEETS[1]]

    assert sides_said("Which pump has the heavier housing, the Kelm 60 or the Selm 20?", other)[0] == said


def test_a_side_that_names_nothing_of_its_own_gets_no_title() -> None:
    parts = [subquery(one) for one in ("mass of the housing", "mass of the housing of the Selm 20")]
    asked = [(part, [one]) for part, one in zip(parts, SHEETS, strict=True)]
    drafts = [_of_part(draft_part(part, 0, asked[at][1], 1), at) for at, part in enumerate(parts)]

    assert name_sides(asked, drafts) == drafts


def test_a_quote_of_several_lines_or_places_gets_no_title() -> None:
    parts = [subquery(f"mass of the housing of the {one}") for one in ("Kelm 60", "Selm 20")]
    asked = [(part, [one]) for part, one in zip(parts, SHEETS, strict=True)]
    (whole,) = draft_part(parts[0], 0, asked[0][1], 1).sentences
    lines = replace(whole, text="- The mass is 62 kg.\n- The power is 12 kW.")
    places = replace(whole, more_quotes=(whole,))

    def named(one: DraftSentence) -> str:
        drafts = [replace(draft_part(part, 0, asked[at][1], 1), sentences=()) for at, part in enumerate(parts)]
        return name_sides(asked, [replace(drafts[0], sentences=(one,)), drafts[1]])[0].sentences[0].text

    assert [named(lines), named(places)] == [lines.text, places.text]
    assert named(whole) == f"Pump Kelm 60: data sheet — {whole.text}"


async def test_an_answer_to_a_comparison_says_of_which_side_each_sentence_is() -> None:
    corpus = Corpus()
    corpus.add("kelm.md", "Pump Kelm 60", "The pump has a heavier housing: 62 kg in all.")
    corpus.add("selm.md", "Pump Selm 20", "The pump has a heavier housing: 118 kg in all.")
    world = World(corpus, AnswerDefaults(support_threshold=0.0))

    answer = (await world.ask("Which pump has the heavier housing, the Kelm 60 or the Selm 20?")).answer

    assert "Pump Kelm 60 — The pump has a heavier housing: 62 kg in all. [" in answer.text
    assert "Pump Selm 20 — The pump has a heavier housing: 118 kg in all. [" in answer.text
    await world.recorder.aclose()
