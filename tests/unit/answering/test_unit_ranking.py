"""The order of units is that of their own scores and of what a model makes of the ones it read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.candidate_units import CandidateUnit
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.reading import PlacedUnit, Reading
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.extraction.unit_ranking import clip_odds, rank_judged, rank_units, units_to_read
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.answering.stages.read_units import PartReading, is_told_by_one
from agentic_rag.language.tokenizer import query_terms

BYPASS = AnswerOptions(cache=CacheMode.BYPASS)


def units(*scores: float) -> list[CandidateUnit]:
    return [
        CandidateUnit(0, place, place + 1, UnitKind.PROSE, 1, 0, 0, 1, True, (place, place + 1), None, score)
        for place, score in enumerate(scores)
    ]


def test_odds_that_tell_right_units_from_near_ones_are_kept_apart() -> None:
    assert clip_odds((4.2, 5.5, 9.0, -9.0)) == (4.2, 5.5, 6.0, -6.0)


def test_the_unit_that_is_likest_the_question_passes_one_that_scores_little_more() -> None:
    given = units(1.2, 1.1, 1.0)

    found = rank_units(given, (0.5, 0.7, 0.5))

    assert [unit.start for unit in found] == [1, 0, 2]
    assert found[0].score == 1.1


def test_the_unit_that_is_judged_likelier_passes_one_that_scores_little_more_and_keeps_its_odds() -> None:
    given = units(1.2, 1.1, 1.0)

    found = rank_judged(given, (-3.0, 2.0))

    assert [(unit.start, unit.odds) for unit in found] == [(1, 2.0), (0, -3.0), (2, None)]
    assert found[0].score == 1.2


def test_a_unit_that_was_not_judged_counts_as_the_least_likely_of_the_others() -> None:
    given = units(1.2, 1.1, 1.0)

    judged, beyond = rank_judged(given, (1.0, 1.0)), rank_judged(given, (1.0, 1.0, 1.0))

    assert [unit.score for unit in judged] == [unit.score for unit in beyond]


def test_a_unit_that_scores_much_more_stays_first() -> None:
    assert [unit.start for unit in rank_units(units(1.2, 0.4), (0.6, 0.7))] == [0, 1]


def test_equal_scores_keep_the_order_of_the_text() -> None:
    given = [replace(unit, passage=place) for place, unit in enumerate(units(1.0, 1.0))]

    assert rank_units(given[::-1], (0.5, 0.5)) == given


def test_a_sentence_without_a_word_of_the_question_is_read_where_it_stands_beside_one_that_has_them() -> None:
    text = "# Leave\n\n## Care\n\nPaid leave for care may be granted. The Head of People decides.\n\n"
    text += "".join(f"## Notes {at}\n\nParking space {at} is free.\n\n" for at in range(9))
    question = "Who grants paid leave for care?"
    part = build_subquery(question, AnswerType.PERSON, dict.fromkeys(query_terms(question), 0.5))

    every = PartUnits(part, 0, [passage(1, "Leave", text)]).all_units()
    read = units_to_read(every, 3)

    assert len(every) == 11
    assert "The Head of People decides." in [text[unit.start : unit.end] for unit in read]


@pytest.mark.parametrize(("question", "odds", "expected"), [
    ("Who founded the Brenning mill?", 3.0, True),
    ("Who founded the Brenning mill?", 1.5, True),
    ("Who founded the Brenning mill?", 0.5, False),
    ("Who founded the Brenning mill?", None, False),
    ("Who founded the mill beside the Brenning canal?", 3.0, False),
])  # fmt: skip
def test_a_unit_that_holds_the_question_and_likely_answers_needs_no_path(
    question: str, odds: float | None, expected: bool
) -> None:
    part = build_subquery(question, AnswerType.PERSON, {})
    held = PartUnits(part, 0, [passage(1, "Brenning", "Ida Holm founded the mill.")])
    read = tuple(replace(unit, odds=odds) for unit in held.all_units())

    assert is_told_by_one(part, [PartReading(held, list(read), 1, read=read)]) is expected


class Readings:
    """Prefers what it is told, and keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[str, list[PlacedUnit]]] = []

    async def read(self, question: str, units: Sequence[PlacedUnit]) -> Reading:
        self.given.append((question, list(units)))
        return Reading(tuple(0.9 if "portraits" in unit.text else 0.2 for unit in units), 0.05)

    async def judge(self, question: str, units: Sequence[PlacedUnit]) -> Sequence[float]:
        return [3.0 if "portraits" in unit.text else 2.0 for unit in units]


@pytest.mark.parametrize("reader", [Readings(), None])
async def test_an_answer_begins_with_the_unit_that_reads_best_where_there_is_a_reader(reader: Readings | None) -> None:
    corpus = Corpus()
    corpus.add("mill.md", "Mill", "Ida Holm founded the mill. The mill was founded by Ada Lund beside portraits.")
    world = World(corpus, reader=reader)

    answer = (await world.ask("By whom was the mill founded?", options=BYPASS)).answer

    assert ("Holm" if reader is None else "portraits") in answer.citations[0].snippet
    if reader is not None:
        first, second = "Ida Holm founded the mill.", "The mill was founded by Ada Lund beside portraits."
        placed = [PlacedUnit(first, ("Mill",)), PlacedUnit(second, ("Mill",), first)]
        assert reader.given[0] == ("By whom was the mill founded?", placed)
    await world.recorder.aclose()
