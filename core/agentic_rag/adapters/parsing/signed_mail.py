"""S/MIME (RFC 8551): the text of a signed mail, which stands within the signature (RFC 5652) or beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentic_rag.kernel.errors import ParseFailed

_WRAPPED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature"})
_BESIDE = "multipart/signed"
_SIGNED = bytes.fromhex("2a864886f70d010702")
_ENCRYPTED = frozenset({bytes.fromhex("2a864886f70d010703"), bytes.fromhex("2a864886f70d0109100117")})
"""The object identifiers of SignedData, and of EnvelopedData and AuthEnvelopedData."""
_SEQUENCE, _EXPLICIT, _OCTETS, _OCTETS_IN_PARTS = 0x30, 0xA0, 0x04, 0x24
_UNKNOWN_LENGTH, _LONGEST_LENGTH, _DEEPEST = 0x80, 4, 16


def is_signature(name: str, media_type: str | None) -> bool:
    """True for a signature that stands beside the text which it signs: it says nothing itself."""
    return (media_type or "").lower() in _SIGNATURES or name.lower().endswith(".p7s")


def is_signed_mail(name: str, media_type: str | None) -> bool:
    """True for a mail within its signature, or with it beside, kept as an attachment; also for an encrypted one."""
    return (media_type or "").lower() in (*_WRAPPED, _BESIDE) or name.lower().endswith(".p7m")


def content_of(held: bytes, media_type: str | None) -> bytes:
    """The mail that was signed, as it was written: head and text.

    Errors: `ParseFailed` codes PARSE_ENCRYPTED, PARSE_CORRUPT.
    """
    if (media_type or "").lower() == _BESIDE:
        return held
    try:
        return _signed_content(held)
    except (ValueError, IndexError) as error:
        raise ParseFailed(f"the S/MIME message is damaged: {error}", code="PARSE_CORRUPT") from error


@dataclass(frozen=True, slots=True)
class _Element:
    """A value of BER (X.690) at [start, stop) of its data; the next one begins at `after`."""

    tag: int
    start: int
    stop: int
    after: int


def _signed_content(data: bytes) -> bytes:
    kind, *held = _children(data, _element(data, 0, len(data)))
    name = data[kind.start : kind.stop]
    if name in _ENCRYPTED:
        raise ParseFailed("the message is encrypted (S/MIME): decrypt it first", code="PARSE_ENCRYPTED")
    if name != _SIGNED or not held:
        raise ValueError("it is neither signed nor encrypted")
    (signed,) = _children(data, held[0])
    wrapped = next(one for one in (*_children(data, signed), None) if one is None or one.tag == _SEQUENCE)
    content = [] if wrapped is None else [one for one in _children(data, wrapped) if one.tag == _EXPLICIT]
    if not content:
        raise ValueError("it holds a signature and no text")
    return b"".join(_octets(data, one) for one in _children(data, content[0]))


def _octets(data: bytes, held: _Element, depth: int = 0) -> bytes:
    if held.tag == _OCTETS:
        return data[held.start : held.stop]
    if held.tag != _OCTETS_IN_PARTS or depth > _DEEPEST:
        raise ValueError("its text is no row of bytes")
    return b"".join(_octets(data, one, depth + 1) for one in _children(data, held))


def _children(data: bytes, parent: _Element) -> Iterator[_Element]:
    at = parent.start
    while at < parent.stop:
        child = _element(data, at, parent.stop)
        yield child
        at = child.after


def _element(data: bytes, at: int, end: int, depth: int = 0) -> _Element:
    tag, length, start = data[at], data[at + 1], at + 2
    if depth > _DEEPEST:
        raise ValueError("it is nested too deep")
    if length == _UNKNOWN_LENGTH:
        stop = start
        while data[stop : stop + 2] != b"\0\0":
            stop = _element(data, stop, end, depth + 1).after
        return _Element(tag, start, stop, stop + 2)
    if length > _UNKNOWN_LENGTH:
        digits = length - _UNKNOWN_LENGTH
        length = int.from_bytes(data[start : start + digits]) if digits <= _LONGEST_LENGTH else end
        start += digits
    if start + length > end:
        raise ValueError("it breaks off")
    return _Element(tag, start, start + length, start + length)
