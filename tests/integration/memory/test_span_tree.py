"""Spans of one trace: whose child each is, and of which run or job."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
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
from agentic_rag.adapters.telemetry.tracing import LightTracer, RecordedSpan
from agentic_rag.answering.state_machine import Stage
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.ingestion import ingest as ingest_module
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ingest import IngestDocument
from agentic_rag.ingestion.ingest_run import IngestStage
from agentic_rag.ingestion.sync import SyncSource
from agentic_rag.jobs.job import JobKind, QueueName, RetryPolicy
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.stages import SKIPPED
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
        self.telemetry = ProcessTelemetry(TelemetryOptions())
        self.spans: list[RecordedSpan] = []
        self.telemetry._tracer = LightTracer(record=self.spans.append)

    def named(self, name: str) -> list[RecordedSpan]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> RecordedSpan:
        (span,) = self.named(name)
        return span


def ids_of(span: RecordedSpan) -> tuple[str, str]:
    return span.trace_id, span.span_id


def parent_of(span: RecordedSpan) -> tuple[str, str] | None:
    return (span.trace_id, span.parent_id) if span.parent_id else None


def attribute(span: RecordedSpan, name: str) -> object:
    return span.attributes.get(name)


@pytest.fixture
def exported() -> Exported:
    return Exported()


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub() as running:
        yield running


@pytest.mark.tells("rag_document_waited", "document_id", "job_id", "trace_id")
@pytest.mark.tells("rag_document_ingested", "document_id", "job_id", "trace_id")
@pytest.mark.tells("rag_stage_ended", "job_id", "trace_id")
async def test_the_stages_of_an_ingestion_are_children_of_its_job_and_the_job_of_who_asked_for_it(
    exported: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "WORTH_TELLING_SECONDS", 0.0)
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
    # No model extracts entities here: that stage is skipped.
    ran = [stage for stage in IngestStage if stage is not IngestStage.EXTRACT]
    stages = [exported.one(f"rag.{stage.value}") for stage in ran]
    assert exported.named(f"rag.{IngestStage.EXTRACT.value}") == []
    assert outcome is RunOutcome.DONE
    assert parent_of(job) == ids_of(asked)
    assert {parent_of(stage) for stage in stages} == {ids_of(job)}
    assert {attribute(span, "rag.job.id") for span in (job, *stages)} == {str(ref.job_id)}


@pytest.mark.tells("rag_stage_ended", "run_id", "trace_id")
@pytest.mark.tells("rag_run_ended", "run_id", "trace_id")
async def test_arms_and_calls_of_a_model_are_inside_the_stages_of_their_run_and_carry_its_id(
    exported: Exported, stub: ProviderStub
) -> None:
    desk = Desk(stub, telemetry=exported.telemetry)
    run = await desk.ask()
    await desk.aclose()

    root = exported.one("rag.run")
    ran = [one.stage for one in run.stages if not one.outcome.startswith(SKIPPED)]
    stages = [exported.one(f"rag.{stage}") for stage in ran]
    assert {span.name for span in exported.spans} >= {"rag.retrieve", "rag.synthesize", "rag.self_check"}
    within = {ids_of(span): span.name for span in exported.spans}
    arms, calls = exported.named("rag.arm"), exported.named("rag.chat")
    assert {parent_of(stage) for stage in stages} == {ids_of(root)}
    assert {within[parent_of(arm) or ("", "")] for arm in arms} == {f"rag.{Stage.RETRIEVE.value}"}
    assert len(arms) == len(ARMS)
    stage_of = {attribute(call, "rag.chat.task"): within[parent_of(call) or ("", "")] for call in calls}
    assert stage_of == {"synthesize": "rag.synthesize", "judge": "rag.self_check"}
    assert {attribute(span, "rag.run.id") for span in exported.spans} == {str(run.run_id)}


async def test_calls_of_a_model_say_what_the_conventions_ask_for_and_nothing_of_their_texts(
    exported: Exported, stub: ProviderStub
) -> None:
    desk = Desk(stub, telemetry=exported.telemetry)
    run = await desk.ask()
    await desk.aclose()

    calls = [span.attributes for span in exported.named("rag.chat")]
    models = {request.body["model"] for request in stub.received}
    assert {call["gen_ai.operation.name"] for call in calls} == {"chat"}
    assert {call["gen_ai.provider.name"] for call in calls} == {"openai"}
    assert (
        {call["gen_ai.request.model"] for call in calls} == {call["gen_ai.response.model"] for call in calls} == models
    )
    used = [(call["gen_ai.usage.input_tokens"], call["gen_ai.usage.output_tokens"]) for call in calls]
    assert sorted(used) == sorted((given, written) for _, given, written in stub.billed if written)
    told = " ".join(str(value) for span in exported.spans for value in span.attributes.values())
    assert QUESTION not in told
    assert run.answer.text not in told


async def test_the_span_of_a_run_that_fails_carries_its_id(exported: Exported, stub: ProviderStub) -> None:
    desk = Desk(stub, telemetry=exported.telemetry)
    with pytest.raises(NotFound):
        await desk.ask(QUESTION, after=uuid4())
    await desk.aclose()

    assert attribute(exported.one("rag.run"), "rag.run.id")
