"""`make operate`: what an operator relies on. Prints one table, writes build/reports/operate.json, ends with 5 when a
row is missed. `--short` takes smaller sizes; `--only` one part.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag_migrations import HEAD
from agentic_rag_migrations.upgrade import upgrade
from tests.bench.capacity import check
from tests.bench.corpus import load_corpus
from tests.bench.product import Servers
from tests.bench.reports import Row, publish_report
from tests.operate.drill import drill
from tests.operate.earlier import Meeting, Meetings, meet, programs
from tests.operate.replica import ask_a_lagging_replica
from tests.operate.rolling import roll
from tests.operate.table import CAPACITY, DRILL, EARLIER, REPLICA, ROLLING, TELEMETRY, UPGRADES
from tests.operate.telemetry import telemetry_cost
from tests.operate.upgrades import SAMPLE, upgrades
from tests.soak import table as soak_table
from tests.soak.soak import soak
from tests.stack import database_at, execute

SOAK_MINUTES = 30.0
SOAK_SEED = 24


@dataclass(frozen=True, slots=True)
class Ground:
    """Servers of this run, and whether sizes are small."""

    stack: EmbeddedStack
    folder: Path
    is_short: bool

    async def place(self, name: str, *, migrated: bool = True) -> Servers:
        """A database without rows, with a home."""
        await execute(self.stack.database_url, f"CREATE DATABASE {name}")
        url = database_at(self.stack.database_url, name)
        if migrated:
            await upgrade(url)
        (self.folder / name).mkdir()
        return Servers(url, self.stack.redis_url, str(self.folder / name))


async def restore(ground: Ground) -> list[Row]:
    """A drill between two databases of one server."""
    before, after = await ground.place("before"), await ground.place("after")
    chunks, questions = (1_000, 20) if ground.is_short else (20_000, 500)
    found = await drill(before, after, load_corpus(chunks), questions)
    return [row(found) for row in DRILL.values()]


async def replica(ground: Ground) -> list[Row]:
    """A primary and a streaming replica of their own."""
    folder = ground.folder / "lagging"
    folder.mkdir()
    found = await ask_a_lagging_replica(folder, 400 if ground.is_short else 20_000)
    return [row(found) for row in REPLICA.values()]


async def rolling(ground: Ground) -> list[Row]:
    """Two servers, restarted in turn under load."""
    found = await roll(await ground.place("rolling"), load_corpus(1_000), 1 if ground.is_short else 5)
    for what, times in found.failures.items():
        print(f"  failed {times} times: {what}")
    return [row(found) for row in ROLLING.values()]


async def upgraded(ground: Ground) -> list[Row]:
    """From every earlier schema."""
    chunks, questions = (1_000, 20) if ground.is_short else (20_000, 500)
    revisions = SAMPLE if ground.is_short else [f"{number:04}" for number in range(1, int(HEAD))]
    place = partial(ground.place, migrated=False)
    found = await upgrades(place, load_corpus(chunks), questions, revisions)
    return [row(found) for row in UPGRADES.values()]


async def earlier(ground: Ground) -> list[Row]:
    """Programs of the history that the newest schema serves, or three of them."""
    served = [one for one in programs() if one.is_served]
    chosen = [served[0], served[len(served) // 2], served[-1]] if ground.is_short else served
    met: list[Meeting] = []
    for program in chosen:
        servers = await ground.place(f"of_{program.schema}", migrated=False)
        met.append(await asyncio.to_thread(meet, program, servers, Path(servers.home)))
    return [row(Meetings(met)) for row in EARLIER.values()]


async def telemetry(ground: Ground) -> list[Row]:
    """A server that exports beside one that does not."""
    rounds, answers = (3, 40) if ground.is_short else (5, 200)
    found = await telemetry_cost(await ground.place("telemetry"), load_corpus(1_000), rounds, answers)
    return [row(found) for row in TELEMETRY.values()]


async def capacity(_: Ground) -> list[Row]:
    """From the measured points; nothing is measured."""
    told = check()[1]
    return [row(told) for row in CAPACITY.values()]


async def soaked(ground: Ground) -> list[Row]:
    """Servers of its own: faults stop them."""
    folder = ground.folder / "soaked"
    folder.mkdir()
    (folder / "home").mkdir()
    with EmbeddedStack(folder / "state") as stack:
        servers = Servers(stack.database_url, stack.redis_url, str(folder / "home"))
        found = await soak(stack, servers, 2.0 if ground.is_short else SOAK_MINUTES, SOAK_SEED)
    return [row(found) for row in soak_table.TABLE.values()]


PARTS: Mapping[str, Callable[[Ground], Coroutine[None, None, list[Row]]]] = {
    "capacity": capacity,
    "earlier": earlier,
    "replica": replica,
    "restore": restore,
    "rolling": rolling,
    "soak": soaked,
    "telemetry": telemetry,
    "upgrade": upgraded,
}


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.operate", description=__doc__)
    parser.add_argument("--short", action="store_true", help="1,000 chunks, few questions and rounds")
    parser.add_argument("--only", choices=PARTS, help="one part")
    options = parser.parse_args()
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="rag-operate-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedStack(folder / "state") as stack:
            ground = Ground(stack, folder, options.short)
            parts = [options.only] if options.only else list(PARTS)
            rows = [row for part in parts for row in asyncio.run(PARTS[part](ground))]
    return publish_report("operate-short" if options.short else "operate", rows)


if __name__ == "__main__":
    sys.exit(main())
