"""The register of processes that hold what they read: a row each, renewed while the process lives; and the orders to
drop it, which come by NOTIFY.
"""

# asyncpg ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from agentic_rag.adapters.postgres.session.connection import DRIVER_ERRORS
from agentic_rag.adapters.postgres.session.pool import PoolOptions
from agentic_rag.erasure.process_memory import LAPSE_SECONDS, ProcessMemory
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.concurrency import detached_task
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.principals import WorkspaceRef

BEAT_SECONDS = 2.0
"""A fifth of the time after which a process counts as gone."""

RETRY_SECONDS = 1.0
_ANSWER_SECONDS = 5.0

CHANNEL = "rag_drop_held"
"""Payloads are an order, an organisation, a workspace and, unless all of it was erased, documents, by their ids."""

ORDER = f"""
SELECT clock_timestamp()
FROM pg_notify('{CHANNEL}', array_to_string(ARRAY [$3::uuid, $1, $2] || $4::uuid[], ' '))
"""  # noqa: S608 - a constant

# Who came later read nothing of before. Those that signed off hold nothing any more.
PROGRESS = f"""
SELECT count(*) FILTER (WHERE has_followed) AS followed,
       count(*) FILTER (WHERE NOT has_followed AND is_lapsed) AS lapsed,
       count(*) FILTER (WHERE NOT has_followed AND NOT is_lapsed) AS silent
FROM (
    SELECT coalesce($1::uuid = ANY (followed), false) OR ended_at IS NOT NULL AS has_followed,
           seen_at < clock_timestamp() - interval '{LAPSE_SECONDS} seconds' AS is_lapsed
    FROM rag_processes
    WHERE started_at <= coalesce($2, clock_timestamp()) AND (ended_at IS NULL OR ended_at > $2)
) AS p
"""  # noqa: S608 - a constant

REGISTER = """
WITH forgotten AS (DELETE FROM rag_processes WHERE seen_at < now() - interval '1 day')
INSERT INTO rag_processes (process, program, host, pid) VALUES ($1, $2, $3, $4)
"""

BEAT = "UPDATE rag_processes SET seen_at = clock_timestamp() WHERE process = $1 RETURNING true"

# No more orders than these wait for one process at a time.
FOLLOWED = """
UPDATE rag_processes
SET seen_at = clock_timestamp(), followed = ($2::uuid[] || followed)[:1000]
WHERE process = $1
"""

SIGN_OFF = """
UPDATE rag_processes SET seen_at = clock_timestamp(), ended_at = clock_timestamp() WHERE process = ANY ($1::uuid[])
"""


class ProcessRegister:
    """Keeps this process in the register from `start` on, on a connection of its own, and follows orders.

    While `is_current` is False, nothing may be held: an order may have been missed. Whatever ends a registration (a
    lost connection, a stopped process, a loop that stood still) drops all that is held; the next one has another name,
    and the earlier row ends when the work of before has ended too. Before the first one nothing is read (`admit`).
    """

    def __init__(self, dsn: str, memory: ProcessMemory, clock: Clock, telemetry: Telemetry, program: str) -> None:
        self._dsn = dsn
        self._memory = memory
        self._clock = clock
        self._telemetry = telemetry
        self._program = program
        self._name: UUID | None = None
        self._left: set[UUID] = set()
        """Names of before whose rows have not ended yet."""
        self._seen = 0.0
        self._connection: Any = None
        self._turn = asyncio.Lock()
        self._heard: list[str] = []
        self._wake = asyncio.Event()
        self._run_task: asyncio.Task[None] | None = None
        self._has_registered = False
        self._fault: str | None = None
        """What kept it out of the register, while that lasts and was told."""
        self._has_tried = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_current(self) -> bool:
        """Whether this process hears of every erasure, or no erasure waits for it (never started)."""
        if self._run_task is None:
            return True
        return self._name is not None and self._clock.monotonic() - self._seen < LAPSE_SECONDS

    async def admit(self) -> None:
        """Wait, before anything is read, until this process has been in the register: an erasure waits for those that
        are, or were. A process that was never started into it reads at once. Errors: `DependencyUnavailable` while it
        cannot register.
        """
        if self._has_registered or self._run_task is None:
            return
        await self._has_tried.wait()
        if not self._has_registered:
            raise DependencyUnavailable("Postgres does not take this process into its register.", dependency="postgres")

    def start(self) -> None:
        """Register in the background; while Postgres is away it is tried again."""
        self._run_task = detached_task(self._run(), "process register")

    async def aclose(self) -> None:
        """Drop what is held and sign off, as far as Postgres answers."""
        if self._run_task is None:
            return
        tasks = [self._run_task, *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        self._memory.drop(None)
        names = self._names()
        self._name = None
        if self._connection is not None:
            with suppress(*DRIVER_ERRORS):
                await self._connection.execute(SIGN_OFF, names, timeout=_ANSWER_SECONDS)
            self._connection.terminate()

    def _names(self) -> list[UUID]:
        return [*self._left, *(() if self._name is None else (self._name,))]

    async def _run(self) -> None:
        while True:
            try:
                await self._stay()
            except DRIVER_ERRORS as error:
                self._tell_outage(type(error).__name__)
            finally:
                self._has_tried.set()
            self._leave()
            await asyncio.sleep(RETRY_SECONDS)

    def _tell_outage(self, fault: str) -> None:
        """Tell why this process is not in the register, unless the same was told and it has not been since."""
        if fault != self._fault:
            self._fault = fault
            self._telemetry.event("rag_process_unregistered", level="warning", fault=fault)

    def _leave(self) -> None:
        """The connection is gone, or its orders may be: hold nothing."""
        self._left.update(self._names())
        self._name = None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()
        self._memory.drop(None)
        self._wake.set()

    async def _stay(self) -> None:
        connect: Any = asyncpg.connect
        options = PoolOptions(application_name="agentic-rag register")
        self._connection = await connect(
            self._dsn,
            timeout=options.connect_seconds,
            command_timeout=_ANSWER_SECONDS,
            server_settings=options.server_settings(),
        )
        self._connection.add_termination_listener(self._on_loss)
        self._heard.clear()
        await self._connection.add_listener(CHANNEL, self._hear)
        name, began = uuid4(), self._clock.monotonic()
        await self._connection.execute(REGISTER, name, self._program, socket.gethostname(), os.getpid())
        # What was read before the row stood there may be older than an erasure that did not wait for this process.
        self._memory.drop(None)
        self._name, self._seen = name, began
        self._has_registered = True
        if self._fault is not None:
            self._fault = None
            self._telemetry.event("rag_process_registered", level="warning")
        self._has_tried.set()
        ending = self._begin(self._end_earlier(name, list(self._left)))
        while await self._beat(name):
            if self._left and ending.done():
                ending = self._begin(self._end_earlier(name, list(self._left)))
            # `wait_for` of Python 3.11 swallows a cancellation that meets the wake: `aclose` would wait for ever.
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._wake.wait()
            self._wake.clear()
            if self._heard:
                orders, self._heard = self._heard, []
                self._begin(self._follow(name, orders))

    def _on_loss(self, connection: object) -> None:
        if connection is self._connection:
            self._leave()

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: str) -> None:
        self._heard.append(payload)
        self._wake.set()

    async def _beat(self, name: UUID) -> bool:
        """False when this process was not seen for too long, by its own clock or the register's: it begins anew."""
        began = self._clock.monotonic()
        if self._name != name or began - self._seen >= LAPSE_SECONDS:
            return False
        async with self._turn:
            if self._connection is None or not await self._connection.fetchval(BEAT, name):
                return False
        self._seen = began
        return True

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = detached_task(work, "drop of held texts")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _follow(self, name: UUID, orders: Sequence[str]) -> None:
        heard = [tuple(UUID(part) for part in order.split(" ")) for order in orders]
        for _, org_id, workspace_id, *document_ids in heard:
            await self._memory.drop_for_good(WorkspaceRef(org_id, workspace_id), document_ids)
        await self._tell(name, FOLLOWED, name, [order_id for order_id, *_ in heard])

    async def _end_earlier(self, name: UUID, earlier: list[UUID]) -> None:
        await self._memory.drop_for_good(None)
        if earlier and await self._tell(name, SIGN_OFF, earlier):
            self._left.difference_update(earlier)

    async def _tell(self, name: UUID, statement: str, *arguments: object) -> bool:
        """Run a statement under the registration of that name. False where there is another one by now, or none."""
        try:
            async with self._turn:
                if self._name != name or self._connection is None:
                    return False
                await self._connection.execute(statement, *arguments)
        except DRIVER_ERRORS:
            self._leave()
            return False
        return True
