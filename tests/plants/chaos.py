"""The lies of `make chaos`, by row; the workers and servers that a row starts tell them, unless it says otherwise."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tests.plants import Mutant, Patch, Where, nothing_awaited

CHILDREN = partial(Mutant, where=Where.CHILDREN)
AT_NIGHT = partial(CHILDREN, is_slow=True)


def _retries_do_nothing(patch: Patch) -> None:
    from agentic_rag_worker.runner import JobRunner

    run = JobRunner._run_with_lease

    async def once(self: JobRunner, ref: Any, lease: Any, made: int) -> Any:
        is_first = lease.job.attempts == 1
        return await (run(self, ref, lease, made) if is_first else self._record_success(ref, lease))

    patch(JobRunner, "_run_with_lease", once)


def _graph_unwritten(patch: Patch) -> None:
    from agentic_rag.adapters.neo4j.writer import Neo4jGraphWriter

    patch(Neo4jGraphWriter, "apply", nothing_awaited)


def _graph_unfenced(patch: Patch) -> None:
    from agentic_rag.adapters.neo4j.writer import Neo4jGraphWriter

    for name in ("apply", "set_watermark"):
        write = getattr(Neo4jGraphWriter, name)

        async def unfenced(self: Neo4jGraphWriter, workspace: Any, fence: int, *more: Any, write: Any = write) -> None:
            await write(self, workspace, 1 << 40, *more)

        patch(Neo4jGraphWriter, name, unfenced)


def _graph_gives_up(patch: Patch) -> None:
    from agentic_rag.kernel.errors import Permanent
    from agentic_rag.operations.graph import sync

    async def once(self: sync.GraphSync, _: Any, __: Any, step: Any) -> Any:
        try:
            return await step(sync.Pace(self.chunks))
        except sync.TransactionEnded as error:
            raise Permanent("The graph ended the transaction.", code="GRAPH_ENDED") from error

    patch(sync.GraphSync, "_persist", once)


def _graph_unmissed(patch: Patch) -> None:
    from agentic_rag.retrieval import retrieve

    rank = retrieve.Retrieve.rank

    async def unflagged(self: Any, *arguments: Any, **more: Any) -> Any:
        return replace(await rank(self, *arguments, **more), degraded=())

    patch(retrieve.Retrieve, "rank", unflagged)


def _vectors_unkept(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.documents.staging import StagingRows

    patch(StagingRows, "stage_vectors", nothing_awaited)


def _long_leases(patch: Patch) -> None:
    from datetime import timedelta

    from agentic_rag_worker.timings import WorkerTimings

    patch(WorkerTimings, "lease_ttl", property(lambda self: timedelta(seconds=8 * self.lease)))


def _no_fence(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.ingestion.publication import PostgresPublisher
    from agentic_rag.adapters.postgres.jobs.jobs import PostgresJobStore

    publish = PostgresPublisher.publish

    async def holds(*_: Any) -> bool:
        return True

    async def unfenced(self: Any, workspace: Any, space_id: int, batch: Sequence[Any]) -> Any:
        return await publish(self, workspace, space_id, [replace(one, job_id=None, fence=None) for one in batch])

    patch(PostgresJobStore, "holds", holds)
    patch(PostgresPublisher, "publish", unfenced)


def _poison_at_once(patch: Patch) -> None:
    from agentic_rag.jobs.job import IsolationDecision, RetryPolicy

    patch(
        RetryPolicy,
        "decide_isolation",
        lambda _, earlier, losses_needed=1: IsolationDecision.POISONED if earlier else IsolationDecision.SHARED,
    )


def _stalls_are_final(patch: Patch) -> None:
    from agentic_rag.kernel.errors import Permanent
    from agentic_rag_worker.runner import JobRunner

    record = JobRunner._record_failure

    async def final(self: JobRunner, ref: Any, lease: Any, handler: Any, error: Any, made: int) -> Any:
        judged = Permanent(error.message, code=error.code) if error.code == "JOB_STALLED" else error
        return await record(self, ref, lease, handler, judged, made)

    patch(JobRunner, "_record_failure", final)


def _drains_count(patch: Patch) -> None:
    from agentic_rag_worker.runner import JobRunner, RunOutcome

    async def lost(*_: Any) -> RunOutcome:
        return RunOutcome.LOST

    patch(JobRunner, "_release", lost)


def _long_pauses(patch: Patch) -> None:
    from agentic_rag_worker import worker

    options = worker.worker_options

    def slow(settings: Any) -> Any:
        given = options(settings)
        return replace(given, timings=replace(given.timings, outage=20.0))

    patch(worker, "worker_options", slow)


def _nothing_runs(patch: Patch) -> None:
    from agentic_rag.ingestion.ingest import IngestDocument
    from agentic_rag.kernel.errors import Permanent

    async def fail(*_: Any) -> None:
        raise Permanent("The job is gone.", code="JOB_GONE")

    patch(IngestDocument, "run", fail)


def _outages_kill(patch: Patch) -> None:
    from agentic_rag_worker.outage_log import OutageLog

    patch(OutageLog, "begin", lambda *_: os._exit(70))


def _outages_are_billed(patch: Patch) -> None:
    """A job that an outage meets ends as if it had stood still by itself."""
    from agentic_rag_worker import runner
    from agentic_rag_worker.heartbeat import Heartbeat, StopReason

    renew = Heartbeat._renew

    async def billing(self: Heartbeat, database: Any, watch: Any) -> None:
        await renew(self, database, watch)
        if watch.saw_outage:
            watch.end(StopReason.STALLED)

    patch(Heartbeat, "_renew", billing)
    patch(runner, "_is_outage", lambda *_: False)
    patch(runner, "EXCUSED", "NEVER")


def _by_age(patch: Patch) -> None:
    """All jobs of the workspace with the oldest job, then all of the next, whosever they are."""
    from agentic_rag.adapters.postgres.jobs import job_board

    def by_age(waiting: Sequence[Any], _: Any, limit: int, known: Mapping[Any, int]) -> list[Any]:
        turns: list[Any] = []
        for one in sorted(waiting, key=lambda one: one.oldest):
            turns += [one.workspace] * min(known.get(one.workspace, limit), limit - len(turns))
        return turns

    patch(job_board, "take_turns", by_age)


def _the_oldest_first(patch: Patch) -> None:
    """All turns but one of each look go to the workspace with the oldest job."""
    from agentic_rag.adapters.postgres.jobs import job_board

    fair = job_board.take_turns

    def unfair(waiting: Sequence[Any], last: Any, limit: int, known: Mapping[Any, int]) -> list[Any]:
        turns = fair(waiting, last, limit, known)
        if not turns:
            return turns
        oldest = min(waiting, key=lambda one: one.oldest).workspace
        others = [one for one in turns if one != oldest]
        return [oldest] * min(known.get(oldest, limit), limit - 1) + others[:1]

    patch(job_board, "take_turns", unfair)


def _slow_for_slow_loops(patch: Patch) -> None:
    """The time in which this process is busy counts as Redis'."""
    from agentic_rag.adapters.redis import cache

    def on_the_clock(_: float, call: Any) -> Any:
        return asyncio.wait_for(call, 0.01)

    patch(cache, "answer_within", on_the_clock)


def _cached_for_ever(patch: Patch) -> None:
    from agentic_rag.adapters.redis.cache import RedisAnswerCache

    async def forget(*_: Any) -> int:
        return 0

    patch(RedisAnswerCache, "forget", forget)


def _every_fault_is_damage(patch: Patch) -> None:
    from agentic_rag.adapters.parsing.process.parser import ProcessParser
    from agentic_rag.kernel.errors import ParseFailed

    parse = ProcessParser.parse

    async def vaguely(self: Any, *arguments: Any, **more: Any) -> Any:
        try:
            return await parse(self, *arguments, **more)
        except ParseFailed as error:
            raise ParseFailed(error.message, code="PARSE_CORRUPT") from error

    patch(ProcessParser, "parse", vaguely)


def _any_loss_is_plausible(patch: Patch) -> None:
    from agentic_rag.ingestion import sync

    patch(sync, "require_plausible", lambda *_: None)


def _slow_documents(patch: Patch) -> None:
    from agentic_rag.ingestion.ingest import IngestDocument

    run = IngestDocument.run

    async def slowly(self: Any, *arguments: Any) -> Any:
        await asyncio.sleep(10.0)
        return await run(self, *arguments)

    patch(IngestDocument, "run", slowly)


def _runs_unawaited(patch: Patch) -> None:
    from agentic_rag.answering.runs import read

    patch(read, "_FRESH_SECONDS", 0.0)


def _unfinished_is_wrong(patch: Patch) -> None:
    from agentic_rag.operations.verify import VerificationReport

    patch(VerificationReport, "has_errors", property(lambda self: bool(self.settling)))


MUTANTS: Mapping[str, Mutant] = {
    "random-kills": AT_NIGHT("a second attempt is finished without being made", _retries_do_nothing, "documents lost"),
    "random-kills-neo4j": AT_NIGHT(
        "a second attempt is finished without being made", _retries_do_nothing, "documents lost"
    ),
    "random-faults": AT_NIGHT("one dead worker condemns a job", _poison_at_once, "documents FAILED"),
    "graph-kills-neo4j": AT_NIGHT("a change of the graph is not written", _graph_unwritten, "as Postgres says"),
    "sigstop-neo4j": AT_NIGHT("every writer's fence is the newest", _graph_unfenced, "stale writes refused"),
    "neo4j-down": Mutant("an answer without the graph says nothing", _graph_unmissed, "flagged GRAPH", is_slow=True),
    "neo4j-slow": AT_NIGHT("a transaction that Neo4j ends fails its job", _graph_gives_up, "gave up"),
    "step-kills": AT_NIGHT("vectors that were paid are not kept", _vectors_unkept, "paid twice"),
    "crash-to-rerun": AT_NIGHT("leases last eight times as long", _long_leases, "crash to re-run, lease"),
    "sigstop": AT_NIGHT("a write compares no fence", _no_fence, "SIGSTOP past the lease"),
    "poison": CHILDREN("one dead worker condemns a job", _poison_at_once, "workers it killed"),
    "hung": AT_NIGHT("a job that hung is not tried again", _stalls_are_final, "documents READY"),
    "sigterm": AT_NIGHT("what a drain interrupts counts as an attempt", _drains_count, "attempts"),
    "redis": AT_NIGHT("a worker rests 20 s after an outage", _long_pauses, "Redis back"),
    "handover": AT_NIGHT("no job runs", _nothing_runs, "jobs that ran"),
    "postgres": AT_NIGHT("a worker dies of an outage", _outages_kill, "workers still alive"),
    "postgres-away": AT_NIGHT("an outage is the job's fault", _outages_are_billed, "not READY"),
    "fairness": AT_NIGHT(
        "nearly all turns are the oldest workspace's", _the_oldest_first, "jobs between B's first and last"
    ),
    "crowd": AT_NIGHT("jobs are taken by age", _by_age, "jobs that start before it"),
    "overload": AT_NIGHT("a busy process takes Redis for slow", _slow_for_slow_loops, "flagged degraded"),
    "runs-at-once": AT_NIGHT("nobody waits for a run of another process", _runs_unawaited, "found by run"),
    "verify": Mutant("an unfinished job is an error", _unfinished_is_wrong, "errors that are none later", is_slow=True),
    "deletes": Mutant(
        "cached answers outlive their documents", _cached_for_ever, "cached answers that hold", is_slow=True
    ),
    "files": AT_NIGHT("every file that cannot be read is called damaged", _every_fault_is_damage, "not as"),
    "mixed-files-neo4j": AT_NIGHT("a source that lost its files is believed", _any_loss_is_plausible, "wrong remedies"),
    "throughput": AT_NIGHT("each document waits for 10 s", _slow_documents, "over tokenise"),
}
