"""Calls the chat model for the pipeline stages: within the run's time, metered, and with an `LlmError` instead of an
exception.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from agentic_rag.kernel.clock import Clock, Deadline
from agentic_rag.kernel.errors import AgenticRagError, BudgetExceeded, Retryable
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Span, Telemetry
from agentic_rag.models.billing.forecast import CallForecasts
from agentic_rag.models.billing.prices import TokenPrice
from agentic_rag.models.chat.ports import ChatModel
from agentic_rag.models.chat.request import (
    CHAT_SHARE,
    MIN_CHAT_SECONDS,
    ChatSpend,
    ChatTask,
    ChatUsage,
    FinishReason,
    LlmError,
    LlmResult,
    Prompt,
)
from agentic_rag.models.gen_ai import GenAiOperation, reply_attributes, request_attributes
from agentic_rag.models.providers.provider_keys import Provider
from agentic_rag.tenancy.principals import WorkspaceRef

if TYPE_CHECKING:
    from agentic_rag.models.billing.metered_models import ChatMeter

T = TypeVar("T")

PAUSE_SECONDS = 2.0
"""Seconds without calls after an outage or a rate limit, so that an answer does not wait for the model in every stage.
"""
SLOW_CALL_SECONDS = 2.0
"""A call that gave nothing for this long: its task pauses, and no other, which may be shorter or have more time."""
LONGEST_PAUSE_SECONDS = 60.0
"""Upper bound on the wait that a provider asks for."""

LATE = "CHAT_NO_TIME"
COOLING_DOWN = "CHAT_RESTING"
ESTIMATED = LlmError("ESTIMATED")
"""The reply of a client that calls nobody."""
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
    """The times (monotonic seconds) until which a failed model is not called, at all and for single tasks."""

    until: float = float("-inf")
    tasks: dict[ChatTask, float] = field(default_factory=dict[ChatTask, float])

    def covers(self, task: ChatTask, now: float) -> bool:
        """True while the model is not called for `task`."""
        return now < max(self.until, self.tasks.get(task, self.until))


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
        timeout_seconds: float = 60.0,
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
        self._forecasts = CallForecasts()
        self._note_spend: Callable[[ChatSpend], None] = lambda _: None
        self._note_estimate: Callable[[ChatTask, ChatSpend], None] | None = None

    def with_account(self, account: ChatMeter) -> LlmClient:
        """The same model, metered on a workspace's account. Both clients share the cool-down."""
        metered = copy(self)
        metered._account = account
        return metered

    def telling(self, note: Callable[[ChatSpend], None]) -> LlmClient:
        """The same client, whose every call is noted."""
        told = copy(self)
        told._note_spend = note
        return told

    def estimating(self, note: Callable[[ChatTask, ChatSpend], None]) -> LlmClient:
        """The same client, which calls nobody: each call that it would make is noted with what it is expected to use,
        and ends in `ESTIMATED`.
        """
        estimating = copy(self)
        estimating._note_estimate = note
        return estimating

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
        if self._note_estimate is not None:
            expected = self._forecasts.expect(consultation)
            usd = self._cost(expected)
            self._note_estimate(task, ChatSpend(1, expected.input_tokens, expected.output_tokens, usd, usd))
            return ESTIMATED
        called = request_attributes(GenAiOperation.CHAT, self._provider, self._model.name)
        with self._telemetry.span("rag.chat", {"rag.chat.task": task.value, **called}) as span:
            advice = await self._ask(consultation, min(self._timeout, seconds), span)
            outcome = advice.code if isinstance(advice, LlmError) else "ok"
            span.set("rag.chat.outcome", outcome)
        self._telemetry.count("rag_chat_requests_total", task=task.value, outcome=outcome)
        return advice

    @property
    def _provider(self) -> str:
        """Without an account the model is the platform's."""
        return Provider.OPENAI.value if self._account is None else self._account.provider

    async def _ask(self, consultation: Prompt[T], seconds: float, span: Span) -> LlmResult[T] | LlmError:
        task, began = consultation.task, self._clock.monotonic()
        if self._rests.covers(task, began):
            return LlmError(COOLING_DOWN)
        if seconds < MIN_CHAT_SECONDS:
            return LlmError(LATE)
        try:
            expected = self._forecasts.expect(consultation)
            account = self._account
            async with nullcontext() if account is None else account.hold(self._model.name, expected):
                async with asyncio.timeout(seconds):
                    reply = await self._model.complete(consultation.request)
                for name, value in reply_attributes(reply).items():
                    span.set(name, value)
                self._count(reply.usage, self._cost(expected))
            if reply.usage is not None:
                self._forecasts.learn(consultation, reply.usage)
            if reply.finish_reason is not FinishReason.COMPLETE:
                return LlmError(reply.finish_reason.value)
            return LlmResult(consultation.parse(reply.text))
        except TimeoutError:
            self._cool_down_after(task, self._clock.monotonic() - began)
            return LlmError(LATE)
        except BudgetExceeded as error:
            # What a ceiling is for: the gauge and the alert of the budget tell that it is spent, once.
            self._telemetry.event("rag_budget_refused", task=task.value, code=error.code)
            return LlmError(error.code)
        except AgenticRagError as error:
            self._cool_down_after(task, self._clock.monotonic() - began, error)
            self._telemetry.event(
                "rag_chat_failed", level="warning", task=task.value, code=error.code, reason=error.reason
            )
            return LlmError(error.code)

    def _cost(self, usage: ChatUsage) -> float | None:
        """In US dollars; None without a price."""
        price = self._price if self._account is None else self._account.price_of(self._model.name)
        return None if price is None else price.of(usage.input_tokens, usage.output_tokens)

    def _count(self, usage: ChatUsage | None, estimated_usd: float | None) -> None:
        if usage is None:
            self._note_spend(ChatSpend(calls=1, estimated_usd=estimated_usd))
            return
        cost = self._cost(usage)
        if self._account is not None:
            cost = self._account.note(self._model.name, usage)
        else:
            self._telemetry.count("rag_tokens_total", float(usage.input_tokens), kind="chat_input")
            self._telemetry.count("rag_tokens_total", float(usage.output_tokens), kind="chat_output")
            if cost is not None:
                self._telemetry.count("rag_provider_cost_usd_total", cost)
        self._note_spend(ChatSpend(1, usage.input_tokens, usage.output_tokens, cost, estimated_usd))

    def _cool_down_after(self, task: ChatTask, took: float, error: AgenticRagError | None = None) -> None:
        """A slow call pauses its own task; what fails at once is an outage, and pauses all."""
        wished = error.retry_after_seconds if isinstance(error, Retryable) else None
        until = self._clock.monotonic() + min(LONGEST_PAUSE_SECONDS, max(PAUSE_SECONDS, wished or 0.0))
        if wished is None and took >= SLOW_CALL_SECONDS:
            self._rests.tasks[task] = until
        elif error is not None and error.code in _PAUSING:
            self._rests.until = until
