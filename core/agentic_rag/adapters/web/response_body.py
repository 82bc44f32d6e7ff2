"""Reads a response: its body within a limit, also after decompression."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Iterator, Mapping
from email.utils import formatdate

from agentic_rag.adapters.web.dialling import too_large
from agentic_rag.kernel.errors import ContentUnsupported, Retryable

_PIECE = 64 * 1024
_MEMBER = b"\x1f"
"""Begins a member of a gzip stream."""


def uses_gzip(encoding: str) -> bool:
    """Whether a body is packed. Errors: `ContentUnsupported` code FETCH_ENCODING for an encoding not asked for."""
    name = encoding.lower()
    if name not in ("identity", "gzip", "x-gzip"):
        raise ContentUnsupported("The page has a content encoding that was not requested.", code="FETCH_ENCODING")
    return name != "identity"


def content_length(length: str) -> int:
    """The length that a header states; 0 where it states none."""
    return int(length[:20]) if length.isascii() and length.isdigit() else 0


def answered_at(headers: Mapping[bytes, str]) -> str:
    """When a response was sent, as its server says; now, of a server without a clock."""
    return headers.get(b"date") or formatdate(usegmt=True)


class _Gzip:
    """Decompresses in small pieces, so that a decompression bomb never expands; all members of a stream (RFC 1952,
    2.2). What follows the last one is passed over, as browsers do.
    """

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self._is_over = False

    def pieces(self, packed: bytes) -> Iterator[bytes]:
        """The decompressed data, at most `_PIECE` bytes at a time."""
        while not self._is_over:
            if self._inner.eof and packed:
                self._is_over = not packed.startswith(_MEMBER)
                self._inner = self._inner if self._is_over else zlib.decompressobj(wbits=31)
                continue
            plain = self._inner.decompress(packed, _PIECE)
            packed = self._inner.unused_data if self._inner.eof else self._inner.unconsumed_tail
            yield plain
            # A full output buffer may leave more to decompress, even when no input is left.
            if not packed and (self._inner.eof or len(plain) < _PIECE):
                return

    @property
    def is_whole(self) -> bool:
        """Whether the end of the gzip stream was reached."""
        return self._inner.eof


async def unpack(body: bytes, most: int) -> bytes:
    """A file that is packed by gzip. Errors: those of `read_whole`."""
    return await read_whole(_slices(body), most, packed=True)


async def _slices(body: bytes) -> AsyncGenerator[bytes]:
    """In small pieces: each member of a stream copies what stands behind it."""
    for at in range(0, len(body), _PIECE):
        yield body[at : at + _PIECE]


async def read_whole(pieces: AsyncIterable[bytes], most: int, *, packed: bool) -> bytes:
    """The decompressed body. Errors: `ContentRefused` code FETCH_TOO_LARGE, `Retryable` code FETCH_FAILED for a
    truncated compressed body.
    """
    gzip = _Gzip() if packed else None
    body = bytearray()
    async for piece in pieces:
        for plain in (piece,) if gzip is None else gzip.pieces(piece):
            body += plain
            if len(body) > most:
                raise too_large()
    if gzip is not None and not gzip.is_whole:
        raise Retryable("The connection broke before the page was complete.", code="FETCH_FAILED")
    return bytes(body)
