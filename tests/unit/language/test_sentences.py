"""Sentences: where they end, and that none of the text is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.words.word_tables import table_of


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


characters = st.characters() | st.sampled_from(" \n\t.!?aB1|#。漢-:\u2028\f")


@given(st.text(characters, max_size=300))
def test_spans_are_ordered_disjoint_trimmed_and_cover_all_text(text: str) -> None:
    spans = sentence_spans(text)

    assert [*spans] == sorted(spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("Dr. Smith met Mr. J. Doe. They spoke.", ["Dr. Smith met Mr. J. Doe.", "They spoke."]),
        ("Use tools, e.g. Hammers, vs. Nails. Done.", ["Use tools, e.g. Hammers, vs. Nails.", "Done."]),
        ("Apple Inc. The company grew.", ["Apple Inc.", "The company grew."]),
        ("Apple Inc. Common Stock rose.", ["Apple Inc. Common Stock rose."]),
        (
            "John C. Messenger wrote Brown v. Board (c. 1955). He left.",
            ["John C. Messenger wrote Brown v. Board (c. 1955).", "He left."],
        ),
        ('He saw "Fear Her!" (2006) twice. Yes.', ['He saw "Fear Her!" (2006) twice.', "Yes."]),
        ("It is in the U.S. It sells.", ["It is in the U.S.", "It sells."]),
        ("He lives in the U.S. Virgin Islands.", ["He lives in the U.S. Virgin Islands."]),
        ("See No. 5 there. I said no. He left.", ["See No. 5 there.", "I said no.", "He left."]),
        ("See Chap. 4 and chap. III there.", ["See Chap. 4 and chap. III there."]),
        ("It cost 3.5 dollars. In 2022. The rest.", ["It cost 3.5 dollars.", "In 2022.", "The rest."]),
        ("Item 1A. Risk Factors", ["Item 1A. Risk Factors"]),
        ("1. Open the lid\n2. Close it", ["1. Open the lid", "2. Close it"]),
        ("They had 12. Others had none.", ["They had 12.", "Others had none."]),
        ("wait... and see. Yes.", ["wait... and see.", "Yes."]),
        ("# Title\nlower text follows", ["# Title", "lower text follows"]),
        ("Heading\nThe text begins here.", ["Heading", "The text begins here."]),
        ("- one\n- two\n* three", ["- one", "- two", "* three"]),
        ("a | b\n1 | 2\n3 | 4", ["a | b", "1 | 2", "3 | 4"]),
        (
            "Net sales 1,000 2,000\nCost of sales 3 (4)\nTotal — 9",
            ["Net sales 1,000 2,000", "Cost of sales 3 (4)", "Total — 9"],
        ),
        ("first paragraph\n\nsecond", ["first paragraph", "second"]),
        ("one page\fnext page", ["one page", "next page"]),
        ("今日は晴れ。明日は雨？はい。", ["今日は晴れ。", "明日は雨？", "はい。"]),
        ("He left Apple Inc.\nCommon Stock rose.", ["He left Apple Inc.", "Common Stock rose."]),
        ("red, green,\nBlue and white", ["red, green,\nBlue and white"]),
        ("The word St.\nlouis runs on", ["The word St.\nlouis runs on"]),
        (". Lost stop", [".", "Lost stop"]),
        (
            'He joined in 1914.[23][24]: 105 "Think" was said, e.g.[3] by all.[25] Rows a[1] end.',
            ["He joined in 1914.[23][24]: 105", '"Think" was said, e.g.[3] by all.[25]', "Rows a[1] end."],
        ),
        ("Values:\nTwelve", ["Values:", "Twelve"]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Er kam am 31. März 2020.|Er blieb.",
        "Im 19. Jahrhundert war das anders.",
        "Frau Ott ist der 2. Vorsitzenden treu.",
        "Siehe Kap. III und § 3 Abs. 2 dort.|Die Fa. Meier liefert z. B. Holz usw.|Dann nicht.",
        "Der Preis beträgt 30 € zzgl. MwSt. ab Werk.|Er gilt bis 31.12.|Danach nicht mehr.",
        "Er sagte: „Komm.“|Dann ging er.|Und sie rief: »Halt!«|Er blieb.",
        "El Sr. García y la Sra. López pagaron aprox. 30 euros.|Véase la pág. 3.",
        "Fundó la empresa S.A. Moreno en 1990.|La empresa es de EE. UU. desde entonces.",
        "M. Dupont et Mme. Leroy ont payé env. 30 euros.|Voir la réf. B12 du contrat, c.-à-d. Paris.",
        "Il a dit : « Viens ! »|Puis il est parti.|« Non. »|Elle rit dans la rue.",
        "Il sig. Rossi e l'ing. Verdi abitano in via Roma n. 3.|Hanno pagato ca. 30 euro alla ditta S.r.l. Neri.",
        "O Sr. Silva e a Sra. Costa não pagaram.|Ver a pág. 12 e o art. 5 da lei.",
        "Dhr. Jansen en mevr. Bakker wonen op nr. 5.|Zie blz. 12 van de gids, bijv. Artikel 3.",
        "Pan inż. Kowalski mieszka przy ul. Długiej 5.|W 2019 r. Firma się zamknęła.|To jest np. Warszawa.",
        "Директор И. И. Иванов живёт на ул. Ленина, д. 5.|В 2019 г. Компания это продала.|См. стр. 12, т. е. Раздел 3.",
        "وهل تعلم؟|نعم هذا صحيح.",
    ],
)
def test_sentences_of_another_language_end_by_its_own_abbreviations(text: str) -> None:
    whole = text.replace("|", " ")

    assert [whole[start:end] for start, end in sentence_spans(whole, table_of(whole))] == text.split("|")


def test_abbreviations_of_a_language_bind_no_english_text() -> None:
    assert sentences("They pay with the abs. Then they rest.") == ["They pay with the abs.", "Then they rest."]


def test_a_sentence_runs_on_over_lines_that_the_page_broke() -> None:
    text = (
        "The company recorded a charge in the third quarter of the fiscal year ended\n"
        "June 30 and expects further charges by the end of the fourth quarter of that year, in\n"
        "California. It then closed."
    )

    assert len(sentences(text)) == 2


def test_narrow_columns_do_not_cut_sentences_before_capitals() -> None:
    text = "notices to the public of the proposed\nAirworthiness Directives that the agency\nBoeing wants. The end."

    assert len(sentences(text)) == 2


def test_a_title_above_longer_lines_stands_alone() -> None:
    title = "Notice of Proposed Rulemaking of the Board"

    assert (
        sentences(f"{title}\nThe agency proposes to adopt a new directive for certain airplanes of this kind.")[0]
        == title
    )


def test_a_numbered_heading_starts_anew_after_a_line_that_ends_in_a_page_number() -> None:
    text = (
        "Item 2. Unregistered Sales of Equity Securities and Use of Proceeds 21\n"
        "Item 3. Defaults Upon Senior Securities and Other Matters of that Kind 22"
    )

    assert len(sentences(text)) == 2


def test_a_wide_table_row_is_a_sentence() -> None:
    row = "Total comprehensive income attributable to all shareholders of the company $ 19,881 $ 19,442 (3)%"

    assert sentences(f"{row}\n{row}") == [row, row]


def test_items_with_letters_are_sentences_of_their_own() -> None:
    text = "a) Ask the harbour.\nb) No diving alone.\nc) Checks of suppliers\nevery quarter."
    assert [text[slice(*span)] for span in sentence_spans(text)] == [
        "a) Ask the harbour.",
        "b) No diving alone.",
        "c) Checks of suppliers\nevery quarter.",
    ]
