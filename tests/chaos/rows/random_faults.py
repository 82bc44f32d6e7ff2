"""Random faults of every kind under work with the attempts that users have."""

from __future__ import annotations

import asyncio
import random
import signal

import redis.asyncio

from agentic_rag.embedded.stack import EmbeddedStack
from tests.bench.reports import Row, exactly
from tests.chaos import corpus
from tests.chaos.children import Crew, crew
from tests.chaos.clean import clean_run, end_state
from tests.chaos.ground import LEASE_SECONDS, Ground, Servers, new_ground, until
from tests.provider_stub import Fault

KINDS = {"kill -9": 12, "SIGSTOP": 4, "FLUSHALL": 2, "Postgres restart": 2}
"""The faults, by their shares."""

CREW = 3
LONGEST_SECONDS = 3_600.0
"""What 3,000 documents may take on a machine that is busy with other work."""


async def random_faults(servers: Servers, short: bool) -> list[Row]:
    """200 faults while 3,000 documents ingest."""
    return await faults_in_mid_ingest(servers, *((24, 4) if short else (3_000, 200)))


async def faults_in_mid_ingest(servers: Servers, documents: int, faults: int) -> list[Row]:
    """Each fault waits for its share of the documents; those that are FAILED in the end are told."""
    folder = corpus.small(servers.home / f"faults-{documents}", documents)
    wanted, _ = await clean_run(servers, folder, LONGEST_SECONDS)
    with EmbeddedStack(servers.home / f"faulty-{documents}") as stack:
        own = Servers(stack, servers.home)
        async with new_ground(own) as ground, crew(ground) as workers:
            ground.stub.otherwise = lambda _: Fault(delay_seconds=0.05)
            await ground.sync(folder)
            for _ in range(CREW):
                workers.start()
            made = await _strike_at_random(ground, workers, stack, documents, faults)
            await ground.until_idle(LONGEST_SECONDS, poll=0.25)
            failed = await ground.rows("SELECT source_path, error_code FROM rag_documents WHERE status = 'FAILED'")
            attempts = await ground.value("SELECT max(attempts) FROM rag_jobs")
            state = await end_state(f"{made} random faults", ground, wanted)
    print(f"    most attempts of one job: {attempts}; FAILED: {[tuple(row) for row in failed[:5]]}")
    name = f"random faults, {documents} documents, 3 attempts"
    return [exactly(f"{name}: faults", made, faults), exactly(f"{name}: documents FAILED", len(failed), 0), state]


async def _strike_at_random(ground: Ground, workers: Crew, stack: EmbeddedStack, documents: int, faults: int) -> int:
    """How many faults struck unfinished work."""
    draw, made = random.Random(200), 0
    for number in range(faults):
        share = documents * number // (faults + 2)

        async def moved(share: int = share) -> bool:
            return await ground.ready() >= share

        await until(moved, f"{share} documents are READY", LONGEST_SECONDS, 0.1)
        if not await ground.unfinished():
            break
        kind = draw.choices([*KINDS], [*KINDS.values()])[0]
        victim = draw.choice(workers.living)
        if kind == "kill -9":
            victim.kill()
            workers.start()
        elif kind == "SIGSTOP":
            victim.send(signal.SIGSTOP)
            await asyncio.sleep(1.5 * LEASE_SECONDS)  # the fault itself
            victim.send(signal.SIGCONT)
        elif kind == "FLUSHALL":
            async with redis.asyncio.Redis.from_url(ground.variables["REDIS_URL"]) as client:
                await client.flushall()
        else:
            stack.postgres.stop()
            stack.postgres.start()
        made += 1
    return made
