"""`make bench`: the speed table, as ratios to floors measured in the same run. `--short` uses 2,000 chunks."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

import uvloop
from tests.bench import reports
from tests.bench.corpus import BenchCorpus, load_corpus
from tests.bench.measures import FULL, SHORT, TABLE, Scale, opened_world
from tests.bench.product import Servers
from tests.bench.reports import Row

from agentic_rag.embedded.stack import EmbeddedStack


async def measure(servers: Servers, corpus: BenchCorpus, scale: Scale) -> list[Row]:
    async with opened_world(servers, corpus, scale) as world:
        return [row for rows in TABLE.values() for row in await rows(world)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="2,000 chunks instead of 20,000")
    short = parser.parse_args().short
    corpus = load_corpus(2_000 if short else 20_000)
    # As root the embedded servers run as another user, who must be able to enter the folder.
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="rag-bench-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        with EmbeddedStack(home / "state") as stack:
            servers = Servers(stack.database_url, stack.redis_url, str(home / "state"))
            # The event loop that the server runs on, for the reference as well.
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                rows = runner.run(measure(servers, corpus, SHORT if short else FULL))
    # What `make test` asserts counts things; milliseconds are judged by the full run, on a quiet machine.
    judged = reports.counted_only(rows) if short else rows
    return reports.publish_report(
        "bench-short" if short else "bench", judged, [f"corpus: {corpus.origin}, {len(corpus.chunks)} chunks"]
    )


if __name__ == "__main__":
    sys.exit(main())
