"""`make bench`: the speed table, as ratios to floors measured in the same run. `--short` uses 2,000 chunks."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import uvloop
from tests.bench import http_load, local_model, processes, product, reports
from tests.bench.corpus import BenchCorpus, load_corpus
from tests.bench.determinism import distinct_answers
from tests.bench.product import Servers
from tests.bench.reference import Reference, raw_floor
from tests.bench.reports import Row, at_least, at_most, exactly

from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.tenancy.principals import WorkspaceRef

QUERY = """
mutation Ask($input: RagAnswerInput!) {
  ragAnswer(input: $input) {
    answer outcome
    citations {
      marker chunkId title sourcePath snippet sourceSpan { start end } page lineStart lineEnd score verified
    }
    userErrors { code message }
    debug { timings { stage seconds } }
  }
}
"""
CLIENTS = 16


async def measure(servers: Servers, corpus: BenchCorpus, *, short: bool) -> list[Row]:
    asked_count = 60 if short else 300
    questions = corpus.questions[:asked_count]
    spare = [item.question for item in corpus.questions[asked_count:]] or [item.question for item in questions]
    load = Load(spare[:20], 200, 3) if short else Load(spare, 2000, 10)
    async with product.product(servers) as container:
        vectors = np.concatenate(
            [
                await container.embedder.embed([chunk.text for chunk in corpus.chunks[start : start + 256]])
                for start in range(0, len(corpus.chunks), 256)
            ]
        )
        asked = await container.embedder.embed([item.question for item in questions])
        floor = await raw_floor(servers.database_url, corpus.chunks, vectors)
        workspace = await product.create_workspace(container, "bench")
        ingest = await product.ingest_rate(container, workspace, corpus.chunks)
        await product.settle(servers.database_url)
        reference = await Reference.load(servers.database_url, corpus.chunks, vectors)
        words = [item.question for item in questions]
        # In turn, so that a machine that slows down slows both; the first round warms caches on both sides.
        await reference.p50(words[:20], asked[:20])
        await product.retrieval(container, workspace, corpus.chunks, questions[:20])
        before = await reference.p50(words, asked)
        found = await product.retrieval(container, workspace, corpus.chunks, questions)
        floor_retrieval = (before + await reference.p50(words, asked)) / 2
        graph = await product.graph_cost(container, workspace, words, asked)
        await reference.close()
        rows = [
            # The reference has no graph; what the graph costs is a row of its own.
            at_most("retrieval p50 without the graph over the reference", graph.off / floor_retrieval, 1.5),
            at_most("retrieval p50 with the graph over without it", graph.on / graph.off, 3),
            *await over_http(servers, workspace, words, load),
            at_least("ingest of prepared chunks over the indexed raw floor", ingest / floor, 2),
            at_least("known-item hit@10", found.hit_at_10, 0.90, "", timed=False),
        ]
        reads, mixed, half = await product.publishing_readers(container, 20 if short else 200)
        rows.append(exactly(f"readers during publishes: mixed versions in {reads} reads", mixed, 0))
        rows.append(exactly(f"readers during publishes: half documents in {reads} reads", half, 0))
    print(
        f"  reference retrieval p50 {1000 * floor_retrieval:.2f} ms, ours {1000 * graph.off:.2f} ms, with the graph "
        f"{1000 * graph.on:.2f} ms; "
        f"raw floor {floor:.0f} chunks/s, ours {ingest:.0f}",
        file=sys.stderr,
    )
    return rows


@dataclass(frozen=True, slots=True)
class Load:
    """How much is asked over HTTP."""

    warming: Sequence[str]
    """Other questions than those measured."""
    requests: int
    """Of several clients at once."""
    processes: int
    """That answer the same questions."""


async def over_http(servers: Servers, workspace: WorkspaceRef, words: Sequence[str], load: Load) -> list[Row]:
    def body(question: str, **options: Any) -> bytes:
        wanted = {"workspaceId": encode_workspace(workspace.workspace_id), "question": question, "options": options}
        return http_load.body_of(QUERY, {"input": wanted})

    with processes.server("canned", servers) as (port, _):
        canned_at = http_load.Endpoint(port, product.TOKEN)
        await http_load.sequential(canned_at, [body(question) for question in words])
        canned = median((await http_load.sequential(canned_at, [body(question) for question in words]))[0])
        canned_rate = await http_load.throughput(canned_at, body(words[0]), CLIENTS, load.requests)
    with processes.server("real", servers) as (port, _):
        real_at = http_load.Endpoint(port, product.TOKEN)
        # Other questions warm the process, as a running server is; those measured are new to it.
        await http_load.sequential(real_at, [body(question, cache="BYPASS") for question in load.warming])
        taken, replies = await http_load.sequential(real_at, [body(question, cache="BYPASS") for question in words])
        await http_load.sequential(real_at, [body(question) for question in words])
        cached = median((await http_load.sequential(real_at, [body(question) for question in words]))[0])
        cached_rate = await http_load.throughput(real_at, body(words[0]), CLIENTS, load.requests)
    beyond = median(seconds - retrieval_of(reply) for seconds, reply in zip(taken, replies, strict=True))
    seconds, idle = await asyncio.to_thread(processes.start_to_first_answer, servers, body(words[0], cache="BYPASS"))
    checked, wrong = await product.unverified_citations(servers.database_url, workspace, replies)
    answers = await asyncio.to_thread(distinct_answers, servers, workspace, words[:5], load.processes)
    print(
        f"  canned p50 {1000 * canned:.2f} ms, {canned_rate:.0f}/s; cached {1000 * cached:.2f} ms, "
        f"{cached_rate:.0f}/s; uncached {1000 * median(taken):.2f} ms, of it beyond retrieval "
        f"{1000 * beyond:.2f} ms",
        file=sys.stderr,
    )
    return [
        at_most("ragAnswer over HTTP, uncached, minus its own retrieval, over canned p50", beyond / canned, 3),
        at_most("cached answer over canned, p50", cached / canned, 2),
        at_least("cached answer over canned, requests/s at 16 clients", cached_rate / canned_rate, 0.5),
        at_most("API process, start to first answer", seconds, 2, " s"),
        at_most("API process, resident when idle", idle, 130, " MB"),
        exactly(f"citations whose span is not the stored text, of {checked}", wrong, 0),
        Row("citations checked", str(checked), "≥ 1", checked >= 1),
        exactly(f"distinct answers of {load.processes} processes to one question", answers, 1),
    ]


def retrieval_of(reply: dict[str, Any]) -> float:
    """Seconds that an answer spent embedding its question and retrieving."""
    timings = reply["ragAnswer"]["debug"]["timings"]
    return sum(one["seconds"] for one in timings if one["stage"] in ("embed", "retrieve"))


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
        texts = [chunk.text for chunk in corpus.chunks[: 16 if short else 512]]
        rows = local_model.rows(texts, rounds=1 if short else 3)
        with EmbeddedStack(home / "state") as stack:
            servers = Servers(stack.database_url, stack.redis_url, str(home / "state"))
            # The event loop that the server runs on, for the reference as well.
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                rows += runner.run(measure(servers, corpus, short=short))
    # What `make test` asserts counts things; milliseconds are judged by the full run, on a quiet machine.
    judged = reports.counted_only(rows) if short else rows
    return reports.publish_report(
        "bench-short" if short else "bench", judged, [f"corpus: {corpus.origin}, {len(corpus.chunks)} chunks"]
    )


if __name__ == "__main__":
    sys.exit(main())
