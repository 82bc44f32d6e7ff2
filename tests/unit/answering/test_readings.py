"""Questions that say too little get each reading; questions that name what they mean do not."""

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus

from agentic_rag.answering.answer import AbstentionReason, Answer, Outcome


def limits() -> Corpus:
    corpus = Corpus()
    corpus.add("files.md", "File service", "# Uploads\n\nThe limit is 50 MB for each file. Guests upload nothing.")
    corpus.add("travel.md", "Travel", "# Hotels\n\nThe limit is 140 euros a night. Breakfast is included.")
    corpus.add("cards.md", "Purchasing cards", "# Limit\n\nThe limit is 2,500 euros a month. The bank sets it.")
    corpus.add("lunch.md", "Canteen", "# Lunch\n\nLunch is served from noon to two o'clock in the hall.")
    return corpus


async def asked(corpus: Corpus, question: str) -> Answer:
    world = World(corpus)
    answer = (await world.ask(question)).answer
    await world.recorder.aclose()
    return answer


async def test_each_reading_is_a_line_with_what_it_is_about_and_its_own_citation() -> None:
    answer = await asked(limits(), "What is the limit?")

    assert answer.outcome is Outcome.UNDERSPECIFIED
    assert sorted(line[: line.index(" [")] for line in answer.text.splitlines()) == [
        "- File service › Uploads — The limit is 50 MB for each file.",
        "- Purchasing cards › Limit — The limit is 2,500 euros a month.",
        "- Travel › Hotels — The limit is 140 euros a night.",
    ]
    assert {one.snippet for one in answer.citations} == {
        "The limit is 50 MB for each file.",
        "The limit is 140 euros a night.",
        "The limit is 2,500 euros a month.",
    }
    assert all(one.verified and one.answer_spans for one in answer.citations)
    assert answer.abstention is not None
    assert answer.abstention.reason is AbstentionReason.UNDERSPECIFIED
    assert not answer.abstention.nearest


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the limit for hotels?", "140 euros"),
        ("What is the limit for uploads?", "50 MB"),
    ],
)
async def test_a_question_that_names_the_thing_has_one_reading(question: str, value: str) -> None:
    answer = await asked(limits(), question)

    assert answer.outcome is not Outcome.UNDERSPECIFIED
    assert value in answer.text


async def test_the_same_value_everywhere_is_one_reading() -> None:
    corpus = Corpus()
    corpus.add("files.md", "File service", "# Uploads\n\nThe limit is 50 MB for each file.")
    corpus.add("mail.md", "Mail", "# Attachments\n\nThe limit is 50 MB for each message.")

    assert (await asked(corpus, "What is the limit?")).outcome is not Outcome.UNDERSPECIFIED


async def test_two_texts_on_one_subject_disagree_and_are_no_readings() -> None:
    corpus = Corpus()
    corpus.add("terms.md", "Terms of the garage", "# Garage\n\nThe notice period of the garage is four weeks.")
    corpus.add("memo.md", "Memo on the garage", "# Garage\n\nThe notice period of the garage is six weeks.")

    assert (await asked(corpus, "How long is the notice period?")).outcome is Outcome.CONFLICTING


async def test_a_text_about_nothing_but_what_is_asked_is_the_one_that_is_meant() -> None:
    corpus = Corpus()
    corpus.add(
        "handbook.md",
        "Employee handbook",
        "# Leave\n\nEvery employee has 30 days of leave a year.\n\n"
        "# Leave for a wedding\n\nEmployees have two days of leave for a wedding.",
    )

    answer = await asked(corpus, "How many days of leave do I have?")

    assert answer.outcome is not Outcome.UNDERSPECIFIED
    assert "30 days" in answer.text


async def test_a_name_of_two_things_has_a_reading_for_each() -> None:
    corpus = Corpus()
    corpus.add(
        "notes.md", "Atlas 4", "Atlas is our planning software. It was new then. Atlas was released on 12 March 2024."
    )
    corpus.add("lifter.md", "Vacuum lifter", "Atlas is a lifter for glass. Atlas was released on 4 November 2021.")

    answer = await asked(corpus, "When was Atlas released?")

    assert answer.outcome is Outcome.UNDERSPECIFIED
    assert "12 March 2024" in answer.text
    assert "4 November 2021" in answer.text


async def test_two_dates_of_one_thing_under_one_name_disagree() -> None:
    corpus = Corpus()
    corpus.add("notes.md", "Atlas 4", "Atlas is our planning software. Atlas was released on 12 March 2024.")
    corpus.add("press.md", "Press", "Atlas is a software for large yards. Atlas was released on 4 November 2021.")

    assert (await asked(corpus, "When was Atlas released?")).outcome is Outcome.CONFLICTING


async def test_a_request_for_all_of_them_is_a_list_and_no_question_of_readings() -> None:
    assert (await asked(limits(), "Which limits are there?")).outcome is not Outcome.UNDERSPECIFIED


async def test_a_value_of_another_thing_is_no_conflict_where_the_question_names_one() -> None:
    corpus = Corpus()
    corpus.add("cooling.md", "Cooling plant", "# Operating values\n\nThe operating pressure is 18 bar.")
    corpus.add("air.md", "Compressed air station", "# Operating values\n\nThe operating pressure is 7.5 bar.")
    for number in range(12):
        corpus.add(f"shift-{number}.md", f"Shift {number}", f"The plant for cooling has a log of shift {number}.")

    answer = await asked(corpus, "What is the operating pressure of the cooling plant?")

    assert answer.outcome is not Outcome.CONFLICTING
    assert "18 bar" in answer.text
    assert "7.5 bar" not in answer.text


async def test_one_thing_said_to_be_in_two_places_is_one_reading() -> None:
    corpus = Corpus()
    corpus.add("book.md", "Encyclopedia", "Skerry Airways was an airline based in Port Aldery.")
    corpus.add("old.md", "Archive", "Skerry Airways was an airline based in Lunna Haven. It flew for ten years.")

    assert (await asked(corpus, "Where was Skerry Airways based?")).outcome is Outcome.CONFLICTING


@pytest.mark.parametrize(
    ("titles", "outcome"),
    [
        (("Data sheet", "Price list"), Outcome.CONFLICTING),
        (("Pumps in March", "Pumps in April"), Outcome.UNDERSPECIFIED),
    ],
)
async def test_a_row_with_another_value_in_two_documents_contradicts_unless_each_is_of_its_own_time(
    titles: tuple[str, str], outcome: Outcome
) -> None:
    corpus = Corpus()
    for title, rate in zip(titles, (40, 45), strict=True):
        rows = f"| Pump | Rate | Weight |\n|---|---|---|\n| Skerry P-3 | {rate} l/min | 20 kg |"
        corpus.add(f"{title}.md", title, rows)

    answer = await asked(corpus, "What is the pump rate of Skerry P-3?")

    assert answer.outcome is outcome
    assert "40 l/min" in answer.text
    assert "45 l/min" in answer.text
