"""kill -9: of random workers under load, and of one worker at each named step."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.bench.reports import Row, exactly
from tests.chaos import corpus
from tests.chaos.children import Crew, Plan, WorkerProcess, crew, worker_at_port
from tests.chaos.clean import clean_run, end_state, paid_twice
from tests.chaos.ground import Ground, Servers, new_ground, until
from tests.chaos.neo4j_graph import empty_neo4j, graph_row
from tests.chaos.picture import Picture
from tests.provider_stub import Fault

STEPS = (
    "lease.uncommitted", "lease.committed", "original.read", "parse.begin", "parse.done", "chunk.done",
    "stage.uncommitted", "stage.committed", "embed.asked", "embed.paid", "vectors.uncommitted", "vectors.committed",
    "index.done", "finish.uncommitted", "finish.committed", "handover.begin", "handover.done",
)  # fmt: skip
OFTEN = ("publish.uncommitted", "publish.committed", "graph.write")
"""Killed 20 times each. `graph.write` is the middle of the publish: a lock on the entities' table holds it there."""

BATCH = 100
"""Texts of one embedding call (`adapters.openai.embedder.MAX_INPUTS`)."""

Stopper = Callable[[Crew], Awaitable[WorkerProcess]]


async def random_kills(servers: Servers, short: bool) -> list[Row]:
    """kill -9 of a random worker 50 times while 500 documents ingest; the graph in Postgres."""
    return await _random_kills(servers, short, "Postgres")


async def random_kills_neo4j(servers: Servers, short: bool) -> list[Row]:
    """The same with the graph in Neo4j."""
    return await _random_kills(servers, short, "Neo4j")


async def _random_kills(servers: Servers, short: bool, graph: str) -> list[Row]:
    documents, kills, crew_size = (24, 2, 2) if short else (500, 50, 3)
    folder = corpus.small(servers.home / f"kills-{documents}", documents)
    wanted, _ = await clean_run(servers, folder)
    # With the default of 3 attempts a document that was under way in three of the kills would be a dead letter.
    settings = {"AGENTIC_RAG_JOB_ATTEMPTS": "100"}
    if graph == "Neo4j":
        settings["NEO4J_URI"] = await empty_neo4j(servers)
    async with new_ground(servers, **settings) as ground, crew(ground) as workers:
        ground.stub.otherwise = lambda _: Fault(delay_seconds=0.05)
        await ground.sync(folder)
        for _ in range(crew_size):
            workers.start()
        made = await _kill_at_random(ground, workers, documents, kills)
        await ground.until_idle()
        lost = documents - await ground.ready()
        most = await ground.value("SELECT max(attempts) FROM rag_jobs")
        state = [await end_state(f"{made} random kills, graph in {graph}", ground, wanted)]
        if graph == "Neo4j":
            state.append(await graph_row(f"{made} random kills", ground))
        await workers.stop()
        orphans = await workers.orphans()
    print(f"    most attempts of one job: {most}")
    return [
        exactly(f"kill -9 of a random worker, {documents} documents, graph in {graph}: kills", made, kills),
        exactly(f"random kills, graph in {graph}: documents lost", lost, 0),
        *state,
        exactly(f"random kills, graph in {graph}: processes that outlive their worker", orphans, 0),
    ]


async def _kill_at_random(ground: Ground, workers: Crew, documents: int, kills: int) -> int:
    """Each kill waits for its share of the documents. How many hit unfinished work."""
    draw = random.Random(50)
    made = 0
    for number in range(kills):
        share = documents * number // (kills + 2)

        async def moved(share: int = share) -> bool:
            return await ground.ready() >= share

        await until(moved, f"{share} documents are READY")
        if not await ground.unfinished():
            break
        draw.choice(workers.living).kill()
        workers.start()
        made += 1
    return made


async def step_kills(servers: Servers, short: bool) -> list[Row]:
    """kill -9 at each named step × 5 (× 20 for publish and graph write)."""
    if short:
        return await _killed_at(servers, ("lease.uncommitted", "embed.paid", "publish.uncommitted", "graph.write"), 1)
    return [*await _killed_at(servers, STEPS, 5), *await _killed_at(servers, OFTEN, 20)]


async def _killed_at(servers: Servers, steps: Sequence[str], times: int) -> list[Row]:
    folder = servers.home / f"steps-{times}"
    for number in range(times + 1):
        corpus.long(folder, f"manual-{number:02}.md", BATCH + 20)
    clean = await clean_run(servers, folder)
    return [row for step in steps for row in await _kills_at(servers, folder, clean, step, times)]


async def _kills_at(
    servers: Servers, folder: Path, clean: tuple[Picture, Counter[str]], step: str, times: int
) -> list[Row]:
    """One more document for each kill; what a kill interrupts is taken up by the workers behind it."""
    began = time.monotonic()
    wanted, paid = clean
    waiting = sorted(folder.iterdir())
    settings = {"AGENTIC_RAG_JOB_ATTEMPTS": "100", "AGENTIC_RAG_WORKER_CONCURRENCY": "1"}
    async with new_ground(servers, **settings) as ground, crew(ground) as workers:
        async with _stopping_at(ground, step) as stopped:
            for number in range(times):
                while len(waiting) > times - number - 1:
                    await _hand_over(ground, waiting.pop(0))
                while len(workers.living) < min(3, times - number + 1):
                    workers.start([Plan("none" if step == "graph.write" else step)])
                (await stopped(workers)).kill()
        for worker in workers.living:
            worker.go_on()
        if not workers.living:
            workers.start()
        await ground.until_idle()
        again = paid_twice(ground, paid)
        state = await end_state(f"kill at {step} × {times}", ground, wanted)
    # A batch is in flight from the call until its vectors are committed.
    allowed = BATCH * times if step in ("embed.paid", "vectors.uncommitted") else 0
    print(f"    {step} × {times}: {time.monotonic() - began:.1f} s, {again} texts paid again")
    return [
        state,
        Row(f"kill at {step} × {times}: texts paid twice", str(again), f"≤ {allowed}", again <= allowed),
    ]


async def _hand_over(ground: Ground, path: Path) -> None:
    """One file as a source of its own: synchronising a larger one would wait for jobs that a stopped worker locks."""
    folder = ground.home / f"source-{path.stem}"
    folder.mkdir()
    shutil.copy2(path, folder / path.name)
    await ground.sync(folder)


@asynccontextmanager
async def _stopping_at(ground: Ground, step: str) -> AsyncIterator[Stopper]:
    """Gives a function that waits for a worker that stands at the step."""
    if step != "graph.write":
        yield _at_its_step
        return
    async with ground.connection() as holder:
        transaction = holder.transaction()
        await transaction.start()
        await holder.execute("LOCK TABLE rag_entities IN SHARE MODE")

        async def writing(workers: Crew) -> WorkerProcess:
            found: list[WorkerProcess] = []

            async def waits() -> bool:
                # The backends of killed workers wait on: nobody tells them.
                waiting = await ground.rows(
                    "SELECT a.client_port FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
                    "WHERE NOT l.granted AND l.relation = 'rag_entities'::regclass"
                )
                ports = [row["client_port"] for row in waiting]
                found.extend(one for one in workers.living if any(worker_at_port(one, port) for port in ports))
                return bool(found)

            await until(waits, "a worker writes the graph")
            return found[0]

        yield writing
        await transaction.rollback()


async def _at_its_step(workers: Crew) -> WorkerProcess:
    async def any_there() -> bool:
        return any(worker.reached for worker in workers.living)

    await until(any_there, "a worker is at the step: " + "".join(worker.tail() for worker in workers.living))
    return next(worker for worker in workers.living if worker.reached)
