"""What the walls cost: a cached answer through the whole application and through one without them, in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import httpx2
import redis
from graphql import ExecutionResult, OperationType
from starlette.applications import Starlette
from starlette.routing import Route

from agentic_rag.ingestion.ingest_chunks import ChunkedDocument
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.tenancy.principals import Principal
from agentic_rag_server.app import build_app
from agentic_rag_server.graphql.http.context import RequestContext
from agentic_rag_server.graphql.http.limits import Limits
from agentic_rag_server.graphql.http.persisted import PersistedOperations
from agentic_rag_server.graphql.http.responses import GraphQLRequest
from agentic_rag_server.graphql.http.streams import OpenStreams
from agentic_rag_server.graphql.http.view import GraphQLEndpoint
from agentic_rag_server.graphql.schema import RagSchema
from agentic_rag_server.main import server_parts
from agentic_rag_server.parts import ServerParts
from tests.bench.reports import Row, at_most
from tests.chaos.ground import TOKEN, new_ground
from tests.chaos.ground import Ground as World
from tests.security.ground import Ground
from tests.security.table import Measure

ASK = (
    "mutation ($input: RagAnswerInput!) { ragAnswer(input: $input) { answer outcome run { cache } "
    "citations { marker title snippet flags sourceSpan { start end } } } }"
)
WARM_UP = 10
LIMITS = (60_000, 120)
"""Asks a minute: one of which a tenth of a second is taken in advance, and one that people set, asked of Redis each
time.
"""
AT_ONCE = 100
"""Questions between two refills of the smaller bucket."""
SENTENCE = "The rotor of unit {n} was replaced in March because its hub had a crack."


class Anybody:
    """An identity that looks at nothing."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal

    async def authenticate(self, token: str) -> Principal:
        return self._principal


class OpenSchema(RagSchema):
    """Executes at once what it has parsed and validated."""

    async def run(
        self, request: GraphQLRequest, context: RequestContext, allowed: Collection[OperationType]
    ) -> ExecutionResult:
        return await self._execute(self.read_document(request.query), request, context)


def without_walls(parts: ServerParts, principal: Principal) -> Starlette:
    """The same resolvers and stores: no limits, no count of requests, no token look-up, no guarding headers, no last
    net.
    """
    schema = OpenSchema(introspection=True, limits=Limits())
    identity: Any = Anybody(principal)
    endpoint = GraphQLEndpoint(replace(parts, identity=identity), schema, PersistedOperations({}), OpenStreams())
    return Starlette(routes=[Route("/graphql", endpoint)])


async def cached_answer(ground: Ground, short: bool) -> list[Row]:
    """Turn by turn, so that both meet the same machine."""
    return [row for limit in LIMITS for row in await _at_limit(ground, limit, 40 if short else 600)]


async def _at_limit(ground: Ground, limit: int, rounds: int) -> list[Row]:
    async with new_ground(ground.servers(), AGENTIC_RAG_RATE_LIMITS=f"asks={limit}") as world:
        document = ChunkedDocument("log.md", "Maintenance log", tuple(SENTENCE.format(n=n) for n in range(20)))
        await world.container.ingest_chunks.run(world.workspace, [document], "security")
        parts = replace(server_parts(world.container), identity=world.container.server_identity)
        principal = await parts.identity.authenticate(TOKEN)
        asked = {
            "question": "Why was the rotor of unit 7 replaced?",
            "workspaceId": encode_workspace(world.workspace.workspace_id),
        }
        body = {"query": ASK, "variables": {"input": asked}}
        async with _client(build_app(parts)) as walled, _client(without_walls(parts, principal)) as bare:
            times, hits = await _timed((walled, bare), body, rounds, lambda: _refill(world))
    middle = [statistics.median(one) * 1000 for one in times]
    print(f"    {limit} a minute: p50 with {middle[0]:.2f} ms, without {middle[1]:.2f} ms")
    name = f"cached answers at {limit} a minute"
    return [
        Row(f"{name} that came from the cache", f"{hits}/{2 * rounds}", "all", hits == 2 * rounds),
        at_most(f"{name} with the walls over those without, p50", middle[0] / middle[1], 1.3),
    ]


def _refill(world: World) -> None:
    """A minute's worth may be sent at once: as if one had gone by."""
    with redis.Redis.from_url(world.variables["REDIS_URL"]) as client:
        for key in client.scan_iter("*:rate:*"):
            client.delete(key)


def _client(app: Starlette) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app),
        base_url="http://product",
        headers={"authorization": f"Bearer {TOKEN}"},
    )


async def _timed(
    clients: tuple[httpx2.AsyncClient, ...], body: dict[str, Any], rounds: int, refill: Callable[[], None]
) -> tuple[tuple[list[float], ...], int]:
    """Seconds of each client's requests once they are warm, and how many answers came from the cache."""
    times: tuple[list[float], ...] = tuple([] for _ in clients)
    hits = 0
    for number in range(WARM_UP + rounds):
        if number % AT_ONCE == 0:
            refill()
        for place in (0, 1) if number % 2 else (1, 0):
            began = time.perf_counter()
            answer = await clients[place].post("/graphql", json=body)
            seconds = time.perf_counter() - began
            if number >= WARM_UP:
                times[place].append(seconds)
                hits += answer.json()["data"]["ragAnswer"]["run"]["cache"] == "HIT"
    return times, hits


ROWS: Mapping[str, Measure] = {"cost": cached_answer}
