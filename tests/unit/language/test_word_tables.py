"""Word tables: which language a text is in, what its questions ask for, and the stems of its words."""

import pytest

from agentic_rag.language.words.german import GERMAN
from agentic_rag.language.words.spanish import SPANISH
from agentic_rag.language.words.word_table import Asked, WordTable
from agentic_rag.language.words.word_tables import TABLES, function_words_of, table_of

ENGLISH = (
    "When does the harbour open?",
    "Biggest attachment I can mail?",
    "Who is the head of Los Angeles Harbour?",
    "an die Nordsee was the title of the film",
    "PX-40 E17",
    "",
)


@pytest.mark.parametrize("text", ENGLISH)
def test_english_and_what_has_no_words_has_no_table(text: str) -> None:
    assert table_of(text) is None
    assert function_words_of(text) == frozenset()


@pytest.mark.parametrize(
    ("question", "table", "asked"),
    [
        ("Wann öffnet der Hafen?", GERMAN, Asked.WHEN),
        ("In welchem Jahr wurde der Damm gebaut?", GERMAN, Asked.WHEN),
        ("Wer leitet die Werft?", GERMAN, Asked.WHO),
        ("Wo liegt der Schlüssel zum Bootshaus?", GERMAN, Asked.WHERE),
        ("Wie viele Boote liegen im Hafen?", GERMAN, Asked.HOW_MUCH),
        ("Wie lange dauert die Überfahrt?", GERMAN, Asked.HOW_LONG),
        ("Was kostet ein Liegeplatz?", GERMAN, Asked.PRICE),
        ("Warum ist die Schleuse gesperrt?", GERMAN, Asked.REASON),
        ("Wie kann ich einen Liegeplatz kündigen?", GERMAN, Asked.STEPS),
        ("Was versteht man unter einer Spundwand?", GERMAN, Asked.DEFINITION),
        ("Welche Boote dürfen im Hafen liegen?", GERMAN, Asked.LIST),
        ("Darf ich hier ankern?", GERMAN, Asked.YES_NO),
        ("In welchen Protokollen geht es um den Kran?", GERMAN, Asked.DOCUMENTS),
        ("¿Cuándo abre el puerto?", SPANISH, Asked.WHEN),
        ("cuando abre el puerto", SPANISH, Asked.WHEN),
        ("¿Quién dirige el astillero?", SPANISH, Asked.WHO),
        ("¿Dónde está la llave de la caseta?", SPANISH, Asked.WHERE),
        ("¿Cuántos barcos hay en el puerto?", SPANISH, Asked.HOW_MUCH),
        ("¿Cuánto tiempo dura la travesía?", SPANISH, Asked.HOW_LONG),
        ("¿Cuánto cuesta un amarre?", SPANISH, Asked.PRICE),
        ("¿Por qué está cerrada la esclusa?", SPANISH, Asked.REASON),
        ("¿Cómo puedo cancelar un amarre?", SPANISH, Asked.STEPS),
        ("¿Qué es un pantalán?", SPANISH, Asked.DEFINITION),
        ("¿Puedo fondear aquí con el barco?", SPANISH, Asked.YES_NO),
        ("¿En qué actas se habla de la grúa?", SPANISH, Asked.DOCUMENTS),
    ],
)
def test_a_question_is_read_by_the_table_of_its_language(question: str, table: WordTable, asked: Asked) -> None:
    assert table_of(question) is table
    assert table.asked_by(question) is asked


@pytest.mark.parametrize(
    ("table", "asked", "sentence"),
    [
        (GERMAN, Asked.WHEN, "Das Fest ist am 29. März."),
        (GERMAN, Asked.WHEN, "Die Kasse schließt um 8.30 Uhr."),
        (GERMAN, Asked.PRICE, "Der Platz kostet 1.200,50 € im Jahr."),
        (GERMAN, Asked.HOW_LONG, "Die Frist beträgt zwei Wochen."),
        (GERMAN, Asked.WHO, "Zuständig ist Frau Ostermann."),
        (SPANISH, Asked.WHEN, "El puerto se cerró el 3 de mayo."),
        (SPANISH, Asked.PRICE, "El amarre cuesta 40 euros."),
        (SPANISH, Asked.HOW_LONG, "El plazo es de quince días."),
        (SPANISH, Asked.WHO, "Responde de ello la jefa de muelle."),
    ],
)
def test_a_sentence_holds_what_is_asked_for(table: WordTable, asked: Asked, sentence: str) -> None:
    assert table.answers[asked].pattern.search(sentence)
    assert not table.answers[asked].pattern.search(
        "Im Hafen liegt ein Boot" if table is GERMAN else "en el muelle hay luz"
    )


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (GERMAN, ("kosten", "kostet", "koste")),
        (GERMAN, ("rechnung", "rechnungen")),
        (SPANISH, ("habitación", "habitaciones")),
        (SPANISH, ("cobra", "cobramos", "cobrar", "cobrado")),
    ],
)
def test_the_forms_of_a_word_have_one_stem(table: WordTable, words: tuple[str, ...]) -> None:
    assert len({table.stem(word) for word in words}) == 1


def test_a_short_word_keeps_its_letters() -> None:
    assert [GERMAN.stem(word) for word in ("tag", "see", "amt")] == ["tag", "see", "amt"]
    assert SPANISH.stem("luz") == "luz"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.code)
def test_every_wording_of_a_table_is_a_regular_expression(table: WordTable) -> None:
    wordings = [
        *(one for _, one in table.questions),
        *table.answers.values(),
        table.leaning,
        table.negation,
        table.aside,
    ]

    assert all(one.pattern.pattern == one.text for one in (*wordings, *filter(None, [table.definition])))
