"""Rows on the GraphQL endpoint as hostile clients meet it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLError

from agentic_rag_server.graphql.http.limits import LIMIT_CODE, Limits, parse_within
from tests.bench.reports import ROOT, Row
from tests.security.ground import Ground
from tests.security.hostile_requests import Hostile, hostile_requests
from tests.security.servers import Served, running_server
from tests.security.table import Measure

LEVELS = range(10, 61, 5)
REFUSED_MS = 50.0
ROUNDS = 5
AUDITS = 61
FEWEST_KINDS = 60
INTROSPECTION_AUDIT = "28B9"
"""Asks for introspection, which production refuses."""
UNLIMITED = {"AGENTIC_RAG_RATE_LIMITS": "asks=0,writes=0,reads=0"}
"""Each request is to be judged by what it is, and not refused as one too many."""

_INTERNAL = re.compile(
    r'Traceback|File "|\.py\b|site-packages|asyncpg|strawberry|graphql\.error|psycopg|postgres(?:ql)?://|redis://|'
    r"relation \"|syntax error at|/home/|/root/|/tmp/|NoneType|object at 0x",
    re.IGNORECASE,
)


def chained(levels: int) -> str:
    """A document whose every fragment spreads the next one twice: 2^levels fields when written out."""
    fragments = "".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }} " for n in range(levels))
    return f"{{ ...F0 }} {fragments}fragment F{levels} on Query {{ __typename }}"


def refusal_ms(document: str, limits: Limits) -> tuple[float, str]:
    """The quickest of a few refusals, in ms, and their code."""
    best, code = float("inf"), ""
    for _ in range(ROUNDS):
        began = time.perf_counter()
        try:
            parse_within(document, limits)
            code = "passed"
        except GraphQLError as refused:
            code = str((refused.extensions or {}).get("code"))
        best = min(best, (time.perf_counter() - began) * 1000)
    return best, code


async def chained_fragments(ground: Ground, short: bool) -> list[Row]:
    """As served, and with the cap on fragments lifted so that the measuring itself is what takes the time."""
    lifted = Limits(tokens=100_000, fragments=1_000)
    served = [refusal_ms(chained(levels), Limits()) for levels in LEVELS]
    walked = [refusal_ms(chained(levels), lifted) for levels in LEVELS]
    refused = sum(code == LIMIT_CODE for _, code in served)
    slowest = max(ms for ms, _ in (*served, *walked))
    growth = walked[-1][0] / walked[0][0]
    return [
        Row("chained fragments of 10 to 60 levels refused", f"{refused}/{len(served)}", "all", refused == len(served)),
        Row("slowest of these refusals", f"{slowest:.1f} ms", f"≤ {REFUSED_MS:g} ms", slowest <= REFUSED_MS),
        Row("time of 60 levels over that of 10", f"{growth:.1f}×", "≤ 12× (linear: 6×)", growth <= 12, timed=True),
    ]


async def hostile_clients(ground: Ground, short: bool) -> list[Row]:
    """Each request once with a token and once without, against a server of the production profile and an open one."""
    wrong: list[str] = []
    slowest, sent = 0.0, 0
    for profile in ("production",) if short else ("development", "production"):
        async with running_server(ground.servers(), AGENTIC_RAG_PROFILE=profile, **UNLIMITED) as server:
            for request in hostile_requests():
                for token in ("", server.token):
                    status, body, seconds = await _sent(server, request, token)
                    sent += 1
                    slowest = max(slowest, seconds)
                    if not 100 <= status < 500 or _INTERNAL.search(body):
                        wrong.append(f"{request.name}: {status} {body[:120]!r}")
            wrong += [] if (await server.http.get("/healthz")).status_code == 200 else [f"{profile}: dead"]
    for line in wrong:
        print(f"    {line}")
    kinds = len(hostile_requests())
    held = not wrong and kinds >= FEWEST_KINDS
    return [
        Row(
            f"hostile requests ({kinds} kinds): ≥ 500 or with something internal", f"{len(wrong)} of {sent}", "0", held
        ),
        Row("slowest of them", f"{slowest * 1000:.0f} ms", "≤ 1000 ms", slowest <= 1.0, timed=True),
    ]


async def _sent(server: Served, request: Hostile, token: str) -> tuple[int, str, float]:
    """Status, headers and body, and seconds. Over a bare socket, so that no client mends the request."""
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    headers = {"host": "127.0.0.1", "connection": "close", **request.headers}
    if token and "authorization" not in headers:
        headers["authorization"] = f"Bearer {token}"
    if request.body or request.method == "POST":
        headers["content-length"] = str(len(request.body))
    head = f"{request.method} {request.path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items())
    # The server may close on a body that it refuses before all of it is sent.
    with contextlib.suppress(ConnectionError):
        writer.write(head.encode("latin-1", "replace") + b"\r\n" + request.body)
        await writer.drain()
    answer = b""
    with contextlib.suppress(ConnectionError):
        while piece := await asyncio.wait_for(reader.read(1 << 16), 20):
            answer += piece
    writer.close()
    text = answer.decode("utf-8", "replace")
    status = int(text.split(" ", 2)[1]) if text.startswith("HTTP/1.1 ") else 400
    return status, text, time.perf_counter() - began


async def audit_suite(ground: Ground, short: bool) -> list[Row]:
    """The audits of the npm package `graphql-http`, run by node."""
    program = _audit_program()
    rows: list[Row] = []
    for profile in ("development",) if short else ("development", "production"):
        async with running_server(ground.servers(), AGENTIC_RAG_PROFILE=profile, **UNLIMITED) as server:
            found = await _audits(program, server)
        for one in found:
            if one["status"] != "ok":
                print(f"    {profile}: {one['id']} {one['name']}: {one['status']} {one['reason']}")
        missed = [one for one in found if one["status"] != "ok"]
        wanted = [one["id"] for one in missed if not one["name"].startswith("MAY")]
        held = not missed if profile == "development" else wanted == [INTROSPECTION_AUDIT]
        rows.append(
            Row(
                f"graphql-http audits, {profile} profile",
                f"{len(found) - len(missed)}/{len(found)}, MUST and SHOULD missed: {', '.join(wanted) or 'none'}",
                "61/61" if profile == "development" else "all MUST and SHOULD but 28B9",
                len(found) == AUDITS and held,
            )
        )
    return rows


def _audit_program() -> Path:
    """The audit script beside its packages, installed once into build/."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("component: node and npm are not installed (scripts/install-system-packages)")
    source, folder = Path(__file__).parents[1] / "graphql_http", ROOT / "build" / "graphql-http"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "audit.js"):
        shutil.copyfile(source / name, folder / name)
    if not (folder / "node_modules" / "graphql-http").is_dir():
        subprocess.run([npm, "install", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True, timeout=300)
    return folder / "audit.js"


async def _audits(program: Path, server: Served) -> list[dict[str, Any]]:
    process = await asyncio.create_subprocess_exec(
        "node", str(program), f"{server.url}/graphql", server.token, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(process.communicate(), 120)
    return [json.loads(line) for line in output.splitlines()]


ROWS: Mapping[str, Measure] = {
    "chained-fragments": chained_fragments,
    "hostile-requests": hostile_clients,
    "graphql-http": audit_suite,
}
