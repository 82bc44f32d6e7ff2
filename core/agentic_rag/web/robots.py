"""What a site asks robots to leave alone: robots.txt (RFC 9309), the header X-Robots-Tag and the meta element."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentic_rag.web.encodings import encoding_by_mark, wide_encoding

if TYPE_CHECKING:
    from protego import Protego

AGENT = "agentic-rag"
"""How this product is called in robots.txt."""
MAX_ROBOTS_BYTES = 500 * 1024
"""RFC 9309 §2.5: what comes after is not read."""
MAX_ROBOTS_FILE = 2_000_000
"""Of a file that is read up to there, with the headers of its response."""
MAX_META_BYTES = 10_000
"""Of a meta element, in which its attributes are looked for."""

_AGENTS = frozenset({"robots", AGENT})
_META = re.compile(rb"<meta\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"""([^\s=/>"']+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>"']+))?""")
_WORD = re.compile(r"[a-z-]+")
_BETWEEN = re.compile(r"[,;]")
_VALUED = re.compile(r"(?<![a-z_-])(?:max-[a-z-]+|unavailable_after)\s*:\s*[^\s,;]*")
"""A directive with a value, as `max-image-preview:none`."""
_OURS = re.compile(rf"(?<![^\r\n])([ \t]*user[ -]?agent[ \t]*:[ \t]*{AGENT})(?![\w-])[^\r\n]*", re.IGNORECASE)
"""A line for us, with a version behind our name."""
_HIDDEN = re.compile(rb"<!--|<script\b|<style\b", re.IGNORECASE)
_ENDS = {
    b"<!--": re.compile(rb"-->"),
    b"<script": re.compile(rb"</script", re.IGNORECASE),
    b"<style": re.compile(rb"</style", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one site. Without a file everything is allowed; `is_closed`: the file could not be had."""

    parsed: Protego | None = None
    is_closed: bool = False

    def allows(self, url: str) -> bool:
        """Whether the page may be fetched."""
        if self.is_closed:
            return False
        return self.parsed is None or self.parsed.can_fetch(url, AGENT)

    @property
    def delay_seconds(self) -> float:
        """The pause between two requests that the site asks for (`Crawl-delay`, `Request-rate` whatever its hours), the
        longer one; 0 where it asks for none.
        """
        if self.parsed is None:
            return 0.0
        rate = self.parsed.request_rate(AGENT)
        by_rate = 0.0 if rate is None else rate.seconds / rate.requests
        return max(0.0, float(self.parsed.crawl_delay(AGENT) or 0.0), by_rate)


ALLOW_ALL = RobotsRules()
CLOSED = RobotsRules(is_closed=True)


def parse_robots(body: bytes) -> RobotsRules:
    """The rules of a robots.txt; what is no rule in it is skipped. Those behind `MAX_ROBOTS_BYTES` are not read, nor is
    a line that is cut there.
    """
    # Read where pages are, not at the start of every process.
    from protego import Protego

    whole = len(body) <= MAX_ROBOTS_BYTES
    read = body if whole else body[: max(body.rfind(one, 0, MAX_ROBOTS_BYTES) for one in (b"\n", b"\r")) + 1]
    # RFC 9309 §2.2.1: groups are for a product token, which has no version.
    return RobotsRules(Protego.parse(_OURS.sub(r"\1", _decode(read))))


def _decode(body: bytes) -> str:
    """By the byte order mark, which is no part of the text, or by the zero bytes of UTF-16 without one; else UTF-8."""
    return body.decode(encoding_by_mark(body) or wide_encoding(body) or "utf-8", "replace")


@dataclass(frozen=True, slots=True)
class PageDirectives:
    """What a page itself asks of robots."""

    noindex: bool = False
    """It is not to be kept."""
    nofollow: bool = False
    """Its links are not to be followed."""


def read_directives(header: str, body: bytes) -> PageDirectives:
    """Of the header X-Robots-Tag and the page's meta elements; the strictest holds."""
    words = {word for part in (_header_words(header), _meta_words(body)) for word in part}
    return PageDirectives(bool(words & {"noindex", "none"}), bool(words & {"nofollow", "none"}))


def _header_words(header: str) -> Iterator[str]:
    """The directives that hold for everybody or for us; `otherbot: noindex` holds for another one only, to the end of
    its line. A directive's own value is none.
    """
    for line in header.lower().splitlines():
        for_us = True
        for part in _BETWEEN.split(line):
            name, colon, rest = part.partition(":")
            if colon and not _has_value(name):
                for_us = name.strip() in (AGENT, "*", "robots")
                name, colon, rest = rest.partition(":")
            if for_us:
                yield from rest.split()[1:] if colon else name.split()


def _has_value(name: str) -> bool:
    return name.strip().startswith(("max-", "unavailable_after"))


def _meta_words(body: bytes) -> Iterator[str]:
    for element in _meta_elements(_outside_comments(_narrow(body))):
        named = {name.lower(): _text(value) for name, value in reversed(_ATTRIBUTE.findall(element))}
        if named.get(b"name", "").strip() in _AGENTS:
            yield from _WORD.findall(_VALUED.sub(" ", named.get(b"content", "")))


def _narrow(body: bytes) -> bytes:
    """A page whose letters take two bytes, with letters of one."""
    return body if encoding_by_mark(body) in (None, "utf-8-sig") else _decode(body).encode("utf-8", "replace")


def _text(value: bytes) -> str:
    return html.unescape(value.strip(b"\"'").decode("utf-8", "replace")).lower()


def _meta_elements(page: bytes) -> Iterator[bytes]:
    """The attributes of each. In one pass, also over elements that never end: a pattern would look for the end of
    each.
    """
    at = 0
    while (found := _META.search(page, at)) is not None:
        end = page.find(b">", found.end())
        if end < 0:
            return
        at = end + 1
        yield page[found.end() : min(end, found.end() + MAX_META_BYTES)]


def _outside_comments(page: bytes) -> bytes:
    """Without comments, scripts and styles, in one pass; one that never ends is none."""
    kept: list[bytes] = []
    at = start = 0
    endless: set[bytes] = set()
    while (found := _HIDDEN.search(page, start)) is not None:
        kind = found[0].lower()
        end = None if kind in endless else _ENDS[kind].search(page, found.end())
        if end is None:
            endless.add(kind)
            start = found.end()
            continue
        kept.append(page[at : found.start()])
        at = start = end.end()
    return b"".join((*kept, page[at:]))
