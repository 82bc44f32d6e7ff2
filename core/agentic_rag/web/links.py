"""Links of a page, and the one form of an address."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote_to_bytes, urlencode, urljoin, urlsplit

from agentic_rag.web.url_policy import AddressRefused, Target, parse_target

MAX_LINKS = 500
"""Of one page."""
MAX_LINK_CHARACTERS = 300
"""Of a link's words, beyond which nothing is added."""
MAX_CRAWLED_CHARACTERS = 512
MAX_SEGMENTS = 12
MAX_PARAMETERS = 6
"""Addresses with more are made by a program, often without an end."""
MOVES_WITHIN = 5.0
"""Seconds after which a meta refresh comes too late to mean that a page has moved."""
_REFRESH = re.compile(r"\s*(\d{1,4}(?:\.\d{0,3})?)\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"'\s]+)", re.IGNORECASE)
_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|_ga|yclid|igshid|phpsessid|jsessionid|sessionid|session_id", re.I
)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_SESSION = re.compile(r";jsessionid=[^/?#]*", re.IGNORECASE)
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)
_OTHER_FILES = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|css|js|mjs|json|xml|rss|atom|zip|gz|tar|7z|rar|exe|dmg|iso|mp[34]|m4a|avi|mov|"
    r"wav|ogg|webm|woff2?|ttf|eot|pdf|docx?|xlsx?|pptx?)$",
    re.IGNORECASE,
)


def canonical_url(url: str) -> str:
    """The one form of an address: no fragment, no index file, no tracking or session parameter, parameters in order, no
    double slash, no slash at the end, no escape of a letter that needs none. Bytes of other encodings than UTF-8 stay
    what they are. Errors: `AddressRefused`.
    """
    target = parse_target(url.partition("#")[0])
    path, _, query = target.request.partition("?")
    while (shorter := _shorten(path)) != path:
        path = shorter
    kept = sorted((name, value) for name, value in _parameters(query) if not _is_tracking(name.decode("latin-1")))
    request = f"{path}?{urlencode(kept)}" if kept else path
    return parse_target(f"{target.scheme.value}://{target.authority}{request}").url


def _parameters(query: str) -> Iterator[tuple[bytes, bytes]]:
    for part in query.split("&"):
        name, _, value = part.replace("+", " ").partition("=")
        if part:
            yield unquote_to_bytes(name), unquote_to_bytes(value)


def _unescape(escape: re.Match[str]) -> str:
    """RFC 3986, 6.2.2: letters that need no escape are written as they are, other escapes in capitals."""
    letter = chr(int(escape[1], 16))
    return letter if _UNRESERVED.fullmatch(letter) is not None else escape[0].upper()


def _shorten(path: str) -> str:
    """The path without needless escapes, dots, double slashes and sessions, and without an index file, slashes and
    empty parameters (`;`) at its end. What goes may lay bare what else has to go.
    """
    path = _ESCAPE.sub(_unescape, path)
    path = urlsplit(urljoin(f"http://host{_SESSION.sub('', path)}", "")).path or path
    path = re.sub(r"/{2,}", "/", _SESSION.sub("", path))
    path = urlsplit(urljoin("http://host/", path)).path
    return _INDEX.sub("/", path).rstrip("/;") or "/"


def same_page(url: str) -> str:
    """What two addresses of one page have in common: http or https, with www. or without."""
    scheme, _, rest = url.partition("://")
    return rest.removeprefix("www.") if scheme else url


def is_worth_following(target: Target) -> bool:
    """Whether a page may be behind it, and no maze."""
    path, _, query = target.request.partition("?")
    segments = [one for one in path.split("/") if one]
    repeated = max((segments.count(one) for one in segments), default=0)
    return (
        len(target.url) <= MAX_CRAWLED_CHARACTERS
        and len(segments) <= MAX_SEGMENTS
        and repeated < 3
        and len(parse_qsl(query, keep_blank_values=True)) <= MAX_PARAMETERS
        and _OTHER_FILES.search(path) is None
    )


@dataclass(frozen=True, slots=True)
class PageLink:
    """A canonical address that a page links to, and the words of the link."""

    url: str
    text: str


class PageLinks(NamedTuple):
    """Canonical addresses in a page."""

    urls: Sequence[str]
    """Those that it links to, in its order; links that ask not to be followed are left out."""
    own: str | None
    """The one that it calls its own."""
    moved_to: str | None
    """The one to which it sends its readers on at once (meta refresh)."""


def read_links(base: str, body: str) -> PageLinks:
    """What a page links to. Takes seconds for a page that is made to be slow."""
    reader = _read(body)
    own, moved = (_canonical(reader.base or base, one) for one in (reader.canonical, reader.refresh))
    is_elsewhere = moved is not None and same_page(moved) != same_page(base)
    return PageLinks(
        tuple(dict.fromkeys(one.url for one in _resolved(reader, base))), own, moved if is_elsewhere else None
    )


def read_link_texts(base: str, body: str) -> Sequence[PageLink]:
    """The same links with their words, one for each `a`."""
    return _resolved(_read(body), base)


def _read(body: str) -> _Links:
    reader = _Links()
    reader.feed(body)
    return reader


def _resolved(reader: _Links, base: str) -> list[PageLink]:
    urls = (_canonical(reader.base or base, one) for one in reader.links)
    return [
        PageLink(url, " ".join(text.split()))
        for url, text in zip(urls, reader.texts, strict=True)
        if url is not None and is_worth_following(parse_target(url))
    ]


def _canonical(base: str, address: str | None) -> str | None:
    if address is None:
        return None
    try:
        return canonical_url(urljoin(base, address.strip()))
    except (AddressRefused, ValueError):
        return None


def _is_tracking(name: str) -> bool:
    return _TRACKING.fullmatch(name) is not None


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.texts: list[str] = []
        self._is_open = False
        self.canonical: str | None = None
        self.base: str | None = None
        self.refresh: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("a", "link", "base", "area", "meta"):
            return
        named = dict(attrs)
        if tag == "meta":
            self._note_refresh(named)
            return
        address, relation = named.get("href"), (named.get("rel") or "").lower().split()
        if not address:
            return
        if tag == "link" and "canonical" in relation and self.canonical is None:
            self.canonical = address
        elif tag == "base" and self.base is None:
            self.base = address if address.startswith(("http://", "https://")) else None
        elif tag in ("a", "area") and "nofollow" not in relation and len(self.links) < MAX_LINKS:
            self.links.append(address)
            self.texts.append("")
            self._is_open = tag == "a"

    def _note_refresh(self, named: Mapping[str, str | None]) -> None:
        told = _REFRESH.match(named.get("content") or "")
        is_refresh = (named.get("http-equiv") or "").strip().lower() == "refresh"
        if is_refresh and told is not None and self.refresh is None and float(told[1]) <= MOVES_WITHIN:
            self.refresh = told[2]

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """A comment, as to browsers: the library raises for `<![` before a word that it does not know."""
        return self.parse_bogus_comment(i)

    def handle_endtag(self, tag: str) -> None:
        self._is_open = self._is_open and tag != "a"

    def handle_data(self, data: str) -> None:
        if self._is_open and len(self.texts[-1]) < MAX_LINK_CHARACTERS:
            self.texts[-1] += data
