import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.segmented_text import SegmentedText
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.term_matching import find_hits, mask_of, weigh_terms
from agentic_rag.answering.extraction.text_blocks import TextBlockKind, find_blocks
from agentic_rag.answering.extraction.text_units import UnitKind, stands_among_labels
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.tables import split_properties

TEXT = "# Limits\n\nCrew transfer stops at 1.5 m. The master decides.\n\nYou must bring:\n\n- a life jacket\n- boots"


def test_a_paragraph_that_announces_a_list_brings_it_along() -> None:
    reading = SegmentedText(TEXT, cut_off=False)
    place = reading.block_of(TEXT.index("You must"))
    start, end = reading.block(place)
    assert TEXT[start:end].strip().startswith("You must bring:")
    assert TEXT[start:end].endswith("- boots")


def headings(text: str, before: str) -> list[str]:
    """The headings above the paragraph that holds `before`."""
    reading = SegmentedText(text, cut_off=False)
    return [text[slice(*one)] for one in reading.headings(reading.block_of(text.index(before)))]


def test_a_paragraph_stands_under_the_heading_above_it() -> None:
    assert headings(TEXT, "Crew") == ["# Limits"]
    assert headings("Wave limits\n\nTransfers stop at 1.5 m.\n\nThe master decides.", "master") == ["Wave limits"]
    long = "Transfers stop at once when the waves in the sound exceed one and a half metres\n\nElse not."
    assert headings(long, "Else") == []


def test_a_paragraph_stands_under_all_headings_of_higher_levels() -> None:
    text = (
        "# Notes\n\n## 5.1\n### New\n- Quarantine for pallets.\n\n### Upgrade\nStop the service.\n\n"
        "## 5.0\n\nSwitched off."
    )

    assert headings(text, "Quarantine") == ["# Notes", "## 5.1", "### New"]
    assert headings(text, "Stop") == ["# Notes", "## 5.1", "### Upgrade"]
    assert headings(text, "Switched") == ["# Notes", "## 5.0"]


@pytest.mark.parametrize(
    "text",
    [
        "Opening\n\nSick notes\nFor the first seven days you certify yourself.",
        "Opening\n\n**A label does not print.**\nLook whether there is a red light.",
        "Opening\n\nHow do I join?\nFill in the form at the desk.",
        "Opening\n\nWhat Not to Flush\n- Nappies\n- Wipes",
        "- Oil\n- Grease\n\n2. Have Your Pipes Inspected by a Plumber Every Year\n\nInspections find leaks early.",
    ],
)
def test_the_first_line_of_a_paragraph_may_head_it(text: str) -> None:
    reading = SegmentedText(text, cut_off=False)
    start, end = reading.headings(len(reading.ends) - 1)[-1]
    assert text[start:end] == text.split("\n\n")[-2 if "\n2. " in text else -1].split("\n")[0]
    assert reading.kind((start, end)) in (UnitKind.HEADING, UnitKind.QUESTION)


@pytest.mark.parametrize(
    "text",
    [
        "The pump was stopped on Monday and the\nValve stayed shut until the fitter came on Tuesday.",
        "Present: Ada Hill\nThe chair opened the meeting and welcomed everybody who had come.",
        "1. Ask the lender for a condition report\n\n2. Have the agreement signed by the director",
        "Adult ticket 9.50\nFamilies of two adults and three children pay seventeen pounds.",
    ],
)
def test_lines_of_running_text_items_and_values_head_nothing(text: str) -> None:
    reading = SegmentedText(text, cut_off=False)
    assert [reading.headings(place) for place in range(len(reading.ends))] == [()] * len(reading.ends)


def test_the_terms_found_are_those_of_the_question_asked_last() -> None:
    reading = SegmentedText(TEXT, cut_off=False)
    for asked in ("crew boots", "master", "crew boots", ""):
        terms = weigh_terms(asked.split(), {})
        assert reading.hits(terms) == find_hits(reading.low, terms)
        assert reading.mask(terms) == mask_of(reading.low, terms)


def test_a_table_of_three_columns_is_no_front_of_a_document() -> None:
    keys = "Owner | Ada\n--- | ---\nVersion | 3.2"

    assert SegmentedText("Rows 2–3\n\nCargo | 2021 | 2022\n--- | --- | ---\nGrain | 1 | 2", False).front_end() == 8
    assert SegmentedText(keys, False).front_end() == len(keys)


def units(text: str) -> list[tuple[str, UnitKind]]:
    reading = SegmentedText(text, cut_off=False)
    spans = [one for place in range(len(reading.ends)) for one in reading.sentences(reading.block(place))[0]]
    return [(text[slice(*one)], reading.kind(one)) for one in dict.fromkeys(spans)]


def test_each_line_with_a_label_among_others_is_a_unit() -> None:
    lines = ["Present: A. Miller, B. Jones", "Excused: D. Lunt (secretary)", "Minutes: J. Pettersson, for D. Lunt"]

    assert units("\n".join(lines)) == [(line, UnitKind.LIST_ITEM) for line in lines]
    assert units(lines[0] + "\n\nThe board meets.")[0] == (lines[0], UnitKind.HEADING)
    wrapped = "The board discussed three things that its members had brought\nalong: the roof, the lift and the yard."
    assert units(wrapped) == [(wrapped, UnitKind.PROSE)]


def test_the_entries_of_a_list_of_references_say_nothing() -> None:
    text = "Bread rises [1] fast.\n\n[1] D. Koester and A. Cowen, Design Handbook. Grenoble, 2003.\n[2] See the yard."

    assert [kind for _, kind in units(text)] == [
        UnitKind.PROSE,
        UnitKind.BOILERPLATE,
        UnitKind.FRAGMENT,
        UnitKind.PROSE,
    ]


SETTINGS = """services:
  postgres:
    image: pgvector/pgvector:0.8-pg17
    restart: always
  redis:
    image: valkey/valkey:9.1-alpine
    ports: ["127.0.0.1:6379:6379"]"""
FRONTED = "---\neip: 1559\nstatus: Final\n---\n\n## Abstract\n\nThe base fee is burned."


def said(text: str) -> list[str]:
    reading = SegmentedText(text, cut_off=False)
    return [
        text[slice(*one)] for place in range(len(reading.ends)) for one in reading.sentences(reading.block(place))[0]
    ]


def test_each_setting_is_a_unit_of_its_own() -> None:
    assert said(SETTINGS) == [line.strip() for line in SETTINGS.split("\n")]
    assert said("LIMIT = 8\nFACTOR = 2\n\nThe limit is high.") == ["LIMIT = 8", "FACTOR = 2", "The limit is high."]


def test_steps_of_a_program_stay_together() -> None:
    program = "gas = limit // FACTOR\nleft = self.run(gas)\nreturn left"
    assert said(program) == [program]


def test_each_line_of_front_matter_is_a_unit_and_none_is_of_a_section() -> None:
    assert said(FRONTED)[:4] == ["---", "eip: 1559", "status: Final", "---"]
    assert [FRONTED[one.start : one.end] for one in find_blocks(FRONTED)] == ["The base fee is burned."]


@pytest.mark.parametrize(
    ("question", "wanted"), [("What is the status of EIP-1559?", "status: Final"), ("Is EIP 1559 final?", "eip: 1559")]
)
def test_a_setting_that_says_what_is_asked_is_no_unit(question: str, wanted: str) -> None:
    kind = AnswerType.YES_NO if question.startswith("Is") else AnswerType.FACT
    part = build_subquery(question, kind, {})
    units = PartUnits(part, 0, [passage(0, "Fee market", FRONTED)]).all_units()
    quoted = [FRONTED[one.start : one.end] for one in units]
    assert wanted in quoted
    assert ("eip: 1559" in quoted) is (kind is AnswerType.YES_NO)


def test_what_stands_below_a_rule_is_no_front_matter() -> None:
    ruled = "---\n\n1. Open the valve.\n2. Press start.\n\n---\n\nMore text."
    assert find_blocks(ruled)[0].kind is TextBlockKind.LIST


def test_a_setting_whose_value_the_question_has_is_a_unit() -> None:
    text = "Winner: Ann Lee\nLoser: Bob Ray"
    part = build_subquery("Who was the winner, Ann Lee or Bob Ray?", AnswerType.PERSON, {})
    units = PartUnits(part, 0, [passage(0, "Chess", text)]).all_units()
    assert {text[one.start : one.end] for one in units} == {"Winner: Ann Lee", "Loser: Bob Ray"}


def test_a_label_is_not_beside_itself() -> None:
    alone, two = "The desk\nFee: £0.60", "The desk\nFee: £0.60\nDeposit: £5"
    assert not stands_among_labels(alone, alone.index("Fee"), len(alone))
    assert stands_among_labels(two, two.index("Deposit"), len(two))


def sentences(text: str) -> list[str]:
    """The units of the first paragraph."""
    reading = SegmentedText(text, cut_off=False)
    return [text[slice(*one)] for one in reading.sentences(reading.block(0))[0]]


def test_a_question_that_opens_its_line_is_one_with_what_answers_it() -> None:
    assert sentences("Is the lift open at night? Yes, until 2 am. It is slow.") == [
        "Is the lift open at night? Yes, until 2 am.",
        "It is slow.",
    ]
    assert sentences("- Can I keep a cat? Yes.\n- How many keys do I get? Three") == [
        "- Can I keep a cat? Yes.",
        "- How many keys do I get? Three",
    ]
    assert sentences("**What if I leave the county?** The money is paid back.") == [
        "**What if I leave the county?** The money is paid back."
    ]


def test_a_question_within_a_line_stands_alone() -> None:
    assert sentences("The licence asks. Do animals avoid it? Each chapter answers one.") == [
        "The licence asks.",
        "Do animals avoid it?",
        "Each chapter answers one.",
    ]
    assert len(sentences("Ravi Menon, 09:05: is there power on all ports? A 770 wants 25 watts.")) == 2
    assert sentences("Who are we?\nA club of rowers from Halden.")[-1] == "A club of rowers from Halden."


def sentences_of(text: str) -> list[str]:
    reading = SegmentedText(text, cut_off=False)
    return [text[slice(*one)] for one in reading.sentences((0, len(text)))[0]]


def test_lines_of_names_and_values_in_a_row_are_units_of_their_own() -> None:
    rows = [
        "Rotor 17.0 m",
        "Rated rotor speed 15.6 revolutions per minute",
        "Gearbox Two-stage planetary, ratio 1 to 48",
        "Gearbox oil 210 litres of GO-150",
        "Nacelle mass 62 tonnes",
    ]
    below = "The gravity base sits on the seabed by its own weight; nothing was drilled."

    assert sentences_of("\n".join((*rows, below))) == [*rows, below]


@pytest.mark.parametrize(
    "lines",
    [
        (
            "The base sits on the seabed by its mass",
            "weight as built by the Velde works, Tarn",
            "Hollin Seals since the summer of opening",
            "Year one of the port",
        ),
        (
            "The ring was made by Brightmere and the",
            "Hollin works, as agreed with Seacourse and",
            "Velde, whose yard on Fenn stands beside the",
            "Delmark offices",
        ),
        (
            "Signed for the operator of the machines,",
            "Morwen Tansley of the Fenn community board",
            "Port Aldery office of the Harbour trustees",
            "Room twelve",
        ),
        (
            "Signed for the operator of the machines",
            "Morwen Tansley of the Fenn community board",
            "Port Aldery",
        ),
        (
            "Ships are never allowed to enter the harbour of Brenning",
            "Between dusk and dawn without a pilot or a tug of the Lorrin",
            "Company and the written consent of the Brenning master",
            "Ada Kern",
        ),
        (
            "Die Garantie der Pumpe gilt nicht bei Schäden durch",
            "Frost unter 5 Grad im Keller oder bei",
            "Betrieb ohne Wasser über 20 Minuten nach der",
            "Ersten Wartung in 3 Monaten",
        ),
        (
            "Ships over 20 metres are never allowed to enter Brenning",
            "Between 8 pm and 6 am of 3 days without a pilot or 2 tugs",
            "Berths 40 metres from the gate need 2 consents of the master",
            "Ada Kern",
        ),
    ],
    ids=[
        "a line opens small",
        "a line ends with a function word",
        "a line ends with a comma",
        "too few lines",
        "prose",
        "prose of another language",
        "prose with figures",
    ],
)
def test_other_lines_are_not_cut_where_they_break(lines: tuple[str, ...]) -> None:
    assert sentences_of("\n".join(lines))[0].count("\n") == len(lines) - 1


PROPERTIES = ["Nacelle mass 62 tonnes", "Rotor 17 m", "Design life 20 years", "Hub height 13 m"]


@pytest.mark.parametrize(
    "lines",
    [
        ["Never to be started by hand", "Pump of 20 kW", "Fan of 30 kW", "Saw of 40 kW"],
        ["Excluded machines", "Pump 1", "Pump 2", "Pump 3"],
        ["Excluded machines", "Pump K-1 hall", "Pump K-2 yard", "Pump K-3 roof"],
        ["Not insured", "Damage by water", "Storms and floods", "Theft of bicycles"],
        ["nacelle mass 62 tonnes", *PROPERTIES[1:]],
        ["Nacelle mass 62 tonnes;", *PROPERTIES[1:]],
        ["Nacelle mass 62 tonnes without", *PROPERTIES[1:]],
        ["Without nacelle 62 tonnes", *PROPERTIES[1:]],
        ["Nacelle mass is never 62 tonnes", *PROPERTIES[1:]],
        ["Nacelle mass 62 tonnes " + "M" * 60, *PROPERTIES[1:]],
        PROPERTIES[1:],
    ],
    ids=[
        "what is excluded",
        "numbers without units",
        "codes",
        "no values",
        "one opens small",
        "one breaks off",
        "one runs on",
        "one goes on",
        "one says a sentence",
        "one is long",
        "too few",
    ],
)
def test_lines_that_are_not_all_names_and_values_are_no_table(lines: list[str]) -> None:
    text = "\n".join(lines)

    assert split_properties(text, [(0, len(text))]) == [(0, len(text))]


def test_lines_of_a_table_are_counted_beyond_their_span() -> None:
    text = "\n".join(PROPERTIES)
    middle = len("\n".join(PROPERTIES[:2]))

    assert [text[slice(*one)] for one in split_properties(text, [(0, middle)])] == PROPERTIES[:2]
    assert [text[slice(*one)] for one in split_properties(text, [(middle + 1, len(text))])] == PROPERTIES[2:]


def test_a_line_without_a_value_may_stand_among_names_and_values() -> None:
    text = "\n".join(("Nacelle", "Rotor 17 m", "Design life 20 years", "Hub height 13 m"))

    assert [text[slice(*one)] for one in split_properties(text, [(0, len(text))])] == text.split("\n")
