"""What a site asks robots to leave alone: robots.txt (RFC 9309), the header X-Robots-Tag and the meta element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from protego import Protego

AGENT = "agentic-rag"
"""How this product is called in robots.txt."""
MAX_ROBOTS_BYTES = 500 * 1024
"""RFC 9309 §2.5: what comes after is not read."""
HEAD_BYTES = 100_000
"""Of a page: where its meta elements are looked for."""

_META = re.compile(rb"<meta\b", re.IGNORECASE)
_NAME = re.compile(rb"""\bname\s*=\s*["']?\s*(robots|agentic-rag)\b""", re.IGNORECASE)
_CONTENT = re.compile(rb"""\bcontent\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)


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
        """The pause between two requests that the site asks for; 0 where it asks for none."""
        stated = None if self.parsed is None else self.parsed.crawl_delay(AGENT)
        return max(0.0, float(stated or 0.0))


ALLOW_ALL = RobotsRules()
CLOSED = RobotsRules(is_closed=True)


def parse_robots(body: bytes) -> RobotsRules:
    """The rules of a robots.txt; what is no rule in it is skipped."""
    # Read where pages are, not at the start of every process.
    from protego import Protego

    text = body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace")
    return RobotsRules(Protego.parse(text))


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
    its line.
    """
    for line in header.lower().splitlines():
        for_us = True
        for part in line.split(","):
            agent, colon, rest = part.partition(":")
            if colon and agent.strip() != "unavailable_after":
                for_us = agent.strip() in (AGENT, "*", "robots")
            if for_us:
                yield (rest if colon else part).strip()


def _meta_words(body: bytes) -> Iterator[str]:
    for element in _meta_elements(_without_comments(body[:HEAD_BYTES])):
        if _NAME.search(element) is None:
            continue
        content = _CONTENT.search(element)
        if content is not None:
            said = next((one for one in content.groups() if one), b"").decode("latin-1").lower()
            yield from (word.strip() for word in said.split(","))


def _meta_elements(head: bytes) -> Iterator[bytes]:
    """In one pass, also over elements that never end: a pattern would look for the end of each."""
    at = 0
    while (found := _META.search(head, at)) is not None:
        end = head.find(b">", found.end())
        if end < 0:
            return
        at = end + 1
        yield head[found.start() : at]


def _without_comments(head: bytes) -> bytes:
    """The same for comments; one that never ends is none."""
    kept: list[bytes] = []
    at = 0
    while (start := head.find(b"<!--", at)) >= 0 and (end := head.find(b"-->", start + 4)) >= 0:
        kept.append(head[at:start])
        at = end + 3
    return b"".join((*kept, head[at:]))
