"""Mails that lie in one file, pages saved as mails, and lines that were broken on the way."""

from __future__ import annotations

import base64
import io
import time

import pytest
from PIL import Image

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.file_types import FileKind, file_kind
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text.mail_text import is_mailbox, joined_lines
from agentic_rag.adapters.parsing.text_builder import LoadedText

MAILBOX = (
    "From ann@quay.example Tue Nov  3 09:12:00 2026\n"
    "From: ann@quay.example\nSubject: First\n\nThe okapi is at the gate.\n>From there it walks.\n\n"
    "From 17@xxx Wed Nov 04 09:12:00 +0000 2026\n"
    "From: bob@quay.example\nSubject: Second\nContent-Type: text/plain; charset=utf-8\n"
    f"Content-Transfer-Encoding: base64\n\n{base64.b64encode('Das Gnu trägt die Nummer 7.'.encode()).decode()}\n"
)
SAVED = (
    '{head}MIME-Version: 1.0\r\nContent-Type: multipart/related; type="text/html"; boundary="b"\r\n\r\n--b\r\n'
    "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    "<html><title>Fees</title><body><h1>Fees</h1><p>The okapi costs 5 =E2=82=AC=\r\n a day.</p>"
    '<img src=3D"cid:one@b"></body></html>\r\n--b\r\n'
    "Content-Type: text/css\r\n\r\nbody {{ color: red }}\r\n--b\r\n"
    "Content-Type: image/png\r\nContent-ID: <one@b>\r\nContent-Transfer-Encoding: base64\r\n\r\n{picture}\r\n--b--\r\n"
)
HEADS = {
    "browser": "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://quay.example/\r\nSubject: Fees\r\n",
    "office program": "Date: Tue, 3 Nov 2026 09:12:00 -0000\r\nMessage-ID: <1@quay>\r\nSubject: Exported\r\n",
    "none": "",
}


def read(content: str | bytes, name: str) -> LoadedText:
    return load(content.encode() if isinstance(content, str) else content, name, None, ParserLimits())[1]


def picture() -> str:
    made = io.BytesIO()
    Image.effect_noise((800, 600), 60).save(made, "PNG")
    return base64.b64encode(made.getvalue()).decode()


@pytest.mark.parametrize("name", ["archive.mbox", "Inbox"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_each_mail_of_a_mailbox_is_decoded(name: str, ending: str) -> None:
    loaded = read(MAILBOX.replace("\n", ending), name)

    headings = [loaded.text[one.start : one.end] for one in loaded.blocks if one.kind.name == "HEADING"]
    assert headings == ["Message 1", "First", "Message 2", "Second"]
    assert "The okapi is at the gate.\nFrom there it walks." in loaded.text
    assert "Das Gnu trägt die Nummer 7." in loaded.text


def test_a_mail_of_a_mailbox_that_cannot_be_read_is_told() -> None:
    closed = "From c@quay.example Thu Nov  5 09:12:00 2026\nSubject: Third\n\n-----BEGIN PGP MESSAGE-----\nhQ\n"

    loaded = read(f"{MAILBOX}\n{closed}", "a.mbox")

    assert (loaded.unread_pages, loaded.parts) == ((3,), 3)
    assert "This message was not read: the text is encrypted" in loaded.text


@pytest.mark.parametrize("head", HEADS.values(), ids=list(HEADS))
@pytest.mark.parametrize("name", ["page.mht", "page.mhtml", "page.doc"])
def test_a_page_saved_as_a_mail_is_read_as_a_page(head: str, name: str) -> None:
    loaded = read(SAVED.format(head=head, picture=picture()), name)

    assert loaded.text == "Fees\n\nThe okapi costs 5 € a day."
    assert (loaded.title, loaded.unread_pages, loaded.unit) == ("Fees", (1,), "picture")


def test_a_mail_with_pictures_in_its_text_is_no_saved_page() -> None:
    loaded = read(SAVED.format(head="From: a@quay.example\r\nTo: b@quay.example\r\n", picture=picture()), "a.eml")

    assert loaded.text.startswith("From: a@quay.example\nTo: b@quay.example")


DRAFT = (
    "Subject: The fee is 30 pounds\r\nDate: Tue, 3 Nov 2026 09:12:00 -0000\r\n{head}MIME-Version: 1.0\r\n"
    'Content-Type: multipart/related; boundary="b"\r\n\r\n--b\r\n'
    "Content-Type: text/html\r\n\r\n<html><body><p>See below.</p></body></html>\r\n--b\r\n"
    'Content-Type: text/csv; name="f.csv"\r\n{place}\r\nfee,10\r\nrent,20\r\n--b--\r\n'
)


@pytest.mark.parametrize(
    ("head", "place"),
    [("", "Content-Disposition: attachment\r\n"), ("X-Unsent: 1\r\n", "")],
    ids=["attached", "unsent"],
)
def test_a_draft_of_a_mail_is_no_saved_page(head: str, place: str) -> None:
    text = read(DRAFT.format(head=head, place=place), "a.eml").text

    assert text.startswith("The fee is 30 pounds\n\nDate: Tue, 03 Nov 2026 09:12:00 -0000\n\nSee below.")
    assert "Attachment: f.csv\n\nRows 1–2\n\nfee | 10\nrent | 20" in text


def test_a_file_in_a_saved_page_is_told() -> None:
    frame = "Content-Type: application/pdf\r\nContent-ID: <pdf@b>\r\n\r\n%PDF-1.4\r\n--b\r\nContent-Type: text/css"
    page = SAVED.format(head="", picture="").replace("Content-Type: text/css", frame)

    loaded = read(page, "page.mht")

    assert (loaded.unread_pages, loaded.parts, loaded.unit) == ((1,), 1, "file")


SENTENCES = "From 1 June 2024 the fee is 9 pounds.\nNote: the desk closes."


def test_a_sentence_that_begins_as_a_mail_of_a_mailbox_does_is_kept() -> None:
    second = MAILBOX.index("From 17@xxx")

    text = read(f"{MAILBOX[:second]}{SENTENCES}\n\n{MAILBOX[second:]}", "a.mbox").text

    assert text.count("Message ") == 2
    assert SENTENCES in text


@pytest.mark.parametrize("name", ["rules.eml", "rules"])
@pytest.mark.parametrize("first", [SENTENCES, "From the desk of Ann, 12 May 2024\nTo: all staff"])
def test_a_text_that_begins_as_a_mailbox_does_is_kept(name: str, first: str) -> None:
    assert read(f"{first}\n\nWe meet.\n\n{SENTENCES}\n", name).text.startswith(first)


def test_a_long_line_that_begins_as_a_mailbox_does_is_read_in_time() -> None:
    started = time.process_time()

    assert not is_mailbox(b"From " + b"1" * 40_000 + b" x\nfoo bar\n")
    assert time.process_time() - started < 1


def test_a_mail_without_an_extension_is_one_and_a_text_that_begins_alike_is_none() -> None:
    mail = b"Subject: Tide\nMIME-Version: 1.0\nContent-Type: text/plain\n\nHigh water.\n"

    assert file_kind(mail, "message", None) is FileKind.EMAIL
    assert file_kind(b"From: the office\nContent: rules\n\nHigh water.\n", "message", None) is FileKind.TEXT
    assert file_kind(b"From 1 May 2026\nthe fee is 5.\n", "message", None) is FileKind.TEXT


@pytest.mark.parametrize(
    ("parameter", "sent", "expected"),
    [
        ("format=flowed", "The warden is \r\nOkapi of \r\nKiel.\r\nNext.\r\n", "The warden is Okapi of Kiel.\nNext."),
        ("format=flowed; delsp=yes", "桟橋の使用料は月 \r\n四十です。\r\n", "桟橋の使用料は月四十です。"),
        ("format=flowed", "> What is \r\n> the fee? \r\nForty.\r\n", "> What is the fee? \nForty."),
        ("format=flowed", "Yours \r\n-- \r\nAnn\r\n", "Yours \n-- \nAnn"),
        ("format=flowed", " From here \r\non.\r\n", "From here on."),
        ("format=fixed", "The warden is \r\nOkapi.\r\n", "The warden is \nOkapi."),
    ],
)
def test_soft_line_breaks_of_mails_are_taken_back(parameter: str, sent: str, expected: str) -> None:
    head = f"Subject: a\r\nContent-Type: text/plain; charset=utf-8; {parameter}\r\n\r\n"

    assert read(head + sent, "a.eml").text == f"a\n\n{expected}"


def test_many_soft_line_breaks_are_taken_back_in_time() -> None:
    started = time.process_time()

    assert len(joined_lines("the fee \n" * 100_000, deletes_space=True)) == 7 * 100_000
    assert time.process_time() - started < 2
