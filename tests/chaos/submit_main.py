"""Hands one file to ingestion like an API process, and stands still: before the commit, or after it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from uuid import UUID

from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
from tests.chaos.worker_main import Gate, SteppedContainer


async def main(folder: Path, workspace: WorkspaceRef) -> None:
    """Synchronise a folder of one file; the plan stops it at enqueue.uncommitted or enqueue.committed."""
    gate = Gate(json.loads(os.environ["CHAOS_PLANS"]), Path(os.environ["CHAOS_FOLDER"]), "")
    container = SteppedContainer(load_settings(), gate)
    await container.sync_source.run(workspace, container.directory_source(folder), "chaos")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), WorkspaceRef(DEFAULT_ORG_ID, UUID(sys.argv[2]))))
