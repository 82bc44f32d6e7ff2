"""What is taken from the web, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.web.url_policy import HostList

MAX_PAGE_BYTES = 2_000_000
"""Of a response as sent, headers included, and again once it is unpacked."""

FETCH_SECONDS = 9.0
"""For one fetch with all its redirects: a page that drips a byte a second ends with it."""

MAX_REDIRECTS = 5

TEXT_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/markdown"})
"""Media types that are read."""


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """`hosts` are those that may be asked. A redirect may also lead to a host above or beneath the one before it."""

    hosts: HostList
    max_bytes: int = MAX_PAGE_BYTES
    seconds: float = FETCH_SECONDS
    max_redirects: int = MAX_REDIRECTS
    media_types: frozenset[str] = TEXT_TYPES


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A whole response. `url` is where it came from, after redirects."""

    url: str
    media_type: str
    body: bytes


_BINARY_STARTS = (
    b"PK\x03\x04",
    b"%PDF-",
    b"\x7fELF",
    b"MZ",
    b"GIF8",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"\x1f\x8b",
    b"7z\xbc\xaf",
    b"Rar!",
    b"BZh",
    b"\xfd7zXZ",
)


def looks_like_text(body: bytes) -> bool:
    """Whether the first bytes are of no common binary format and hold no zero byte (UTF-16 with a mark may)."""
    start = body[:1024]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    return not start.lstrip().startswith(_BINARY_STARTS) and b"\0" not in start
