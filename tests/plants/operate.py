"""The lies of `make operate`, by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.plants import Mutant, Patch, Where, nothing, nothing_awaited


def _slow(patch: Patch) -> None:
    import asyncio

    from agentic_rag.operations.backups import create

    write = create.write_file

    async def slowly(*arguments: Any) -> Any:
        await asyncio.sleep(3)
        return await write(*arguments)

    patch(create, "write_file", slowly)


def _without(table: str) -> Any:
    def plant(patch: Patch) -> None:
        from agentic_rag.adapters.postgres.operations import backup

        patch(backup, "NOT_IN_A_BACKUP", backup.NOT_IN_A_BACKUP | {table})

    return plant


def _forgotten(patch: Patch) -> None:
    from agentic_rag.operations.backups.restore_backup import ReapplyErasures

    patch(ReapplyErasures, "run", nothing_awaited)


def _without_originals(patch: Patch) -> None:
    from agentic_rag.operations.backups.create import _Originals

    async def missing(_: Any, one: Any) -> Any:
        return replace(one, is_missing=True)

    patch(_Originals, "_copy", missing)


def _cutting(patch: Patch) -> None:
    from agentic_rag_server.connections import GuardedProtocol

    patch(GuardedProtocol, "shutdown", lambda self: self.transport.abort())


def _patient(patch: Patch) -> None:
    from agentic_rag.adapters.telemetry import otlp, otlp_exporters

    patch(otlp_exporters, "EXPORT_TIMEOUT_SECONDS", 12.0)
    patch(otlp, "END_SECONDS", 12.0)


def _wordy(patch: Patch) -> None:
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    def often(take: Any) -> Any:
        def taken(self: Any, item: Any) -> None:
            for _ in range(30):
                take(self, item)

        return taken

    patch(BatchSpanProcessor, "on_end", often(BatchSpanProcessor.on_end))
    patch(BatchLogRecordProcessor, "on_emit", often(BatchLogRecordProcessor.on_emit))


def _without_lines(patch: Patch) -> None:
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

    patch(BatchLogRecordProcessor, "on_emit", nothing)


def _in_each_revision(sql: str) -> Any:
    def plant(patch: Patch) -> None:
        from agentic_rag_migrations import script

        there = "to_regclass('rag_segments') IS NOT NULL"
        patch(script, "PROTECT", f"{script.PROTECT}\nDO $$ BEGIN IF {there} THEN {sql}; END IF; END $$;")

    return plant


def _on_the_replica(serve: Any) -> Any:
    """`serve` is what becomes of each snapshot that the replica is asked for."""

    def plant(patch: Patch) -> None:
        from agentic_rag.adapters.postgres.session.replica import ReadReplica

        patch(ReadReplica, "begin", serve)

    return plant


async def _unfenced(self: Any, stack: Any, workspace: Any, _: Any) -> Any:
    self._telemetry.count("rag_replica_snapshots_total", outcome="used")
    return await stack.enter_async_context(self._pool.snapshot(workspace.org_id))


async def _unread(self: Any, *_: Any) -> None:
    self._telemetry.count("rag_replica_snapshots_total", outcome="behind")


async def _refused(*_: Any) -> None:
    from agentic_rag.kernel.errors import Permanent

    raise Permanent("The replica is behind.")


def _no_queue(patch: Patch) -> None:
    from tests.bench.capacity import CapacityModel

    def alone(self: CapacityModel, chunks: int, clients: int) -> float:
        return clients / (self.wait + self.base + self.per_chunk * chunks)

    patch(CapacityModel, "answers_per_second", alone)


MUTANTS: Mapping[str, Mutant] = {
    "capacity": Mutant("in the capacity model clients do not wait for each other", _no_queue, "held back"),
    "seconds": Mutant("each file takes three seconds more", _slow, "backup and restore", is_slow=True),
    "answers": Mutant(
        "postings are left out of the backup", _without("rag_segments"), "bytes that changed", is_slow=True
    ),
    "erased": Mutant("what was erased since is not erased again", _forgotten, "came back"),
    "verified": Mutant("mentions are left out of the backup", _without("rag_mentions"), "rag verify", is_slow=True),
    "originals": Mutant(
        "originals are left out of the backup", _without_originals, "originals that it lost", is_slow=True
    ),
    "kept": Mutant(
        "a revision empties the postings", _in_each_revision("TRUNCATE rag_segments"), "tables whose rows", is_slow=True
    ),
    "upgraded": Mutant(
        "a revision empties the postings",
        _in_each_revision("TRUNCATE rag_segments"),
        "after each upgrade",
        is_slow=True,
    ),
    "waits": Mutant(
        "a revision takes a second more", _in_each_revision("PERFORM pg_sleep(1)"), "longest", is_slow=True
    ),
    "telemetry": Mutant(
        "every span and line is exported thirty times", _wordy, "processor time", where=Where.CHILDREN, is_slow=True
    ),
    "exported": Mutant("no line of the log is exported", _without_lines, "lack", where=Where.CHILDREN, is_slow=True),
    "stale": Mutant("a replica is read whatever it has replayed", _on_the_replica(_unfenced), "stale"),
    "read": Mutant("the replica is never read", _on_the_replica(_unread), "it served"),
    "failed": Mutant("a replica that is behind fails its question", _on_the_replica(_refused), "failed"),
    "rolling": Mutant(
        "a server that stops cuts what is under way", _cutting, "failed", where=Where.CHILDREN, is_slow=True
    ),
    "stop": Mutant("exports that wait are given 12 s", _patient, "slowest stop", where=Where.CHILDREN, is_slow=True),
}
