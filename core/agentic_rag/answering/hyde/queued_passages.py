"""Hypothetical passages written by a worker: the answer waits a short time for a job on the interactive queue."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agentic_rag.answering.ports import PassageExchange
from agentic_rag.jobs.job import JobKind, NewJob, QueueName
from agentic_rag.jobs.ports import JobQueue
from agentic_rag.kernel.clock import Clock, Deadline
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.chat.request import CHAT_SHARE, MIN_CHAT_SECONDS, ChatTask, LlmError, LlmResult
from agentic_rag.tenancy.principals import WorkspaceRef

LATE = LlmError("HYDE_LATE")


@dataclass(frozen=True, slots=True)
class QueuedPassages:
    """The job does not contain the question: that goes through the exchange and expires when nobody waits any more."""

    database: Database
    queue: JobQueue
    exchange: PassageExchange
    clock: Clock
    ids: Ids
    telemetry: Telemetry

    async def write(self, workspace: WorkspaceRef, question: str, deadline: Deadline) -> LlmResult[str] | LlmError:
        """A passage for `question`, if some worker writes it in time."""
        seconds = deadline.remaining(self.clock.monotonic()) * CHAT_SHARE[ChatTask.HYDE]
        if seconds < MIN_CHAT_SECONDS:
            return LATE
        try:
            async with asyncio.timeout(seconds):
                return await self._request_passage(workspace, question, seconds)
        except TimeoutError:
            return LATE
        except AgenticRagError as error:
            self.telemetry.event("rag_hyde_failed", level="warning", code=error.code, reason=error.reason)
            return LlmError(error.code)

    async def _request_passage(
        self, workspace: WorkspaceRef, question: str, seconds: float
    ) -> LlmResult[str] | LlmError:
        key = self.ids.new().hex
        await self.exchange.ask(key, question, seconds)
        job = NewJob(workspace, JobKind.HYDE, key, {}, QueueName.INTERACTIVE, self.telemetry.carrier())
        async with self.database.transaction(workspace.org_id) as transaction:
            ref, _ = await transaction.jobs.enqueue(job)
        # The dispatcher would offer it too, at its next poll.
        await self.queue.offer(QueueName.INTERACTIVE, [ref])
        return await self.exchange.wait(key)
