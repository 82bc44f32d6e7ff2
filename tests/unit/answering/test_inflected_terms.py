"""Terms of German and Spanish questions: compounds, changed vowels, separable verbs."""

import pytest

from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.term_matching import find_hits, mask_of
from agentic_rag.answering.plan import AnswerType


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wie stelle ich einen Urlaubsantrag?", "Der Antrag auf Urlaub geht an die Leitung."),
        ("Wohin geht der Antrag auf Urlaub?", "Ein Urlaubsantrag geht an die Leitung."),
        ("Was kostet ein Flug?", "Flüge kosten 80 Euro."),
        ("Wer kann einen gesperrten Anschluss wieder freischalten?", "Gesperrte Anschlüsse werden freigeschaltet."),
        ("Wie schwer ist die Säge?", "Gewicht der Säge: 74 kg"),
        ("Wo ist das Lager?", "Die Tür des Lagers ist grün."),
        ("¿Cuántas habitaciones tiene el hotel?", "Cada habitación del hotel tiene balcón."),
    ],
)
def test_all_terms_are_found_in_other_forms(question: str, text: str) -> None:
    part = build_subquery(question, AnswerType.FACT, {}, (), (text,))
    telling = [place for place, term in enumerate(part.terms) if term.weight > 0.3]
    assert telling
    found = mask_of(text.lower(), part.terms)
    assert all(found & 1 << place for place in telling), [part.terms[place].forms for place in telling]


def test_a_compound_is_divided_where_the_passages_have_both_parts() -> None:
    question = "Wann kommt die Jahresrechnung?"
    divided = build_subquery(question, AnswerType.DATE, {}, (), ("Die Rechnung für das Jahr kommt im Mai.",))
    assert [term.stem for term in divided.terms][1:] == ["jahr", "rechnung"]
    assert divided.terms[1].weight == divided.terms[2].weight
    whole = build_subquery(question, AnswerType.DATE, {}, (), ("Die Rechnung kommt im Mai.",))
    assert [term.stem for term in whole.terms][1:] == ["jahresrechnung"]


def test_function_words_are_no_terms() -> None:
    assert [term.term for term in build_subquery("Was ist die Höhe der Mauer?", AnswerType.FACT, {}).terms] == [
        "höhe",
        "mauer",
    ]
    assert [term.stem for term in build_subquery("¿Dónde está la grúa?", AnswerType.FACT, {}).terms] == ["grúa"]


def test_nouns_with_a_capital_are_no_names() -> None:
    assert not build_subquery("Wie hoch ist die Gebühr für den Antrag?", AnswerType.FIGURE, {}).name_mask
    assert build_subquery("Wann wurde Maren Tollack gewählt?", AnswerType.DATE, {}).name_mask


def test_abbreviations_are_no_names_since_a_text_may_spell_them_out() -> None:
    assert not build_subquery("How much RAM does a server need?", AnswerType.FIGURE, {}).name_mask
    assert build_subquery("How much does the NASDAQ need?", AnswerType.FIGURE, {}).name_mask


def test_a_short_word_is_not_found_inside_others() -> None:
    terms = build_subquery("Wo ist der Rat?", AnswerType.FACT, {}).terms
    assert not find_hits("die beratung im quadrat ist gratis", terms)


def test_pairs_of_japanese_that_reach_into_function_words_are_no_terms() -> None:
    part = build_subquery("作業服の交換は何曜日ですか?", AnswerType.DATE, {})
    assert [term.term for term in part.terms] == ["作業", "業服", "交換", "曜日"]


def test_a_japanese_question_of_function_words_alone_keeps_them() -> None:
    assert build_subquery("それは何ですか?", AnswerType.FACT, {}).terms
