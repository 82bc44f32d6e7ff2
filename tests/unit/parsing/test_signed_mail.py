"""S/MIME in mails: what was signed is read, a signature is no text, and what is encrypted says so."""

from __future__ import annotations

import base64

import pytest
from tests.documents.formats.compound_file import compound_file
from tests.unit.parsing.test_outlook_loader import message, read, wide

from agentic_rag.adapters.parsing.signed_mail import content_of
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.kernel.errors import ParseFailed

SIGNED, ENCRYPTED = bytes.fromhex("06092a864886f70d010702"), bytes.fromhex("06092a864886f70d010703")
DATA = bytes.fromhex("06092a864886f70d010701")
WRAPPED = "application/pkcs7-mime"
TEXT = b"Content-Type: text/plain; charset=utf-8\r\n\r\nGrease the winch at 41 bar.\r\n"
BESIDE = (
    b'Content-Type: multipart/signed; protocol="application/pkcs7-signature"; boundary="b"\r\n\r\n--b\r\n'
    + TEXT
    + b"--b\r\nContent-Type: application/pkcs7-signature; name=smime.p7s\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    b"MIIB\r\n--b--\r\n"
)


def der(tag: int, *held: bytes) -> bytes:
    content = b"".join(held)
    size = len(content)
    return bytes([tag, *([size] if size < 128 else [0x82, size >> 8, size & 255])]) + content


def endless(tag: int, *held: bytes) -> bytes:
    """The same with an end in the place of a length, as programs write it that do not know the length yet."""
    return bytes([tag, 0x80]) + b"".join(held) + b"\0\0"


def signed(octets: bytes, form: type[object] | None = None) -> bytes:
    make = endless if form is not None else der
    return make(0x30, SIGNED, make(0xA0, make(0x30, b"\x02\x01\x01", der(0x31), make(0x30, DATA, make(0xA0, octets)))))


def outlook(content: bytes, media_type: str) -> LoadedText:
    made = message(p0037001F=wide("Winch"))
    made["__attach_version1.0_#00000000"] = {
        "__substg1.0_3707001F": wide("smime.p7m"),
        "__substg1.0_37010102": content,
        "__substg1.0_370E001F": wide(media_type),
        "__properties_version1.0": bytes(8),
    }
    return read(compound_file(made))


def mail(content: bytes, media_type: str = WRAPPED) -> LoadedText:
    head = f"Subject: Winch\r\nContent-Type: {media_type}; name=smime.p7m\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    return read(head.encode() + base64.encodebytes(content), "a.eml")


@pytest.mark.parametrize(
    "content",
    [
        signed(der(0x04, TEXT)),
        signed(endless(0x24, der(0x04, TEXT[:30]), der(0x04, TEXT[30:])), form=object),
    ],
)
def test_what_is_within_a_signature_is_the_text_of_the_mail(content: bytes) -> None:
    for loaded in (outlook(content, WRAPPED), mail(content), mail(content, "application/octet-stream")):
        assert loaded.text == "Winch\n\nS/MIME message\n\nGrease the winch at 41 bar."
        assert loaded.unread_pages == ()


def test_a_signature_beside_the_text_is_no_unread_attachment() -> None:
    loaded = read(b"Subject: Winch\r\n" + BESIDE, "a.eml")

    assert (loaded.text, loaded.unread_pages) == ("Winch\n\nGrease the winch at 41 bar.", ())
    assert outlook(BESIDE, "multipart/signed").text == "Winch\n\nS/MIME message\n\nGrease the winch at 41 bar."


def test_an_encrypted_mail_says_so() -> None:
    content = der(0x30, ENCRYPTED, der(0xA0, der(0x30, b"\x02\x01\x00")))

    for loaded in (outlook(content, WRAPPED), mail(content)):
        assert "not read: the message is encrypted (S/MIME): decrypt it first." in loaded.text
        assert loaded.unread_pages == (1,)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"noise",
        signed(der(0x04, TEXT))[:60],
        der(0x30, DATA),
        der(0x30, SIGNED, der(0xA0, der(0x30, b"\x02\x01\x01"))),
        b"\x30\x80" * 200,
        b"\x30\xff" + bytes(9),
    ],
)
def test_a_damaged_one_ends_in_one_state(content: bytes) -> None:
    with pytest.raises(ParseFailed) as refused:
        content_of(content, WRAPPED)

    assert refused.value.code == "PARSE_CORRUPT"
