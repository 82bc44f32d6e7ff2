"""The dispatcher's view of the jobs of all tenants, on its own connection and role."""

# asyncpg ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import asyncpg

from agentic_rag.adapters.postgres.jobs import job_sql as sql
from agentic_rag.adapters.postgres.jobs.jobs import job_kind_from
from agentic_rag.adapters.postgres.session.array_types import teach_arrays
from agentic_rag.adapters.postgres.session.connection import DRIVER_ERRORS, value_from
from agentic_rag.adapters.postgres.session.errors import translate
from agentic_rag.jobs.job import JobKind, JobRef, JobState, MaintenanceTask, QueueName
from agentic_rag.jobs.turns import LastTurns, WaitingWorkspace, take_turns
from agentic_rag.jobs.workers import WorkerIdentity, WorkerRecord
from agentic_rag.language.tokenizer import TERMS_VERSION
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.models.billing.web_envelope import DEFAULT_CALLS
from agentic_rag.tenancy.principals import WorkspaceRef

LEADER_LOCK = 0x7261675F6A6F6273
"""Advisory lock of the leading dispatcher, one per database ('rag_jobs' in ASCII)."""

LEAD_SECONDS = 5.0
"""The server disconnects a leader that is silent for this long (its process is stopped, or its loop blocked), which
frees the lock. An idle leader polls four times a second.
"""
EXACT_SCAN_BYTES = 8 << 20
"""Vectors of a workspace up to this size are scanned exactly: about 10,000 of 384 dimensions, 5 ms."""

TRY_LEAD = "SELECT pg_try_advisory_lock($1) AS leads"

BUDGET_SHARES = (
    "SELECT scope, ceiling, max(share) AS share FROM rag_upkeep_budget_shares($1, $2) GROUP BY scope, ceiling"
)


@dataclass(frozen=True, slots=True)
class CalibrationSchedule:
    """When a workspace is calibrated by itself: from so many passages on, once documents have stopped coming in."""

    least_chunks: int = 100
    """Fewer give too few questions."""
    quiet_seconds: float = 60.0


SAVED_QUIET_SECONDS = 30.0
"""Saved questions are asked again once nothing was published for so long, so that a folder that comes in file by file
costs one round. Set by hand.
"""


class PostgresJobBoard:
    """`jobs.ports.JobBoard`. The lead is a session lock: it ends with the connection, and the connection ends when the
    leader dies or falls silent.
    """

    def __init__(
        self,
        dsn: str,
        role: str = "rag_dispatcher",
        timeout_seconds: float = 10.0,
        lead_seconds: float = LEAD_SECONDS,
        snapshot_every_hours: float = 0.0,
        exact_scan_bytes: int = EXACT_SCAN_BYTES,
        graph_home: str = "",
        calibration: CalibrationSchedule | None = None,
        saved_quiet_seconds: float = SAVED_QUIET_SECONDS,
    ) -> None:
        self._dsn = dsn
        self._role = role
        self._timeout = timeout_seconds
        self._lead_seconds = lead_seconds
        self._upkeep_arguments: Mapping[str, tuple[Any, ...]] = {
            JobKind.SNAPSHOT.value: (snapshot_every_hours,),
            JobKind.INDEX.value: (exact_scan_bytes,),
            JobKind.COMPACT.value: (TERMS_VERSION,),
            JobKind.GRAPH.value: (graph_home,),
            JobKind.SAVED.value: (saved_quiet_seconds,),
            JobKind.CALIBRATE.value: (None, 0.0) if calibration is None else astuple(calibration),
        }
        self._connection: Any = None
        self._leading = False
        self._turn = asyncio.Lock()

    async def lead(self) -> bool:
        connection = self._connection
        if self._leading and connection is not None and not connection.is_closed():
            return True
        rows = await self._fetch(TRY_LEAD, LEADER_LOCK)
        self._leading = rows[0]["leads"]
        return self._leading

    async def beat(self, worker: WorkerIdentity) -> None:
        await self._fetch(sql.BEAT, worker.name, worker.host, worker.pid, worker.version, worker.slots)

    async def sign_off(self, worker: WorkerIdentity) -> None:
        await self._fetch(sql.SIGN_OFF, worker.name)

    async def workers(self) -> list[WorkerRecord]:
        rows = await self._fetch(sql.WORKERS)
        return [value_from(WorkerRecord, row, identity=value_from(WorkerIdentity, row)) for row in rows]

    async def expire_leases(self) -> int:
        return len(await self._fetch(sql.EXPIRE_LEASES))

    async def due(
        self, queue: QueueName, limit: int, partition: int = 0, partitions: int = 1, last: LastTurns | None = None
    ) -> list[JobRef]:
        rows = await self._fetch(sql.WAITING, queue.value, partition, partitions)
        waiting = [WaitingWorkspace(_workspace(row), row["created_at"]) for row in rows]
        jobs: dict[WorkspaceRef, list[JobRef]] = {}
        known: dict[WorkspaceRef, int] = {}
        while True:
            turns = take_turns(waiting, last or LastTurns(), limit, known)
            # Twice the turns, since those of a workspace that has too few go to the others: mostly one look is enough.
            counts = Counter(turns).items()
            wanted = {one: min(limit, 2 * count) for one, count in counts if count > len(jobs.get(one, ()))}
            if not wanted:
                queues = {one: iter(found) for one, found in jobs.items()}
                return [next(queues[one]) for one in turns]
            jobs.update(await self._oldest(queue, wanted))
            known.update({one: len(jobs[one]) for one, count in wanted.items() if len(jobs[one]) < count})

    async def _oldest(self, queue: QueueName, wanted: Mapping[WorkspaceRef, int]) -> dict[WorkspaceRef, list[JobRef]]:
        ids = [one.org_id for one in wanted], [one.workspace_id for one in wanted]
        found: dict[WorkspaceRef, list[JobRef]] = {one: [] for one in wanted}
        for row in await self._fetch(sql.OLDEST, queue.value, *ids, list(wanted.values())):
            workspace = _workspace(row)
            found[workspace].append(JobRef(workspace, row["job_id"], fence=row["fence"]))
        return found

    async def upkeep(self) -> list[MaintenanceTask]:
        """Maintenance that is due in any workspace and has no unfinished job yet. Also deletes undecodable messages
        that were not seen for 30 days, and workers that were not seen for one.
        """
        await self._fetch(sql.FORGET_PAYLOADS)
        await self._fetch(sql.FORGET_WORKERS)
        due: list[MaintenanceTask] = []
        for kind, statement in sql.UPKEEP.items():
            rows = await self._fetch(statement, kind, *self._upkeep_arguments.get(kind, ()))
            due += [MaintenanceTask(_workspace(row), JobKind(kind), row["key"]) for row in rows]
        return due

    async def counts(self) -> dict[tuple[JobState, JobKind], int]:
        """Jobs by state and kind; kinds unknown to this version count as UNKNOWN."""
        counted: Counter[tuple[JobState, JobKind]] = Counter()
        for row in await self._fetch(sql.COUNTS):
            counted[JobState(row["state"]), job_kind_from(row["kind"])] += row["jobs"]
        return dict(counted)

    async def oldest_waits(self) -> dict[JobKind, float]:
        rows = await self._fetch(sql.OLDEST_WAITS)
        return {job_kind_from(row["kind"]): row["seconds"] for row in rows}

    async def corpus_counts(self) -> tuple[dict[str, int], int]:
        rows = await self._fetch(sql.CORPUS_COUNTS)
        lag = max((row["graph_lag"] for row in rows), default=0)
        documents: Counter[str] = Counter()
        for row in rows:
            if row["status"] is not None:
                documents[row["status"]] += row["documents"]
        return dict(documents), lag

    async def budget_shares(self) -> dict[tuple[str, str], float]:
        rows = await self._fetch(BUDGET_SHARES, DEFAULT_CALLS[UsageKind.SEARCH], DEFAULT_CALLS[UsageKind.PAGE])
        return {(row["scope"], row["ceiling"]): row["share"] for row in rows}

    async def aclose(self) -> None:
        self._leading = False
        connection, self._connection = self._connection, None
        if connection is not None and not connection.is_closed():
            try:
                await connection.close(timeout=self._timeout)
            except DRIVER_ERRORS:
                connection.terminate()

    async def _fetch(self, statement: str, *arguments: Any) -> Sequence[Mapping[str, Any]]:
        async with self._turn:
            try:
                connection = await self._ensure_connection()
                return await connection.fetch(statement, *arguments, timeout=self._timeout)
            except DRIVER_ERRORS as error:
                # A new connection does not hold the lock; after a time-out the state of this one is unknown.
                self._leading = False
                if self._connection is not None:
                    self._connection.terminate()
                    self._connection = None
                raise translate(error) from error

    async def _ensure_connection(self) -> Any:
        connection = self._connection
        if connection is None or connection.is_closed():
            self._leading = False
            connect: Any = asyncpg.connect
            connection = self._connection = await connect(
                self._dsn,
                timeout=self._timeout,
                server_settings={
                    "role": self._role,
                    "application_name": "agentic-rag dispatcher",
                    "jit": "off",
                    # All it asks has an index. Where one workspace has nearly all rows of a table, the planner would
                    # read the table for each of the others, and nothing is handed over meanwhile.
                    "enable_seqscan": "off",
                    "idle_session_timeout": f"{round(1000 * self._lead_seconds)}ms",
                },
            )
            teach_arrays(connection)
        return connection


def _workspace(row: Mapping[str, Any]) -> WorkspaceRef:
    return WorkspaceRef(row["org_id"], row["workspace_id"])
