"""Leases: how soon a dead worker's work goes on, what a stopped or hung worker may still do, and orderly ends."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from datetime import UTC, datetime
from uuid import UUID

import numpy as np

from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.settings import Settings
from tests.bench.reports import Row, at_most, exactly
from tests.chaos import corpus
from tests.chaos.children import Plan, WorkerProcess, crew
from tests.chaos.clean import clean_run, end_state, paid_twice
from tests.chaos.ground import LEASE_SECONDS, Ground, Servers, new_ground, until
from tests.provider_stub import Fault

SLACK_SECONDS = 4.0
"""What a short lease leaves for noticing and handing over on a busy machine."""


async def document_of(ground: Ground, path: str) -> UUID:
    async with ground.container.database.transaction(ground.workspace.org_id) as transaction:
        return (await resolve_ids(transaction.documents, ground.workspace, [path]))[path]


async def crash_to_rerun(servers: Servers, short: bool) -> list[Row]:
    """Seconds from kill -9 to the start of the next attempt; the full run has the default lease."""
    victims, slots, limit = (3, 1, LEASE_SECONDS + SLACK_SECONDS) if short else (10, 2, 30.0)
    lease = LEASE_SECONDS if short else Settings().jobs.lease_seconds
    folder = corpus.small(servers.home / "rerun", victims * slots)
    settings = {"AGENTIC_RAG_WORKER_CONCURRENCY": str(slots), "AGENTIC_RAG_JOB_LEASE_SECONDS": str(lease)}
    async with new_ground(servers, **settings) as ground, crew(ground) as workers:
        await ground.sync(folder)
        held = [workers.start([Plan("embed.asked")]) for _ in range(victims)]

        async def all_held() -> bool:
            return sum(worker.reached for worker in held) == victims * slots

        await until(all_held, "every document hangs in some worker")
        workers.start(AGENTIC_RAG_WORKER_CONCURRENCY="8")
        # Its start is not part of the wait: it has begun once it ingested a document that the others have no slot for.
        await ground.sync(corpus.small(servers.home / "one-more", 1, first=900))

        async def other_works() -> bool:
            return await ground.ready() == 1

        await until(other_works, "the worker that takes over works")
        died: dict[str, datetime] = {}
        draw = random.Random(3)
        for worker in held:
            # Spread over a heartbeat's period: what is left of a lease depends on when its worker dies.
            await asyncio.sleep(draw.random() * lease / 3 / victims * 2)
            died[str(worker.pid)] = datetime.now(UTC)
            worker.kill()
        await ground.until_idle(seconds=3 * lease + 60)
        attempts = await ground.rows(
            "SELECT first.worker, again.started_at FROM rag_job_attempts first JOIN rag_job_attempts again "
            "USING (org_id, workspace_id, job_id) WHERE first.attempt = 1 AND again.attempt = 2"
        )
        waits = [(row["started_at"] - died[row["worker"].split(":")[1]]).total_seconds() for row in attempts]
        ready = await ground.ready()
    p95 = float(np.percentile(waits, 95))
    print(f"    crash to re-run of {len(waits)} jobs: min {min(waits):.1f} max {max(waits):.1f} s")
    return [
        at_most(f"crash to re-run, lease {lease:g} s: p95 of {len(waits)}", p95, limit, " s", timed=False),
        exactly("crash to re-run: documents READY", ready, victims * slots + 1),
        exactly("crash to re-run: jobs that were run again", len(waits), victims * slots),
    ]


async def stopped_workers(servers: Servers, short: bool) -> list[Row]:
    """SIGSTOP past the lease, another worker finishes, SIGCONT × 10: the stopped worker changes nothing any more."""
    steps = ["index.done", "embed.paid"]
    if not short:
        # The last two are stopped inside a transaction, with its locks: the server ends it.
        steps = steps * 4 + ["publish.uncommitted", "vectors.uncommitted"]
    folder = servers.home / f"stopped-{short}"
    for number in range(len(steps)):
        corpus.long(folder, f"manual-{number:02}.md", 120)
    wanted, _ = await clean_run(servers, folder)
    # A deaf worker's lease ends while the others start: the next one may take the same document and be stopped with it.
    settings = {"AGENTIC_RAG_WORKER_CONCURRENCY": "1", "AGENTIC_RAG_JOB_ATTEMPTS": "20"}
    async with new_ground(servers, **settings) as ground, crew(ground) as workers:
        await ground.sync(folder)
        held = [workers.start([Plan(step, visits=(1, 1))], CHAOS_PLANT="deaf") for step in steps]
        await asyncio.gather(*(worker.until_reached() for worker in held))
        for worker in held:
            worker.send(signal.SIGSTOP)
        other = workers.start(AGENTIC_RAG_WORKER_CONCURRENCY="4")
        await ground.until_idle()
        other.send(signal.SIGTERM)
        await other.ended(30)
        versions = await ground.value("SELECT corpus_version FROM rag_workspaces")
        for worker in held:
            worker.go_on()
            worker.send(signal.SIGCONT)

        async def all_refused() -> bool:
            return all(_refused(worker) for worker in held)

        await until(all_refused, "every stale write was refused", 60)
        refused = sum(map(_refused, held))
        after = await ground.value("SELECT corpus_version FROM rag_workspaces")
        state = await end_state(f"SIGSTOP past the lease × {len(steps)}", ground, wanted)
    return [
        exactly(f"SIGSTOP past the lease × {len(steps)}: stale writes refused", refused, len(steps)),
        exactly("SIGSTOP past the lease: corpus versions made by stale workers", after - versions, 0),
        state,
    ]


def _refused(worker: WorkerProcess) -> bool:
    """Its first write after it was continued was refused: by the fence, or its transaction was gone."""
    return any(entry["refusal"] in ("LEASE_LOST", "DEPENDENCY_UNAVAILABLE") for entry in worker.journal())


async def poison(servers: Servers, short: bool) -> list[Row]:
    """A job that kills every worker that runs it is a dead letter after its attempts; the other 100 finish."""
    others = 10 if short else 100
    folder = corpus.small(servers.home / f"poison-{short}", others)
    (folder / "poison.md").write_text("# Poison\n\nWhoever parses this dies.")
    attempts = 2 if short else Settings().jobs.attempts
    # A worker that is silent for a lease counts as lost, and where others are lost the job gets more attempts: a lease
    # outlasts the pauses of a busy machine.
    settings = {"AGENTIC_RAG_JOB_ATTEMPTS": str(attempts), "AGENTIC_RAG_JOB_LEASE_SECONDS": "4"}
    async with new_ground(servers, **settings) as ground, crew(ground) as workers:
        plan = Plan("parse.begin", "die", match=str(await document_of(ground, "poison.md")))
        await ground.sync(folder)
        deaths = 0
        running = [workers.start([plan]), workers.start([plan])]

        async def idle() -> bool:
            nonlocal deaths
            for place, worker in enumerate(running):
                if not worker.alive:
                    deaths += 1
                    running[place] = workers.start([plan])
            return not await ground.unfinished()

        await until(idle, "all jobs finished")
        ready = await ground.ready()
        dead = await ground.rows(
            "SELECT j.error_code, j.attempts, d.source_path, d.status "
            "FROM rag_jobs j JOIN rag_documents d USING (org_id, workspace_id, document_id) WHERE state = 'DEAD'"
        )
        victims = await ground.value("SELECT count(*) FROM rag_jobs WHERE attempts > 1")
    shown = [tuple(row) for row in dead]
    print(f"    poison: {deaths} workers died, {victims} jobs ran more than once, dead letters {shown}")
    return [
        Row("poison job: dead letters", str([row["source_path"] for row in dead]), "['poison.md']",
            [row["source_path"] for row in dead] == ["poison.md"] and dead[0]["status"] == "FAILED"),
        exactly("poison job: workers it killed (its attempts)", deaths, attempts),
        exactly(f"poison job: of the other {others} READY", ready, others),
    ]  # fmt: skip


async def hung_job(servers: Servers, short: bool) -> list[Row]:
    """A job hangs while its worker's heart beats: it loses its lease at its deadline, the others go on."""
    others = 6 if short else 20
    # Longer than a busy machine needs to start the process that reads the file: a job that gets there later has hung
    # before it reaches the step, and uses up one attempt more.
    stall = 6.0
    rows: list[Row] = []
    for action, what in (("hang", "awaits for ever"), ("block", "blocks the whole event loop")):
        folder = corpus.small(servers.home / f"hung-{action}-{short}", others)
        corpus.small(folder, 1, first=7_000)
        # As in `poison`: a worker that a busy machine pauses must not lose the job, which counts as an attempt.
        settings = {"AGENTIC_RAG_JOB_LEASE_SECONDS": "4"}
        async with new_ground(servers, **settings) as ground, crew(ground) as workers:
            name = "report-7000.md"
            plan = Plan("embed.asked", action, visits=(1, 1), match=str(await document_of(ground, name)))
            corpus_first = ground.home / "source"
            corpus_first.mkdir()
            (corpus_first / name).write_bytes((folder / name).read_bytes())
            await ground.sync(corpus_first)
            hung = workers.start([plan], CHAOS_STALL_SECONDS=str(stall))
            await hung.until_reached()
            began = time.monotonic()
            for path in folder.iterdir():
                (corpus_first / path.name).write_bytes(path.read_bytes())
            await ground.sync(corpus_first)
            workers.start()

            async def others_ready() -> bool:
                return await ground.ready() >= others

            await until(others_ready, "the others are READY")
            moved_on = time.monotonic() - began
            await ground.until_idle()
            seconds = time.monotonic() - began
            ready = await ground.ready()
            tries = await ground.value(
                "SELECT max(attempts) FROM rag_jobs WHERE document_id = $1", await document_of(ground, name)
            )
        print(f"    hung ({action}): others READY after {moved_on:.1f} s, all after {seconds:.1f} s")
        limit = (2.0 if short else 3.0) + 3 * LEASE_SECONDS + 3 * SLACK_SECONDS
        rows += [
            exactly(f"hung job that {what}: documents READY", ready, others + 1),
            exactly(f"hung job that {what}: attempts of the hung job", tries, 2),
            at_most(f"hung job that {what}: all done", seconds, limit, " s", timed=False),
        ]
    return rows


async def sigterms(servers: Servers, short: bool) -> list[Row]:
    """20 SIGTERMs in one long job: attempts are not used up, and each drain keeps to its grace."""
    times, grace = (2, 0.5) if short else (20, 0.5)
    folder = corpus.long(servers.home / f"terms-{short}", "handbook.md", 100 * (times + 1) + 20)
    wanted, paid = await clean_run(servers, folder)
    async with new_ground(servers, AGENTIC_RAG_DRAIN_SECONDS=str(grace)) as ground, crew(ground) as workers:
        ground.stub.otherwise = lambda _: Fault(delay_seconds=1.0)
        await ground.sync(folder)
        drains: list[float] = []
        hit = 0
        for _ in range(times):
            worker = workers.start()
            hit += await _term_in_mid_job(ground, worker, drains)
        ground.stub.otherwise = lambda _: Fault()
        attempts_before = await ground.value("SELECT attempts FROM rag_jobs")
        workers.start()
        await ground.until_idle()
        attempts = await ground.value("SELECT attempts FROM rag_jobs")
        state = await end_state(f"{times} SIGTERMs", ground, wanted)
        again = paid_twice(ground, paid)
    worst = max(drains)
    return [
        exactly("SIGTERMs that met the job running", hit, times),
        exactly(f"{times} SIGTERMs in one long job: attempts used up", attempts_before, 0),
        exactly(f"{times} SIGTERMs in one long job: attempts in all", attempts, 1),
        at_most("drain: slowest", worst, grace + 2, " s", timed=False),
        Row(f"{times} SIGTERMs: texts paid twice (a batch in flight each)", str(again), f"≤ {100 * times}",
            again <= 100 * times),
        state,
    ]  # fmt: skip


async def _term_in_mid_job(ground: Ground, worker: WorkerProcess, drains: list[float]) -> bool:
    """SIGTERM once the job has moved on by a batch and waits for the next. Whether it was running then."""
    before = await ground.value("SELECT count(*) FROM rag_staged_chunks WHERE vector IS NOT NULL")

    async def moved() -> bool:
        staged = await ground.value("SELECT count(*) FROM rag_staged_chunks WHERE vector IS NOT NULL")
        return staged > before

    await until(moved, f"a batch was embedded {worker.tail()}")
    running = await ground.value("SELECT state = 'RUNNING' FROM rag_jobs")
    worker.send(signal.SIGTERM)
    drains.append(await worker.ended(60))
    return running
