"""More questions at once than one server process can answer."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agentic_rag.kernel.public_ids import encode_workspace
from tests.bench.http_load import body_of
from tests.bench.processes import free_port, wait_until_ready
from tests.bench.reports import Row, exactly
from tests.chaos import corpus
from tests.chaos.children import crew
from tests.chaos.ground import ROOT, TOKEN, Ground, Servers, new_ground

CLIENTS = 64
ASK = "query Ask($input: RagAnswerInput!) { ragAnswer(input: $input) { outcome degraded userErrors { code } } }"


async def questions_at_once(servers: Servers, short: bool) -> list[Row]:
    """64 clients ask one process for a minute, each the next question when it has its answer."""
    documents, seconds = (40, 2.0) if short else (400, 60.0)
    async with new_ground(servers, RAG_EMBEDDER="deterministic") as ground, crew(ground) as workers:
        await ground.sync(corpus.small(ground.home / "source", documents))
        workers.start()
        await ground.until_idle()
        await workers.stop()
        async with server_process(ground) as port:
            seen = await _ask_for(ground, port, documents, seconds)
    print(f"    {CLIENTS} clients for {seconds:g} s: {dict(seen)}")
    answered = seen["answered"]
    return [
        exactly("overload: errors among the admitted", sum(n for what, n in seen.items() if "error" in what), 0),
        exactly("overload: answers flagged degraded while every server is there", seen["degraded"], 0),
        exactly("overload: refusals without Retry-After", seen["refused without Retry-After"], 0),
        Row("overload: answers", str(answered), f"≥ {seconds:g}", answered >= seconds),
    ]


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server that answers."""

    port: int
    process: subprocess.Popen[bytes]


@asynccontextmanager
async def started_server(ground: Ground) -> AsyncIterator[ServerProcess]:
    """It ends with the block."""
    port, log = free_port(), ground.home / "server.log"
    with log.open("wb") as file:
        child = subprocess.Popen(  # noqa: ASYNC220
            [sys.executable, "-m", "tests.bench.server_process", str(port)],
            env=ground.environment(), cwd=ROOT, stdout=file, stderr=file,
        )  # fmt: skip
    try:
        await asyncio.to_thread(wait_until_ready, port, child)
        yield ServerProcess(port, child)
    finally:
        child.terminate()
        await asyncio.to_thread(child.wait, 30)


@asynccontextmanager
async def server_process(ground: Ground) -> AsyncIterator[int]:
    """The port of one."""
    async with started_server(ground) as server:
        yield server.port


async def _ask_for(ground: Ground, port: int, documents: int, seconds: float) -> Counter[str]:
    workspace = encode_workspace(ground.workspace.workspace_id)
    numbers, seen, ends = itertools.count(), Counter[str](), time.monotonic() + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < ends:
            number = next(numbers)
            text = f"Who inspected the place of the {corpus.word(number % documents)} gauge, reading {number}?"
            body = body_of(ASK, {"input": {"workspaceId": workspace, "question": text}})
            head = (
                f"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                f"Authorization: Bearer {TOKEN}\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            fields = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(fields.partition("content-length:")[2].partition("\r")[0])
            reply = json.loads(await reader.readexactly(length))
            if " 503 " in fields.partition("\r")[0]:
                stated, after = "retry-after:" in fields, fields.partition("retry-after:")[2].partition("\r")[0]
                seen["refused" if stated else "refused without Retry-After"] += 1
                await asyncio.sleep(min(float(after or 1), max(0.0, ends - time.monotonic())))
            elif reply.get("errors"):
                seen[f"error {reply['errors'][0]['extensions']['code']}"] += 1
            else:
                seen["answered"] += 1
                seen["degraded"] += bool(reply["data"]["ragAnswer"]["degraded"])
                for name in reply["data"]["ragAnswer"]["degraded"]:
                    seen[f"without {name}"] += 1
                for fault in reply["data"]["ragAnswer"]["userErrors"]:
                    seen[f"user error {fault['code']}"] += 1
                seen[f"outcome {reply['data']['ragAnswer']['outcome']}"] += 1
        writer.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return seen
