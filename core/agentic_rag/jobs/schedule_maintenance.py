"""Work that nobody asks for: compaction, retention, indexes, scheduled snapshots."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.jobs.job import MaintenanceTask, NewJob
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.telemetry import Telemetry


class ScheduleMaintenance:
    """Turns what is due into jobs; one that is unfinished already is not doubled."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def enqueue(self, due: Sequence[MaintenanceTask]) -> int:
        """Enqueue what is due; how many jobs are new. Errors: `DependencyUnavailable`."""
        new = 0
        for task in due:
            async with self._database.transaction(task.workspace.org_id) as transaction:
                _, is_new = await transaction.jobs.enqueue(NewJob(task.workspace, task.kind, task.key, {}))
            new += is_new
        if new:
            self._telemetry.event("rag_upkeep_enqueued", jobs=new)
        return new
