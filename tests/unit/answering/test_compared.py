"""Rows and sides that a question names together, and rows that cannot answer by their form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import PartDraft, draft_part
from agentic_rag.answering.extraction.reading import PlacedUnit, Reading
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_blocks import TextBlockKind
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.query.planner import detect_answer_type, plan_question
from agentic_rag.answering.shapes.compared import compared_rows, name_sides
from agentic_rag.answering.shapes.items import quote_rows
from agentic_rag.answering.shapes.question_kind import question_kind
from agentic_rag.answering.shapes.rank_blocks import rank_blocks
from agentic_rag.answering.stages.read_units import read_units
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


async def test_an_answer_to_a_comparison_says_of_which_side_each_sentence_is() -> None:
    corpus = Corpus()
    corpus.add("kelm.md", "Pump Kelm 60", "The pump has a heavier housing: 62 kg in all.")
    corpus.add("selm.md", "Pump Selm 20", "The pump has a heavier housing: 118 kg in all.")
    world = World(corpus, AnswerDefaults(support_threshold=0.0))

    answer = (await world.ask("Which pump has the heavier housing, the Kelm 60 or the Selm 20?")).answer

    assert "Pump Kelm 60 — The pump has a heavier housing: 62 kg in all. [" in answer.text
    assert "Pump Selm 20 — The pump has a heavier housing: 118 kg in all. [" in answer.text
    await world.recorder.aclose()


class InOrder:
    """Finds each unit as likely as the others."""

    async def read(self, question: str, units: Sequence[PlacedUnit]) -> Reading:
        return Reading(tuple(0.5 for _ in units), 0.1)

    async def judge(self, question: str, units: Sequence[PlacedUnit]) -> Sequence[float]:
        return [0.0 for _ in units]


REPAIR = """# Repair of pump 5

| Item | Amount |
|---|---|
| Repair of pump 5, insurer | £400 |
| Paid by the insurer | in full |

The insurer refused, since the repair was due to wear.
"""


async def units_said(question: str, *, reads: bool) -> list[str]:
    kind = question_kind(question, detect_answer_type(question))
    passages = [passage(1, "Report", REPAIR)]
    (found,) = await read_units(InOrder() if reads else None, [(subquery(question), passages)], [kind])
    return [REPAIR[one.start : one.end] for one in found.units]


@pytest.mark.parametrize("reads", [True, False], ids=["read", "by words"])
async def test_whether_something_happened_is_not_told_by_a_row_of_figures(reads: bool) -> None:
    said = await units_said("Did the insurer pay for the repair of pump 5?", reads=reads)

    assert said
    assert not any("£400" in one for one in said)


async def test_a_row_of_words_may_tell_whether_something_happened() -> None:
    said = await units_said("Was the repair of pump 5 paid by the insurer?", reads=True)

    assert any("in full" in one for one in said)


async def test_a_figure_is_still_told_by_its_row() -> None:
    assert any("£400" in one for one in await units_said("How much was the repair of pump 5?", reads=True))


async def test_a_reason_is_not_told_by_a_row_without_one() -> None:
    said = await units_said("Why did the insurer not pay for the repair of pump 5?", reads=True)

    assert [one for one in said if one.startswith("|")] == []
    assert any("due to wear" in one for one in said)
