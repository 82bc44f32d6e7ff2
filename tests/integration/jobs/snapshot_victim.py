"""A process that takes or restores a snapshot and kills itself, as kill -9 does, ahead of its n-th write of a file."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from uuid import UUID

from tests.integration.jobs.data_plane import QUICK, DataPlane

from agentic_rag.adapters.blobs.directory import DirectoryBlobStore
from agentic_rag.operations.snapshots.archive_files import ArchiveLocation
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
from agentic_rag_worker.worker import WorkerOptions, run_worker


class FatalBlobs(DirectoryBlobStore):
    """Ends the process instead of the n-th write."""

    def __init__(self, root: Path, fatal: int) -> None:
        super().__init__(root)
        self._left = fatal

    async def put(self, key: str, content: bytes) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        await super().put(key, content)


async def main() -> None:
    task = json.loads(sys.stdin.read())
    plane = DataPlane(
        task["database"],
        task["redis"],
        Path(task["blobs"]),
        workspace=WorkspaceRef(DEFAULT_ORG_ID, UUID(task["workspace"])),
    )
    plane.blobs = FatalBlobs(plane.blob_root, task["fatal"])
    if task["folder"] is None:
        await run_worker(plane, plane.handlers, WorkerOptions(slots=1, timings=QUICK))
    else:
        await plane.restore_snapshot.run(DEFAULT_ORG_ID, ArchiveLocation(plane.blobs, task["folder"]))


if __name__ == "__main__":
    asyncio.run(main())
