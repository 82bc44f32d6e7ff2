"""A question whose name several things bear gets the answer for each; texts that differ about one thing conflict."""

from collections.abc import Collection

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus

from agentic_rag.answering.answer import Answer, Outcome
from agentic_rag.answering.extraction.candidate_units import CandidateUnit
from agentic_rag.answering.extraction.contradiction import is_changed_copy
from agentic_rag.answering.extraction.part_units import PartUnits

VILLAGE = "Ashcombe Mill is a village in Marle County. The population of the village was 681 at the last count."
DEPOT = "Ashcombe Mill is a disused weaving shed north of Brenning. Its population of bats was 2,355 in spring."


def corpus_of(*texts: str) -> Corpus:
    corpus = Corpus()
    for number, text in enumerate(texts):
        corpus.add(f"{number}.md", f"Page {number}", text)
    corpus.add("lunch.md", "Canteen", "Lunch is served from noon to two o'clock in the hall.")
    return corpus


async def asked(question: str, *texts: str) -> Answer:
    world = World(corpus_of(*texts))
    answer = (await world.ask(question)).answer
    await world.recorder.aclose()
    return answer


async def test_each_bearer_of_a_name_is_a_line_that_says_what_it_is_and_its_value() -> None:
    answer = await asked("What is the population of Ashcombe Mill?", VILLAGE, DEPOT)

    assert answer.outcome is Outcome.UNDERSPECIFIED
    assert sorted(line.partition(" [")[0] for line in answer.text.splitlines()) == [
        "- Ashcombe Mill is a disused weaving shed north of Brenning. Its population of bats was 2,355 in spring.",
        "- Ashcombe Mill is a village in Marle County. The population of the village was 681 at the last count.",
    ]
    assert len(answer.citations) == 4
    assert all(one.verified for one in answer.citations)


async def test_the_value_need_not_stand_beside_the_name() -> None:
    answer = await asked(
        "What is the population of Ashcombe Mill?",
        "Ashcombe Mill is a village in Marle County. Ashcombe Mill burned in 1854. The population was 681 in 2010.",
        "Ashcombe Mill is a weaving shed near Brenning. Ashcombe Mill burned in 1901. Its population of bats was 55.",
    )

    assert answer.outcome is Outcome.UNDERSPECIFIED
    assert "population was 681" in answer.text
    assert "bats was 55" in answer.text


async def test_only_texts_that_may_say_what_a_name_is_are_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[Collection[int]] = []
    all_units = PartUnits.all_units

    def noted(self: PartUnits, least: float = 0.0, places: Collection[int] | None = None) -> list[CandidateUnit]:
        if places is not None:
            looked_at.append(places)
        return all_units(self, least, places)

    monkeypatch.setattr(PartUnits, "all_units", noted)
    question = "What is the population of Ashcombe Mill?"
    await asked(question, VILLAGE, "The population is a concern, they said when Ashcombe Mill had 681 inhabitants.")
    assert looked_at == []
    await asked(question, VILLAGE, DEPOT)
    assert [len(places) for places in looked_at] == [2]


@pytest.mark.parametrize(
    "other",
    [
        "Ashcombe Mill is a small village on the Tarn road. A school stands in its middle.",
        "The Ashcombe Mill road is closed. There is a detour by the quarry.",
        "Ashcombe Mill is a disused weaving shed north of Brenning. Bats live in it.",
    ],
)
async def test_a_name_has_one_bearer_where_texts_tell_of_one_kind_or_one_alone_has_the_value(other: str) -> None:
    answer = await asked("What is the population of Ashcombe Mill?", VILLAGE, other)

    assert answer.outcome is not Outcome.UNDERSPECIFIED
    assert "681" in answer.text


async def test_a_copy_with_another_value_conflicts_beside_another_bearer() -> None:
    answer = await asked(
        "Who is the author of Low Water?",
        "Low Water is a novel by the Scottish writer Edda Krause, printed in 1931 by Harrow Press.",
        "Low Water is a novel by the Scottish writer Ivo Marin, printed in 1931 by Harrow Press.",
        "Low Water is a poem about the tides of the Lorrin by Petra Lindqvist.",
    )

    assert answer.outcome is Outcome.CONFLICTING
    assert all(name in answer.text for name in ("Edda Krause", "Ivo Marin", "Petra Lindqvist"))


async def test_things_of_names_of_their_own_do_not_conflict() -> None:
    answer = await asked(
        "What is the capacity of the Kelpie pump?",
        "The Kelpie North pump is a centrifugal pump by Delmark. The capacity is 40 litres a minute.",
        "The Kelpie South pump is a centrifugal pump by Delmark. The capacity is 65 litres a minute.",
    )

    assert answer.outcome is Outcome.UNDERSPECIFIED
    assert "North pump is a centrifugal pump by Delmark. The capacity is 40" in answer.text
    assert "South pump is a centrifugal pump by Delmark. The capacity is 65" in answer.text


async def test_a_name_that_opens_the_question_is_asked_for_whole() -> None:
    answer = await asked(
        "Tysford Galleria is in what county?",
        "Tysford Galleria is a shopping mall in Marle County.",
        "The Cobb Galleria is a meeting centre in Lorrin County, ten miles from Tysford.",
    )

    assert answer.outcome is not Outcome.UNDERSPECIFIED


async def test_titles_tell_bearers_of_a_name_apart_where_no_sentence_says_what_they_are() -> None:
    corpus = Corpus()
    corpus.add("a.md", "Ashcombe Theatre (Brenning)", "Ashcombe Theatre was built in 1886 by a firm of two brothers.")
    corpus.add("b.md", "Ashcombe Theatre (Lorrin)", "Ashcombe Theatre was built in 1932 beside the canal.")
    world = World(corpus)
    answer = (await world.ask("When was the Ashcombe Theatre built?")).answer
    await world.recorder.aclose()

    assert answer.outcome is Outcome.UNDERSPECIFIED
    assert "1886" in answer.text
    assert "1932" in answer.text


async def test_a_name_may_open_with_a_function_word_that_the_question_has_in_it() -> None:
    answer = await asked(
        'Who recorded the album "Both Mills Now"?',
        "Both Mills Now is an album by Maren Tollack, recorded in a barn.",
        "Both Mills Now is a record of the choir of Brenning, led by Wilf Hastane.",
    )

    assert answer.outcome is Outcome.UNDERSPECIFIED
    assert "Maren Tollack" in answer.text
    assert "Wilf Hastane" in answer.text


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (
            "The hall is a theatre built by the town for its guild.",
            "The hall is a chapel built by the town for its guild.",
            True,
        ),
        (
            "The hall is a theatre built by the town for its guild.",
            "The hall is a theatre built by the town for its guild .",
            False,
        ),
        (
            "Added 3 May The Hall is a theatre built by the town.",
            "Old Page The Hall is a theatre built by the town.",
            False,
        ),
        ("The hall is a theatre.", "The hall is a chapel.", False),
        (
            "The hall is a theatre built by the town for its guild.",
            "A chapel stands by the river and has no roof now.",
            False,
        ),
    ],
)
def test_a_changed_copy_is_one_text_with_other_words_in_one_place(left: str, right: str, expected: bool) -> None:
    assert is_changed_copy(left, right) is expected
    assert is_changed_copy(right, left) is expected
