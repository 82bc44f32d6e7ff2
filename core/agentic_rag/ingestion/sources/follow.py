"""The body of SYNC jobs: one synchronisation of one source, or the end of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from agentic_rag.ingestion.hand_over import SyncWatch
from agentic_rag.ingestion.missing import hide
from agentic_rag.ingestion.sources.breaker import is_open, next_look
from agentic_rag.ingestion.sources.listing import LEFT_OUT_ON_PURPOSE
from agentic_rag.ingestion.sources.manage import DELETE_ARGUMENT, RETRY_ARGUMENT
from agentic_rag.ingestion.sources.placed import PlacedSource
from agentic_rag.ingestion.sources.ports import OpenSource
from agentic_rag.ingestion.sources.source import MOST_SHOWN, Source, SourceKind, UnreadableItem
from agentic_rag.ingestion.storage import require_storage
from agentic_rag.ingestion.sync import SyncOptions, SyncResult, SyncSource
from agentic_rag.jobs.job import GiveUp, Lease, Retry
from agentic_rag.jobs.leases import require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.error_redaction import redact
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.providers.ports import KeyVault

_OURS = frozenset({"INTERNAL", "WORKER_LOST", "JOB_TIMEOUT", "JOB_STALLED"})
"""Codes of failures that are not the source's."""


@dataclass(slots=True)
class FollowSource:
    """Synchronises one source of a workspace. The first time in a process everything is compared; later a source may
    say that nothing changed.
    """

    database: Database
    sync: SyncSource
    connectors: Mapping[SourceKind, OpenSource]
    vault: KeyVault
    clock: Clock
    telemetry: Telemetry
    stored_mb: int = 0
    """What an organisation may store that has no limit of its own; 0: no limit."""
    _compared: set[UUID] = field(default_factory=set[UUID])

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Synchronise the source of a leased job. Errors: those of `SyncSource.run`; `LeaseLost`."""
        source = await self._begin(lease)
        if source is None:
            return
        if source.is_leaving:
            await self._leave(lease, progress, source)
            return
        result = await self._synchronise(lease, progress, source)
        self._compared.add(source.source_id)
        now = self.clock.now()
        troubling = _troubling(result)
        health = replace(
            source.health,
            # What could not be taken is looked at again, also where the source does not change.
            cursor=None if troubling else result.cursor,
            failures=0,
            error_code=None,
            error_message=None,
            counts=_counts(result),
            unreadable=troubling[:MOST_SHOWN],
            synced_at=now,
            next_at=next_look(source.stated.every_seconds, 0, now),
        )
        async with self.database.transaction(source.workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            await transaction.sources.record(source.workspace, source.source_id, health)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """Show a failure on the source. The last attempt of a job counts as one failure; after several in a row the
        source is asked ever more rarely.
        """
        source_id = _source_id(lease)
        source = None if source_id is None else await transaction.sources.get(lease.job.workspace, source_id)
        if source is None:
            return
        failures = source.health.failures + isinstance(decision, GiveUp)
        health = replace(
            source.health,
            failures=failures,
            error_code=error.code,
            error_message=redact(error.message),
            next_at=next_look(source.stated.every_seconds, failures, self.clock.now()),
        )
        await transaction.sources.record(source.workspace, source.source_id, health)
        self.telemetry.event(
            "rag_source_failed",
            level="warning",
            source_id=str(source.source_id),
            code=error.code,
            failures=failures,
            resting=is_open(failures),
        )

    @staticmethod
    def is_rejection(error: AgenticRagError) -> bool:
        """Whether the source tells its failure; a fault of ours becomes a dead letter."""
        return error.code not in _OURS

    async def _begin(self, lease: Lease) -> Source | None:
        """The source, marked as begun; None for one that was removed."""
        source_id = _source_id(lease)
        if source_id is None:
            return None
        workspace = lease.job.workspace
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            source = await transaction.sources.get(workspace, source_id)
            if source is None:
                return None
            health = replace(source.health, started_at=self.clock.now())
            await transaction.sources.record(workspace, source_id, health)
        return replace(source, health=health)

    async def _synchronise(self, lease: Lease, progress: JobProgress, source: Source) -> SyncResult:
        asked = RETRY_ARGUMENT in lease.job.arguments
        knows = source.source_id in self._compared and not asked and not source.health.failures
        options = SyncOptions(
            delete_missing=DELETE_ARGUMENT in lease.job.arguments,
            readable_by=source.stated.readable_by,
            keeps_off=True,
            retry_failed=asked,
            cursor=source.health.cursor if knows else None,
        )

        async def admit(transaction: Transaction) -> None:
            await require_storage(transaction, source.workspace.org_id, self.stored_mb)

        async def guard(transaction: Transaction) -> None:
            await require_lease(transaction.jobs, lease)

        async def advance(done: int, total: int) -> None:
            progress.advance()
            await self._show(source, {"done": done, "total": total})

        secret = None
        if source.sealed is not None:
            secret = self.vault.open(source.workspace.org_id, source.provenance, source.sealed)
        async with self.connectors[source.stated.kind](source.stated, secret) as connector:
            placed = PlacedSource(connector, source.provenance, source.prefix, source.stated.include)
            watch = SyncWatch(admit, guard, advance)
            return await self.sync.run(source.workspace, placed, source.added_by, options, watch)

    async def _show(self, source: Source, counts: dict[str, int]) -> None:
        async with self.database.transaction(source.workspace.org_id) as transaction:
            await transaction.sources.record(source.workspace, source.source_id, replace(source.health, counts=counts))

    async def _leave(self, lease: Lease, progress: JobProgress, source: Source) -> None:
        """Hide the documents of a source one by one, as if they were gone from it, then forget it."""
        workspace, carrier = source.workspace, self.telemetry.carrier()
        async with self.database.transaction(workspace.org_id) as transaction:
            documents = await transaction.documents.paths(workspace, source.provenance)
        for document in documents.values():
            async with self.database.transaction(workspace.org_id) as transaction:
                await hide(transaction, document, self.sync.grace, carrier)
                await require_lease(transaction.jobs, lease)
            progress.advance()
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            await transaction.sources.remove(workspace, source.source_id)


def _source_id(lease: Lease) -> UUID | None:
    try:
        return UUID(lease.job.key)
    except ValueError:
        return None


def _counts(result: SyncResult) -> dict[str, int]:
    return {
        "new": len(result.new),
        "changed": len(result.changed),
        "unchanged": result.unchanged,
        "in_progress": result.in_progress,
        "moved": len(result.moved),
        "hidden": len(result.hidden) + len(result.deleted),
        "returned": len(result.returned),
        "unreadable": len(_troubling(result)),
    }


def _troubling(result: SyncResult) -> tuple[UnreadableItem, ...]:
    return tuple(one for one in result.unreadable if one.code not in LEFT_OUT_ON_PURPOSE)
