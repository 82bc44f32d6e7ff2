"""What Neo4j's heap changes: `python -m tests.bench.heap` (docs/scaling.md). Prints figures, judges none.

Batches of nodes and edges like those of the graph's writer.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
import time
from pathlib import Path

from neo4j import AsyncGraphDatabase
from tests import neo4j_server
from tests.stack import open_home

HEAPS = ("256m", "512m", "1g")
BATCH = 2_000
BATCHES = 15

WRITE = """
UNWIND $rows AS row
MERGE (c:RagChunk {id: row.chunk})
MERGE (e:RagEntity {id: row.entity}) ON CREATE SET e.name = row.name
MERGE (c)-[m:MENTIONS]->(e) SET m.count = 1
"""


async def main() -> None:
    for heap in HEAPS:
        neo4j_server.HEAP = heap
        home = open_home("rag-heap-")
        server = neo4j_server.Neo4jServer(home)
        try:
            rate = await written(await asyncio.to_thread(server.start))
            resident = resident_megabytes(server.pid)
        finally:
            await asyncio.to_thread(server.stop)
        shutil.rmtree(home)
        sys.stdout.write(f"heap {heap:>4}: {rate:6.0f} rows/s, {resident:.0f} MB resident\n")
        sys.stdout.flush()


async def written(uri: str) -> float:
    """Rows a second; a row is a chunk, an entity and what joins them."""
    async with AsyncGraphDatabase.driver(uri) as driver:
        for label in ("RagChunk", "RagEntity"):
            await driver.execute_query(f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE")
        began = time.perf_counter()
        for batch in range(BATCHES):
            numbers = range(batch * BATCH, (batch + 1) * BATCH)
            rows = [
                {"chunk": number // 4, "entity": number % 9_973, "name": f"entity {number % 9_973}"}
                for number in numbers
            ]
            await driver.execute_query(WRITE, rows=rows)
        return BATCH * BATCHES / (time.perf_counter() - began)


def resident_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return 0.0 if found is None else int(found[1]) / 1024


if __name__ == "__main__":
    asyncio.run(main())
