"""Rows on the guarded outbound client: nothing that users, pages or name servers say leads it inside."""

from __future__ import annotations

import asyncio
import csv
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.kernel.errors import AgenticRagError
from tests.bench.reports import Row
from tests.security.ground import Ground
from tests.security.table import Measure
from tests.web_world import PUBLIC, Web, opened_web

DATA = "AGENTIC_RAG_TEST_DATA"
CASES = "ssrf_cases.tsv"
OWN_CASES = Path(__file__).with_name("ssrf_cases.tsv")
MOST_BYTES = 2.1e6
MOST_SECONDS = 10.0
MOST_GROWTH = 64 << 20
_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|x[0-9a-f]{2}|[tn\\])")
BOMBS = ("gzip", "long", "slow", "hdrs")


@dataclass(frozen=True, slots=True)
class Case:
    """One address, and whether it may be asked."""

    name: str
    url: str
    expected: str


def cases() -> list[Case]:
    """The shared cases where they are given, besides our own."""
    files = [OWN_CASES]
    if folder := os.environ.get(DATA):
        files.append(Path(folder) / CASES)
    found: list[Case] = []
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                found.append(Case(row["case"], _unescaped(row["url"]), row["expected"]))
    return found


def _unescaped(text: str) -> str:
    plain = {"t": "\t", "n": "\n", "\\": "\\"}
    return _ESCAPE.sub(lambda match: plain.get(match[1]) or chr(int(match[1][1:], 16)), text)


async def outcome(web: Web, url: str) -> str:
    """`allowed` when the page arrived, else `blocked`; any error that is not the client's own ends the row."""
    try:
        await web.fetcher().fetch(url)
    except AgenticRagError:
        return "blocked"
    return "allowed"


async def every_case(ground: Ground, short: bool) -> list[Row]:
    """Each address once, with a resolver that gives names a second, inner address when asked again."""
    listed = [case for case in cases() if not (short and case.url.endswith("/b/slow"))]
    wrong: list[str] = []
    async with opened_web() as web:
        web.names["rebind.test"] = ("127.0.0.1",)
        for case in listed:
            if await outcome(web, case.url) != case.expected:
                wrong.append(case.name)
        inner = web.forbidden
    for name in wrong:
        print(f"    not as expected: {name}")
    return [
        Row(
            "hostile and harmless addresses as expected", f"{len(listed) - len(wrong)}/{len(listed)}", "all", not wrong
        ),
        Row("connections to addresses that are not public", str(len(inner)), "0", not inner),
    ]


async def rebinding(ground: Ground, short: bool) -> list[Row]:
    """A name that is public when checked and loopback when asked again, and the other way round."""
    tries = 100 if short else 1000
    arrived = 0
    async with opened_web() as web:
        fetcher = web.fetcher()
        for number in range(tries):
            turn = iter((PUBLIC, "127.0.0.1") * 4 if number % 2 else ("127.0.0.1", PUBLIC) * 4)

            async def resolve(host: str, port: int, turn: object = turn) -> list[str]:
                web.resolved.append(host)
                return [next(turn)]  # type: ignore[call-overload]

            fetcher._resolve = resolve
            try:
                await fetcher.fetch("http://rebind.test/ok")
                arrived += 1
            except AgenticRagError:
                pass
        inner, asked = len(web.forbidden), len(web.resolved)
    return [
        Row(f"rebinding × {tries}: connections to loopback", str(inner), "0", inner == 0),
        Row(f"rebinding × {tries}: look-ups", str(asked), str(tries), asked == tries and arrived == tries // 2),
    ]


async def bombs(ground: Ground, short: bool) -> list[Row]:
    """Pages that never end, unfold, drip, or are all headers."""
    rows: list[Row] = []
    async with opened_web() as web:
        await outcome(web, "http://public.test/ok")
        for name in BOMBS:
            if short and name == "slow":
                continue
            web.received, before, began = 0, _resident(), time.perf_counter()
            ended = await outcome(web, f"http://public.test/b/{name}")
            seconds, growth = time.perf_counter() - began, max(0, _resident() - before)
            held = ended == "blocked" and seconds <= MOST_SECONDS and growth < MOST_GROWTH
            rows.append(
                Row(
                    f"bomb {name}",
                    f"{ended}, {web.received / 1e6:.2f} MB, {seconds:.1f} s, +{growth / 1e6:.0f} MB",
                    "blocked, ≤ 2.1 MB, ≤ 10 s, < 64 MB",
                    held and web.received <= MOST_BYTES,
                )
            )
            await asyncio.sleep(0)
    return rows


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


ROWS: Mapping[str, Measure] = {"outbound-addresses": every_case, "rebinding": rebinding, "bombs": bombs}
