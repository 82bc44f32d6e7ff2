"""A draft that only speaks of the subject is no answer."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.evidence.stated import has_form, is_stated, is_tied, tells_of_act, tells_of_the_one
from agentic_rag.answering.extraction.answer_type_match import states_answer
from agentic_rag.answering.extraction.extractive import DraftSentence, draft_part
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.shapes.question_kind import QuestionKind, question_kind
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.language.words.measures import lacks_unit, without_measured


def stated(question: str, text: str) -> bool:
    part = build_subquery(question, detect_answer_type(question), dict.fromkeys(query_terms(question), 0.5))
    passages = [passage(1, "Notes", text)]
    drafted = draft_part(part, 0, passages, 2)
    assert drafted.sentences
    return is_stated(part, drafted.sentences, passages)


@pytest.mark.parametrize(
    ("question", "states", "is_silent"),
    [
        ("When was the bridge opened?", "The bridge was opened on 4 May 2021.", "The bridge was opened with a feast."),
        ("How much does the permit cost?", "The permit costs £40.", "The cost of the permit is borne by the owner."),
        ("Who is the solicitor of the trust?", "The solicitor of the trust is Ada Hill.", "The solicitor will write."),
        ("How many kilograms does the roller weigh?", "The roller weighs 40 kg.", "The roller costs £45 a week."),
        ("Who owns the Calypso?", "The Calypso, 11.2 m, owner D. Okafor", "The Calypso is owned, not rented."),
    ],
)
def test_an_answer_holds_what_is_asked_for(question: str, states: str, is_silent: str) -> None:
    assert stated(question, states)
    assert not stated(question, is_silent)


@pytest.mark.parametrize(
    ("question", "caption", "column", "states"),
    [
        ("What does mast stepping cost?", "Services", "Price (EUR)", True),
        ("What does mast stepping cost?", "Prices in euros", "Members", True),
        ("What does mast stepping cost?", "Services", "Price", True),
        ("What does mast stepping cost?", "Services", "Length in m", False),
        ("How long does mast stepping take?", "Services", "Minutes", True),
        ("How long does mast stepping take?", "Services", "Crew", False),
        ("Was kostet das Mastlegen für Gäste?", "Leistungen", "Preis in Euro", True),
        ("Was kostet das Mastlegen für Gäste?", "Leistungen", "Gewicht in t", False),
    ],
)
def test_what_names_its_columns_says_the_unit_of_a_row(question: str, caption: str, column: str, states: bool) -> None:
    assert (
        stated(
            question, f"{caption}\nService | Unit | {column}\nCrane | lift | 95\nMast stepping, Mastlegen | piece | 70"
        )
        is states
    )


ANIMALS = """\
| Animal | Drug | Dose in mg | Cost of day | Cost of night |
|---|---|---|---|---|
| Badger | Sopor | 0.2 | 30 | 45 |
| Otter | Lenit | | 35 | |
| Heron | Dolor | – | 25 | n/a |"""


@pytest.mark.parametrize(
    ("question", "states"),
    [
        ("What dose of Sopor does a badger get?", True),
        ("What dose of Lenit does an otter get?", False),
        ("How much cost of night does a badger have?", True),
        ("How much cost of night does an otter have?", False),
        ("How much cost of day does an otter have?", True),
        ("What dose of Dolor does a heron get?", False),
        ("How much cost of night does a heron have?", False),
    ],
)
def test_an_empty_cell_states_nothing_whatever_its_header_and_the_cells_beside_it_hold(
    question: str, states: bool
) -> None:
    assert stated(question, ANIMALS) is states


VACCINES = "Vaccine | Species | Price | Repeat after\nRabies | Cat | 34 | 3 years\n| Kennel cough | Dog | 39 |  |"


@pytest.mark.parametrize(
    ("question", "states"),
    [
        ("After how long is the rabies vaccination repeated?", True),
        ("After how long is the kennel cough vaccination repeated?", False),
        ("How long after the kennel cough vaccination is it repeated?", False),
        ("When is the kennel cough vaccination repeated?", False),
        ("What does the kennel cough vaccination cost?", True),
    ],
)
def test_without_a_noun_the_columns_that_the_question_names_may_be_empty(question: str, states: bool) -> None:
    part = build_subquery(question, detect_answer_type(question), dict.fromkeys(query_terms(question), 0.5))
    start = VACCINES.index("Rabies" if "rabies" in question else "| Kennel")
    row = DraftSentence(0, 0, start, len(VACCINES), "", UnitKind.TABLE_ROW, 1.0)
    row = replace(row, end=VACCINES.find("\n", start) % (len(VACCINES) + 1))
    assert is_stated(part, [row], [passage(1, "Notes", VACCINES)]) is states


REBATES = """\
| Group | Rebate on care | Rebate on feed |
|---|---|---|
| Nurses | 40 % | 20 % |
| Pupils | 50 % | |"""


@pytest.mark.parametrize(
    ("question", "states"),
    [
        ("How much rebate on feed do nurses get?", True),
        ("How much rebate on feed do pupils get?", False),
        ("How much rebate on care do pupils get?", True),
        ("How much rebate on feed is there?", True),
    ],
)
def test_of_a_table_quoted_whole_the_row_asked_for_must_state_it(question: str, states: bool) -> None:
    part = build_subquery(question, detect_answer_type(question), dict.fromkeys(query_terms(question), 0.5))
    whole = DraftSentence(0, 0, 0, len(REBATES), "", UnitKind.LIST, 1.0)
    assert is_stated(part, [whole], [passage(1, "Notes", REBATES)]) is states


@pytest.mark.parametrize(
    ("question", "established", "nearest"),
    [
        ("Where is the main valve?", "The main valve is behind the flap.", "Close the main valve in case of a leak."),
        ("What offers were there?", "There were offers of Hask, Pell and Ward.", "There were offers for the roof."),
        ("Why was the display slow?", "It was slow because the index was full.", "The display was slow on Monday."),
        (
            "Which ducks dive?",
            "Sea ducks, stifftails, pochards and all scaups dive for fish and shells.",
            "The word duck comes from the Old English diver, of the verb to dive.",
        ),
        (
            "Where does the word duck come from?",
            "The word duck comes from the verb to dive in Old English.",
            "The word duck comes up often.",
        ),
        (
            "Pourquoi le distributeur est-il remplacé ?",
            "Le distributeur est remplacé parce qu'il tombe en panne.",
            "Le distributeur du hall est remplacé le 3 mars 2025.",
        ),
        (
            "¿Por qué no arranca la bomba en seco?",
            "La bomba no arranca en seco porque el sello se quema.",
            "La bomba no arranca — Causa probable: bujía sucia.",
        ),
        (
            "なぜシンナーを使ってはいけないのですか?",
            "シンナーはゴムが傷むため使わないでください。",
            "シンナーは使わないでください。",
        ),
        (
            "Qu'est-ce que la pré-infusion ?",
            "La *pré-infusion* est la phase qui mouille la mouture.",
            "La pré-infusion commence à 9 h 30.",
        ),
        ("ガス置換とは何ですか?", "ガス置換とは、窒素を入れることをいいます。", "本機でガス置換ができます。"),
        (
            "Was versteht man unter Stockgare?",
            "Unter der *Stockgare* verstehen wir die Ruhezeit des Teigs.",
            "Die Stockgare muss verlängert werden.",
        ),
        (
            "Quels sont les contrats d'entretien ?",
            "Les contrats d'entretien sont Essentiel, Confort et Sérénité.",
            "Les contrats d'entretien durent un an.",
        ),
        (
            "保守契約にはどのような種類がありますか?",
            "保守契約の種類はライト、スタンダード、プレミアムです。",
            "保守契約の種類は選べます。",
        ),
    ],
)
def test_an_answer_has_the_form_that_its_question_asks_for(question: str, established: str, nearest: str) -> None:
    def formed(text: str) -> bool:
        kind = detect_answer_type(question)
        part = build_subquery(question, kind, dict.fromkeys(query_terms(question), 0.5))
        passages = [passage(1, "Notes", text)]
        return has_form(part, question_kind(question, kind), draft_part(part, 0, passages, 2).sentences, passages)

    assert formed(established)
    assert not formed(nearest)


@pytest.mark.parametrize(
    ("text", "is_its_value"),
    [
        ("One scanner licence covers ten scanners and costs 40 euros.", True),
        ("One scanner licence covers ten scanners. It costs 40 euros.", True),
        ("One scanner licence covers ten scanners. Hired pallets cost 12 euros a year.", False),
    ],
)
def test_a_value_is_tied_to_what_is_asked_about(text: str, is_its_value: bool) -> None:
    question = "How much does a scanner licence cost?"
    part = build_subquery(question, detect_answer_type(question), dict.fromkeys(query_terms(question), 0.5))
    passages = [passage(1, "Notes", text)]
    quotes = [DraftSentence(0, 0, *span, text[slice(*span)], UnitKind.PROSE, 1.0) for span in sentence_spans(text)]
    assert is_stated(part, quotes, passages)
    assert is_tied(part, quotes, passages) is is_its_value


@pytest.mark.parametrize(
    ("question", "text", "tells"),
    [
        ("Wer leitet das Lager?", "Das Lager schließt Petra Hahn am Abend.", False),
        ("Wer leitet das Lager?", "Das Lager leitet Petra Hahn.", True),
        ("Wer leitet das Lager?", "Leiterin des Lagers ist Petra Hahn.", True),
        ("Wer schreibt das Protokoll?", "Das Protokoll wird von Petra Hahn geschrieben.", True),
        ("Wer kontrolliert das Lager?", "Die Kontrolle des Lagers hat Petra Hahn.", True),
        ("Wer ist für das Lager zuständig?", "Um das Lager kümmert sich Petra Hahn.", True),
        ("Wann beginnt die Inventur?", "Die Inventur endet am 4. Mai 2024.", False),
        ("Wann beginnt die Inventur?", "Die Inventur begann am 4. Mai 2024.", True),
        ("Wann wurde die Stadt gegründet?", "Die Stadt hatte 2010 viele Einwohner und einen Hafen.", False),
        ("Wann wurde die Stadt gegründet?", "Die Gründung der Stadt war 1822.", True),
        ("Wer hat das Protokoll geschrieben?", "Das Protokoll schreibt Petra Hahn.", True),
        ("Wann war der Preis am höchsten?", "Der Preis erreichte 2005 sein Allzeithoch.", True),
        ("Wie viel kostet die Inventur?", "Für die Inventur zahlen wir 40 Euro.", True),
        ("¿Quién dirige el almacén?", "El almacén lo cierra Ana Ruiz.", False),
        ("¿Quién dirige el almacén?", "El almacén está dirigido por Ana Ruiz.", True),
        ("Qui dirige le dépôt ?", "Le dépôt est fermé par Anne Petit.", False),
        ("Who runs the depot?", "Ann Hill is head of the depot.", True),
    ],
)
def test_who_and_when_are_told_by_the_act_that_is_asked_for(question: str, text: str, tells: bool) -> None:
    part = build_subquery(question, detect_answer_type(question), {}, (), (text,))
    quote = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)
    assert tells_of_act(part, [quote], [passage(1, "Notizen", text)]) is tells


@pytest.mark.parametrize(
    ("question", "text", "tells"),
    [
        (
            "What is the default fee of a transfer?",
            "The fee of a transfer is chosen by the sender, up to 4 euros.",
            False,
        ),
        ("What is the default fee of a transfer?", "By default the fee of a transfer is 4 euros.", True),
        ("What is the default fee of a transfer?", "A transfer costs 4 euros where nothing else is set.", True),
        ("How many days does the average employee get?", "A firm may give an employee 20 days.", False),
        ("How many days does the average employee get?", "On average an employee has 14 days.", True),
        ("What is the largest berth?", "The biggest berth has 40 metres.", True),
        ("What is the exact fee of a transfer?", "The fee of a transfer is 4 euros.", True),
        ("How many days does an average employee get?", "A firm may give an employee 20 days.", True),
        ("Was ist die übliche Gebühr?", "Die Gebühr beträgt 4 Euro.", True),
    ],
)
def test_one_of_several_is_told_by_the_word_before_its_noun(question: str, text: str, tells: bool) -> None:
    part = build_subquery(question, detect_answer_type(question), {}, (), (text,))
    quote = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)
    assert tells_of_the_one(part, [quote], [passage(1, "Notes", text)], is_read=True) is tells


def test_a_heading_and_what_stands_before_the_quote_tell_the_one_too() -> None:
    question, said = "What is the default fee of a transfer?", "The fee of a transfer is 4 euros."
    part = build_subquery(question, detect_answer_type(question), {})
    for title, before in (("Default fees", ""), ("Notes", "These are the default values. ")):
        quote = DraftSentence(0, 0, len(before), len(before) + len(said), said, UnitKind.PROSE, 1.0)
        assert tells_of_the_one(part, [quote], [passage(1, title, before + said)], is_read=True)


@pytest.mark.parametrize("is_read", [True, False])
def test_without_a_model_that_reads_a_date_has_the_word_that_tells_it_from_others(is_read: bool) -> None:
    question, said = "What is the effective date of the rule?", "Comments on the rule close on 21 September 2020."
    part = build_subquery(question, detect_answer_type(question), {})
    quote = DraftSentence(0, 0, 0, len(said), said, UnitKind.PROSE, 1.0)
    assert tells_of_the_one(part, [quote], [passage(1, "Notes", said)], is_read=is_read) is is_read


@pytest.mark.parametrize(
    ("question", "states", "is_silent"),
    [
        (
            "What time does the first evening begin?",
            "The first evening begins at 19:30.",
            "The first evening is on 6 May.",
        ),
        ("At what time does the pool close?", "The pool closes at 8 pm.", "The pool closes in winter."),
        ("price of a Fluvion 200", "The Fluvion 200 costs 420 euros.", "The Fluvion 200 weighs 45 kg."),
        ("price of a label", "The label of a crate is free.", "The label of a crate is 45 mm wide."),
        (
            "What does an apprentice earn?",
            "An apprentice has 900 pounds a month.",
            "An apprentice has three months of trial.",
        ),
        (
            "What does the smith of Aker earn?",
            "The smith of Aker earns 412 crowns a month.",
            "The smith of Aker earns praise for his gates.",
        ),
        ("price of a Fluvion 200", "A Fluvion 200 is sold at CHF 420.", "The Fluvion 200 weighs 45 kg."),
        ("price of a Fluvion 200", "The Fluvion 200 costs 420.", "The Fluvion 200 weighs 45 kg."),
        ("fee for a transfer", "A transfer takes 3 zł.", "A transfer takes 3 days."),
        ("What is the rent of the loft?", "The loft is let for 90 pounds.", "The loft is let since 1 June 2024."),
        ("How long is offer 7 valid?", "Offer 7 is valid for six weeks.", "Offer 2026-031 of the yard."),
    ],
)
def test_a_time_of_day_and_an_amount_of_money_are_told_by_their_names(
    question: str, states: str, is_silent: str
) -> None:
    assert stated(question, states)
    assert not stated(question, is_silent)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("What is the serial number of the pump?", "Its serial number is NO-1000000000.", True),
        ("What is the serial number of the pump?", "Serial number: 1C4RJFBG2NC123456.", True),
        ("What is the policy number?", "Policy # POL-2022-555", True),
        ("What is the serial number of the pump?", "The serial number is on the plate.", False),
        ("What is the serial number of the pump P-200?", "P-200 has a serial number.", False),
        ("What is the weight of the pump?", "The pump is the NO-1000000000.", False),
    ],
)
def test_a_number_that_names_a_thing_may_have_letters(question: str, text: str, expected: bool) -> None:
    assert states_answer(text, detect_answer_type(question), question) is expected


def test_the_act_may_stand_before_the_quote() -> None:
    text = "Das Lager leitet seit Mai eine Frau. Petra Hahn kommt aus Kiel."
    question, start = "Wer leitet das Lager?", text.index("Petra")
    part = build_subquery(question, detect_answer_type(question), {}, (), (text,))
    quote = DraftSentence(0, 0, start, len(text), text[start:], UnitKind.PROSE, 1.0)
    assert tells_of_act(part, [quote], [passage(1, "Notizen", text)])


MEMBERS = "Member | Joined | Boat | Berth\n| Petrescu Ana | 2018 | Vinga |  |\nBianchi Carlo | 2019 | Libeccio | D05"


@pytest.mark.parametrize(
    ("question", "expected"),
    [("Which berth does Ana Petrescu have?", False), ("Which boat does Ana Petrescu have?", True)],
)
def test_a_row_without_the_cell_asked_for_states_nothing(question: str, expected: bool) -> None:
    part = build_subquery(question, detect_answer_type(question), dict.fromkeys(query_terms(question), 0.5))
    ends = [MEMBERS.index("| Petrescu"), MEMBERS.index("\nBianchi"), len(MEMBERS)]
    rows = [DraftSentence(0, 0, start, end, "", UnitKind.TABLE_ROW, 1.0) for start, end in itertools.pairwise(ends)]
    assert is_stated(part, rows[:1], [passage(1, "Members", MEMBERS)]) is expected
    assert is_stated(part, rows, [passage(1, "Members", MEMBERS)]) is expected


def test_the_header_of_a_row_is_no_other_row() -> None:
    question = "What is the Budget of Ana Petrescu in East Wing?"
    text = "Member | East Wing Budget | Boat\nPetrescu | 40 | Vinga"
    part = build_subquery(question, detect_answer_type(question), dict.fromkeys(query_terms(question), 0.5))
    end = text.index("\n")
    head = DraftSentence(0, 0, 0, end, "", UnitKind.HEADING, 1.0)
    row = DraftSentence(0, 0, end + 1, len(text), "", UnitKind.TABLE_ROW, 1.0, (head,))
    assert is_stated(part, [row], [passage(1, "Members", text)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Trips to France need approval.", False),
        ("Joan of Arc was heard.", True),
        ("Lamb is delivered by the butcher Grey.", True),
        ("Lamb is delivered by Monday.", False),
        ("The report was written by Grey.", True),
        ("A book by Grey.", True),
        ("The decision is taken by the client on Saturday.", True),
        ("It may be changed only by the shift leader.", True),
        ("It is driven by the water of the river.", False),
        ("It is opened by the end of May.", False),
        ("Lamb goes by Ferry to the north.", False),
        ("Invoices are sent by Email.", False),
        ("It is applied for by Form P-11.", False),
        ("It is covered by Article 4.", False),
        ("The kiln is finished by Christmas.", False),
    ],
)
def test_a_person_is_named_by_two_words_or_as_who_does_it(text: str, expected: bool) -> None:
    assert states_answer(text, AnswerType.PERSON, "Who is it?") is expected


@pytest.mark.parametrize(
    ("question", "text", "defines"),
    [
        ("What is MCAS?", "MCAS is activated only during manual flight.", False),
        ("What is MCAS?", "MCAS is also used by the autopilot.", False),
        ("What is MCAS?", "It has a Maneuvering Characteristics Augmentation System (MCAS).", True),
        ("What is MCAS?", "MCAS is a function that moves the stabiliser.", True),
        ("What is a gannet?", "A gannet is known as a sea goose.", True),
        ("What is a gannet?", "Gannets are white, long-winged birds.", True),
        ("What is a gannet?", "Gannet: a sea bird.", True),
        ("What is a gannet?", "A gannet is on the roof.", False),
        ("What does fault code E12 mean?", "E12: the battery is empty.", True),
        ("What does fault code E12 mean?", "| E12 | The battery is empty |", True),
        ("What does fault code E12 mean?", "E13: the fuse is blown.", False),
        ("What does fault code E-4 mean?", "| E-4 | Overheating |", True),
        ("What does message M04 mean on the Vidar 3?", "M04: the belt is stuck.", False),
        ("What is a complaint?", "Complaints | Ada | Ben", False),
        ("What is a young gannet called?", "The young of a gannet is called a guga.", True),
    ],
)
def test_what_is_done_with_a_thing_does_not_say_what_it_is(question: str, text: str, defines: bool) -> None:
    part = build_subquery(question, AnswerType.FACT, dict.fromkeys(query_terms(question), 0.5))
    said = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)
    kind = question_kind(question, AnswerType.FACT)
    assert has_form(part, kind, [said], [passage(1, "Notes", text)]) is defines


def test_a_line_of_a_form_states_what_is_asked_of_the_name_in_another_line() -> None:
    question = "What is the email address of Gabriel Diaz?"
    lines = ("Insured name Gabriel Diaz Year 2022", "Email gabriel@contoso.com VIN 1C4")
    text = "\n".join(lines)
    part = build_subquery(question, AnswerType.FACT, dict.fromkeys(query_terms(question), 0.5))
    said = [
        DraftSentence(0, 0, text.index(one), text.index(one) + len(one), one, UnitKind.TABLE_ROW, 1.0) for one in lines
    ]
    assert is_stated(part, said, [passage(1, "Repair", text)])
    assert not is_stated(part, said[:1], [passage(1, "Repair", text)])
    of_another = [said[0], replace(said[1], passage=1)]
    assert not is_stated(part, of_another, [passage(1, "Repair", text), passage(2, "Other", text)])


@pytest.mark.parametrize(
    ("question", "states", "is_silent"),
    [
        ("Wie schwer ist die Presse?", "Die Presse wiegt 540 kg.", "Die Presse schafft 2.000 Stück."),
        ("Combien pèse la machine ?", "La machine pèse 62 kg.", "La machine a 3 groupes."),
        ("Quelle est la puissance de la machine ?", "La machine a 3 800 W.", "La machine a 11 l."),
        ("¿Cuánto pesa la bomba?", "La bomba pesa 31 kg.", "La bomba da 36.000 l/h."),
        ("本体の重さは何キロですか?", "本体の質量は48kgです。", "本体は1時間に120袋です。"),
        ("Wie breit ist die Presse?", "Die Presse ist 1,20 m breit.", "Die Presse schafft 2.000 Stück."),
        ("How much does the mixer weigh?", "The net weight is 188 kg.", "The mixer makes 60 turns a minute."),
        ("How wide is the gate?", "The gate measures 3.5 metres.", "The gate opens for 20 seconds."),
        ("At what temperature does the valve open?", "The valve opens at 90 °C.", "The valve opens at 3 bar."),
        ("How many employees are there?", "There are 340 employees.", "Employees cost 29.7 million euros or 12 %."),
        ("How many machines stopped?", "Four machines stopped.", "The stop of the machines lasted 74 days."),
        ("How many of the faults were open?", "Three faults were open.", "In March we waited for eleven days."),
        ("How many days did the machines stop?", "They stopped for 74 days.", "Four machines stopped."),
        ("How high can the truck lift?", "The truck lifts 4.2 m.", "The truck lifts 4.0 t."),
        ("In which year was the ship built?", "The ship was built in 2014.", "The ship is painted in June."),
        ("What is the serial number of BRN-04?", "Its plate says TV-1200-0044.", "BRN-04 to BRN-08 draw 36 kW."),
        ("What is the order number of the hose?", "Order 48210 is the hose.", "The hose is 36 m, 18 of them."),
        ("What's the alarm code this quarter?", "The alarm code is 4711.", "The code is changed on the 1st."),
        ("What's the alarm code this quarter?", "The alarm code is sun.", "The alarm code is changed."),
        ("What is the part number of the hose?", "Its part no. is 7.", "The part no longer sold is 7 m."),
        ("What is the serial number of BRN-04?", "Its serial number is BRN-99812.", "BRN-05 is its twin."),
        ("What is the discount code for members?", "Use the code MEMBER at the desk.", "The code gives 10 % off."),
    ],
)
def test_a_measure_stands_in_its_units(question: str, states: str, is_silent: str) -> None:
    kind = detect_answer_type(question)
    assert states_answer(states, kind, question)
    assert not states_answer(is_silent, kind, question)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How high is the fee?", "The fee is £40."),
        ("How many pumps are there?", "Velde has 40 pumps."),
        ("When was the ship built?", "The ship was built in June."),
        ("What is the dress code?", "The dress code is casual."),
        ("What is the number of pumps?", "There are 12 pumps."),
        ("How high can the fine be?", "The fine can be £200."),
        ("How high can the fine be in the lift?", "The fine in the lift can be £200."),
        ("How high does the temperature in the kiln rise?", "The temperature rises to 1,200 °C."),
        ("What is the invoice number of the tiles?", "The invoice number of the tiles is 117."),
        ("What is the model number of the pump?", "The model number of the pump is PX 40."),
        ("What is the licence number of the van?", "The licence number of the van is AB 123."),
        ("What is the serial number of BRN-04?", "The serial number of BRN-04 is BRN-99812."),
        ("What is the entry code for visitors?", "The entry code for visitors is 42."),
        ("What is the discount code for members?", "The discount code for members is spring."),
        ("In which year was the pump bought?", "The pump was bought on 4.5.98."),
        ("In which year was the pump bought?", "The pump was bought on 31/12/27."),
        ("In which year do pupils get a locker?", "Pupils get a locker in May of Year 9."),
        ("In which year was the pump bought?", "The pump was bought in May '98."),
        ("In which year did the town burn?", "The town burned in March of 44 BC."),
        ("How many lessons does the course have?", "The course has 12 hour-long lessons."),
        ("How many holidays do staff have?", "Staff have 25 days off as holidays."),
        ("How many nights may guests stay?", "Guests may stay for 14 days at most."),
        ("How many sick days are paid?", "30 days are paid when staff are sick."),
    ],
)
def test_a_measure_that_is_not_asked_for_needs_no_unit(question: str, text: str) -> None:
    assert states_answer(text, detect_answer_type(question), question)


@pytest.mark.parametrize(
    ("question", "column", "value"),
    [
        ("What is the part number of the seal?", "Part number", "A1B2C"),
        ("What is the part number of the seal?", "Part no.", "12 345 678"),
        ("What is the part number of the seal?", "Part number", "117"),
        ("What is the door code of the hall?", "Door code", "42"),
        ("In which year was the seal bought?", "Year bought", "'98"),
    ],
)
def test_a_column_may_say_what_a_value_is(question: str, column: str, value: str) -> None:
    assert not lacks_unit(question, value, column)
    assert lacks_unit(question, "7 m", "Weight")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many pumps are in the hall?", "12 15 " * 2_700),
        ("What is the serial number of the pumps?", "1." * 8_000),
        ("What is the serial number of the pumps?", "a." * 8_000),
        ("What is the serial number of the pumps?", "serial number: " + "a." * 8_000),
        ("How many pumps are in the hall?", "1," * 8_000),
    ],
)
def test_figures_without_end_are_read_in_no_time(question: str, text: str) -> None:
    started = time.process_time()
    without_measured(text, question)
    states_answer(text, detect_answer_type(question), question)

    assert time.process_time() - started < 0.5


def test_rows_of_money_count_nothing() -> None:
    question, row = "How many employees does Tarn have?", "| Employee costs | 54.3 | 51.1 |"
    assert not states_answer(row, AnswerType.FIGURE, question, "| EUR million | 2025 | 2024 |")
    assert states_answer("| Tarn | 340 | 29.7 |", AnswerType.FIGURE, question, "| Unit | Employees | EUR million |")


def test_a_reason_is_one_of_what_is_asked_about() -> None:
    voted, other = "The contract was approved; Pavel voted against it.", "It was put off because a cable is missing."
    question = "Why did Pavel vote against the contract?"
    part = build_subquery(question, detect_answer_type(question), {})
    kind = question_kind(question, part.answer_type)

    def has_reason(between: str) -> bool:
        text = f"{voted}{between}{other}"
        places = [(text.index(one), one) for one in (voted, other)]
        said = [DraftSentence(0, 0, at, at + len(one), one, UnitKind.PROSE, 1.0) for at, one in places]
        return has_form(part, kind, said, [passage(1, "Minutes", text)])

    assert has_reason(" ")
    assert not has_reason(" " + "Ravi reported on the accounts of the year. " * 6)


@pytest.mark.parametrize(
    "text",
    [
        "Because the bearing had no oil, it ran hot; pump Kelm failed in May.",
        "The bearing ran hot because it had no oil; pump Kelm failed in May.",
    ],
)
def test_a_reason_may_stand_before_a_semicolon(text: str) -> None:
    question = "Why did pump Kelm fail?"
    part = build_subquery(question, detect_answer_type(question), {})
    said = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)

    assert has_form(part, QuestionKind.REASON, [said], [passage(1, "Minutes", text)])


MONTHS = "| Month | Employees laid off |\n|---|---|\n| July | 8,574 |\n| August | 5,890 |"


@pytest.mark.parametrize(
    ("question", "is_certain"),
    [("Which company laid off the most employees?", False), ("Which month had the most employees laid off?", True)],
)
def test_the_most_of_a_table_of_other_things_is_not_what_is_asked(question: str, is_certain: bool) -> None:
    part = build_subquery(question, AnswerType.FACT, {})
    start = MONTHS.index("| July")
    row = DraftSentence(0, 0, start, MONTHS.index("\n", start), "July — 8,574", UnitKind.TABLE_ROW, 1.0)
    assert has_form(part, QuestionKind.FACT, [row], [passage(1, "Notices", MONTHS)]) is is_certain


@pytest.mark.parametrize(
    ("said", "is_certain"), [("The costs fell.", False), ("The costs fell. The crane is late.", True)]
)
def test_one_sentence_sums_nothing_up(said: str, is_certain: bool) -> None:
    part = build_subquery("Summarise the report", AnswerType.FACT, {})
    quote = DraftSentence(0, 0, 0, len(said), said, UnitKind.PROSE, 1.0)
    assert has_form(part, QuestionKind.SUMMARY, [quote], [passage(1, "Report", said)]) is is_certain


@pytest.mark.parametrize(
    ("question", "said", "is_certain"),
    [
        ("What is a group of ducks called?", "All ducks belong to an order, a group that contains swans too.", False),
        ("What is a group of ducks called?", "A group of ducks on water is a raft.", True),
        ("What is a group of ducks called?", "On water they are called a raft.", True),
        ("What do you call a male duck?", "The male of most ducks has bright feathers.", False),
        ("What do you call a male duck?", "Male ducks, or drakes, have bright feathers.", True),
        ("What do you call an animal that eats only plants?", "A herbivore is an animal which eats plants only.", True),
        ("What do you call an animal that eats only plants?", "Plants are eaten by every second animal.", False),
        ("What is the boat called?", "Nordlys lies at pontoon B.", True),
        ("What is a duck?", "All ducks belong to an order.", True),
    ],
)
def test_a_kind_of_thing_is_named_where_its_words_stand_together_or_something_is_called(
    question: str, said: str, *, is_certain: bool
) -> None:
    part = build_subquery(question, AnswerType.FACT, {})
    quote = DraftSentence(0, 0, 0, len(said), said, UnitKind.PROSE, 1.0)
    assert has_form(part, QuestionKind.FACT, [quote], [passage(1, "Ducks", said)]) is is_certain
