"""The run that nothing disturbs: what every disturbed run has to end like."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from agentic_rag_worker.job_handlers import job_handlers
from agentic_rag_worker.worker import run_worker, worker_options
from tests.bench.reports import Row
from tests.chaos.ground import PATIENCE_SECONDS, Ground, Servers, new_ground
from tests.chaos.picture import Picture, differences, leftovers, take, without_kinds


async def clean_run(servers: Servers, folder: Path, seconds: float = PATIENCE_SECONDS) -> tuple[Picture, Counter[str]]:
    """The stores after a worker in this process ingested a folder in peace, and what that paid for."""
    async with new_ground(servers) as ground:
        container, stop = ground.container, asyncio.Event()
        await ground.sync(folder)
        options = worker_options(container.settings)
        work = asyncio.create_task(run_worker(container, job_handlers(container), options, stop=stop))
        try:
            await ground.until_idle(seconds)
            return await take(ground), ground.paid()
        finally:
            stop.set()
            await work


async def end_state(name: str, ground: Ground, wanted: Picture, *, with_kinds: bool = True) -> Row:
    """Whether the stores hold what the clean run left, and nothing is left over. The kind of an entity that documents
    call by several is that of the first to be published: where there are such, it is left out.
    """
    found = await take(ground)
    if not with_kinds:
        found, wanted = without_kinds(found), without_kinds(wanted)
    wrong = differences(found, wanted) + [line for line in leftovers(found) if line not in leftovers(wanted)]
    for line in wrong:
        print(f"    {name}: {line}")
    ready = sum(count for key, count in found["documents"].items() if key[1] == "READY")
    chunks = found["chunks"].total()
    doubles = chunks - len(found["chunks"])
    return Row(
        f"{name}: stores as after a clean run",
        f"{ready} READY, {chunks} chunks, {doubles} double, {len(wrong)} differences",
        "0 differences",
        not wrong and not doubles,
    )


def paid_twice(ground: Ground, wanted: Counter[str]) -> int:
    """Texts paid for beyond the clean run."""
    return (ground.paid() - wanted).total()
