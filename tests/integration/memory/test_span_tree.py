"""Spans of one trace: whose child each is, and of which run or job."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.compute import InlineCompute
from tests.memory_store.documents.blobs import MemoryBlobStore
from tests.memory_store.jobs.job_board import MemoryJobBoard
from tests.memory_store.jobs.queue import MemoryJobQueue
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.provider_stub import ProviderStub
from tests.unit.answering.test_answers_by_model import QUESTION, Desk
from tests.unit.worker.test_runner import WORKER

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.adapters.telemetry.facade import ProcessTelemetry, TelemetryOptions
from agentic_rag.adapters.telemetry.tracing import OtlpTracer
from agentic_rag.answering.state_machine import Stage
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ingest import IngestDocument
from agentic_rag.ingestion.ingest_run import IngestStage
from agentic_rag.ingestion.sync import SyncSource
from agentic_rag.jobs.job import JobKind, QueueName, RetryPolicy
from agentic_rag.kernel.errors import NotFound
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.retrieval.arms.table import ARMS
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_worker.exclusive_lock import ExclusiveLock
from agentic_rag_worker.heartbeat import Heartbeat
from agentic_rag_worker.job_handlers import Handler
from agentic_rag_worker.runner import JobRunner, RunOutcome
from agentic_rag_worker.timings import WorkerTimings


class Exported:
    """The telemetry of a process with a collector, and what it exports."""

    def __init__(self) -> None:
        self.telemetry = ProcessTelemetry(TelemetryOptions(otlp_endpoint="http://127.0.0.1:1"))
        tracer = self.telemetry._tracer
        assert isinstance(tracer, OtlpTracer)
        self._memory = InMemorySpanExporter()
        tracer._provider._active_span_processor._span_processors = (SimpleSpanProcessor(self._memory),)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._memory.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span


def ids_of(span: ReadableSpan) -> tuple[int, int]:
    assert span.context is not None
    return span.context.trace_id, span.context.span_id


def parent_of(span: ReadableSpan) -> tuple[int, int] | None:
    return None if span.parent is None else (span.parent.trace_id, span.parent.span_id)


def attribute(span: ReadableSpan, name: str) -> object:
    return (span.attributes or {}).get(name)


@pytest.fixture
def exported() -> Iterator[Exported]:
    made = Exported()
    yield made
    made.telemetry.shutdown()


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub() as running:
        yield running


async def test_the_stages_of_an_ingestion_are_children_of_its_job_and_the_job_of_who_asked_for_it(
    exported: Exported, tmp_path: Path
) -> None:
    (tmp_path / "pump.md").write_text("# Pump\n\nThe pump lifts water from the well.")
    store, telemetry = MemoryStore(SystemClock()), exported.telemetry
    database, board, queue = (
        MemoryDatabase(store, MemoryAnswerCache(store.clock)),
        MemoryJobBoard(store),
        MemoryJobQueue(),
    )
    blobs, parser, workspace = MemoryBlobStore(), ProcessParser(), WorkspaceRef(uuid4(), uuid4())
    embedders = only(DeterministicEmbedder())
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
    ingest = IngestDocument(
        database, blobs, parser, embedders, TextAnalysis(estimate_tokens, InlineCompute()),
        GroupCommitPublisher(database), telemetry, "small",
    )  # fmt: skip
    runner = JobRunner(
        database, queue, {JobKind.INGEST: Handler(ingest.run, 60.0, 60.0, ingest.record_failure)}, RetryPolicy(3, 10),
        Heartbeat(lambda: database, store.clock, telemetry, timedelta(seconds=30), WORKER), ExclusiveLock(),
        store.clock, RandomIds(), telemetry, WORKER, WorkerTimings(),
    )  # fmt: skip

    with telemetry.span("http.request"):
        sync = SyncSource(
            database, blobs, OriginalKeys(store.clock, RandomIds()), parser, telemetry, "small", embedders
        )
        await sync.run(workspace, DirectorySource(tmp_path), "tester")
    await queue.offer(QueueName.BULK, await board.due(QueueName.BULK, 10))
    ref = queue.take(QueueName.BULK)
    assert ref is not None
    outcome = await runner.run(ref)
    await parser.aclose()

    job, asked = exported.one("job ingest"), exported.one("http.request")
    stages = [exported.one(f"rag.{stage.value}") for stage in IngestStage]
    assert outcome is RunOutcome.DONE
    assert parent_of(job) == ids_of(asked)
    assert {parent_of(stage) for stage in stages} == {ids_of(job)}
    assert {attribute(span, "rag.job.id") for span in (job, *stages)} == {str(ref.job_id)}


async def test_arms_and_calls_of_a_model_are_inside_the_stages_of_their_run_and_carry_its_id(
    exported: Exported, stub: ProviderStub
) -> None:
    desk = Desk(stub, telemetry=exported.telemetry)
    run = await desk.ask()
    await desk.aclose()

    root = exported.one("rag.run")
    stages = [exported.one(f"rag.{one.stage}") for one in run.stages]
    within = {ids_of(span): span.name for span in exported.spans}
    arms, calls = exported.named("rag.arm"), exported.named("rag.chat")
    assert {parent_of(stage) for stage in stages} == {ids_of(root)}
    assert {within[parent_of(arm) or (0, 0)] for arm in arms} == {f"rag.{Stage.RETRIEVE.value}"}
    assert len(arms) == len(ARMS)
    stage_of = {attribute(call, "rag.chat.task"): within[parent_of(call) or (0, 0)] for call in calls}
    assert stage_of == {"synthesize": "rag.synthesize", "judge": "rag.self_check"}
    assert {attribute(span, "rag.run.id") for span in exported.spans} == {str(run.run_id)}


async def test_the_span_of_a_run_that_fails_carries_its_id(exported: Exported, stub: ProviderStub) -> None:
    desk = Desk(stub, telemetry=exported.telemetry)
    with pytest.raises(NotFound):
        await desk.ask(QUESTION, after=uuid4())
    await desk.aclose()

    assert attribute(exported.one("rag.run"), "rag.run.id")
