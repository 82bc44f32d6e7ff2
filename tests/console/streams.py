"""Streamed answers: how soon the first event comes, whether the last is the reply, and what hanging up ends."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx2

from agentic_rag.answering.state_machine import Stage
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag_server.app import build_app
from tests.api.asgi_client import Socket
from tests.api.builders import Container, FakeIdentity, schema_of
from tests.bench.reports import Row, at_most, exactly
from tests.unit.answering.test_explain import World, filled

_QUESTIONS, _FEW_QUESTIONS = 500, 20
_HANG_UPS, _FEW_HANG_UPS = 50, 5
_OF_EACH = 20
"""Questions about one document."""

REPLY = (
    "answer outcome degraded citations { marker title snippet sourceSpan { start end } verified } "
    "abstention { reason explanation } run { id createdAt seconds stages { stage seconds outcome } } "
    "debug { plan { subQuestions { text } } } userErrors { code message }"
)
STREAM = (
    f"subscription ($in: RagAnswerInput!) {{ it: ragAnswerStream(input: $in) {{ seq kind answer {{ {REPLY} }} }} }}"
)
ASK = f"mutation ($in: RagAnswerInput!) {{ it: ragAnswer(input: $in) {{ {REPLY} }} }}"


class Waits:
    """A stage that never ends. It notes when it is cancelled."""

    def __init__(self) -> None:
        self.began, self.cancelled_at = asyncio.Event(), 0.0

    async def run(self, *_: Any) -> Any:
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled_at = time.perf_counter()
            raise


def stream(short: bool) -> list[Row]:
    """Answers over documents in memory, over a WebSocket of the real application."""
    return asyncio.run(_stream(short))


async def _stream(short: bool) -> list[Row]:
    count, hang_ups = (_FEW_QUESTIONS, _FEW_HANG_UPS) if short else (_QUESTIONS, _HANG_UPS)
    async with filled(World()) as world:
        for number in range(count // _OF_EACH):
            lines = [f"Pump {number}-{one} of the harbour opens at {number + one} bar." for one in range(_OF_EACH)]
            await world.add(f"Pumps {number}", "\n\n".join(lines))
        container = Container(answer=world.answer, identity=FakeIdentity({"admin-token": world.asker}))  # type: ignore[arg-type]
        app = build_app(container, schema_of())  # type: ignore[arg-type]
        firsts, unlike, gaps = [], 0, 0
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://test") as http:
            for at in range(count):
                asked = {
                    "workspaceId": encode_workspace(world.workspace.workspace_id),
                    "question": f"At what pressure does pump {at // _OF_EACH}-{at % _OF_EACH} open?",
                    "idempotencyKey": f"question-{at}",
                }
                seconds, events = await _events(app, asked)
                headers = {"authorization": "Bearer admin-token"}
                response = await http.post("/graphql", json={"query": ASK, "variables": {"in": asked}}, headers=headers)
                firsts.append(seconds)
                unlike += json.dumps(events[-1]["answer"]) != json.dumps(response.json()["data"]["it"])
                gaps += [one["seq"] for one in events] != list(range(1, len(events) + 1))
        ends, left = await _hang_up(world, app, hang_ups)
    firsts.sort()
    return [
        at_most(f"first event of {count} questions, p95", 1000 * firsts[int(0.95 * len(firsts))], 50.0, " ms"),
        exactly(f"last events of {count} questions that are not the reply", unlike, 0),
        exactly("streams whose `seq` has a gap", gaps, 0),
        at_most(f"longest of {hang_ups} runs after their client hung up", 1000 * max(ends), 100.0, " ms"),
        exactly("runs that held their place after their client hung up", left, 0),
    ]


async def _events(app: Any, asked: dict[str, Any]) -> tuple[float, list[Any]]:
    """Seconds to the first event, and all."""
    async with Socket.open(app) as socket:
        await socket.ready()
        began = time.perf_counter()
        await socket.subscribe("1", STREAM, {"in": asked})
        heard = [await socket.hear()]
        first = time.perf_counter() - began
        while heard[-1]["type"] == "next":
            heard.append(await socket.hear())
    return first, [one["payload"]["data"]["it"] for one in heard[:-1]]


async def _hang_up(world: World, app: Any, count: int) -> tuple[list[float], int]:
    """Seconds from each hang-up to the end of the run, and how many held their place in the waiting room."""
    seconds: list[float] = []
    left = 0
    workspace = encode_workspace(world.workspace.workspace_id)
    for number in range(count):
        stage = Waits()
        world.answer._stages = {**world.answer._stages, Stage.SYNTHESIZE: stage}
        async with Socket.open(app) as socket:
            await socket.ready()
            asked = {"workspaceId": workspace, "question": f"Who opens pump {number}?"}
            await socket.subscribe("1", STREAM, {"in": asked})
            async with asyncio.timeout(10):
                await stage.began.wait()
            began = time.perf_counter()
            await socket.hang_up()
            gone = time.perf_counter()
        seconds.append((stage.cancelled_at or gone + 1) - began)
        units = world.answer._room._units
        left += units._free != units._capacity
    return seconds, left
