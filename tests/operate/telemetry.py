"""What telemetry costs: two servers on the same stores, one of which exports everything to a collector, are asked the
same questions in turn. The operating system counts the processor time of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from statistics import median

import httpx2

from tests.bench.corpus import BenchCorpus
from tests.bench.product import TOKEN, Servers, as_documents, create_workspace, product
from tests.operate.rolling import bodies_of
from tests.operate.servers import ServerProcess, running
from tests.otlp_receiver import OtlpReceiver, receiving_otlp
from tests.waiting import eventually

WARM_ANSWERS = 40
"""Of each server before the first round: models, statements and caches are loaded."""


@dataclass(frozen=True, slots=True)
class TelemetryCost:
    """What came of it."""

    answers: int
    """Of each server, in the measured rounds."""
    share: float
    """Median over rounds of the exporting server's processor time beyond the other's, as a part of the other's."""
    milliseconds: float
    """Processor time of an answer without an exporter."""
    spans: int
    records: int
    is_whole: bool
    """Spans, metrics and log records came, and as many runs as there were questions."""


async def telemetry_cost(servers: Servers, corpus: BenchCorpus, rounds: int, answers: int) -> TelemetryCost:
    """In each round both servers give so many answers, in turn: whatever else the machine does, it does to both."""
    async with product(servers) as system:
        workspace = await create_workspace(system, "telemetry")
        await system.ingest_chunks.run(workspace, as_documents(corpus.chunks), "telemetry")
    bodies = cycle(bodies_of(workspace, corpus))
    with receiving_otlp() as collector:
        exporting = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint}
        with (
            running(servers, 1, AGENTIC_RAG_LOG_LEVEL="info") as (plain,),
            running(servers, 1, AGENTIC_RAG_LOG_LEVEL="info", **exporting) as (other,),
        ):
            pair = _Pair(plain, other, collector)
            await pair.ask(islice(bodies, WARM_ANSWERS))
            seconds = [await pair.ask(islice(bodies, answers)) for _ in range(rounds)]
            other.stop()
    return TelemetryCost(
        answers=rounds * answers,
        share=median(of_other / of_plain for of_plain, of_other in seconds) - 1.0,
        milliseconds=1000.0 * sum(of_plain for of_plain, _ in seconds) / (rounds * answers),
        spans=len(collector.spans),
        records=len(collector.records),
        is_whole=_runs(collector) == pair.answered and bool(collector.metrics) and bool(collector.records),
    )


@dataclass
class _Pair:
    """Two servers that are asked the same."""

    plain: ServerProcess
    other: ServerProcess
    """It exports to `collector`."""
    collector: OtlpReceiver
    answered: int = 0
    """By each server."""

    async def ask(self, bodies: Iterable[Mapping[str, object]]) -> tuple[float, float]:
        """Ask both, one question after the other, until the collector has the last run. Processor seconds of the plain
        server and of the other: what exports later than its answer counts too.
        """
        before = self.plain.processor_seconds(), self.other.processor_seconds()
        async with AsyncExitStack() as clients:
            made = [await clients.enter_async_context(_client(one)) for one in (self.plain, self.other)]
            for body in bodies:
                self.answered += 1
                for client in made if self.answered % 2 else reversed(made):
                    reply = await client.post("/graphql", json=body)
                    assert not reply.json()["data"]["ragAnswer"]["userErrors"], reply.text
        await eventually(self._has_all, "the collector has every run", 60.0)
        return self.plain.processor_seconds() - before[0], self.other.processor_seconds() - before[1]

    async def _has_all(self) -> bool:
        return _runs(self.collector) >= self.answered


def _client(server: ServerProcess) -> httpx2.AsyncClient:
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx2.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=60, trust_env=False)


def _runs(collector: OtlpReceiver) -> int:
    return sum(span.name == "rag.run" for span in collector.spans)
