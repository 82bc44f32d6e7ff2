"""The row on what reaches a server before authentication."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from agentic_rag_server.connections import ConnectionLimits
from agentic_rag_server.run import build_server, listen
from tests.api.builders import Container
from tests.bench.reports import Row, exactly
from tests.security.before_request import CELLS, Kind, Scale, Target, Verdict, judged
from tests.security.ground import Ground
from tests.security.servers import running_server
from tests.security.table import Measure

HEALTHY_SECONDS = 1.0
QUICK = ConnectionLimits(head_seconds=0.3, window_seconds=0.3, idle_seconds=1)
SHORT = Scale(2_000_000, pieces=300, connections=10, pause=0.05, trickle=1.0, seconds=8.0)
"""Under `QUICK` a connection is refused after a third of a second; the lines leave room for other work."""


@asynccontextmanager
async def quick_server(limits: ConnectionLimits = QUICK) -> AsyncIterator[Target]:
    """The server in this process, with shorter times."""
    with listen("127.0.0.1", 0) as listener:
        server = build_server(Container(), limits)  # pyright: ignore[reportArgumentType]
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield Target(listener.getsockname()[1], os.getpid())
        server.should_exit = True
        await serving


async def verdicts(target: Target, scale: Scale, at_once: int, *, crowds_alone: bool) -> list[Verdict]:
    """Every cell; those of one connection beside each other. Crowds of connections that are judged beside each other
    are judged for each other's memory.
    """
    turn = asyncio.Semaphore(at_once)

    async def one(name: str, kind: Kind) -> Verdict:
        async with turn:
            return await judged(target, name, kind, scale)

    alone = [cell for cell in CELLS if crowds_alone and cell[1] is Kind.NUMBER]
    found = [await judged(target, *cell, scale) for cell in alone]
    return [*found, *await asyncio.gather(*(one(*cell) for cell in CELLS if cell not in alone))]


async def before_a_request(ground: Ground, short: bool) -> list[Row]:
    """In short in this process, under quicker limits."""
    if short:
        async with quick_server() as target:
            found = await verdicts(target, SHORT, at_once=len(CELLS), crowds_alone=False)
        scale = SHORT
    else:
        scale = Scale()
        async with running_server(ground.servers()) as server:
            found = await verdicts(Target(server.port, server.pid), scale, at_once=4, crowds_alone=True)
    faults = [line for one in found for line in one.faults(scale)]
    for line in faults:
        print(f"    {line}")
    longest, largest = max(one.borne for one in found), max(one.grown for one in found)
    slowest = max(found, key=lambda one: one.health)
    waited = slowest.health
    print(f"    longest {longest:.1f} s, {largest / 1e6:.0f} MB; /healthz waited longest beside {slowest.cell}")
    return [
        exactly(f"{len(found)} cells of what comes before a request: borne too long, or too large", len(faults), 0),
        Row("longest wait for /healthz meanwhile", f"{waited:.2f} s", "≤ 1 s", waited <= HEALTHY_SECONDS, timed=True),
    ]


ROWS: Mapping[str, Measure] = {"before-a-request": before_a_request}
