"""Stores the usage of model calls in the background. A killed process loses the charges of its last `LINGER_SECONDS`
and those that an unavailable database did not store.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from uuid import UUID

from agentic_rag.kernel.concurrency import detached_task
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.billing.usage import Charge, UsageKey, UsageKind, UsageLine, sum_by_key, usage_line

LINGER_SECONDS = 0.5
"""Seconds for which charges are collected into one write."""

MAX_WAITING = 20_000
"""Lines (a day's use of a model in a workspace) that are kept while the database is unavailable."""

# Calls of the web are reserved before they are made (`web_envelope`) and never come here.
_TOKENS = {UsageKind.EMBEDDING: ("embedding", ""), UsageKind.CHAT: ("chat_input", "chat_output")}


class UsageLedger:
    """Collects charges behind one timer. A failure never fails a request. `heard` is called with each charge
    at once.
    """

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self.telemetry = telemetry
        self.heard: Callable[[Charge], None] = lambda _: None
        self._waiting: dict[UUID, dict[UsageKey, UsageLine]] = defaultdict(dict)
        self._flushing: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def note(self, charge: Charge) -> None:
        """Queue a charge for storing and count it."""
        self._count(charge)
        self.heard(charge)
        self._take(charge.workspace.org_id, usage_line(charge))
        if self._flushing is None or self._flushing.done():
            self._flushing = detached_task(self._flush_later())

    async def flush(self) -> None:
        """Store the queued charges; those that cannot be stored stay in the queue."""
        async with self._turn:
            taken, self._waiting = self._waiting, defaultdict(dict)
            for org_id, lines in taken.items():
                try:
                    await self._store(org_id, lines)
                except AgenticRagError as error:
                    self.telemetry.event("rag_usage_unrecorded", level="warning", code=error.code, lines=len(lines))
                    for line in lines.values():
                        self._take(org_id, line)

    async def aclose(self) -> None:
        """Store the queued charges and stop."""
        if self._flushing is not None:
            self._flushing.cancel()
            await asyncio.gather(self._flushing, return_exceptions=True)
        await self.flush()

    async def _flush_later(self) -> None:
        while self._waiting:
            await asyncio.sleep(LINGER_SECONDS)
            # A flush that has begun is finished, even when the ledger is closed meanwhile.
            await asyncio.shield(self.flush())

    async def _store(self, org_id: UUID, lines: Mapping[UsageKey, UsageLine]) -> None:
        async with self._database.transaction(org_id) as transaction:
            await transaction.usage.add(sum_by_key(lines.values()))

    def _take(self, org_id: UUID, line: UsageLine) -> None:
        held = self._waiting[org_id]
        before = held.get(line.key)
        if before is None and sum(map(len, self._waiting.values())) >= MAX_WAITING:
            return
        held[line.key] = line if before is None else before.plus(line)

    def _count(self, charge: Charge) -> None:
        given, written = _TOKENS[charge.kind]
        self.telemetry.count("rag_tokens_total", float(charge.input_tokens), kind=given)
        if written:
            self.telemetry.count("rag_tokens_total", float(charge.output_tokens), kind=written)
        if charge.cost_usd:
            self.telemetry.count("rag_provider_cost_usd_total", charge.cost_usd)
