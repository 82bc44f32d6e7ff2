"""Compressed RTF ([MS-OXRTFCP]): the body of Outlook's messages that have no other."""

from __future__ import annotations

import struct

from agentic_rag.kernel.errors import ParseFailed

_HEAD = struct.Struct("<III4x")
_COMPRESSED, _PLAIN = 0x75465A4C, 0x414C454D
_WINDOW = 4096
_START = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor "
    rb"MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0" + b"\r\n" + rb"\par "
    rb"\pard\plain\f0\fs20\b\i\u\tab\tx"
)
"""What every window begins with (2.1.2.1)."""


def rtf_of(content: bytes, most: int) -> bytes:
    """The RTF of a compressed body of at most `most` bytes. Errors: `ParseFailed` (PARSE_CORRUPT, PARSE_TOO_LARGE)."""
    if len(content) < _HEAD.size:
        raise ParseFailed("the message's text is damaged", code="PARSE_CORRUPT")
    _, size, kind = _HEAD.unpack_from(content)
    if kind == _PLAIN:
        return content[_HEAD.size :][:size]
    if kind != _COMPRESSED:
        raise ParseFailed("the message's text is damaged", code="PARSE_CORRUPT")
    if size > most:
        raise ParseFailed("the message's text is too long", code="PARSE_TOO_LARGE")
    return _expand(content[_HEAD.size :], size)


def _expand(packed: bytes, size: int) -> bytes:
    """Literals and references into a ring of the last 4,096 bytes; a reference to the place of writing ends it."""
    ring = bytearray(_START.ljust(_WINDOW, b"\0"))
    write, at, made = len(_START), 0, bytearray()
    while at < len(packed) and len(made) < size:
        control, at = packed[at], at + 1
        for bit in range(8):
            if at >= len(packed):
                break
            if not control >> bit & 1:
                taken = packed[at : at + 1]
                at += 1
            else:
                reference = int.from_bytes(packed[at : at + 2], "big")
                at += 2
                start, length = reference >> 4, (reference & 15) + 2
                if start == write:
                    return bytes(made)
                taken = b""
                for step in range(length):
                    byte = ring[(start + step) % _WINDOW]
                    taken += bytes((byte,))
                    ring[(write + step) % _WINDOW] = byte
            made += taken
            for step, byte in enumerate(taken):
                ring[(write + step) % _WINDOW] = byte
            write = (write + len(taken)) % _WINDOW
    return bytes(made)
