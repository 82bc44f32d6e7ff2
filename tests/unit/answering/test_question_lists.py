"""Pages that list questions answer none of them; pages that answer theirs do, however either is marked up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus

from agentic_rag.answering.answer import Outcome
from agentic_rag.language.tables import row_spans

ASKED = (
    ("What does a season ticket cost?", "It costs 412 crowns."),
    ("Which documents do I need for a parking permit?", "Bring form D7."),
    ("Who repairs the street lights?", "The yard of Nordby repairs them."),
    ("How do I register a dog?", "Send form D9 to the town hall."),
    ("Which languages are spoken at the town hall?", "Danish, Faroese and German."),
    ("Can I pay by invoice?", "No, only by card."),
)
MARKS: dict[str, Callable[[int, str], str]] = {
    "items": lambda _, question: f"- {question}",
    "numbers": lambda place, question: f"{place + 1}. {question}",
    "links": lambda place, question: f"- [{question}](#answer-{place})",
    "bold lines": lambda _, question: f"\n**{question}**\n",
    "rows": lambda place, question: f"| {place + 1} | {question} |",
    "headings": lambda _, question: f"## {question}\n",
}


async def told(text: str, question: str) -> tuple[Outcome, str]:
    corpus = Corpus()
    corpus.add("faq.md", "Frequently asked questions", f"# Frequently asked questions\n\n{text}", whole=True)
    answer = (await World(corpus).ask(question)).answer
    return answer.outcome, answer.text


@pytest.mark.parametrize("end", ["?", ""], ids=["with marks", "without"])
@pytest.mark.parametrize("mark", MARKS)
async def test_a_list_of_questions_answers_none_of_them(mark: str, end: str) -> None:
    head = "| No | Question |\n|---|---|\n" if mark == "rows" else ""
    listed = head + "\n".join(MARKS[mark](place, question[:-1] + end) for place, (question, _) in enumerate(ASKED))

    found = {question: await told(listed, question) for question, _ in ASKED}

    assert {question: text for question, (outcome, text) in found.items() if outcome is not Outcome.ABSTAINED} == {}


async def test_a_row_with_a_question_and_its_answer_is_quoted_whole() -> None:
    table = "| Question | Answer |\n|---|---|\n" + "\n".join(f"| {one} | {said} |" for one, said in ASKED)

    found = [(said, (await told(table, question))[1]) for question, said in ASKED]

    assert [said for said, text in found if said not in text] == []


@pytest.mark.parametrize("costs", [("412", "30", "8"), ("412", "640", "80"), ("3", "8", "21")])
async def test_a_number_that_counts_no_rows_is_a_value_beside_its_question(costs: tuple[str, ...]) -> None:
    table = "| Crowns | Question |\n|---|---|\n" + "\n".join(
        f"| {cost} | {question} |" for cost, (question, _) in zip(costs, ASKED, strict=False)
    )

    assert costs[0] in (await told(table, ASKED[0][0]))[1]


@pytest.mark.parametrize("form", ["**{}**\n\n", "**{}**\n", "[{}](#answer)\n\n", "{}\n", "## {}\n\n"])
@pytest.mark.parametrize("end", ["?", ""], ids=["with marks", "without"])
async def test_an_answer_below_its_question_is_found_by_it(form: str, end: str) -> None:
    pairs = "\n\n".join(form.format(question[:-1] + end) + said for question, said in ASKED)

    assert "412 crowns" in (await told(pairs, ASKED[0][0]))[1]


def test_sentences_of_other_rows_stay_apart() -> None:
    text = "| a | One. Two. |\nIs it so? Yes | no"
    spans = [(0, 10), (11, 17), (18, 27), (28, len(text))]

    assert row_spans(text, spans) == spans
