"""Hands one file to ingestion like an API process, says so, and waits to be killed: before its commit or after it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from uuid import UUID

from agentic_rag.app.submission import Submission, keep_original, submit
from agentic_rag.bootstrap import build_container
from agentic_rag.domain.tenancy import DEFAULT_ORG_ID, WorkspaceRef
from agentic_rag.settings import load_settings


async def main(moment: str, path: Path, workspace: WorkspaceRef) -> None:
    async with build_container(load_settings()) as container:
        submission = Submission(
            workspace=workspace,
            source_path=path.name,
            content=path.read_bytes(),
            title=path.stem,
            file_name=path.name,
            media_type="text/markdown",
            uploaded_by="chaos",
        )
        await keep_original(container.blobs, submission)
        async with container.database.transaction(workspace.org_id) as transaction:
            await submit(transaction, submission, {})
            if moment == "open":
                await _wait(moment)
        await _wait(moment)


async def _wait(moment: str) -> None:
    print(moment, flush=True)
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), WorkspaceRef(DEFAULT_ORG_ID, UUID(sys.argv[3]))))
