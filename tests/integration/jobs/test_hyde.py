"""HyDE through the interactive queue: a worker writes the passage that an answer waits for, or the answer goes on."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.integration.jobs.data_plane import DataPlane, until
from tests.provider_stub import Fault as StubFault
from tests.provider_stub import ProviderStub, form_of

from agentic_rag.adapters.openai.chat import OpenAIChatModel
from agentic_rag.adapters.openai.client import open_client
from agentic_rag.adapters.redis.passages import RedisPassageExchange
from agentic_rag.answering.hyde.queued_passages import QueuedPassages
from agentic_rag.answering.hyde.write_passage import WritePassage
from agentic_rag.jobs.job import JobKind, JobState, Lease, QueueName
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.clock import Deadline
from agentic_rag.models.chat.request import CHAT_SHARE, ChatTask, LlmError, LlmResult
from agentic_rag.models.providers.llm_client import LlmClient
from agentic_rag_worker.job_handlers import Handler

pytestmark = [pytest.mark.integration, pytest.mark.network]

PASSAGE = "The harbour is dredged every spring."


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub() as running:
        running.scribe = lambda _: json.dumps({"passage": PASSAGE})
        yield running


@pytest.fixture
async def exchange(plane: DataPlane) -> AsyncIterator[RedisPassageExchange]:
    made = RedisPassageExchange(plane.redis_url)
    yield made
    await made.aclose()


@pytest.fixture
async def advisor(plane: DataPlane, stub: ProviderStub) -> AsyncIterator[LlmClient]:
    model = OpenAIChatModel(open_client(stub.base_url, stub.key, 5.0), "stub-chat")
    yield LlmClient(model, plane.clock, plane.ids, plane.telemetry)
    await model.aclose()


@pytest.fixture
def passages(plane: DataPlane, exchange: RedisPassageExchange) -> QueuedPassages:
    return QueuedPassages(plane.database, plane.queue, exchange, plane.clock, plane.ids, plane.telemetry)


def within(plane: DataPlane, seconds: float) -> Deadline:
    """A budget whose share for HyDE is `seconds`."""
    return Deadline(plane.clock.monotonic() + seconds / CHAT_SHARE[ChatTask.HYDE])


def serve(plane: DataPlane, exchange: RedisPassageExchange, advisor: LlmClient | None) -> None:
    write = WritePassage(exchange, advisor)

    async def run(lease: Lease, progress: JobProgress) -> None:
        await write.run(lease.job.workspace, lease.job.key)

    plane.more_handlers[JobKind.HYDE] = Handler(run, 60.0, 60.0)


async def test_a_worker_writes_the_passage_that_an_answer_waits_for(
    plane: DataPlane, stub: ProviderStub, exchange: RedisPassageExchange, advisor: LlmClient, passages: QueuedPassages
) -> None:
    serve(plane, exchange, advisor)
    async with plane.worker():
        written = await passages.write(plane.workspace, "When is the harbour dredged?", within(plane, 20))
        await plane.until_idle()

    assert written == LlmResult(PASSAGE)
    assert [form_of(request) for request in stub.received] == ["hypothetical_passage"]
    [job] = await plane.jobs(JobKind.HYDE)
    assert (job.state, job.queue, job.arguments) == (JobState.DONE, QueueName.INTERACTIVE, {})


async def test_without_a_worker_the_answer_goes_on_when_its_share_of_the_time_is_over(
    plane: DataPlane, passages: QueuedPassages
) -> None:
    began = plane.clock.monotonic()

    written = await passages.write(plane.workspace, "When?", within(plane, 0.6))

    assert written == LlmError("HYDE_LATE")
    assert plane.clock.monotonic() - began < 1.5


async def test_a_job_that_nobody_waits_for_any_more_costs_no_call(
    plane: DataPlane, stub: ProviderStub, exchange: RedisPassageExchange, advisor: LlmClient, passages: QueuedPassages
) -> None:
    serve(plane, exchange, advisor)
    await passages.write(plane.workspace, "When?", within(plane, 0.3))

    async with plane.worker():
        await plane.until_idle()

    assert stub.received == []
    assert [job.state for job in await plane.jobs(JobKind.HYDE)] == [JobState.DONE]


@pytest.mark.tells("rag_chat_failed", "job_id")
async def test_a_fault_of_the_model_reaches_the_answer_and_is_no_dead_letter(
    plane: DataPlane, stub: ProviderStub, exchange: RedisPassageExchange, advisor: LlmClient, passages: QueuedPassages
) -> None:
    serve(plane, exchange, advisor)
    stub.script.append(StubFault(status=500))
    async with plane.worker():
        written = await passages.write(plane.workspace, "When?", within(plane, 20))
        await plane.until_idle()

    assert written == LlmError("PROVIDER_UNAVAILABLE")
    assert [job.state for job in await plane.jobs(JobKind.HYDE)] == [JobState.DONE]


async def test_a_worker_without_a_model_says_so_at_once(
    plane: DataPlane, exchange: RedisPassageExchange, passages: QueuedPassages
) -> None:
    serve(plane, exchange, None)
    async with plane.worker():
        assert await passages.write(plane.workspace, "When?", within(plane, 20)) == LlmError("CHAT_MODEL_MISSING")


async def test_answers_that_wait_at_once_get_each_their_own(
    plane: DataPlane, stub: ProviderStub, exchange: RedisPassageExchange, advisor: LlmClient, passages: QueuedPassages
) -> None:
    serve(plane, exchange, advisor)
    stub.scribe = lambda request: json.dumps({"passage": request.body["messages"][1]["content"]})
    questions = [f"What is number {number}?" for number in range(4)]
    async with plane.worker():
        written = await asyncio.gather(
            *(passages.write(plane.workspace, question, within(plane, 20)) for question in questions)
        )

    for question, passage in zip(questions, written, strict=True):
        assert isinstance(passage, LlmResult)
        assert question in passage.value


async def test_nothing_of_an_exchange_stays_in_redis(
    plane: DataPlane, exchange: RedisPassageExchange, passages: QueuedPassages
) -> None:
    await exchange.ask("k", "When?", 0.2)
    await exchange.give("k", LlmResult(PASSAGE), 0.2)

    async def gone() -> bool:
        pool = plane.arq_pool()
        try:
            return await pool.keys("*:hyde:*") == []
        finally:
            await pool.aclose(close_connection_pool=True)

    await until(gone, "the question and the passage are gone")
    assert await exchange.pending_request("k") is None


async def test_retention_drops_finished_jobs(
    plane: DataPlane, exchange: RedisPassageExchange, passages: QueuedPassages
) -> None:
    serve(plane, exchange, None)
    async with plane.worker():
        await passages.write(plane.workspace, "When?", within(plane, 20))
        await plane.until_idle()
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("UPDATE rag_jobs SET updated_at = now() - interval '2 hours'")

    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await transaction.workspaces.apply_retention(plane.workspace)

    assert await plane.jobs(JobKind.HYDE) == ()
