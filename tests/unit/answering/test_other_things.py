"""What is said of another thing of the kind that the question names is no answer."""

from __future__ import annotations

import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.evidence.other_things import (
    is_of_other_things,
    leaves_name_out,
    without_other_models,
)
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.text_units import UnitKind

CATCH = "Catch in tonnes\n| Fish | {} | {} |\n|---|---|---|\n| Cod | 12 | 15 |\n| Eel | 2 | 3 |"
BERTHS = "Pontoon | Length | Member\nC | 12 | 1980\nD | 15 | 2450"


def is_other(question: str, text: str, quote: str = "", title: str = "Notes") -> bool:
    start = text.index(quote)
    said = DraftSentence(0, 0, start, start + len(quote or text), quote, UnitKind.PROSE, 1.0)
    return is_of_other_things(question, [said], [passage(1, title, text)])


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the depth at buoy G5?", "The depth at buoy G3 has fallen to 2.1 metres."),
        ("What was decided about the pillars on pontoon D?", "The pillars on pontoon B trip in rain."),
        ("How many days of holiday do part-time staff have?", "Full-time staff have 29 days of holiday."),
        ("How often is the PX-5 calibrated?", "The PX-3 is calibrated every month."),
        ("Who rents the second floor?", "The third floor is rented by Halden."),
        ("What does clause 4 say?", "Clause 3 names the insured sum."),
        ("What ends phase II?", "Phase 3 ends with a test."),
        ("Welche Pumpe steht in Halle 2?", "In Halle 3 steht die mobile Pumpe."),
        ("What is the default of limits.connections?", "The default of limits.message_size is 4 MiB."),
        ("What is the default of limits.connections?", "limits.message_size: larger messages close the connection."),
        ("What does --retry-max do?", "--retry-delay sets the pause between two tries."),
        ("What is MAX_WORKERS set to?", "MAX_CLIENTS is set to 12."),
        ("How large may maxBodySize be?", "The maxHeadSize may be 64 kB."),
        ("How long may the F140 be held?", "The F75 may be held for up to 45 minutes."),
        ("What is the serial number of BRN-04?", "The serial number of SKN-04 is TV-1200."),
    ],
)
def test_another_thing_of_the_kind_is_told(question: str, text: str) -> None:
    assert is_other(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the depth at buoy G5?", "At G5 it is 3 metres, at buoy G3 2.1 metres."),
        ("What is the serial number of BRN-04?", "The serial number of BRN-04 is TV-1200."),
        ("What is the serial number of BRN-04?", "Its serial number is on the plate."),
        ("What ends phase II?", "Phase two ends with a test, phase 3 with a report."),
        ("Is there cooling on floor 4?", "Cooling is available on floors 3 to 5."),
        ("When does department H eat?", "Departments A–F eat first, departments G–M second."),
        ("How many part-time workers are there?", "There are nine part time workers and full-time ones."),
        ("What does the 21st century bring?", "The twenty-first century brings more of it."),
        ("Which permit costs 40 euros?", "The permit costs 50 euros."),
        ("What happened on May 5?", "It opened on May 12."),
        ("How long is a lift?", "Lift 3 is 2 metres long."),
        ("What is the default of limits.connections?", "The default of `limits.connections` is 4, of limits.queue 8."),
        ("Does maxBodySize go before maxHeadSize?", "See maxTime: maxBodySize is looked at first."),
        ("Combien vaut un titre-restaurant ?", "Les titres-restaurant ont une valeur de 9,50 €."),
        ("What is limits.connections?", "[limits] connections = 4  # see limits.queue"),
        ("What does --retry-max do?", "With retry_max a caller says how often it tries, with retry_delay how soon."),
        ("What is the default of limits.connections?", "By default 4 connections are open."),
        ("Who reads logs of example.com?", "The file backup.tar is read by Ada."),
    ],
)
def test_the_thing_itself_and_what_tells_no_things_apart_pass(question: str, text: str) -> None:
    assert not is_other(question, text)


def test_what_stands_above_or_before_a_quote_says_what_it_is_about() -> None:
    said = "Unlike pontoon B it has no lamps."

    assert is_other("Has pontoon D lamps?", said, said)
    assert not is_other("Has pontoon D lamps?", said, said, title="Pontoon D")
    assert not is_other("Has pontoon D lamps?", f"Pontoon D is new. {said}", said)


@pytest.mark.parametrize("key", ["maxBodySize", "APIGroupDiscoveryList"])
def test_a_key_may_stand_above_a_quote(key: str) -> None:
    said = "Unlike maxHeadSize and APIGroupList it has a default."

    assert is_other(f"Which default has {key}?", said, said)
    assert not is_other(f"Which default has {key}?", said, said, title=f"About {key}")


def test_a_row_is_of_what_its_cell_names_under_the_kind() -> None:
    assert not is_other("What does a member pay on pontoon C?", BERTHS, "C | 12 | 1980")
    assert is_other("What does a member pay on pontoon E?", BERTHS, "C | 12 | 1980")


@pytest.mark.parametrize(
    ("years", "title", "expected"),
    [
        (("2021", "2022"), "Notes", True),
        (("2019", "2020"), "Notes", False),
        (("2018/19", "2019/20"), "Notes", False),
        (("31.12.2021", "31.12.2022"), "Notes", True),
        (("31.12.2018", "31.12.2019"), "Notes", False),
        (("2021", "2022"), "Catch from 2017 to 2022", False),
        (("North", "South"), "Notes", False),
    ],
)
def test_a_row_under_other_years_is_of_another_year(years: tuple[str, str], title: str, expected: bool) -> None:
    question = "How much cod was caught in 2019?"
    text = CATCH.format(*years)

    assert is_other(question, text, "| Cod | 12 | 15 |", title) is expected
    assert is_other(question, text, text[text.index("| Fish") :], title) is expected
    assert not is_other("How much cod was caught?", text, "| Cod | 12 | 15 |", title)


@pytest.mark.parametrize("question", ["Who is the president of France?", "President of France in 2020?"])
def test_what_is_of_something_with_a_name_stands_where_that_name_or_a_form_of_it_does(question: str) -> None:
    assert is_other(question, "The president of the club is Anna Lind.")
    assert is_other(question, "The president of Finland came in 2019.")
    assert not is_other(question, "The French president came in 2019.")
    assert not is_other(question, "He has been its president since 2017.", title="France")
    assert not is_other("Which paint does the president of France like?", "Red paint, says the guest.")
    assert not is_other("Who is the head of IT?", "Anna Lind heads the computers team.")


def test_another_things_office_holder_is_no_answer() -> None:
    mayor = "Who is the mayor of New York?"

    assert is_other(mayor, "The mayor of Boston has a new office.")
    assert is_other("Who is the president of France?", "The president of Ukraine, Olena Hai, came back from France.")
    assert is_other("Who is the president of France?", "Frank Berg is the president of Finland.")
    assert is_other("What is the capital of South Korea?", "Pyongyang is the capital of North Korea.")
    assert not is_other(mayor, "The mayor of New York is Ada Brink.")
    assert not is_other(mayor, "New York has had a mayor since 1665: Ada Brink.")
    assert not is_other("Who is the president of the United States?", "The US president is Ada Brink.")
    assert not is_other("Who is the president of Italy?", "The Italian head of state and president is Ada Brink.")


def test_an_office_by_its_letters_and_what_is_no_name_are_no_other_things() -> None:
    assert not is_other("Who is the head of Human Resources?", "Head of HR: Ada Brink.")
    assert not is_other("What is the date of Birth?", "DOB: 3 May 1970")
    assert not is_other("What is the date of Birth?", "Born on 3 May 1970 in Nordby.")
    assert not is_other("What are the terms of Payment?", "Invoices are due within 30 days.")


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("What is a WARN notice?", "To warn of a stall, it has a stick shaker.", True),
        ("What does IT cost?", "It costs 30 crowns.", True),
        ("Who is WHO?", "The yard chose the eel, who is fierce.", True),
        ("What is a WARN notice?", "A WARN notice is sent to warn of layoffs.", False),
        ("What does IT cost?", "It is 30 crowns for the IT of a desk.", False),
        ("How is a PDF printed?", "The pdf is printed by the yard.", False),
        ("WHAT IS IT?", "It is a boat.", False),
        ("Who is the US president?", "He told us that the U.S. president is Ada Brink.", False),
    ],
)
def test_an_abbreviation_is_no_word_of_ordinary_language(question: str, text: str, other: bool) -> None:
    assert is_other(question, text) is other


GAS = "Instability: Bitcoin has no block reward.\n" + "It is not said here. " * 12 + "\nThe gas limit is 8 million gas."


@pytest.mark.parametrize(
    ("question", "title", "is_left_out"),
    [
        ("What is the gas limit of Bitcoin?", "EIP-1559", True),
        ("What is the gas limit of Bitcoin?", "Bitcoin and gas", False),
        ("What is the gas limit?", "EIP-1559", False),
        ("What is the gas limit on a Million Gas chain?", "EIP-1559", False),
        ("What is the gas limit on Saturdays?", "Saturday and Sunday", False),
    ],
)
def test_a_sentence_far_from_the_name_asked_about_is_not_of_it(question: str, title: str, is_left_out: bool) -> None:
    start = GAS.index("The gas limit")
    said = DraftSentence(0, 0, start, len(GAS), GAS[start:], UnitKind.PROSE, 1.0)
    assert leaves_name_out(question, [said], [passage(1, title, GAS)]) is is_left_out


def test_a_name_that_ends_in_s_is_not_the_one_without() -> None:
    text = "William joined the board in 2019."
    said = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)
    assert leaves_name_out("When did Williams join the board?", [said], [passage(1, "Notes", text)])
    assert not leaves_name_out("When did William join the board?", [said], [passage(1, "Notes", text)])


def test_a_word_that_begins_with_the_name_is_one_of_it() -> None:
    text = "On macOS run brew install."
    said = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)
    assert not leaves_name_out("Which command installs it on a Mac?", [said], [passage(1, "Notes", text)])


MANUAL = "# Kilns\n\n## The F75\n\nIt stands 30 cm from any wall.\n\n## The F140\n\nIt stands 40 cm from any wall."


def sentence_of(quote: str) -> DraftSentence:
    start = MANUAL.index(quote)
    return DraftSentence(0, 0, start, start + len(quote), quote, UnitKind.PROSE, 1.0)


def test_what_stands_under_the_heading_of_another_model_is_of_that_one() -> None:
    near, far = "It stands 30 cm from any wall.", "It stands 40 cm from any wall."

    assert is_other("How far from the wall must the F140 stand?", MANUAL, near)
    assert not is_other("How far from the wall must the F140 stand?", MANUAL, far)
    assert not is_other("How far from the wall must a kiln stand?", MANUAL, near)


def test_what_stands_under_the_heading_of_another_one_of_a_name_is_of_that_one() -> None:
    manual = MANUAL.replace("The F75", "Vidar 3").replace("The F140", "Vidar 7")

    assert is_other("How far from the wall must the Vidar 7 stand?", manual, "It stands 30 cm from any wall.")
    assert not is_other("How far from the wall must the Vidar 7 stand?", manual, "It stands 40 cm from any wall.")


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("How far from the wall must the F75 stand?", ["30 cm"]),
        ("How far from the wall must the F140 stand?", ["40 cm"]),
        ("How far from the wall must the F40 stand?", ["30 cm", "40 cm"]),
        ("How far from the wall must the F75 and the F140 stand?", ["30 cm", "40 cm"]),
    ],
)
def test_what_is_said_of_another_model_is_left_out_beside_what_is_said_of_the_one(
    question: str, kept: list[str]
) -> None:
    said = [sentence_of("It stands 30 cm from any wall."), sentence_of("It stands 40 cm from any wall.")]

    left = without_other_models(question, said, [passage(1, "Kilns", MANUAL)])

    assert [one.text[10:15] for one in left] == kept
