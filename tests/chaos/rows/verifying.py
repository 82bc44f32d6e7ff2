"""`rag verify` in the middle of faults: it says the same when all is quiet, or what it waits for."""

from __future__ import annotations

import random
from pathlib import Path

from agentic_rag.kernel.errors import Retryable
from agentic_rag.operations.verify import VerificationReport
from tests.bench.reports import Row, exactly
from tests.chaos import corpus
from tests.chaos.children import crew
from tests.chaos.ground import Ground, Servers, new_ground, until
from tests.chaos.neo4j_graph import empty_neo4j
from tests.provider_stub import Fault

LOOKS = 4


async def verify_agrees(servers: Servers, short: bool) -> list[Row]:
    """Rounds of changed and deleted documents and kill -9, looked at at once and again when all jobs have ended."""
    rounds, documents = (1, 12) if short else (11, 60)
    settings = {} if short else {"NEO4J_URI": await empty_neo4j(servers)}
    async with new_ground(servers, AGENTIC_RAG_JOB_ATTEMPTS="100", **settings) as ground, crew(ground) as workers:
        ground.stub.otherwise = lambda _: Fault(delay_seconds=0.02)
        folder, draw = corpus.small(ground.home / "source", documents), random.Random(11)
        await _sync(ground, folder)
        for _ in range(2):
            workers.start()
        false_alarms = untold = 0
        for number in range(rounds):
            await _until_half_ready(ground, documents)
            for row in await ground.rows("SELECT document_id FROM rag_documents WHERE status = 'READY' LIMIT 2"):
                await ground.container.delete.run(ground.workspace, row["document_id"])
            corpus.small(folder, documents // 2, first=draw.randrange(documents // 2), edition=f"round {number}")
            await _sync(ground, folder)
            draw.choice(workers.living).kill()
            workers.start()
            looks = [await ground.container.verify.run(ground.workspace) for _ in range(LOOKS)]
            await ground.until_idle()
            quiet = await ground.container.verify.run(ground.workspace)
            false_alarms += sum(one.has_errors and not quiet.has_errors for one in looks)
            untold += sum(_found(one) != _found(quiet) and not one.settling for one in looks)
    return [
        exactly(f"verify in {rounds} rounds of faults: errors that are none later", false_alarms, 0),
        exactly(f"verify in {rounds} rounds of faults: looks that change without saying so", untold, 0),
    ]


def _found(report: VerificationReport) -> set[tuple[str, str]]:
    return {(one.kind, one.subject) for one in report.findings}


async def _sync(ground: Ground, folder: Path) -> None:
    """A synchronisation that met the publish of a document it changes is told to try again."""
    while True:
        try:
            await ground.sync(folder)
        except Retryable:
            continue
        return


async def _until_half_ready(ground: Ground, documents: int) -> None:
    async def there() -> bool:
        return await ground.ready() >= documents // 2

    await until(there, "half of the documents are READY")
