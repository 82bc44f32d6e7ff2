"""A web of a few hundred pages for crawls and runs: sites with rules, traps, twins, lies, and hosts that are broken or
silent. Nothing is sent: the client's dialler is replaced by streams in memory, and every address is public on paper.
"""

from __future__ import annotations

import functools
import hashlib
import ssl
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpcore2

from agentic_rag.adapters.web.fetcher import GuardedFetcher
from agentic_rag.ingestion.web.read_pages import LISTING_POLICY, ROBOTS_POLICY
from agentic_rag.web.fetch_policy import FetchPolicy
from agentic_rag.web.url_policy import HostList

_tls = functools.cache(ssl.create_default_context)
"""One for all: each reads the certificates of the machine, 10 ms of it, and nothing here speaks TLS."""

ADDRESS = "93.184.215.14"
FACTS = 60
"""Pages each of which alone holds one answer."""
NAMES = (
    "Brannvik",
    "Stokksund",
    "Kolvereid",
    "Ravnholm",
    "Otterdal",
    "Hestvika",
    "Leirfjord",
    "Trolla",
    "Vingrom",
    "Aursund",
)
KINDS = ("pilot boat", "ferry", "tug", "survey vessel", "ice breaker", "fire boat")


@dataclass(frozen=True)
class Answer:
    """What a server sends."""

    body: bytes = b""
    status: str = "200 OK"
    media: str = "text/html; charset=utf-8"
    headers: tuple[str, ...] = ()

    def bytes(self) -> bytes:
        etag = hashlib.sha256(self.body).hexdigest()[:12]
        lines = (
            f"HTTP/1.1 {self.status}",
            f"Content-Type: {self.media}",
            f"Content-Length: {len(self.body)}",
            f'ETag: "{etag}"',
            *self.headers,
        )
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + self.body


def page(title: str, text: str, links: Sequence[str] = (), head: str = "") -> Answer:
    """An HTML page of its own, with links."""
    anchors = "".join(f'<li><a href="{one}">{one}</a></li>' for one in links)
    body = f"<h1>{title}</h1><p>{text}</p><ul>{anchors}</ul>"
    return Answer(f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>".encode())


@functools.cache
def prose(seed: int) -> str:
    """Forty words that no other page has in this order."""
    words = [hashlib.blake2b(f"{seed}-{at}".encode(), digest_size=4).hexdigest() for at in range(40)]
    return " ".join(words)


def fact(number: int) -> tuple[str, str, str]:
    """A question, its answer's word, and the sentence that holds it; `number` is below `FACTS`."""
    name, kind = NAMES[number % len(NAMES)], KINDS[number // len(NAMES)]
    place = f"{NAMES[(number * 7 + 3) % len(NAMES)].lower()}hamn"
    return (
        f"Which harbour serves the {name} {kind}?",
        place.capitalize(),
        f"The {name} {kind} is served by the harbour of {place.capitalize()}.",
    )


@dataclass
class SimulatedWeb:
    """Pages by address without scheme; `requests` are those that servers got."""

    pages: dict[str, Answer] = field(default_factory=dict[str, Answer])
    requests: list[str] = field(default_factory=list[str])
    silent: set[str] = field(default_factory=set[str])
    """Hosts that accept and say nothing."""
    after: Callable[[str], None] = lambda _: None
    """Called with each address that was asked for."""

    @property
    def page_requests(self) -> list[str]:
        """Requests but for robots.txt."""
        return [one for one in self.requests if not one.endswith("/robots.txt")]

    @property
    def asked_twice(self) -> list[str]:
        """Pages that were fetched more than once."""
        return [one for one, times in Counter(self.page_requests).items() if times > 1]

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        if not any(one.startswith(f"{host}/") for one in self.pages) and host not in self.silent:
            raise OSError("unknown name")
        return [ADDRESS]

    async def dial(self, address: str, port: int, seconds: float) -> httpcore2.AsyncNetworkStream:
        assert address == ADDRESS, f"{address} was dialled"
        return _Stream(self)

    def fetcher(self, policy: FetchPolicy | None = None) -> GuardedFetcher:
        """The guarded client, each of whose connections ends here."""
        return GuardedFetcher(
            policy or FetchPolicy(HostList(("*",)), seconds=1.0), resolve=self.resolve, dial=self.dial, tls=_tls()
        )

    def listings(self) -> GuardedFetcher:
        """The client of sitemaps and feeds."""
        return self.fetcher(replace(LISTING_POLICY, seconds=1.0))

    def robots(self) -> GuardedFetcher:
        """The client of robots.txt."""
        return self.fetcher(replace(ROBOTS_POLICY, seconds=0.5))

    def respond(self, request: bytes) -> bytes | None:
        lines = request.split(b"\r\n")
        path = lines[0].split(b" ")[1].decode()
        named = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
        url = named[b"host"].decode() + path
        self.requests.append(url)
        self.after(url)
        if url.partition("/")[0] in self.silent:
            return None
        found = self.pages.get(url, Answer(status="404 Not Found"))
        sent = found.bytes()
        if (known := named.get(b"if-none-match")) is not None and known in sent:
            return "\r\n".join(("HTTP/1.1 304 Not Modified", *found.headers)).encode() + b"\r\n\r\n"
        return sent


class _Stream(httpcore2.AsyncNetworkStream):
    """A connection whose other end is the simulated web."""

    def __init__(self, web: SimulatedWeb) -> None:
        self._web = web
        self._sent = bytearray()
        self._left: bytes | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._left is None:
            self._left = self._web.respond(bytes(self._sent))
            if self._left is None:
                raise httpcore2.ReadTimeout("silent")
        piece, self._left = self._left[:max_bytes], self._left[max_bytes:]
        return piece

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._sent += buffer

    async def aclose(self) -> None:
        pass

    async def start_tls(self, *arguments: Any, **named: Any) -> httpcore2.AsyncNetworkStream:
        return self

    def get_extra_info(self, info: str) -> object:
        return None


SITE = "site.example.org"
TWINS = "twins.example.org"
MAZE = "maze.example.org"
RULES = "rules.example.org"
SHELLS = "shells.example.org"
SEEDS = (
    f"http://{SITE}/",
    f"http://{TWINS}/",
    f"http://{MAZE}/",
    f"http://{RULES}/",
    f"http://{SHELLS}/",
    "http://closed.example.org/",
    "http://silent.example.org/",
    "http://broken.example.org/",
)
DUPLICATES = (
    f"http://{TWINS}/a#part",
    f"http://{TWINS}:80/a",
    "http://TWINS.example.org/a",
    f"http://{TWINS}/a?utm_source=mail",
    f"http://{TWINS}/a?fbclid=1",
    f"http://{TWINS}/x/../a",
    f"http://{TWINS}//a",
    f"http://{TWINS}/a/",
    f"http://{TWINS}/a;jsessionid=77",
    f"https://{TWINS}/a",
    f"http://www.{TWINS}/a",
    f"http://{TWINS}/copy",
    f"http://{TWINS}/print",
    f"http://{TWINS}/alias",
)
"""Fourteen ways to the page /a: eleven other spellings of the address, a copy, a print version, and a page that calls
/a its own address.
"""
FORBIDDEN = (*(f"{RULES}/private/{number}" for number in (1, 2, 3)), "closed.example.org/", "closed.example.org/inside")
NOINDEX = (f"{RULES}/noindex-meta", f"{RULES}/noindex-header")


def build_web() -> SimulatedWeb:
    """More than 300 pages."""
    web = SimulatedWeb(silent={"silent.example.org"})
    leaves = [f"/page/{number}" for number in range(120)]
    facts = [f"/fact/{number}" for number in range(FACTS)]
    web.pages[f"{SITE}/"] = page("The site", prose(1), [*leaves, *facts])
    web.pages[f"{SITE}/robots.txt"] = Answer(b"User-agent: *\nAllow: /\n", media="text/plain")
    for number, path in enumerate(leaves):
        web.pages[f"{SITE}{path}"] = page(f"Page {number}", prose(100 + number), ["/", f"/deep/{number}"])
        web.pages[f"{SITE}/deep/{number}"] = page(f"Deep {number}", prose(1_000 + number))
    for number, path in enumerate(facts):
        web.pages[f"{SITE}{path}"] = page(f"Fact {number}", f"{fact(number)[2]} {prose(2_000 + number)}", ["/"])
    _add_twins(web)
    _add_rules(web)
    # Every page of the maze leads to a new one, deeper or with another number.
    web.pages[f"{MAZE}/"] = page("Maze", prose(3), ["/1", "/calendar?day=1", "/a/a/a/a"])
    for number in range(1, 60):
        web.pages[f"{MAZE}/{number}"] = page(f"Room {number}", prose(3_000 + number), [f"/{number + 1}"])
    script = "<script src='/app.js'></script>"
    web.pages[f"{SHELLS}/"] = page("Shells", prose(4), ["/app", "/full"])
    web.pages[f"{SHELLS}/app"] = Answer(f"<html><head>{script}</head><body><div id=root></div></body></html>".encode())
    web.pages[f"{SHELLS}/full"] = page("Full", prose(5), head=script)
    web.pages["closed.example.org/robots.txt"] = Answer(status="503 Service Unavailable")
    web.pages["closed.example.org/"] = page("Closed", prose(6), ["/inside"])
    web.pages["broken.example.org/"] = Answer(b"<html>", status="500 Internal Server Error")
    return web


def _add_twins(web: SimulatedWeb) -> None:
    text = f"The twin page says one thing. {prose(10)}"
    web.pages[f"{TWINS}/"] = page("Twins", prose(2), [f"http://{TWINS}/a", *DUPLICATES, f"http://{TWINS}/other"])
    web.pages[f"{TWINS}/a"] = page("A", text)
    web.pages[f"{TWINS}/copy"] = page("A", text)
    web.pages[f"{TWINS}/print"] = page("A", f"{text} Printed.")
    web.pages[f"{TWINS}/alias"] = page("Alias", prose(11), head=f'<link rel="canonical" href="http://{TWINS}/a">')
    web.pages[f"{TWINS}/other"] = page("Other", prose(12))
    web.pages[f"www.{TWINS}/a"] = page("A", text)


def _add_rules(web: SimulatedWeb) -> None:
    rules = b"User-agent: agentic-rag\nDisallow: /private/\nAllow: /\n\nUser-agent: *\nDisallow: /\n"
    web.pages[f"{RULES}/robots.txt"] = Answer(rules, media="text/plain")
    links = ["/private/1", "/private/2", "/noindex-meta", "/noindex-header", "/nofollow", "/open"]
    web.pages[f"{RULES}/"] = page("Rules", prose(20), [*links, "/moved"])
    for number, path in enumerate(links):
        head = '<META NAME="robots" content="noindex, follow">' if path == "/noindex-meta" else ""
        head = '<meta name="robots" content="nofollow">' if path == "/nofollow" else head
        made = page(path, prose(30 + number), ["/behind"] if path == "/nofollow" else [], head)
        headers = ("X-Robots-Tag: otherbot: nofollow", "X-Robots-Tag: noindex") if path == "/noindex-header" else ()
        web.pages[f"{RULES}{path}"] = Answer(made.body, headers=headers)
    web.pages[f"{RULES}/behind"] = page("Behind", prose(40))
    web.pages[f"{RULES}/moved"] = Answer(status="302 Found", headers=("Location: /private/3",))
    web.pages[f"{RULES}/private/3"] = page("Private", prose(41))
