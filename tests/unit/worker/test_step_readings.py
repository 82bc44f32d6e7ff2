"""Jobs that read texts in steps let an erasure's certificate go on after each."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

from agentic_rag.erasure.process_memory import ProcessMemory
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_worker.job_handlers import _Steps


async def test_who_drops_texts_waits_for_the_step_under_way_and_not_for_the_job() -> None:
    workspace, memory, advanced = WorkspaceRef(uuid4(), uuid4()), ProcessMemory(), list[str]()
    lease = cast("Any", SimpleNamespace(job=SimpleNamespace(workspace=workspace, document_id=None)))
    progress = cast("Any", SimpleNamespace(advance=lambda: advanced.append("step")))
    with ExitStack() as reading:
        steps = _Steps(memory, lease, progress, reading)
        dropping = asyncio.create_task(memory.drop_for_good(workspace))
        await _every_task_waits()
        waits = not dropping.done()
        steps.advance()
        await dropping
        second = asyncio.create_task(memory.drop_for_good(workspace))
        await _every_task_waits()
        waits_again = not second.done()
    await second

    assert (waits, waits_again, advanced) == (True, True, ["step"])


async def _every_task_waits() -> None:
    for _ in range(10):
        await asyncio.sleep(0)
