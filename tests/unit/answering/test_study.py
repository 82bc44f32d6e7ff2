"""Whether something was found is answered by what was found, and not by what somebody set out to find."""

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus

from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.shapes.study import asks_for_finding

AIM = "The aim of this study was to determine whether a sound wall lowers the noise of the night shift in hall 3."
RESULT = "Behind the wall the noise was significantly lower than before (6 dB), and fewer neighbours complained."
STUDY = f"{AIM}\n\nLevels were measured on forty nights at four gates.\n\n{RESULT}"


async def first_sentence(text: str, question: str) -> str:
    corpus = Corpus()
    corpus.add_short(("wall.md", "Sound wall", text), ("lunch.md", "Canteen", "Lunch is served at noon in the hall."))
    world = World(corpus)
    answer = (await world.ask(question)).answer
    await world.recorder.aclose()
    return answer.text.split(" [1]")[0]


async def test_a_question_whether_gets_the_result() -> None:
    assert await first_sentence(STUDY, "Does a sound wall lower the noise of the night shift?") == RESULT


async def test_a_question_for_something_else_of_the_study_gets_that() -> None:
    assert await first_sentence(STUDY, "What was the aim of the study of the sound wall?") == AIM


async def test_a_text_that_only_plans_is_quoted_as_it_is() -> None:
    plan = f"{AIM}\n\nThe wall stands beside the night shift of hall 3."
    assert await first_sentence(plan, "Does a sound wall lower the noise of the night shift?") == AIM


@pytest.mark.parametrize(
    ("question", "kind", "asks"),
    [
        ("Does the wall lower the noise?", QuestionKind.YES_NO, True),
        ("Sound walls in old halls: are they worth it?", QuestionKind.FACT, True),
        ("What did the survey of the neighbours show?", QuestionKind.FACT, True),
        ("What are the conclusions of this study?", QuestionKind.LIST, True),
        ("Which wall was measured?", QuestionKind.VALUE, False),
        ("Type of wall used in the hall?", QuestionKind.FACT, False),
        ("The wall lowers the noise.", QuestionKind.FACT, False),
    ],
)
def test_questions_whether_and_titles_that_claim_something_ask_for_a_finding(
    question: str, kind: QuestionKind, asks: bool
) -> None:
    assert asks_for_finding(question, kind) is asks
