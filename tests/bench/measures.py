"""The rows of `make bench`, by group: each group is measured over a world that holds the corpus."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.bench import http_load, local_model, processes, product
from tests.bench.corpus import BenchCorpus, KnownItem
from tests.bench.determinism import distinct_answers
from tests.bench.floor3 import Floor3, rate
from tests.bench.product import Servers
from tests.bench.reference import Reference, p50, raw_floor
from tests.bench.reports import Row, at_least, at_most, exactly

from agentic_rag.bootstrap import Container
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
REPLAYED = 100
"""Questions whose recorded replies are the floor of answers over HTTP."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    asked: int
    requests: int
    """Of several clients at once."""
    processes: int
    """That answer the same questions."""
    publishes: int
    texts: int
    """Embedded by the local model, in so many rounds."""
    rounds: int


FULL = Scale(300, 2000, 10, 200, 512, 3)
SHORT = Scale(30, 48, 2, 10, 8, 1)


@dataclass(frozen=True, slots=True)
class World:
    """The product over its servers, with the corpus in one workspace."""

    servers: Servers
    container: Container
    corpus: BenchCorpus
    scale: Scale
    workspace: WorkspaceRef
    vectors: NDArray[np.float32]
    asked: NDArray[np.float32]
    """The vectors of `questions`."""
    ingested: float
    """Chunks a second at which the corpus came in."""
    floor: float
    """The same of the raw floor."""

    @property
    def questions(self) -> Sequence[KnownItem]:
        return self.corpus.questions[: self.scale.asked]

    @property
    def words(self) -> Sequence[str]:
        return [item.question for item in self.questions]

    @property
    def warming(self) -> Sequence[str]:
        """Other questions than those measured, where there are some: a running server is warm, and does not know
        them.
        """
        others = [item.question for item in self.corpus.questions[self.scale.asked :]]
        return others[: min(REPLAYED, self.scale.asked)] or self.words

    def body(self, question: str, **options: Any) -> bytes:
        workspace = encode_workspace(self.workspace.workspace_id)
        return http_load.body_of(QUERY, {"input": {"workspaceId": workspace, "question": question, "options": options}})


@asynccontextmanager
async def opened_world(servers: Servers, corpus: BenchCorpus, scale: Scale) -> AsyncIterator[World]:
    """Ingests the corpus, by the product and by the raw floor."""
    async with product.product(servers) as container:
        chunks = corpus.chunks
        vectors = np.concatenate(
            [
                await container.embedder.embed([chunk.text for chunk in chunks[start : start + 256]])
                for start in range(0, len(chunks), 256)
            ]
        )
        asked = await container.embedder.embed([item.question for item in corpus.questions[: scale.asked]])
        floor = await raw_floor(servers.database_url, chunks, vectors)
        workspace = await product.create_workspace(container, f"bench-{container.ids.new()}")
        ingested = await product.ingest_rate(container, workspace, chunks)
        await product.settle(servers.database_url)
        yield World(servers, container, corpus, scale, workspace, vectors, asked, ingested, floor)


async def ingestion(world: World) -> list[Row]:
    """Prepared chunks through the use case, against COPY into one indexed table."""
    _tell(f"raw floor {world.floor:.0f} chunks/s, ours {world.ingested:.0f}")
    return [at_least("ingest of prepared chunks over the indexed raw floor", world.ingested / world.floor, 2)]


async def retrieval(world: World) -> list[Row]:
    """In turn, so that a machine that slows down slows both; the first round warms caches on both sides."""
    container, workspace, chunks = world.container, world.workspace, world.corpus.chunks
    reference = await Reference.load(world.servers.database_url, chunks, world.vectors)
    await p50(reference.retrieve, world.words[:20], world.asked[:20])
    await product.retrieval(container, workspace, chunks, world.questions[:20])
    before = await p50(reference.retrieve, world.words, world.asked)
    found = await product.retrieval(container, workspace, chunks, world.questions)
    floor = (before + await p50(reference.retrieve, world.words, world.asked)) / 2
    graph = await product.graph_cost(container, workspace, world.words, world.asked)
    await reference.close()
    _tell(
        f"reference retrieval p50 {1000 * floor:.2f} ms, ours by default {1000 * graph.on:.2f} ms, without the graph "
        f"{1000 * graph.off:.2f} ms"
    )
    return [
        # The reference has no graph; what the graph costs is a row of its own, and the default path has both.
        at_most("retrieval p50 without the graph over the reference", graph.off / floor, 1.5),
        at_most("retrieval p50 with the graph over without it", graph.on / graph.off, 3),
        at_most("retrieval p50 by default over the reference", graph.on / floor, 4.5),
        at_least("known-item hit@10", found.hit_at_10, 0.90, "", timed=False),
    ]


async def pace(world: World) -> list[Row]:
    """Retrieval beside floor3, a question at a time and of many clients at once, all in this process; statements."""
    floor = await Floor3.load(world.servers.database_url, world.corpus.chunks, world.vectors, CLIENTS)
    container, workspace, words, vectors = world.container, world.workspace, world.words, world.asked
    await p50(floor.retrieve, words[:20], vectors[:20])
    await product.graph_cost(container, workspace, words[:20], vectors[:20])
    before = await p50(floor.retrieve, words, vectors)
    graph = await product.graph_cost(container, workspace, words, vectors)
    one = (before + await p50(floor.retrieve, words, vectors)) / 2
    asked = world.scale.requests
    floor_rate = await rate(floor.retrieve, words, vectors, CLIENTS, asked)
    ours = partial(product.retrieve_one, container, workspace)
    rate_of_ours = await rate(ours, words, vectors, CLIENTS, min(asked, 2 * len(words)))
    await floor.close()
    waited = await product.statements_of_answers(container, workspace, words[:10])
    _tell(
        f"floor3 retrieval p50 {1000 * one:.2f} ms, {floor_rate:.0f}/s; ours by default {1000 * graph.on:.2f} ms, "
        f"{rate_of_ours:.0f}/s, without the graph {1000 * graph.off:.2f} ms; statements of answers {sorted(waited)}"
    )
    return [
        at_most("retrieval p50 without the graph over floor3", graph.off / one, 1.0),
        at_most("retrieval p50 by default over floor3", graph.on / one, 2.5),
        at_least(f"retrieval at {CLIENTS} clients over floor3's, questions/s", rate_of_ours / floor_rate, 0.35),
        at_most("statements of an uncached answer", median(waited), 4, "", timed=False),
    ]


async def answers(world: World) -> list[Row]:
    """Answers over HTTP, against their own recorded replies given again by a bare application."""
    with processes.server(world.servers, processes.PRODUCT) as port:
        ours = http_load.Endpoint(port, product.TOKEN)
        await http_load.sequential(ours, [world.body(one, cache="BYPASS") for one in world.warming])
        taken, retrieved, replies = await _uncached(world, ours)
        words = world.words[:REPLAYED]
        bodies = [world.body(one) for one in words]
        await http_load.sequential(ours, bodies)
        recorded = (await http_load.sequential(ours, bodies))[1]
        file = Path(world.servers.home) / "replies.json"
        file.write_text(json.dumps(dict(zip(words, recorded, strict=True))), "utf-8")
        with processes.server(world.servers, processes.REPLAY, str(file)) as floor_port:
            floor = http_load.Endpoint(floor_port, product.TOKEN)
            if (await http_load.sequential(floor, bodies))[1] != recorded:
                raise RuntimeError("the bare application does not give the recorded replies")
            turns = [[(await http_load.sequential(it, bodies))[0] for it in (floor, ours)] for _ in range(3)]
            canned, cached = (median(chain.from_iterable(times)) for times in zip(*turns, strict=True))
            canned_rate = await http_load.throughput(floor, bodies, CLIENTS, world.scale.requests)
            cached_rate = await http_load.throughput(ours, bodies, CLIENTS, world.scale.requests)
    beyond = median(whole - part for whole, part in zip(taken, retrieved, strict=True))
    checked, wrong = await product.unverified_citations(world.servers.database_url, world.workspace, replies)
    _tell(
        f"replayed p50 {1000 * canned:.2f} ms, {canned_rate:.0f}/s; cached {1000 * cached:.2f} ms, "
        f"{cached_rate:.0f}/s; uncached {1000 * median(taken):.2f} ms, of it beyond retrieval {1000 * beyond:.2f} ms"
    )
    return [
        at_most("ragAnswer over HTTP, uncached, minus retrieval alone, over replayed p50", beyond / canned, 3),
        at_most("cached answer over replayed, p50", cached / canned, 2),
        at_least(f"cached answer over replayed, requests/s at {CLIENTS} clients", cached_rate / canned_rate, 0.5),
        exactly(f"citations whose span is not the stored text, of {checked}", wrong, 0),
        Row("citations checked", str(checked), "≥ 1", checked >= 1),
    ]


async def _uncached(world: World, ours: http_load.Endpoint) -> tuple[list[float], list[float], list[dict[str, Any]]]:
    """Seconds of each answer and of its retrieval alone, right after it, so that both meet the same machine; replies.

    An answer's own stage of that name does more than retrieve: passages are read for the draft meanwhile.
    """
    taken, retrieved, replies = list[float](), list[float](), list[dict[str, Any]]()
    for item in world.questions:
        [seconds], [reply] = await http_load.sequential(ours, [world.body(item.question, cache="BYPASS")])
        found = await product.retrieval(world.container, world.workspace, world.corpus.chunks, [item])
        taken.append(seconds)
        retrieved += found.seconds
        replies.append(reply)
    return taken, retrieved, replies


async def start(world: World) -> list[Row]:
    """A server process from nothing."""
    body = world.body(world.words[0], cache="BYPASS")
    seconds, idle = await asyncio.to_thread(processes.start_to_first_answer, world.servers, body)
    return [
        at_most("API process, start to first answer", seconds, 2, " s"),
        at_most("API process, resident when idle", idle, 130, " MB"),
    ]


async def determinism(world: World) -> list[Row]:
    """The same questions to several processes."""
    several = world.scale.processes
    found = await asyncio.to_thread(distinct_answers, world.servers, world.workspace, world.words[:5], several)
    return [exactly(f"distinct answers of {several} processes to one question", found, 1)]


async def publishing(world: World) -> list[Row]:
    """Readers while a document is published again and again."""
    reads, mixed, half = await product.publishing_readers(world.container, world.scale.publishes)
    return [
        exactly(f"readers during publishes: mixed versions in {reads} reads", mixed, 0),
        exactly(f"readers during publishes: half documents in {reads} reads", half, 0),
    ]


async def local(world: World) -> list[Row]:
    """The local model, where there is one."""
    texts = [chunk.text for chunk in world.corpus.chunks[: world.scale.texts]]
    return await asyncio.to_thread(local_model.rows, texts, world.scale.rounds)


TABLE: Mapping[str, Callable[[World], Awaitable[list[Row]]]] = {
    "local": local,
    "retrieval": retrieval,
    "pace": pace,
    "answers": answers,
    "start": start,
    "determinism": determinism,
    "ingestion": ingestion,
    "publishing": publishing,
}


def _tell(line: str) -> None:
    print(f"  {line}", file=sys.stderr)
