"""No mojibake in silence, no garbage as text."""

from __future__ import annotations

import pytest

from agentic_rag.adapters.parsing.encoding import decode_text
from agentic_rag.adapters.parsing.legibility import require_legible
from agentic_rag.domain.errors import ParseFailed

GERMAN = "Die Straße führt über die alte Brücke nach Görlitz – „schön“."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_known_encodings_are_read_right(encoding: str) -> None:
    assert decode_text(GERMAN.encode(encoding)) == GERMAN


@pytest.mark.parametrize(
    "content",
    [
        "Это обычный русский текст без метки.".encode("cp1251"),
        "日本語の文章です。".encode("shift_jis"),
        "日本語の文章です。".encode("euc_jp"),
        "Dobrý den, příliš žluťoučký kůň úpěl".encode("cp1250")[:30] + b"\x81\x8d",
        GERMAN.encode("utf-8")[:-4] + b"\xff rest",
        b"\xff\xfea",
        "Straße ".encode() * 3 + b"\xe4 cut",
    ],
    ids=["cp1251", "shift-jis", "euc-jp", "undefined bytes", "damaged utf-8", "half utf-16", "mostly utf-8"],
)
def test_what_cannot_be_told_is_refused(content: bytes) -> None:
    with pytest.raises(ParseFailed) as refused:
        decode_text(content)

    assert refused.value.code == "PARSE_ENCODING"


def fault_of(text: str) -> str | None:
    """Why a text counts as illegible; None when it does not."""
    try:
        require_legible(text)
    except ParseFailed as refused:
        return refused.code
    return None


@pytest.mark.parametrize(
    "text",
    [
        GERMAN,
        "Привет, мир. 日本語のテキスト、カタカナと漢字。 مرحبا بالعالم",
        "\uf0b7 a bullet of a symbol font\n\uf0b7 another one of these bullets",
        "한국어 문장입니다. Ελληνικά κείμενα",
        "Ã la carte",
        "plain ascii\ttext\f",
        "the path /G1/G2/G3 in a long enough sentence about file systems and their naming rules",
    ],
)
def test_real_text_is_legible(text: str) -> None:
    assert fault_of(text) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" \n\t", "PARSE_NO_TEXT"),
        ("/G43/G24/G14/G44/G13 /G7/G15/G23/G22", "PARSE_GARBLED"),
        ("(cid:12)(cid:7)(cid:99)(cid:4)", "PARSE_GARBLED"),
        ("\ue001\ue002\ue003 ab", "PARSE_GARBLED"),
        ("\x01\x02\x03\x04 ab", "PARSE_GARBLED"),
        ("\ufffd\ufffd\ufffd text", "PARSE_GARBLED"),
        ("wor\u0378d anoth\u0378r th\u0378rd", "PARSE_GARBLED"),
        ("fÃ¼r Ã¼ber schÃ¶n StraÃŸe grÃ¶ÃŸer kÃ¶nnen", "PARSE_GARBLED"),
        ("Θகаݱ аΘகб ݱаΘக кΘகа кΘகݱ ңΘகݱ", "PARSE_GARBLED"),
    ],
)
def test_what_is_no_text_is_refused(text: str, code: str) -> None:
    assert fault_of(text) == code
