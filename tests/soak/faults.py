"""Faults that strike while clients work: drawn from a seed, one after the other."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import redis.asyncio

from agentic_rag.embedded.stack import EmbeddedStack
from tests.bench import processes
from tests.bench.product import Servers
from tests.programs import Program
from tests.waiting import wait_until

WORKERS = 2
KINDS = {"kill -9 of a worker": 5, "SIGSTOP of a worker": 3, "FLUSHALL": 2, "Redis restart": 2, "Postgres restart": 2,
         "SIGSTOP of the server": 2}  # fmt: skip
"""The faults, by their shares."""
PAUSES = (6.0, 14.0)
"""The shortest and the longest time between two, in seconds."""
STOPPED_SECONDS = 1.5

WORKER = {
    "AGENTIC_RAG_WORKER_METRICS_PORT": "0",
    "AGENTIC_RAG_JOB_LEASE_SECONDS": "2",
    "AGENTIC_RAG_JOB_BACKOFF_MS": "200",
}
"""Short leases: what a killed worker held goes on soon."""


@dataclass
class Workers:
    """Workers that are killed and started again."""

    servers: Servers
    log: Path
    living: list[Program] = field(default_factory=list[Program])

    def start(self) -> None:
        environment = processes.environment(self.servers, RAG_EMBEDDER="deterministic", **WORKER)
        with self.log.open("ab") as file:
            command = [sys.executable, "-m", "tests.soak.worker_main"]
            self.living.append(Program(command, env=environment, cwd=processes.ROOT, stdout=file, stderr=file))

    def kill(self, one: Program) -> None:
        """Whatever it does."""
        self.living.remove(one)
        one.kill()
        one.wait()


async def strike(
    draw: Random, stack: EmbeddedStack, workers: Workers, server: int, over: asyncio.Event
) -> Counter[str]:
    """Strike until it is over; how often each kind did. `server` is a process id."""
    made = Counter[str]()
    while not over.is_set():
        try:
            await asyncio.wait_for(over.wait(), draw.uniform(*PAUSES))
            break
        except TimeoutError:
            kind = draw.choices([*KINDS], [*KINDS.values()])[0]
        victim = draw.choice(workers.living)
        match kind:
            case "kill -9 of a worker":
                workers.kill(victim)
                workers.start()
            case "SIGSTOP of a worker":
                await _stopped(victim.pid)
            case "SIGSTOP of the server":
                await _stopped(server)
            case "FLUSHALL":
                async with redis.asyncio.Redis.from_url(workers.servers.redis_url) as client:
                    await client.flushall()
            case _:
                one = stack.redis if kind.startswith("Redis") else stack.postgres
                await asyncio.to_thread(one.stop)
                await asyncio.to_thread(one.start)
        made[kind] += 1
    return made


async def _stopped(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    await asyncio.sleep(STOPPED_SECONDS)  # the fault itself
    os.kill(pid, signal.SIGCONT)


def end(workers: Workers) -> None:
    """SIGTERM to all, and wait."""
    for one in workers.living:
        one.send_signal(signal.SIGTERM)
    wait_until(lambda: all(one.poll() is not None for one in workers.living), "the workers ended", 60)
