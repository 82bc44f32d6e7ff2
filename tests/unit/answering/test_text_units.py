import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.extraction.answer_type_match import states_answer
from agentic_rag.answering.extraction.contradiction import contradicts
from agentic_rag.answering.extraction.text_units import UnitKind, classify_unit, format_unit, may_be_heading
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.tables import header_span, row_spans


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        ("Transfers stop when waves exceed 1.5 m.", UnitKind.PROSE),
        ("## Wave limits", UnitKind.HEADING),
        ("Wave limits", UnitKind.HEADING),
        ("3.1 Wave limits for transfers", UnitKind.HEADING),
        ("3. WHAT WE DO IN ANOTHER WAY", UnitKind.HEADING),
        ("Article 4 - Moving money", UnitKind.HEADING),
        ("§ 3 End of membership", UnitKind.HEADING),
        ("Section 4 applies to all boats of the club.", UnitKind.PROSE),
        ("Table 2. Where to gather.", UnitKind.HEADING),
        ("|---|:--|", UnitKind.HEADING),
        ("| Selkie | 20.0 m |", UnitKind.TABLE_ROW),
        ("Rotor diameter 20.0 m", UnitKind.TABLE_ROW),
        ("- Wear a life jacket", UnitKind.LIST_ITEM),
        ("You must bring:", UnitKind.LEAD_IN),
        ("Is it safe to go?", UnitKind.QUESTION),
        ("**Is it safe to go?**", UnitKind.QUESTION),
        ("- [Is it safe to go?](#safe)", UnitKind.QUESTION),
        ("3. Which harbour serves the ferry", UnitKind.QUESTION),
        ("- How often does the ferry sail in winter", UnitKind.QUESTION),
        ("- [Can I pay by invoice](#pay)", UnitKind.QUESTION),
        ("| 4 | Who repairs the street lights? |", UnitKind.QUESTION),
        ("| Who repairs the street lights? | The town does |", UnitKind.TABLE_ROW),
        ("| 4 | 12 |", UnitKind.TABLE_ROW),
        ("**Is it safe to go?** The harbour master says when.", UnitKind.PROSE),
        ("- What you need is a valid passport", UnitKind.LIST_ITEM),
        ("- Should it rain, the hall is open", UnitKind.LIST_ITEM),
        ("- How to reset the pump", UnitKind.LIST_ITEM),
        ("- Do the washing before noon", UnitKind.LIST_ITEM),
        ("- May the 4th is a holiday", UnitKind.LIST_ITEM),
        ("- Is an employee of Halden for five years", UnitKind.LIST_ITEM),
        ("- Has a driving licence for two years", UnitKind.LIST_ITEM),
        ("- Are the property of the yard", UnitKind.LIST_ITEM),
        ("- Is it safe to go out", UnitKind.QUESTION),
        ("- May an employee bring a dog", UnitKind.QUESTION),
        ("- WHO Collaborating Centre for Modelling", UnitKind.LIST_ITEM),
        ('The board asked: "Who repairs the street lights?"', UnitKind.PROSE),
        ("© 2025 Corrand Tidal. All rights reserved.", UnitKind.BOILERPLATE),
        ("Corrand Tidal - Quarterly report Page 2", UnitKind.BOILERPLATE),
        ("Yes.", UnitKind.FRAGMENT),
    ],
)
def test_a_unit_is_recognised_for_what_it_is(unit: str, kind: UnitKind) -> None:
    assert classify_unit(unit) is kind


@given(st.lists(st.sampled_from(["#", "3.1", "Table", "limits", "-", "|", "Wave", "=", "2.", ":"]), min_size=1))
def test_what_is_a_heading_may_be_one(pieces: list[str]) -> None:
    unit = " ".join(pieces)
    assert may_be_heading(unit) or classify_unit(unit) is not UnitKind.HEADING


def test_a_line_of_more_words_than_a_heading_has_is_none_without_a_mark() -> None:
    assert not may_be_heading("word " * 12 + "word")
    assert may_be_heading("# " + "word " * 12 + "word")


def test_the_rest_of_a_sentence_that_a_chunk_cuts_is_a_fragment() -> None:
    assert classify_unit("and then returns to the harbour.", cut_off=True) is UnitKind.FRAGMENT


def test_a_sentence_reads_without_line_breaks_and_mark_up() -> None:
    assert format_unit("The **wave**\nlimit is [here](http://x) , `1.5 m`") == "The wave limit is here, 1.5 m."
    assert format_unit("He joined in 1914.[23][24]: 105") == "He joined in 1914."
    assert format_unit("Sorted, [1] comes before a[2].") == "Sorted, [1] comes before a[2]."


def test_a_table_row_reads_with_the_names_of_its_columns() -> None:
    table = "| Type | Rotor | Power |\n|---|---|---|\n| Selkie | 20.0 m | 1.2 MW |\n| Kelpie | 14.0 m | 0.6 MW |"
    start = table.index("| Kelpie")
    header = header_span(table, start)
    assert header is not None
    text = format_unit(table[start:], table[slice(*header)])
    assert text == "Kelpie — Rotor: 14.0 m; Power: 0.6 MW."
    assert header_span(table, 0) is None


def test_a_table_without_outer_bars_is_cut_into_its_rows() -> None:
    text = "Role | Name\nMaster of the workboat Petrel Dawn | Wilf Hastane\nController of the day | Bettina Roake"
    rows = [text[start:end] for start, end in row_spans(text, sentence_spans(text))]
    assert rows == text.split("\n")


@pytest.mark.parametrize(
    ("sentence", "kind", "question", "expected"),
    [
        ("The Selkie 1200 is large.", AnswerType.FIGURE, "How wide is the Selkie 1200?", False),
        ("The Selkie 1200 spans 20 m.", AnswerType.FIGURE, "How wide is the Selkie 1200?", True),
        ("It was built in 2021.", AnswerType.FIGURE, "How many were built?", False),
        ("It has eight turbines.", AnswerType.FIGURE, "How many turbines?", True),
        ("It opened in May.", AnswerType.DATE, "When did it open?", True),
        ("It opened late.", AnswerType.DATE, "When did it open?", False),
        ("It replaces Directive 2018–23–51.", AnswerType.DATE, "What is its effective date?", False),
        ("It is in docket FAA–2020–0686.", AnswerType.DATE, "What is its effective date?", False),
        ("It is effective from 2018-12-21.", AnswerType.DATE, "What is its effective date?", True),
        ("It was in force in 2018–19.", AnswerType.DATE, "When was it in force?", True),
        ("Oona Pellgrave runs it.", AnswerType.PERSON, "Who runs it?", True),
        ("Corrand Tidal runs it.", AnswerType.PERSON, "Who runs Corrand Tidal?", False),
        ("Minutes of the team meeting on 11 May.", AnswerType.PERSON, "Who was at the team meeting?", False),
        ("The Chief Executive decides; one can object.", AnswerType.PERSON, "Who is our chief executive?", False),
        ("The Chief Executive Ada Brink decides.", AnswerType.PERSON, "Who is our chief executive?", True),
        ("The captain left the team.", AnswerType.PERSON, "Who left the team?", True),
        ("The head of the team is Anna.", AnswerType.PERSON, "Who is the head of the team?", True),
        ("Estimate (ID: EST-1008).", AnswerType.FACT, "what's the phone number of the estimator", False),
        ("Estimate of 2022.", AnswerType.FACT, "What is the phone number of the estimator?", False),
        ("Estimator: (425) 000-0000.", AnswerType.FACT, "What is the phone number of the estimator?", True),
        ("Invoices: Jasper Noll, -215.", AnswerType.FACT, "What is the phone number for invoices?", True),
        ("Write to the yard.", AnswerType.FACT, "What is the email address of the yard?", False),
        ("Write to yard@nordby.example.", AnswerType.FACT, "What is the email address of the yard?", True),
        ("The yard has a page.", AnswerType.FACT, "What is your website?", False),
        ("Title: Accordeuse de piano", AnswerType.FACT, "Quel est le téléphone de l'accordeuse de piano ?", False),
        ("Accordeuse : 05 61 00 44 21", AnswerType.FACT, "Quel est le téléphone de l'accordeuse de piano ?", True),
        ("Der Hausmeister wohnt hier.", AnswerType.FACT, "Wie lautet die Telefonnummer des Hausmeisters?", False),
        ("Das Telefon steht im Flur.", AnswerType.FACT, "Wo steht das Telefon?", True),
        ("Nachts ins Pförtnerhaus.", AnswerType.FACT, "Wie ist das Telefon nachts umgeleitet?", True),
        ("Der Leiter entscheidet.", AnswerType.FACT, "Wie ist die E-Mail-Weiterleitung geregelt?", True),
        ("Der Pförtner weiß sie.", AnswerType.FACT, "Wie ist die Telefonnummer des Pförtners?", False),
        ("It covers damage.", AnswerType.FACT, "What is the deposit for?", True),
        ("It is negative.", AnswerType.FACT, "What is the charge of the electron?", True),
        ("Escriba a la oficina.", AnswerType.FACT, "¿Cuál es el correo electrónico de la oficina?", False),
        ("La segreteria: a@b.example", AnswerType.FACT, "Qual è l'indirizzo e-mail della segreteria?", True),
    ],
)
def test_an_answer_must_hold_more_than_the_question_names(
    sentence: str, kind: AnswerType, question: str, expected: bool
) -> None:
    assert states_answer(sentence, kind, question) is expected


def test_the_same_statement_with_another_figure_disagrees() -> None:
    left = "The wave limit for crew transfer is 1.5 m."
    assert contradicts(left, "The wave limit for crew transfer is 1.8 m.")
    assert not contradicts(left, "The wave limit for crew transfer is 1.5 m.")
    assert not contradicts(left, "The budget of the quarter was 12,000 pounds.")
    assert not contradicts("In 2023 the site produced 900 MWh.", "In 2024 the site produced 950 MWh.")
    assert contradicts("The site was built in 1998.", "The site was built in 1999.", about_dates=True)


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        ("病気で休むとき", UnitKind.HEADING),
        ("勤務時間", UnitKind.HEADING),
        ("年休假", UnitKind.HEADING),
        ("食堂は2階にあります。", UnitKind.PROSE),
        ("作業者の手に", UnitKind.PROSE),
        ("担当:菅原大輔", UnitKind.PROSE),
        ("1. 始業時刻までに上司に電話で連絡します。", UnitKind.LIST_ITEM),
        ("1. 労働災害", UnitKind.HEADING),
        ("- 帽子", UnitKind.FRAGMENT),
    ],
)
def test_where_no_spaces_stand_between_words_length_and_marks_tell_the_kind(unit: str, kind: UnitKind) -> None:
    assert classify_unit(unit) is kind
