"""`make operate`: what an operator relies on. Prints one table, writes build/reports/operate.json, ends with 5 when a
row is missed. `--short` uses 1,000 chunks.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag_migrations.upgrade import upgrade
from tests.bench.corpus import load_corpus
from tests.bench.product import Servers
from tests.bench.reports import publish_report
from tests.operate.drill import Drill, drill
from tests.operate.table import TABLE
from tests.stack import database_at, execute

ANSWERS = 500


async def run(stack: EmbeddedStack, folder: Path, chunks: int, questions: int) -> Drill:
    """A drill between two databases of one server."""
    places: list[Servers] = []
    for name in ("before", "after"):
        await execute(stack.database_url, f"CREATE DATABASE {name}")
        url = database_at(stack.database_url, name)
        await upgrade(url)
        (folder / name).mkdir()
        places.append(Servers(url, stack.redis_url, str(folder / name)))
    return await drill(places[0], places[1], load_corpus(chunks), questions)


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.operate", description=__doc__)
    parser.add_argument("--short", action="store_true", help="1,000 chunks and 20 answers")
    is_short = parser.parse_args().short
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="rag-operate-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedStack(folder / "state") as stack:
            found = asyncio.run(run(stack, folder, 1_000 if is_short else 20_000, 20 if is_short else ANSWERS))
    return publish_report("operate-short" if is_short else "operate", [row(found) for row in TABLE.values()])


if __name__ == "__main__":
    sys.exit(main())
