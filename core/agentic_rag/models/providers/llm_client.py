"""Calls the chat model for the pipeline stages: within the run's time, metered, and with an `LlmError` instead of an
exception.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from agentic_rag.kernel.clock import Clock, Deadline
from agentic_rag.kernel.errors import AgenticRagError, Retryable
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.billing.prices import TokenPrice
from agentic_rag.models.chat.ports import ChatModel
from agentic_rag.models.chat.request import (
    CHAT_SHARE,
    MIN_CHAT_SECONDS,
    ChatUsage,
    FinishReason,
    LlmError,
    LlmResult,
    Prompt,
)
from agentic_rag.tenancy.principals import WorkspaceRef

if TYPE_CHECKING:
    from agentic_rag.models.billing.metered_models import ChatMeter

T = TypeVar("T")

PAUSE_SECONDS = 2.0
"""Seconds without calls after an outage or a rate limit, so that an answer does not wait for the model in every stage.
"""
SLOW_CALL_SECONDS = 2.0
"""A time-out of at least this many seconds counts as an outage."""
LONGEST_PAUSE_SECONDS = 60.0
"""Upper bound on the wait that a provider asks for."""

LATE = "CHAT_NO_TIME"
COOLING_DOWN = "CHAT_RESTING"
_PAUSING = frozenset({"PROVIDER_UNAVAILABLE", "PROVIDER_RATE_LIMITED", "PROVIDER_KEY_REJECTED"})


class LlmClients(Protocol):
    """Finds the chat model of a workspace."""

    async def client_for(self, workspace: WorkspaceRef) -> LlmClient | None:
        """The client for the organisation's own key, else the platform's; None when rules do all tasks. Errors: those
        of `models.providers.tenant_models`.
        """
        ...


@dataclass(slots=True)
class CoolDown:
    """The time (monotonic seconds) until which a failed model is not called."""

    until: float = float("-inf")


class LlmClient:
    """The only way to the chat model. Every failure is returned as an `LlmError`; the caller falls back to rules and
    reports it.
    """

    def __init__(
        self,
        model: ChatModel,
        clock: Clock,
        ids: Ids,
        telemetry: Telemetry,
        *,
        timeout_seconds: float = 30.0,
        price: TokenPrice | None = None,
        rest: CoolDown | None = None,
        account: ChatMeter | None = None,
    ) -> None:
        self._model = model
        self._clock = clock
        self._ids = ids
        self._telemetry = telemetry
        self._timeout = timeout_seconds
        self._price = price
        self._rests = rest or CoolDown()
        self._account = account

    def with_account(self, account: ChatMeter) -> LlmClient:
        """The same model, metered on a workspace's account. Both clients share the cool-down."""
        metered = copy(self)
        metered._account = account
        return metered

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._model.name

    async def client_for(self, _: WorkspaceRef) -> LlmClient:
        """This client, for every workspace."""
        return self

    async def ask(self, make: Callable[[str], Prompt[T]], deadline: Deadline) -> LlmResult[T] | LlmError:
        """Send the prompt that `make` builds from a fresh nonce, within its task's share of the remaining time."""
        consultation = make(self._ids.new().hex)
        left = deadline.remaining(self._clock.monotonic())
        return await self._complete(consultation, left * CHAT_SHARE[consultation.task])

    async def ask_within(self, make: Callable[[str], Prompt[T]], seconds: float) -> LlmResult[T] | LlmError:
        """As `ask`, with all of `seconds`."""
        return await self._complete(make(self._ids.new().hex), seconds)

    async def _complete(self, consultation: Prompt[T], seconds: float) -> LlmResult[T] | LlmError:
        task = consultation.task
        with self._telemetry.span("rag.chat", {"rag.chat.task": task.value}) as span:
            advice = await self._ask(consultation, min(self._timeout, seconds))
            outcome = advice.code if isinstance(advice, LlmError) else "ok"
            span.set("rag.chat.outcome", outcome)
        self._telemetry.count("rag_chat_requests_total", task=task.value, outcome=outcome)
        return advice

    async def _ask(self, consultation: Prompt[T], seconds: float) -> LlmResult[T] | LlmError:
        if self._clock.monotonic() < self._rests.until:
            return LlmError(COOLING_DOWN)
        if seconds < MIN_CHAT_SECONDS:
            return LlmError(LATE)
        try:
            if self._account is not None:
                await self._account.admit()
            async with asyncio.timeout(seconds):
                reply = await self._model.complete(consultation.request)
            if reply.usage is not None:
                self._count(reply.usage)
            if reply.finish_reason is not FinishReason.COMPLETE:
                return LlmError(reply.finish_reason.value)
            return LlmResult(consultation.parse(reply.text))
        except TimeoutError:
            if seconds >= SLOW_CALL_SECONDS:
                self._cool_down(PAUSE_SECONDS)
            return LlmError(LATE)
        except AgenticRagError as error:
            self._cool_down_after(error)
            self._telemetry.event("rag_chat_failed", task=consultation.task.value, code=error.code, reason=error.reason)
            return LlmError(error.code)

    def _count(self, usage: ChatUsage) -> None:
        if self._account is not None:
            self._account.note(self._model.name, usage)
            return
        self._telemetry.count("rag_tokens_total", float(usage.input_tokens), kind="chat_input")
        self._telemetry.count("rag_tokens_total", float(usage.output_tokens), kind="chat_output")
        if self._price is not None:
            cost = self._price.of(usage.input_tokens, usage.output_tokens)
            self._telemetry.count("rag_provider_cost_usd_total", cost)

    def _cool_down_after(self, error: AgenticRagError) -> None:
        if error.code not in _PAUSING:
            return
        wished = error.retry_after_seconds if isinstance(error, Retryable) else None
        self._cool_down(min(LONGEST_PAUSE_SECONDS, max(PAUSE_SECONDS, wished or 0.0)))

    def _cool_down(self, seconds: float) -> None:
        self._rests.until = self._clock.monotonic() + seconds
