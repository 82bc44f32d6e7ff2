"""Word tables: which language a text is in, what its questions ask for, and the stems of its words."""

import pytest

from agentic_rag.answering.extraction.answer_type_match import states_answer
from agentic_rag.answering.extraction.typed_values import ValueKind, find_values
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.language.words.german import GERMAN
from agentic_rag.language.words.spanish import SPANISH
from agentic_rag.language.words.word_table import Asked, WordTable
from agentic_rag.language.words.word_tables import TABLES, table_of

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


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Quand le port ouvre-t-il ?", "fr"),
        ("Quando apre il porto?", "it"),
        ("Quando abre o porto para os barcos?", "pt"),
        ("Wanneer gaat de haven open?", "nl"),
        ("Kiedy otwiera się port?", "pl"),
        ("Dov'è la chiave?", "it"),
        ("La riunione è alle dieci.", "it"),
        ("Il contratto scade a maggio.", "it"),
        ("La garanzia dura due anni.", "it"),
        ("L'ascensore è guasto.", "it"),
        ("Le contrat expire en mai.", "fr"),
        ("La garantie dure deux ans.", "fr"),
        ("La cantine ouvre à midi.", "fr"),
        ("A garantia dura dois anos.", "pt"),
        ("Quando começa o curso?", "pt"),
        ("O preço é de 40 euros.", "pt"),
        ("Três cópias por cliente.", "pt"),
        ("De garantie duurt twee jaar.", "nl"),
        ("Gwarancja trwa dwa lata.", "pl"),
        ("Когда открывается порт?", "ru"),
        ("Кто основал Oracle Corporation?", "ru"),
        ("متى يفتح الميناء؟", "ar"),
        ("港はいつ開きますか", "ja"),
        ("港口什么时候开放？", "zh"),
        ("如何在 Windows Server 上安装 PostgreSQL？", "zh"),
        ("Коли відкривається порт і хто його відкриває?", "und"),
        ("بندر چه زمانی باز می‌شود؟", "und"),
        ("항구는 언제 열립니까?", "und"),
        ("Πότε ανοίγει το λιμάνι;", "und"),
    ],
)
def test_a_text_is_in_the_language_of_its_script_and_its_function_words(text: str, code: str) -> None:
    table = table_of(text)

    assert table is not None
    assert table.code == code


@pytest.mark.parametrize(
    "text",
    [
        "What does 北京 mean in English?",
        "Who was Пётр Великий?",
        "De Witt was a man of the state",
        "Non-stick pans",
        "Go live date",
        "Man hours per week",
        "All hands",
        "War room",
        "x e y",
        "Rent due in two weeks",
        "Who sang La Vie en Rose?",
    ],
)
def test_names_of_other_languages_make_no_other_language(text: str) -> None:
    assert table_of(text) is None


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Quand le port ouvre-t-il ?", Asked.WHEN),
        ("Qui dirige le chantier naval ?", Asked.WHO),
        ("Où se trouve la clé du hangar ?", Asked.WHERE),
        ("Combien de bateaux y a-t-il dans le port ?", Asked.HOW_MUCH),
        ("Combien de temps dure la traversée ?", Asked.HOW_LONG),
        ("Combien coûte une place ?", Asked.PRICE),
        ("Pourquoi l'écluse est-elle fermée ?", Asked.REASON),
        ("Comment puis-je résilier une place ?", Asked.STEPS),
        ("Le port est-il ouvert en hiver ?", Asked.YES_NO),
        ("Quando apre il porto?", Asked.WHEN),
        ("Chi dirige il cantiere?", Asked.WHO),
        ("Dove si trova la chiave del magazzino?", Asked.WHERE),
        ("Quante barche ci sono nel porto?", Asked.HOW_MUCH),
        ("Quanto dura la traversata?", Asked.HOW_LONG),
        ("Quanto costa un posto barca?", Asked.PRICE),
        ("Quando abre o porto para os barcos?", Asked.WHEN),
        ("Quem dirige o estaleiro?", Asked.WHO),
        ("Onde está a chave do armazém?", Asked.WHERE),
        ("Quantos barcos há no porto?", Asked.HOW_MUCH),
        ("Quanto tempo dura a travessia?", Asked.HOW_LONG),
        ("Por que a eclusa está fechada?", Asked.REASON),
        ("Quanto custa o bilhete?", Asked.PRICE),
        ("Wanneer gaat de haven open?", Asked.WHEN),
        ("Wie leidt de werf?", Asked.WHO),
        ("Hoeveel boten liggen er in de haven?", Asked.HOW_MUCH),
        ("Wat kost een ligplaats in de haven?", Asked.PRICE),
        ("Waarom is de sluis dicht?", Asked.REASON),
        ("Hoe vervang je het filter?", Asked.STEPS),
        ("Kiedy otwiera się port?", Asked.WHEN),
        ("Kto kieruje stocznią?", Asked.WHO),
        ("Ile łodzi jest w porcie?", Asked.HOW_MUCH),
        ("Czy można tu cumować?", Asked.YES_NO),
        ("Jak wymienia się filtr?", Asked.STEPS),
        ("Когда открывается порт?", Asked.WHEN),
        ("Кто руководит верфью?", Asked.WHO),
        ("Где находится ключ от склада?", Asked.WHERE),
        ("Сколько лодок в порту?", Asked.HOW_MUCH),
        ("Сколько стоит место?", Asked.PRICE),
        ("Почему шлюз закрыт?", Asked.REASON),
        ("Можно ли здесь стоять на якоре?", Asked.YES_NO),
        ("متى يفتح الميناء؟", Asked.WHEN),
        ("من يدير حوض السفن؟", Asked.WHO),
        ("أين يوجد مفتاح المخزن؟", Asked.WHERE),
        ("كم عدد القوارب في الميناء؟", Asked.HOW_MUCH),
        ("لماذا أغلق السد؟", Asked.REASON),
        ("هل يمكن الرسو هنا؟", Asked.YES_NO),
        ("港はいつ開きますか", Asked.WHEN),
        ("造船所の責任者は誰ですか", Asked.WHO),
        ("倉庫の鍵はどこにありますか", Asked.WHERE),
        ("係留料金はいくらですか", Asked.PRICE),
        ("なぜ水門は閉まっていますか", Asked.REASON),
        ("ここに停泊できますか", Asked.YES_NO),
        ("港口什么时候开放？", Asked.WHEN),
        ("谁管理船厂？", Asked.WHO),
        ("仓库的钥匙在哪里？", Asked.WHERE),
        ("港口有多少艘船？", Asked.HOW_MUCH),
        ("停泊一天多少钱？", Asked.PRICE),
        ("为什么船闸关闭了？", Asked.REASON),
        ("可以在这里停泊吗？", Asked.YES_NO),
    ],
)
def test_question_words_of_each_language_say_what_is_asked_for(question: str, asked: Asked) -> None:
    table = table_of(question)

    assert table is not None
    assert table.asked_by(question) is asked


@pytest.mark.parametrize(
    ("sentence", "amount"),
    [
        ("Der Preis beträgt 1.234,5 Euro.", 1234.5),
        ("Le prix est de 1 234,5 euros pour les membres.", 1234.5),
        ("Le prix est de 12\u202f345 euros pour les membres.", 12345.0),
        ("Il prezzo è di 1.234,5 euro per i soci.", 1234.5),
        ("O preço é de 1.234,5 euros para os sócios.", 1234.5),
        ("De prijs is 1.234,5 euro voor de leden.", 1234.5),
        ("Opłata za rok to 1 234,5 euro od osoby.", 1234.5),
        ("Сумма договора 1 234,5 евро за год.", 1234.5),
        ("価格は1,234.5ユーロです", 1234.5),
        ("价格是１,２３４．５欧元", 1234.5),
        ("The price is 1,234.5 euros.", 1234.5),
    ],
)
def test_a_figure_is_read_as_its_language_writes_it(sentence: str, amount: float) -> None:
    figures = [one for one in find_values(sentence) if one.kind is ValueKind.FIGURE]

    assert [one.parts[1] for one in figures] == [amount]


@pytest.mark.parametrize(
    ("sentence", "day"),
    [
        ("Le contrat finit le 5 mars 2024 pour tous.", (2024, 3, 5)),
        ("Il contratto finisce il 5 agosto 2024 per tutti.", (2024, 8, 5)),
        ("Договор действует до 5 мая 2024 года.", (2024, 5, 5)),
        ("Umowa kończy się 5 lipca 2024 roku.", (2024, 7, 5)),
        ("契約は2024年3月5日に終わります", (2024, 3, 5)),
    ],
)
def test_a_date_is_read_as_its_language_writes_it(sentence: str, day: tuple[int, int, int]) -> None:
    assert [one.parts for one in find_values(sentence) if one.kind is ValueKind.DATE] == [day]


@pytest.mark.parametrize(
    "question", ["谁管理船厂？", "من يدير حوض السفن؟", "造船所の責任者は誰ですか", "조선소는 누가 운영합니까?"]
)
def test_what_a_table_does_not_know_of_answers_refuses_no_sentence(question: str) -> None:
    kind = detect_answer_type(question)

    assert states_answer("船厂由王芳管理。", kind, question)
