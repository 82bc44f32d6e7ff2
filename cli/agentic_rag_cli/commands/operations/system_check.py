"""What `rag doctor` says of the whole system."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_rag.jobs.workers import RECENT, SILENT_LEASES, WorkerCensus
from agentic_rag.kernel.formatting import format_count
from agentic_rag.settings import Settings
from agentic_rag_cli.commands.operations.check import DEGRADED, DISKS, FAILED, Check, attempt, failure, ok
from agentic_rag_cli.commands.operations.store_writes import try_blobs
from agentic_rag_cli.wiring import Wiring

if TYPE_CHECKING:
    from agentic_rag.jobs.workers import WorkerRecord
    from agentic_rag.models.providers.manage_keys import KeysAtRest

WORKERS_DIED = "WORKERS_DIED"


async def check_system(wiring: Wiring, settings: Settings) -> list[Check]:
    """The whole system starts (roles, schema) and has workers; its blob store keeps what is written."""

    async def look_at_workers() -> Check:
        async with wiring.system(settings) as system:
            silence = timedelta(seconds=SILENT_LEASES * settings.jobs.lease_seconds)
            leads, workers = await system.worker_running(), await system.workers()
            return judge_workers(leads, workers, system.container.clock.now() - silence)

    async def look_at_blobs() -> Check:
        async with wiring.system(settings) as system:
            await try_blobs(system.container)
        return ok("blobs", "the blob store takes writes")

    async def look_at_keys() -> Check:
        async with wiring.system(settings) as system:
            return judge_keys(await system.container.provider_keys.look_into())

    started = await attempt("system", look_at_workers)
    if started.status == FAILED and started.code != WORKERS_DIED:
        return [started]
    if isinstance(settings.stores.blobs, Path):
        blobs = await attempt("blobs", look_at_blobs, DISKS, is_excused=False)
    else:
        blobs = await attempt("blobs", look_at_blobs)
    return [started, blobs, await attempt("keys", look_at_keys)]


def judge_keys(found: KeysAtRest) -> Check:
    """What is said of stored keys: those that do not open stop the organisations that they are of. Where none opens,
    this process has other master keys than those who stored them.
    """
    stored = found.opened + len(found.refused)
    if not found.refused:
        return ok("keys", f"{format_count(stored, 'stored key')} of providers and sources")
    first = found.refused[0]
    told = f"{len(found.refused)} of {format_count(stored, 'stored key')} cannot be opened"
    return Check("keys", DEGRADED if found.opened else FAILED, told, first.code, first.message)


def judge_workers(leads: bool, workers: Sequence[WorkerRecord], silent_since: datetime) -> Check:
    """What is said of a system that starts. Without a worker it is well, unless the last of them died; with others it
    is not either while the death of one is news. One that lives leads within seconds where none does.
    """
    census = WorkerCensus.take(workers, silent_since)
    right = "database role and wiring are right"
    leader = "a worker leads" if leads else "no worker leads" if census.running else "no worker is running"
    told = "; ".join([right, leader, *tell_workers(census)])
    if not leads and census.running:
        remedy = "Run `rag doctor` again in a minute: a worker that lives leads by then, and one that died is named."
        return Check("system", DEGRADED, told, "NO_WORKER_LEADS", remedy)
    if not leads and census.died and _last(workers).ended_at is None:
        remedy = (
            "Start `rag worker`, or `rag up`, and end first what stands still: documents wait. The log of the one that "
            "died may say why."
        )
        return failure("system", WORKERS_DIED, told, remedy)
    if census.died_since(silent_since - RECENT):
        remedy = "Its log, or that of what started it (`rag up`, journalctl, kubectl), says why: mostly memory."
        return Check("system", DEGRADED, told, WORKERS_DIED, remedy)
    return ok("system", told)


def _last(workers: Sequence[WorkerRecord]) -> WorkerRecord:
    """The one that gave the newest sign."""
    return max(workers, key=lambda one: one.ended_at or one.seen_at)


def tell_workers(census: WorkerCensus) -> list[str]:
    """The workers that run, and those of the last day that died."""
    run = [f"{one.host}:{one.pid} ({one.slots} slots)" for one in (record.identity for record in census.running)]
    died = [f"{one.identity.host}:{one.identity.pid} (last seen {one.seen_at:%H:%M} UTC)" for one in census.died]
    told = [(run, "seen"), (died, "died in the last day")]
    return [f"{format_count(len(names), 'worker')} {what}: {', '.join(names)}" for names, what in told if names]
