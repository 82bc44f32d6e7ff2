"""Schedules maintenance: compaction, retention, indexes, snapshots."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.jobs.job import MaintenanceTask, NewJob
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.telemetry import Telemetry


class ScheduleMaintenance:
    """Turns due maintenance into jobs; a task with an unfinished job gets no second one."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def enqueue(self, due: Sequence[MaintenanceTask]) -> int:
        """Enqueue the tasks; the number of new jobs. Errors: `DependencyUnavailable`."""
        new = 0
        for task in due:
            async with self._database.transaction(task.workspace.org_id) as transaction:
                _, is_new = await transaction.jobs.enqueue(NewJob(task.workspace, task.kind, task.key, {}))
            new += is_new
        if new:
            self._telemetry.event("rag_upkeep_enqueued", jobs=new)
        return new
