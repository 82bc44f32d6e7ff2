"""MSG: the head, the text in whichever form it is kept, and attachments."""

from __future__ import annotations

import struct

import pytest
from tests.documents.formats.compound_file import Tree, compound_file, streams

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.office.compressed_rtf import rtf_of
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.kernel.errors import ParseFailed

PACKED = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
)
"""The example of [MS-OXRTFCP] 3.1.1."""
SAID = rb"{\rtf1\ansi\ansicpg1252\pard hello world}" + b"\r\n"


def read(content: bytes, name: str = "a.msg") -> LoadedText:
    return load(content, name, None, ParserLimits())[1]


def message(figures: tuple[tuple[int, int, int], ...] = (), **held: bytes | Tree) -> dict[str, bytes | Tree]:
    """The streams of a message; `p0037001F` is property 0037 of type 001F."""
    named = {f"__substg1.0_{name[1:]}" if name[0] == "p" else name: value for name, value in held.items()}
    rows = b"".join(struct.pack("<HHIQ", kind, number, 6, value) for number, kind, value in figures)
    return {**named, "__properties_version1.0": bytes(32) + rows}


def wide(text: str) -> bytes:
    return text.encode("utf-16-le")


def test_the_head_the_time_and_the_text_are_read() -> None:
    made = message(
        ((0x0039, 0x0040, 133_000_000_000_000_000),),
        p0037001F=wide("Winch"), p0C1A001F=wide("Ann Lee"), p0E04001F=wide("Bob"),
        p1000001F=wide("Grease it.\r\nSoon."),
    )  # fmt: skip
    loaded = read(compound_file(made))

    assert loaded.title == "Winch"
    assert loaded.text == "Winch\n\nFrom: Ann Lee\nTo: Bob\nDate: 2022-06-18 04:26 UTC\n\nGrease it.\nSoon."


def test_strings_and_html_are_decoded_by_the_code_pages_of_the_message() -> None:
    made = message(
        ((0x3FFD, 0x0003, 1251), (0x3FDE, 0x0003, 20866)),
        p0037001E="Лебёдка".encode("cp1251"), p10130102="<p>Смазать лебёдку</p>".encode("koi8-r"),
    )  # fmt: skip

    assert read(compound_file(made)).text == "Лебёдка\n\nСмазать лебёдку"


def test_a_text_that_is_kept_as_compressed_rtf_alone_is_read() -> None:
    assert rtf_of(PACKED, 1_000) == SAID
    assert read(compound_file(message(p10090102=PACKED))).text == "hello world"
    with pytest.raises(ParseFailed, match="too long"):
        rtf_of(PACKED, 10)


def test_a_page_that_is_kept_within_rtf_is_read_as_the_page_that_it_was() -> None:
    rtf = (
        rb"{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0 Arial;}}{\*\htmltag18 <html>}{\*\htmltag241 <style>p "
        rb"\'7bcolor:red\'7d</style>}{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 Grease the winch \'e4ft \u8211? \u-10179?"
        rb"\u-8704?.\htmlrtf\par}\htmlrtf0 {\*\htmltag72 </p>}{\*\htmltag64 <table><tr><th>}Part{\*\htmltag </th><th>}"
        rb"Price\htmlrtf \cell\htmlrtf0{\*\htmltag </th></tr><tr><td>}Winch{\*\htmltag </td><td>}41"
        rb"{\*\htmltag </td></tr></table>}{\*\mhtmltag <p>no</p>}}"
    )
    packed = struct.pack("<IIII", len(rtf) + 12, len(rtf), 0x414C454D, 0) + rtf

    assert read(compound_file(message(p10090102=packed))).text == (
        "Grease the winch äft – \U0001f600.\n\nPart | Price\n--- | ---\nWinch | 41"
    )


def test_a_damaged_attachment_is_told_and_the_message_is_read() -> None:
    attachment = {"__substg1.0_3707001F": wide("a.docx"), "__substg1.0_37010102": b"PK\x03\x04 cut"}
    made = message(p0037001F=wide("Winch"), p1000001F=wide("Grease it."))
    made["__attach_version1.0_#00000000"] = {**attachment, "__properties_version1.0": bytes(8)}
    loaded = read(compound_file(made))

    assert "Attachment: a.docx\n\nThis attachment was not read: the DOCX is damaged" in loaded.text
    assert (loaded.parts, loaded.unread_pages) == (1, (1,))


def test_a_word_file_that_holds_a_message_is_no_message() -> None:
    with pytest.raises(ParseFailed) as refused:
        read(compound_file({"WordDocument": bytes(9_000), "ObjectPool": {"_1": message()}}), "a.doc")

    assert refused.value.code == "PARSE_UNSUPPORTED"


@pytest.mark.parametrize("cut", [600, 1_100, 2_000])
def test_a_damaged_message_says_so(cut: int) -> None:
    whole = compound_file(message(p0037001F=wide("Winch"), p1000001F=wide("Grease it. " * 1_000)))

    with pytest.raises(ParseFailed) as refused:
        read(whole[:cut])

    assert refused.value.code == "PARSE_CORRUPT"


def test_streams_that_hold_noise_end_in_one_state() -> None:
    names = ["__properties_version1.0", "__substg1.0_10090102", "__substg1.0_0037001F"]

    with pytest.raises(ParseFailed):
        read(streams(names))
