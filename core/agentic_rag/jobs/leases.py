"""The lease check that precedes every effect of a job."""

from __future__ import annotations

from agentic_rag.jobs.job import Lease
from agentic_rag.jobs.ports import JobStore
from agentic_rag.kernel.errors import LeaseLost


async def require_lease(jobs: JobStore, lease: Lease) -> None:
    """Check that the fence is current; it stays current until the transaction ends. Errors: `LeaseLost`."""
    if not await jobs.holds(lease.ref, lease.fence):
        raise lease_loss()


def lease_loss() -> LeaseLost:
    """The error of a job whose fence another worker raised."""
    return LeaseLost("Another worker holds this job now.")
