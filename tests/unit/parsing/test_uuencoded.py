"""Files that stand uuencoded in the text of a mail are attachments."""

from __future__ import annotations

import binascii

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text.uuencoded import split_uuencoded


def encoded(content: bytes, *, backtick: bool, stripped: bool = False) -> str:
    pieces = (content[at : at + 45] for at in range(0, len(content), 45))
    lines = [binascii.b2a_uu(one, backtick=backtick).decode().rstrip("\n") for one in pieces]
    lines.append("`" if backtick else " ")
    return "begin 644 list.txt\n" + "".join(f"{one.rstrip() if stripped else one}\n" for one in lines) + "end\n"


@given(content=st.binary(min_size=1, max_size=300), backtick=st.booleans(), stripped=st.booleans())
def test_what_was_encoded_is_read_again(content: bytes, backtick: bool, stripped: bool) -> None:
    text, files = split_uuencoded("Hello\n" + encoded(content, backtick=backtick, stripped=stripped) + "Bye\n")

    assert files == [("list.txt", content)]
    assert text == "Hello\n\nBye\n"


@pytest.mark.parametrize(
    "text",
    [
        "We begin 644 things\nat the end\n",
        "begin 644 list.txt\nno such line of letters\nend\n",
        "begin 644 list.txt\n%:&5L;&\\\n",
    ],
)
def test_a_text_that_only_looks_like_it_stays(text: str) -> None:
    assert split_uuencoded(text) == (text, [])


def test_the_file_in_a_mail_is_read_under_its_name() -> None:
    body = "The list is below.\n\n" + encoded(b"The Okapi ferry sails at 06:40.\n", backtick=True)
    mail = f"From: a@example.com\nSubject: Times\nContent-Type: text/plain; charset=us-ascii\n\n{body}"

    loaded = load(mail.encode(), "a.eml", None, ParserLimits())[1]

    assert "Attachment: list.txt" in loaded.text
    assert "The Okapi ferry sails at 06:40." in loaded.text
    assert "begin 644" not in loaded.text
