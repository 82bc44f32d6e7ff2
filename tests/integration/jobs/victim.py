"""A worker process to be killed: it notes each batch it is asked to embed, and hangs in the third."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from tests.integration.jobs.data_plane import QUICK, DataPlane

from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
from agentic_rag_worker.worker import WorkerOptions, run_worker


async def main() -> None:
    task = json.loads(sys.stdin.read())
    plane = DataPlane(
        task["database"],
        task["redis"],
        Path(task["blobs"]),
        workspace=WorkspaceRef(DEFAULT_ORG_ID, UUID(task["workspace"])),
    )
    log = Path(task["log"])

    def note(texts: Sequence[str]) -> object:
        with log.open("a") as file:
            file.write(json.dumps(list(texts)) + "\n")
        return asyncio.get_running_loop().create_future() if len(log.read_text().splitlines()) >= 3 else None

    plane.embedder.before = note
    await run_worker(plane, plane.handlers, WorkerOptions(slots=2, timings=QUICK))


if __name__ == "__main__":
    asyncio.run(main())
