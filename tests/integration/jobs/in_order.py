"""The data plane without a worker: jobs one after the other, in an order that no chance decides."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.integration.jobs.data_plane import DataPlane

from agentic_rag.jobs.job import JobKind, JobRef, JobState


class NoProgress:
    def advance(self) -> None:
        """Nobody watches."""


async def ingest_in_order(plane: DataPlane, folder: Path) -> None:
    """Synchronise and do the jobs one by one, by document: who mentions an entity first must not hang on chance."""
    await plane.sync(folder)
    await work_in_order(plane)


async def work_in_order(plane: DataPlane) -> None:
    """Do the waiting ingestions, by document."""
    waiting = [job for job in await plane.jobs(JobKind.INGEST) if job.state is JobState.QUEUED]
    for job in sorted(waiting, key=lambda one: one.key):
        ref = JobRef(plane.workspace, job.job_id)
        async with plane.database.transaction(plane.workspace.org_id) as transaction:
            lease = await transaction.jobs.lease(ref, "tester", timedelta(minutes=1))
        assert lease is not None
        await plane.ingest.run(lease, NoProgress())
        async with plane.database.transaction(plane.workspace.org_id) as transaction:
            assert await transaction.jobs.finish(ref, lease.fence)
