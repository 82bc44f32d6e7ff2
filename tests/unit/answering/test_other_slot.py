"""Quotes that say of something else what a short question asks for."""

from __future__ import annotations

import time

import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.evidence.other_slot import (
    denies_what_is_asked,
    is_of_other_day,
    is_of_other_pole,
    is_of_other_year,
    is_of_something_else,
    lets_do_it_with_another,
    says_it_of_another,
    tells_of_plan,
    without_others,
)
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.query.planner import detect_answer_type


def quote_of(text: str) -> DraftSentence:
    return DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)


@pytest.mark.parametrize(
    ("question", "text", "is_of_another"),
    [
        ("What is the price of pine boards?", "The price of oak boards is EUR 1,480.", True),
        ("What is the price of pine boards?", "The price of pine boards is EUR 720.", False),
        ("What is the price of pine boards?", "Pine: the price of the boards is EUR 720.", False),
        ("How many items may students borrow?", "Adults may borrow 20 items at a time.", True),
        ("How many items may adults borrow?", "Adults may borrow 20 items at a time.", False),
        ("How many items may we borrow?", "Adults may borrow 20 items at a time.", False),
        ("When is the production database refreshed?", "The staging database is refreshed every Sunday.", True),
        ("When is the production database refreshed?", "The database is refreshed every Sunday.", False),
        ("How much is the deposit for a rental bike?", "The deposit for a cargo bike is 200 euros.", True),
        ("How much is the conference budget?", "Conferences are paid by teams. The training budget is $1,500.", True),
        ("How much is the conference budget?", "For conferences the team has a budget of 1,500 dollars.", False),
        ("Can I bring a cat?", "Can I bring a dog? No.", True),
        ("Can I bring a cat?", "**Can I bring a dog?** No.", True),
        ("Can I bring a dog?", "Can I bring a dog? No.", False),
        ("Can I bring a cat?", "Can I bring a dog? No. Can I bring a cat? Yes.", False),
        ("Can I print it on a shirt?", "It can be printed on a sign. It is not printed on clothes.", False),
        ("Wie viele Stunden arbeiten Werkstudenten?", "Auszubildende arbeiten 35 Stunden in der Woche.", True),
        ("Wie viele Stunden arbeiten Auszubildende?", "Auszubildende arbeiten 35 Stunden in der Woche.", False),
        ("Wie lange beträgt die Garantie für Bürsten?", "Die Garantie für Akkus beträgt ein Jahr.", True),
        ("Combien coûte un repas pour les enfants ?", "Un repas coûte 8 euros pour les visiteurs.", True),
        ("Combien coûte un repas pour les visiteurs ?", "Un repas coûte 8 euros pour les visiteurs.", False),
        ("Combien coûte la carte d'un stagiaire ?", "La carte d'un visiteur coûte 9 euros.", True),
        ("Combien coûte la carte d'un visiteur ?", "La carte d'un visiteur coûte 9 euros.", False),
        ("¿Cuánto cuesta la entrada para jubilados?", "La entrada para adultos cuesta 4 euros.", True),
        ("What is the minimum age for the night sailing course?", "The minimum age for the day course is 10.", True),
        ("What is the minimum age for the night sailing course?", "For night sailing the minimum age is 10.", False),
        ("How many names has the waiting list of the seniors?", "The waiting list for juniors has 11 names.", True),
        ("How many names has the waiting list of the juniors?", "The waiting list for juniors has 11 names.", False),
        ("At how many millimetres are tyres on trailers changed?", "Tyres on the tractor are changed at 3 mm.", True),
        ("At how many millimetres are tyres on tractors changed?", "Tyres on the tractor are changed at 3 mm.", False),
        ("How much are vets paid?", "Nurses are paid 31,400 pounds a year. Vets receive five days of leave.", True),
        ("Wann werden Sommerreifen montiert?", "Winterreifen werden im Oktober montiert.", True),
        ("Wann werden Winterreifen montiert?", "Winterreifen werden im Oktober montiert.", False),
        ("Wann werden Winterreifen montiert?", "Reifen für den Winter werden im Oktober montiert.", False),
    ],
)  # fmt: skip
def test_what_is_said_of_something_else_in_the_same_place_is_told(
    question: str, text: str, is_of_another: bool
) -> None:
    part = build_subquery(question, detect_answer_type(question), {}, (), [text])
    assert says_it_of_another(part, [quote_of(text)], [passage(1, "Notes", text)]) is is_of_another


def test_a_figure_of_a_thing_that_no_text_names_is_said_of_another() -> None:
    text = "A microchip costs £22. Rabbits get one too."
    for thing, is_other in (("ferret", True), ("rabbit", False)):
        part = build_subquery(f"What does a microchip for a {thing} cost?", AnswerType.FIGURE, {}, (), [text])
        assert is_of_something_else(part, [quote_of(text)], [passage(1, "Notes", text)]) is is_other


def test_what_stands_above_a_sentence_tells_of_what_it_is_said() -> None:
    question, text = "What is the price of pine boards?", "The price of planed boards is EUR 720."
    part = build_subquery(question, detect_answer_type(question), {})
    assert says_it_of_another(part, [quote_of(text)], [passage(1, "Oak", text)])
    assert not says_it_of_another(part, [quote_of(text)], [passage(1, "Pine", text)])


@pytest.mark.parametrize(
    ("question", "title", "is_of_other"),
    [
        ("By how much did rents rise in 2024?", "Notes", True),
        ("By how much did rents rise in 2025?", "Notes", False),
        ("By how much did rents rise in 2024?", "Report of 2024", False),
        ("By how much did rents rise?", "Notes", False),
        ("How many people did it employ in 2024?", "Report of 2025", True),
    ],
)
def test_what_is_said_of_other_years_alone_is_told(question: str, title: str, is_of_other: bool) -> None:
    text = "Rents will rise by 3.2 % in 2026. In 2025 they rose by 2.7 %."
    assert is_of_other_year(question, [quote_of(text)], [passage(1, title, text)]) is is_of_other


@pytest.mark.parametrize(
    ("question", "text", "is_of_other"),
    [
        ("When is the reading room open on Fridays?", "It is open on Wednesday from 13 to 17.", True),
        ("When is the reading room open on Fridays?", "It is open from Tuesday to Friday.", False),
        ("When is the reading room open on Fridays?", "It is open Mo–Fr from 9 to 17.", False),
        ("When is the reading room open on Fridays?", "It is open every day except Sunday.", False),
        ("When is the reading room open on Fridays?", "It is open from 9 to 17.", False),
        ("When is the reading room open?", "It is open on Wednesday from 13 to 17.", False),
        ("Quand la salle est-elle ouverte le vendredi ?", "Elle est ouverte le mercredi de 13 h à 17 h.", True),
        ("Wann ist der Saal am Freitag offen?", "Der Saal ist von Dienstag bis Samstag offen.", False),
        ("Wann ist am Dienstag Sprechstunde?", "Mittwoch 9–12 Uhr, werktags 8–16 Uhr", False),
        ("When is the hall open on Fridays?", "Mittwoch 9–12 Uhr, sonst täglich 8–16 Uhr", False),
    ],
)
def test_what_is_said_of_other_days_of_the_week_alone_is_told(question: str, text: str, is_of_other: bool) -> None:
    assert is_of_other_day(question, [quote_of(text)], [passage(1, "Notes", text)]) is is_of_other


@pytest.mark.parametrize(
    ("question", "text", "is_of_other"),
    [
        ("What was the premium in 2024/25?", "The premium of 2025/26 is £612, that of 2026/27 £648.", True),
        ("What was the premium in 2025/26?", "The premium of 2025/26 is £612, that of 2026/27 £648.", False),
        ("What was the premium in 2025/2026?", "The premium of 2025–26 is £612.", False),
        ("What was the premium in 2024/25?", "The premium of 2024 was £600.", False),
    ],
)
def test_two_years_that_are_named_as_one_are_one(question: str, text: str, is_of_other: bool) -> None:
    assert is_of_other_year(question, [quote_of(text)], [passage(1, "Notes", text)]) is is_of_other


@pytest.mark.parametrize(
    ("question", "text", "is_plan"),
    [
        ("When did the science block open?", "The science block will open in May 2027. The gym opened in 2021.", True),
        ("When did the science block open?", "The science block opened in May 2021. A gym will open in 2027.", False),
        ("When does the science block open?", "The science block will open in May 2027.", False),
        ("When did they say that it will open?", "It will open in May 2027.", False),
        ("Wann wurde der Vierer angeschafft?", "Ein Vierer soll 2027 angeschafft werden.", True),
        ("Wann wird der Vierer angeschafft?", "Ein Vierer soll 2027 angeschafft werden.", False),
        ("Wann wurde der Achter verkauft?", "Der Achter wurde 2024 verkauft.", False),
        ("Quand le moteur a-t-il été remplacé ?", "Le moteur sera remplacé au printemps 2026.", True),
        ("¿Cuándo fue inaugurado el puente?", "El puente será inaugurado en mayo de 2027.", True),
        ("¿Cuándo será inaugurado el puente?", "El puente será inaugurado en mayo de 2027.", False),
    ],
)
def test_what_is_planned_was_not_done(question: str, text: str, is_plan: bool) -> None:
    part = build_subquery(question, detect_answer_type(question), {})
    assert tells_of_plan(part, [quote_of(text)], [passage(1, "Notes", text)]) is is_plan


@pytest.mark.parametrize(
    ("question", "text", "is_of_another"),
    [
        ("May I bring my dog to the office?", "You may bring a colleague to the hearing.", True),
        ("May I bring my dog to the office?", "You may bring a colleague. No dog may enter.", False),
        ("May I bring my dog to the office?", "Pets stay outside the office.", False),
        ("Can we hire extra chairs for the hall?", "You can hire the chairs for the hall at £2.", False),
        ("Can we hire skates?", "You can hire the chairs for the hall at £2.", True),
        ("Must I bring my dog to the office?", "You may bring a colleague to the hearing.", False),
        ("Darf ich meinen Hund mitbringen?", "You may bring a colleague to the hearing.", False),
    ],
)
def test_what_may_be_done_with_another_thing_says_nothing_of_one_that_no_text_names(
    question: str, text: str, is_of_another: bool
) -> None:
    part = build_subquery(question, detect_answer_type(question), {}, (), [text])
    assert lets_do_it_with_another(part, [quote_of(text)], [passage(1, "Notes", text)]) is is_of_another
    assert is_of_something_else(part, [quote_of(text)], [passage(1, "Notes", text)]) is is_of_another


@pytest.mark.parametrize(
    ("question", "text", "is_other"),
    [
        ("How wide is the mixer?", "The mixer is 1,180 mm high.", True),
        ("How wide is the mixer?", "The mixer is 700 mm wide and 1,180 mm high.", False),
        ("How wide is the mixer?", "The mixer measures 700 mm.", False),
        ("How much does the mixer weigh?", "The mixer takes up to 12 kg of dough.", True),
        ("How much does the mixer weigh?", "Net weight: 188 kg.", False),
        ("How high is the mixer?", "The mixer stands 1,180 mm above the floor.", False),
        ("Wie schwer ist die Säge?", "Die Säge trägt 50 kg.", True),
        ("How many guests do I have to bring at least?", "Members may bring at most two guests.", True),
        ("How many guests may members bring at most?", "Members may bring up to two guests.", False),
        ("What is the minimum term?", "The term is limited to three months.", True),
        ("Until when is the reception staffed?", "The reception is staffed from 9 am.", True),
        ("Until when is the reception staffed?", "The reception is staffed from 9 am to 5 pm.", False),
        ("When does the building close?", "The building opens at 7 am.", True),
        ("When does the building close?", "The building opens at 7 am. The building closes at 8 pm.", False),
        ("How many days before the trip must it be asked for?", "It is asked for 60 days after the trip.", True),
        ("What does a hot desk cost per hour?", "A hot desk costs 18 pounds a day.", True),
        ("What does a hot desk cost per day?", "A hot desk costs 18 pounds a day.", False),
        ("How much is the annual fee?", "The fee is 20 pounds per year.", False),
        ("Is the reception staffed until 5 pm?", "The reception is staffed from 9 am.", False),
        ("When does the lease end?", "The lease began on 1 June; notice is six months to the end of June.", True),
        ("When does the lease end?", "The lease began on 1 June and ends at the end of June.", False),
        ("When will the engine be delivered?", "The offer for the engine is binding until 31 March.", True),
        ("When will the engine be delivered?", "The engine is supplied by 31 March.", False),
        ("What does the insurance cost?", "The insurance covers at least €3 million.", True),
        ("What does the insurance cost?", "The insurance costs €30 and covers at least €3 million.", False),
        ("How high is the deposit for a shed?", "The rent of a shed is €640.", True),
        ("What does a shed cost?", "The rent of a shed is €640.", False),
        ("How do I hand in the papers for an import?", "Send export papers as one PDF.", True),
        ("Which important papers must be sent as one PDF?", "Send export papers as one PDF.", False),
        ("How do I hand in the papers for an import?", "Send import and export papers as one PDF.", False),
        ("Ab wann gilt die Mittagsruhe?", "Mittagsruhe gilt bis 15 Uhr.", True),
        ("Bis wann gilt die Mittagsruhe?", "Mittagsruhe gilt bis 15 Uhr.", False),
        ("Was kostet ein Stellplatz am Tag?", "Ein Stellplatz kostet 65 Euro im Monat.", True),
        ("Wie breit ist die Halle?", "Die Halle ist 7 m hoch.", True),
        ("À quelle heure ferme la cantine ?", "La cantine ouvre à 11 h 45.", True),
        ("Combien de jours sont possibles par mois ?", "Deux jours sont possibles par semaine.", True),
        ("¿Cuál es la profundidad mínima?", "La profundidad máxima es de 2,8 metros.", True),
    ],
)  # fmt: skip
def test_the_other_side_of_a_contrast_is_told(question: str, text: str, is_other: bool) -> None:
    part = build_subquery(question, detect_answer_type(question), {}, (), [text])
    assert is_of_other_pole(part, [quote_of(text)], [passage(1, "Notes", text)]) is is_other


def test_the_columns_of_a_row_tell_its_side_of_a_contrast() -> None:
    row, sentence = "| Orbis | £22 | £95 |", "An Orbis is delivered for £35."
    text = f"Prices\n\n| Wheel | Per day | Per week |\n|---|---|---|\n{row}\n\n{sentence}"
    quotes = [
        DraftSentence(0, 0, text.index(one), text.index(one) + len(one), one, kind, 1.0)
        for one, kind in ((row, UnitKind.TABLE_ROW), (sentence, UnitKind.PROSE))
    ]

    def is_other(question: str) -> bool:
        part = build_subquery(question, detect_answer_type(question), {}, (), [text])
        return is_of_other_pole(part, quotes, [passage(1, "Notes", text)])

    assert is_other("How much does an Orbis cost per month?")
    assert not is_other("How much does an Orbis cost per week?")


def test_what_stands_above_a_sentence_tells_its_side_of_a_contrast() -> None:
    question, text = "What is the minimum order?", "An order of 12 boxes may not exceed 90 kg."
    part = build_subquery(question, detect_answer_type(question), {})
    assert is_of_other_pole(part, [quote_of(text)], [passage(1, "Orders", text)])
    assert not is_of_other_pole(part, [quote_of(text)], [passage(1, "Minimum orders", text)])


def test_a_date_in_a_heading_is_no_span_of_time() -> None:
    question, text = "When does the club end?", "It begins on 6 July 2026."
    part = build_subquery(question, detect_answer_type(question), {})
    assert is_of_other_pole(part, [quote_of(text)], [passage(1, "minutes-2026-01-22", text)])
    assert not is_of_other_pole(part, [quote_of(text)], [passage(1, "Club, 6–20 July", text)])


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("What is a lift of a boat over 13 m?", ["Over"]),
        ("What is a lift of a boat of 12 metres?", ["Ten "]),
        ("What is a lift of a boat of 2 metres?", ["Over", "Ten "]),
        ("What is a lift?", ["Over", "Ten "]),
    ],
)
def test_what_is_of_other_sizes_is_left_out_beside_what_is_of_the_one(question: str, kept: list[str]) -> None:
    text = "Over: boats over 13 m are 560. Ten : boats from 10 to 13 m are 420."
    spans = [(0, text.index("Ten")), (text.index("Ten"), len(text))]
    said = [DraftSentence(0, 0, *span, text[slice(*span)], UnitKind.PROSE, 1.0) for span in spans]
    part = build_subquery(question, detect_answer_type(question), {}, (), [text])
    assert [one.text[:4] for one in without_others(part, said, [passage(1, "Lifts", text)])] == kept


def test_what_is_of_the_size_and_holds_less_of_the_question_takes_no_other_place() -> None:
    question = "Is a certificate needed for 2 days of sick leave?"
    texts = ["Sick leave of more than 3 days needs a certificate.", "Up to 5 days of unpaid leave need no consent."]
    passages = [passage(place + 1, "Leave", text) for place, text in enumerate(texts)]
    said = [DraftSentence(0, place, 0, len(text), text, UnitKind.PROSE, 1.0) for place, text in enumerate(texts)]
    part = build_subquery(question, detect_answer_type(question), {}, (), texts)
    assert [one.passage for one in without_others(part, said, passages)] == [0, 1]


def test_what_is_of_another_year_is_left_out_beside_what_is_of_the_one() -> None:
    passages = [passage(1, "Prices of 2025", "A lift is 395."), passage(2, "Prices of 2026", "A lift is 420.")]
    said = [DraftSentence(0, place, 0, 14, one.chunk.text, UnitKind.PROSE, 1.0) for place, one in enumerate(passages)]
    parts = [build_subquery(f"What was a lift in {year}?", AnswerType.FIGURE, {}) for year in (2025, 2024)]
    assert [[one.passage for one in without_others(part, said, passages)] for part in parts] == [[0], [0, 1]]


@pytest.mark.parametrize(
    ("question", "text", "denies"),
    [
        ("Which valve must be closed?", "If the alarm sounds, staff must not close valve V-7.", True),
        ("Which valve must be closed?", "Staff must not close valve V-7. Valve V-8 must be closed.", False),
        ("Which valve must not be closed?", "Staff must not close valve V-7.", False),
        ("Must valve V-7 be closed?", "Staff must not close valve V-7.", False),
        ("What does the warranty cover?", "The warranty doesn't cover seals.", True),
        ("What does the warranty cover?", "The warranty does not cover seals, it covers the motor.", False),
        ("What does the warranty cover?", "The warranty of a pump that is not covered ends.", False),
        ("Who is reimbursed for meals?", "Contractors are not reimbursed for meals.", True),
        ("Who may park in the yard?", "Visitors may not park in the yard unless they are ill.", False),
        ("What may be stored in the yard?", "Goods may not be stored in the yard for more than 3 days.", False),
        ("What is the fine for a late form?", "A fine of 50 euros is due where the form is not filed.", False),
        ("Where may I smoke?", "You cannot smoke in the kitchen.", True),
        ("Where may I smoke?", "You can’t smoke in the kitchen.", True),
        ("Who will attend the meeting?", "Mr Lund won't attend the meeting.", True),
        ("Who attends the meeting?", "Mr Lund never attends the meeting.", True),
        ("Who attends the meeting?", "Mr Lund no longer attends the meeting.", True),
        ("How long is the meeting?", "The meeting is no longer than an hour.", False),
        ("What deposit do students pay?", "Students do not pay a deposit.", False),
        ("What deposit do students pay?", "Visitors do not pay a deposit. Students pay a deposit of 5 euros.", False),
        ("Quelle caution paient les étudiants ?", "Les étudiants ne paient pas de caution.", False),
        ("What may be recycled?", "What may not be recycled? Foil and tyres.", True),
        ("What may not be recycled?", "What may not be recycled? Foil and tyres.", False),
        ("Where may I smoke?", "You cannot smoke in the kitchen but on the balcony.", False),
        ("What happens when a lift is used?", "The lift is not used.", False),
        ("Welches Ventil muss geschlossen werden?", "Das Ventil V-7 darf nicht geschlossen werden.", True),
        ("Welches Ventil muss geschlossen werden?", "Nicht V-7, sondern V-8 muss geschlossen werden.", False),
        ("Welches Ventil muss geschlossen werden?", "Das Ventil V-8 muss geschlossen werden.", False),
        ("Quelle vanne doit être fermée ?", "La vanne V-7 ne doit pas être fermée.", True),
        ("¿Qué válvula se debe cerrar?", "La válvula V-7 no se debe cerrar.", True),
        ("¿Qué válvula se debe cerrar?", "La válvula V-7 no se debe cerrar sin llave.", False),
    ],
)  # fmt: skip
def test_a_thing_of_which_it_is_denied_is_not_the_one_asked_for(question: str, text: str, denies: bool) -> None:
    part = build_subquery(question, detect_answer_type(question), {}, (), [text])
    assert denies_what_is_asked(part, [quote_of(text)], [passage(1, "Notes", text)]) is denies


@pytest.mark.parametrize(
    ("text", "said", "denies"),
    [
        ("## What may not be recycled?\n\nFoil and tyres.", "Foil and tyres.", True),
        ("## What may be recycled?\n\nGlass.\n\n## What may not be recycled?\n\nFoil.", "Glass.", False),
        ("## What may not be recycled?\n\nFoil. Glass may be recycled.", "Glass may be recycled.", False),
    ],
)
def test_what_stands_below_a_question_that_denies_it_is_not_asked_for(text: str, said: str, denies: bool) -> None:
    question, at = "What may be recycled?", text.index(said)
    part = build_subquery(question, detect_answer_type(question), {}, (), [text])
    quote = DraftSentence(0, 0, at, at + len(said), said, UnitKind.PROSE, 1.0)
    assert denies_what_is_asked(part, [quote], [passage(1, "Waste", text)]) is denies


@pytest.mark.parametrize(
    "text", [f"Staff must not {'a' * 25_000} than {'x' * 25_000}", "Staff must not close than " * 2_000]
)
def test_a_long_sentence_is_read_once(text: str) -> None:
    part = build_subquery("Which valve must be closed?", AnswerType.FACT, {}, (), [text])
    start = time.perf_counter()
    assert not denies_what_is_asked(part, [quote_of(text)], [passage(1, "Notes", text)])
    assert time.perf_counter() - start < 1
