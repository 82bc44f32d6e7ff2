"""No mojibake in silence, no garbage as text."""

from __future__ import annotations

import pytest

from agentic_rag.adapters.parsing.text.encoding import decode_page, decode_text
from agentic_rag.adapters.parsing.text.legibility import require_legible
from agentic_rag.kernel.errors import ParseFailed

GERMAN = "Die Straße führt über die alte Brücke nach Görlitz – „schön“."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_known_encodings_are_read_right(encoding: str) -> None:
    assert decode_text(GERMAN.encode(encoding)) == GERMAN


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Kapitanat policzył statki wiosną, głównie żaglowce; ich długość to pięć metrów.", "cp1250"),
        ("Kapitanat policzył statki wiosną, głównie żaglowce; ich długość to pięć metrów.", "iso8859-2"),
        ("Správa přístavu napočítala na jaře padesát lodí; kvůli větru zůstal most zavřený, teď už ne.", "cp1250"),
        ("A kikötő tavasszal ötven hajót számolt, és a hidat az erős szél miatt lezárták; a víz hűvös.", "cp1250"),
        ("Liman müdürlüğü ilkbaharda elli gemi saydı, köprü şiddetli rüzgâr nedeniyle kapalıydı.", "cp1254"),
        (
            "Uosto tarnyba pavasarį suskaičiavo laivus, o tiltas dėl vėjo buvo uždarytas ištisą dieną.",
            "cp1257",
        ),
        ("港の報告です。ほとんどは貨物船です。", "iso2022_jp"),
        ("Les élèves de Cœur-d’Été : n°s 3 à 7, où l’on paye 5 €", "cp1252"),
        ("Señor Müller (Málaga) pagó 12 m² a 5 µm", "cp1252"),
    ],
)
def test_a_text_whose_letters_are_those_of_one_language_is_read_in_its_code_page(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("stated", "encoding"),
    [
        ("<meta charset=windows-1251>", "cp1251"),
        ("<META http-equiv='Content-Type' content='text/html; charset=koi8-r'>", "koi8-r"),
        ('<?xml version="1.0" encoding="windows-1251"?>', "cp1251"),
        ("<meta charset='iso-8859-1'>", "utf-8"),
        ("<meta charset=utf-16>", "utf-8"),
        ("<meta charset=windows-1251>", "utf-16"),
    ],
)
def test_a_page_is_read_in_the_code_page_that_it_states_unless_it_is_utf8(stated: str, encoding: str) -> None:
    page = f"{stated}<p>Отчёт о порте</p>"

    assert decode_page(page.encode(encoding)) == page


@pytest.mark.parametrize(
    ("by_server", "stated", "encoding"),
    [
        ("windows-1251", "", "cp1251"),
        ("Windows-1251", "<meta charset=koi8-r>", "cp1251"),
        ("no-such-code", "<meta charset=koi8-r>", "koi8-r"),
        ("undefined", "", "utf-8"),
        ("iso-8859-1", "", "utf-8"),
        ("windows-1251", "", "utf-16"),
    ],
)
def test_the_code_page_that_a_server_states_goes_before_that_of_its_page(
    by_server: str, stated: str, encoding: str
) -> None:
    page = f"{stated}<p>Отчёт о порте</p>"

    assert decode_page(page.encode(encoding), by_server) == page


@pytest.mark.parametrize("stated", ["no-such-code", "rot13", "ascii", "undefined"])
def test_a_page_that_states_no_code_page_of_its_text_is_refused(stated: str) -> None:
    with pytest.raises(ParseFailed) as refused:
        decode_page(f"<meta charset={stated}><p>Отчёт о порте</p>".encode("cp1251"))

    assert refused.value.code == "PARSE_ENCODING"


@pytest.mark.parametrize(
    "content",
    [
        "Это обычный русский текст без метки.".encode("cp1251"),
        "日本語の文章です。".encode("shift_jis"),
        "日本語の文章です。".encode("euc_jp"),
        "D³ugo¶æ statku, ³¹cznie ¿eglarzy; øeka Öó".encode("cp1252"),
        "Dobrý den, příliš žluťoučký kůň úpěl".encode("cp1250")[:30] + b"\x81\x8d",
        GERMAN.encode("utf-8")[:-4] + b"\xff rest",
        b"\xff\xfea",
        "Straße ".encode() * 3 + b"\xe4 cut",
    ],
    ids=[
        "cp1251",
        "shift-jis",
        "euc-jp",
        "symbols in words",
        "undefined bytes",
        "damaged utf-8",
        "half utf-16",
        "mostly utf-8",
    ],
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


ENGLISH = (
    "The harbour master signs the log at every change of the watch, and the engineer on duty checks that it was done. "
    "Visitors report at the gatehouse, receive a badge, and remain with their host until they leave the site."
)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_without_a_mark_is_read_right(encoding: str) -> None:
    assert decode_text(ENGLISH.encode(encoding)) == ENGLISH


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp1251", "mac_roman", "cp437"])
@pytest.mark.parametrize("times", [1, 2])
def test_mojibake_is_refused_whatever_utf8_was_mistaken_for(encoding: str, times: int) -> None:
    text = GERMAN * 3
    for _ in range(times):
        text = text.encode().decode(encoding, "ignore")

    assert fault_of(text) == "PARSE_GARBLED"


@pytest.mark.parametrize("by", range(1, 26))
def test_letters_shifted_along_the_alphabet_are_refused(by: int) -> None:
    table = {first + place: first + (place + by) % 26 for first in (65, 97) for place in range(26)}

    assert fault_of((ENGLISH * 2).translate(table)) == "PARSE_GARBLED"


@pytest.mark.parametrize("by", [-29, -3, -1, 1, 3, 29])
def test_text_shifted_along_the_code_table_is_refused(by: int) -> None:
    shifted = "".join(chr(max(32, ord(letter) + by)) for letter in ENGLISH * 2)

    assert fault_of(shifted) == "PARSE_GARBLED"


@pytest.mark.parametrize(
    "text",
    [
        "Dobrý den, příliš žluťoučký kůň úpěl ďábelské ódy. Strč prst skrz krk, vlk zmrzl a smrt čtvrt plná srn. " * 6,
        "Η γρήγορη αλεπού πηδάει πάνω από το τεμπέλικο σκυλί κάθε πρωί. " * 6,
        "الثعلب البني السريع يقفز فوق الكلب الكسول كل صباح في الميناء. " * 6,
        "Người thủy thủ trưởng ký sổ nhật trình mỗi khi đổi ca trực ở cảng. " * 6,
        "港の責任者は当直が交代するたびに日誌に署名する。機関士はそれを確認する。" * 6,
        "항만 책임자는 당직이 바뀔 때마다 일지에 서명하고 기관사가 확인합니다. " * 6,
        "ท่าเรือแห่งนี้เปิดทุกวันและเจ้าหน้าที่ต้องลงชื่อในสมุดทุกครั้ง " * 6,
        "Řeka, ťuhýk, ďas; «été» – l’été déjà; naïve coöperation; Ærøskøbing, Łódź, Iğdır, Ñandú. " * 6,
        "\n".join(f"{row} | {row * 37 % 1000:,}.{row % 100:02} | ({row * 7}) | {row % 13}%" for row in range(400)),
        "AAPL MSFT NVDA AMZN GOOG TSLA META NFLX CSCO INTC ORCL QCOM " * 20,
        "npm ctx mtx cfg html xhtml https ssh rsync grep mkdir chmod chgrp scp src lib\n" * 20,
        "html xhtml https http grpc json yaml toml mysql pgsql sqlite mssql ldap smtp imap dhcp icmp ntpd sshd httpd "
        "nginx rsync tmux bash fish grep mkdir rmdir chmod chown lsblk fsck mkfs dmesg strace".replace(" ", "\n"),
        "MKTLVFFACDGHIKLMNPQRSTVWYACDEFGHIKLMNPQRSTVWY\n" * 30,
        "7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069  file.bin\n" * 30,
        "Ja.",
        "3 4 4 A A B",
        "In UTF-8 read as Latin-1 „ü“ turns into Ã¼ and „ß“ into ÃŸ; see the table. " + ENGLISH * 10,
    ],
    ids=["cs", "el", "ar", "vi", "ja", "ko", "th", "marks", "numbers", "tickers", "names", "a name a line", "protein",
         "hashes", "short", "letters", "about mojibake"],
)  # fmt: skip
def test_good_text_that_is_no_english_is_not_refused(text: str) -> None:
    assert fault_of(text) is None


def test_source_code_may_have_words_without_vowels() -> None:
    words = " ".join(f"{first}{second}rt" for first in "bcdfghjklm" for second in "bcdfghjklm")

    assert fault_of(words) == "PARSE_GARBLED"
    require_legible(words, prose=False)
