"""The graph in Neo4j: writers killed and stopped on the way, and a server that goes away."""

from __future__ import annotations

import asyncio
import signal
import time

from agentic_rag.answering.question import Question
from agentic_rag.answering.run import CacheOutcome
from agentic_rag.kernel.dependency import Dependency
from tests.bench.reports import Row, exactly
from tests.chaos import corpus
from tests.chaos.children import Plan, WorkerProcess, crew
from tests.chaos.clean import clean_run, end_state
from tests.chaos.ground import TOKEN, Ground, Servers, new_ground, until
from tests.chaos.neo4j_graph import caught_up, emptied, empty_neo4j, graph_differences, graph_row
from tests.line import Line
from tests.provider_stub import Fault

BACK_SECONDS = 60.0
STEPS = ("graph.begin", "graph.applied", "graph.watermark", "graph.reached")


async def killed_graph_writers(servers: Servers, short: bool) -> list[Row]:
    """kill -9 at the graph write × 20: before and after a change, before and after the watermark."""
    times = 2 if short else 20
    folder = corpus.small(servers.home / f"graph-kills-{short}", times + 1)
    wanted, _ = await clean_run(servers, folder)
    uri = await empty_neo4j(servers)
    names = sorted(folder.iterdir())
    async with (
        new_ground(servers, NEO4J_URI=uri, AGENTIC_RAG_JOB_ATTEMPTS="100") as ground,
        crew(ground) as workers,
    ):
        source = ground.home / "source"
        source.mkdir()
        for number in range(times):
            (source / names[number].name).write_bytes(names[number].read_bytes())
            await ground.sync(source)
            worker = workers.start([Plan(STEPS[number % len(STEPS)])])
            await worker.until_reached()
            worker.kill()
        (source / names[-1].name).write_bytes(names[-1].read_bytes())
        await ground.sync(source)
        workers.start()
        await ground.until_idle()
        graph = await graph_row(f"kill at the Neo4j write × {times}", ground)
        state = await end_state(f"kill at the Neo4j write × {times}", ground, wanted)
    return [graph, state]


async def stopped_graph_writers(servers: Servers, short: bool) -> list[Row]:
    """SIGSTOP past the lease at the graph write, another worker finishes, SIGCONT: Neo4j refuses the stale write."""
    times = 1 if short else 10
    folder = corpus.small(servers.home / f"graph-stops-{short}", times + 1)
    wanted, _ = await clean_run(servers, folder)
    uri = await empty_neo4j(servers)
    names = sorted(folder.iterdir())
    refused = 0
    async with new_ground(servers, NEO4J_URI=uri) as ground, crew(ground) as workers:
        source = ground.home / "source"
        source.mkdir()
        for number in range(times):
            (source / names[number].name).write_bytes(names[number].read_bytes())
            await ground.sync(source)
            stopped = workers.start([Plan(("graph.begin", "graph.watermark")[number % 2])], CHAOS_PLANT="deaf")
            await stopped.until_reached()
            stopped.send(signal.SIGSTOP)
            other = workers.start()
            await ground.until_idle()
            refused += await _continued(stopped)
            await _end(stopped, other)
        (source / names[-1].name).write_bytes(names[-1].read_bytes())
        await ground.sync(source)
        workers.start()
        await ground.until_idle()
        graph = await graph_row(f"SIGSTOP at the Neo4j write × {times}", ground)
        state = await end_state(f"SIGSTOP at the Neo4j write × {times}", ground, wanted)
    return [
        exactly(f"SIGSTOP at the Neo4j write × {times}: stale writes refused by Neo4j", refused, times),
        graph,
        state,
    ]


async def _continued(stopped: WorkerProcess) -> int:
    """Let a stopped writer go on; 1 when its write was refused."""
    stopped.go_on()
    stopped.send(signal.SIGCONT)

    async def judged() -> bool:
        return any(one["step"] in ("apply", "set_watermark") for one in stopped.journal())

    await until(judged, f"the stale write was judged {stopped.journal()} {stopped.tail()}", 60)
    return any(
        one["step"] in ("apply", "set_watermark") and one["refusal"] == "LEASE_LOST" for one in stopped.journal()
    )


async def _end(*workers: WorkerProcess) -> None:
    for worker in workers:
        worker.send(signal.SIGTERM)
    await asyncio.gather(*(worker.ended(60) for worker in workers))


async def neo4j_down(servers: Servers, short: bool) -> list[Row]:
    """Neo4j down for 30 s in mid-ingest: all end READY, answers are flagged and uncached, the graph catches up."""
    documents, seconds = (20, 3.0) if short else (200, 30.0)
    folder = corpus.small(servers.home / f"graph-down-{short}", documents)
    wanted, _ = await clean_run(servers, folder)
    server = servers.neo4j()
    uri = await emptied(server.uri)
    async with new_ground(servers, NEO4J_URI=uri) as ground, crew(ground) as workers:
        ground.stub.otherwise = lambda _: Fault(delay_seconds=0.1)
        await ground.sync(folder)
        workers.start()
        workers.start()

        async def under_way() -> bool:
            return await ground.ready() > documents // 4

        await until(under_way, "a quarter is READY")
        server.kill()
        down = time.monotonic()
        answers = [await _ask(ground, number) for number in range(3)]
        again = [await _ask(ground, number) for number in range(3)]
        await asyncio.sleep(max(0.0, seconds - (time.monotonic() - down)))  # the outage itself
        before = await ground.ready()
        server.start()

        async def caught_up() -> bool:
            if await ground.unfinished() or await ground.ready() < documents:
                return False
            return not (await graph_differences(ground))[1]

        await until(caught_up, "the graph caught up", 120, poll=0.5)
        graph = await graph_row(f"Neo4j down {seconds:g} s", ground)
        state = await end_state(f"Neo4j down {seconds:g} s", ground, wanted)
    print(f"    {before} of {documents} documents were READY when Neo4j came back")
    flagged = sum(Dependency.GRAPH in run.answer.degraded for run in (*answers, *again))
    hits = sum(run.cache is CacheOutcome.HIT for run in again)
    return [
        exactly("Neo4j down: answers flagged GRAPH, of 6", flagged, 6),
        exactly("Neo4j down: answers from the cache", hits, 0),
        graph,
        state,
    ]


async def neo4j_slow(servers: Servers, short: bool) -> list[Row]:
    """Each statement to Neo4j takes longer than its transaction may, for two minutes: no job gives up, and the graph
    catches up.
    """
    line = Line(await empty_neo4j(servers))
    await line.mend()
    try:
        return await _behind_slow(line, servers, short)
    finally:
        await line.cut()


async def _behind_slow(line: Line, servers: Servers, short: bool) -> list[Row]:
    documents, delay, seconds, limit = (6, 3.0, 105.0, 2.0) if short else (100, 25.0, 120.0, 20.0)
    folder = corpus.small(servers.home / f"graph-slow-{short}", documents)
    told = f"each statement to Neo4j {delay:g} s late for {seconds:g} s"
    async with (
        new_ground(servers, NEO4J_URI=line.url, CHAOS_GRAPH_WRITE_SECONDS=str(limit)) as ground,
        crew(ground) as workers,
    ):
        workers.start(CHAOS_UPKEEP_SECONDS="1" if short else "15")
        await ground.sync(corpus.small(ground.home / "before", 2, first=documents))
        await ground.until_idle()
        await caught_up(ground)
        line.slow(delay)
        await ground.sync(folder)

        async def are_ready() -> bool:
            return await ground.ready() == documents + 2

        await until(are_ready, "all documents are READY while Neo4j is slow")
        silence = await _longest_silence(ground, seconds)
        await line.mend()
        back = time.monotonic()
        graph = await graph_row(told, ground)
        seconds_back = time.monotonic() - back
        dead = await ground.value("SELECT count(*) FROM rag_jobs WHERE kind = 'graph' AND state = 'DEAD'")
    return [
        exactly(f"{told}: graph jobs that gave up", dead, 0),
        Row(f"{told}: longest time without a step of a graph job", f"{silence:.1f} s", f"≤ {BACK_SECONDS:g} s",
            silence <= BACK_SECONDS),
        Row(f"{told}: equal after it is quick again", f"{seconds_back:.1f} s", f"≤ {BACK_SECONDS:g} s",
            seconds_back <= BACK_SECONDS),
        graph,
    ]  # fmt: skip


async def _longest_silence(ground: Ground, seconds: float) -> float:
    """The longest time, of so many seconds, in which no graph job began, ended or made progress."""
    steps = (
        "SELECT (SELECT count(*) FROM rag_job_attempts a JOIN rag_jobs USING (org_id, workspace_id, job_id) "
        "WHERE kind = 'graph') + (SELECT coalesce(sum(progress), 0) FROM rag_jobs WHERE kind = 'graph')"
    )
    ends = time.monotonic() + seconds
    seen, moved, longest = None, time.monotonic(), 0.0
    while (now := time.monotonic()) < ends:
        found = await ground.value(steps)
        if found != seen:
            seen, moved = found, now
        longest = max(longest, now - moved)
        await asyncio.sleep(0.2)
    return longest


async def _ask(ground: Ground, number: int):
    principal = await ground.container.server_identity.authenticate(TOKEN)
    question = Question(ground.workspace, f"Which edition of the {corpus.word(number)} gauge was read twice?")
    return await ground.container.answer.ask(principal, question)
