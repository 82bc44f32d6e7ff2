"""Limits on what is fetched from the web."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentic_rag.web.encodings import decode_page
from agentic_rag.web.url_policy import HostList

MAX_PAGE_BYTES = 2_000_000
"""Limit of a response as sent, headers included, and again after decompression."""

FETCH_SECONDS = 9.0
"""Limit for one fetch with all its redirects; it also ends a page that sends a byte a second."""

SHELL_CHARACTERS = 200
"""A page with a script and less text than this shows its text to browsers only."""
MAX_REDIRECTS = 5

TEXT_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/markdown"})
"""Accepted media types."""
ANY_TYPE = frozenset({"*/*"})
"""Of responses that are text whatever their servers call them."""

_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?([\w.:-]{1,40})""", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """Limits of one fetch. Only `hosts` may be requested; a redirect may also lead to a parent or subdomain of the
    previous host.
    """

    hosts: HostList
    max_bytes: int = MAX_PAGE_BYTES
    seconds: float = FETCH_SECONDS
    max_redirects: int = MAX_REDIRECTS
    media_types: frozenset[str] = TEXT_TYPES
    without: HostList = HostList(())
    """Hosts that are never asked, whatever `hosts` says."""
    unpacks: bool = False
    """A file that is packed by gzip is read as what is in it."""

    def takes(self, media_type: str) -> bool:
        """Whether a response of this type is read; servers need not state one where all are."""
        return self.media_types == ANY_TYPE or media_type in self.media_types

    def allows(self, host: str) -> bool:
        """Whether a host may be asked."""
        return self.hosts.allows(host) and not self.without.allows(host)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A complete response. `url` is the final address after redirects."""

    url: str
    media_type: str
    body: bytes
    validator: str = ""
    """The entity tag, or the time of the last change; empty where the server tells neither."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of the response that say what it is, by their names in lower case."""

    @property
    def charset(self) -> str:
        """The code page that the server states; empty where it states none."""
        return charset_of(self.headers.get("content-type", ""))

    @property
    def text(self) -> str:
        """The body as text."""
        return decode_page(self.body, self.charset)


def charset_of(content_type: str) -> str:
    """The parameter `charset` of a media type (RFC 9110, 8.3); empty where there is none."""
    stated = _CHARSET.search(content_type)
    return "" if stated is None else stated[1]


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


def is_gzip(body: bytes) -> bool:
    """Whether a file is packed by gzip."""
    return body.startswith(b"\x1f\x8b")


def looks_like_text(body: bytes) -> bool:
    """Whether the first bytes match no common binary format and contain no zero byte (allowed in UTF-16 with a byte
    order mark).
    """
    start = body[:1024]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    return not start.lstrip().startswith(_BINARY_STARTS) and b"\0" not in start


def needs_script(body: bytes, text: str) -> bool:
    """Whether a page has a script and, of its main text, no more than a shell that scripts fill."""
    return len(text.strip()) < SHELL_CHARACTERS and b"<script" in body.lower()
