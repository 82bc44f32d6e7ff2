"""Asks the chat model on behalf of the stages: within the run's time, counted, and with a fault instead of an error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.deadline import Deadline
from agentic_rag.kernel.errors import AgenticRagError, Retryable
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.billing.prices import TokenPrice
from agentic_rag.models.chat.ports import ChatModel
from agentic_rag.models.chat.request import (
    CHAT_SHARE,
    MIN_CHAT_SECONDS,
    ChatEnd,
    ChatUsage,
    Consultation,
    Fault,
    Told,
)
from agentic_rag.tenancy.principals import WorkspaceRef

T = TypeVar("T")

PAUSE_SECONDS = 2.0
"""After an outage or a rate limit nobody asks the model for so long, so that no answer waits for it stage by stage."""
PATIENCE_SECONDS = 2.0
"""A model that took longer than this without a reply counts as out of service, too."""
LONGEST_PAUSE_SECONDS = 60.0
"""The most that a provider's own wish is honoured."""

LATE = "CHAT_NO_TIME"
RESTING = "CHAT_RESTING"
_PAUSING = frozenset({"PROVIDER_UNAVAILABLE", "PROVIDER_RATE_LIMITED", "PROVIDER_KEY_REJECTED"})


class Advisors(Protocol):
    """Finds the chat model that works for a workspace."""

    async def advisor_of(self, workspace: WorkspaceRef) -> Advisor | None:
        """That of the key which its organisation brought, else the platform's; None when rules do all. Errors:
        those of `models.providers.tenant_models`.
        """
        ...


class ChatAccount(Protocol):
    """What calls for a workspace are charged to."""

    async def admit(self) -> None:
        """Let a call pass. Errors: `BudgetExceeded`."""
        ...

    def note(self, model: str, usage: ChatUsage) -> None:
        """Write a call down, and count it."""
        ...


@dataclass(slots=True)
class Rest:
    """Until when (monotonic seconds) nobody asks a model that failed."""

    until: float = float("-inf")


class Advisor:
    """The one way to the chat model. Whatever goes wrong is a `Fault`: the caller goes on by rules and says so."""

    def __init__(
        self,
        model: ChatModel,
        clock: Clock,
        ids: Ids,
        telemetry: Telemetry,
        *,
        timeout_seconds: float = 30.0,
        price: TokenPrice | None = None,
        rest: Rest | None = None,
        account: ChatAccount | None = None,
    ) -> None:
        self._model = model
        self._clock = clock
        self._ids = ids
        self._telemetry = telemetry
        self._timeout = timeout_seconds
        self._price = price
        self._rests = rest or Rest()
        self._account = account

    def charged_to(self, account: ChatAccount) -> Advisor:
        """The same model on a workspace's account; both rest together."""
        return Advisor(
            self._model,
            self._clock,
            self._ids,
            self._telemetry,
            timeout_seconds=self._timeout,
            price=self._price,
            rest=self._rests,
            account=account,
        )

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model.name

    async def advisor_of(self, _: WorkspaceRef) -> Advisor:
        """This one, for every workspace."""
        return self

    async def ask(self, make: Callable[[str], Consultation[T]], deadline: Deadline) -> Told[T] | Fault:
        """Ask what `make` makes of a fresh nonce, within its task's share of the time left."""
        consultation = make(self._ids.new().hex)
        left = deadline.remaining(self._clock.monotonic())
        return await self._asked(consultation, left * CHAT_SHARE[consultation.task])

    async def ask_within(self, make: Callable[[str], Consultation[T]], seconds: float) -> Told[T] | Fault:
        """The same with all of `seconds`."""
        return await self._asked(make(self._ids.new().hex), seconds)

    async def _asked(self, consultation: Consultation[T], seconds: float) -> Told[T] | Fault:
        task = consultation.task
        with self._telemetry.span("rag.chat", {"rag.chat.task": task.value}) as span:
            advice = await self._ask(consultation, min(self._timeout, seconds))
            outcome = advice.code if isinstance(advice, Fault) else "ok"
            span.set("rag.chat.outcome", outcome)
        self._telemetry.count("rag_chat_requests_total", task=task.value, outcome=outcome)
        return advice

    async def _ask(self, consultation: Consultation[T], seconds: float) -> Told[T] | Fault:
        if self._clock.monotonic() < self._rests.until:
            return Fault(RESTING)
        if seconds < MIN_CHAT_SECONDS:
            return Fault(LATE)
        try:
            if self._account is not None:
                await self._account.admit()
            async with asyncio.timeout(seconds):
                reply = await self._model.complete(consultation.request)
            if reply.usage is not None:
                self._count(reply.usage)
            if reply.end is not ChatEnd.COMPLETE:
                return Fault(reply.end.value)
            return Told(consultation.read(reply.text))
        except TimeoutError:
            if seconds >= PATIENCE_SECONDS:
                self._rest(PAUSE_SECONDS)
            return Fault(LATE)
        except AgenticRagError as error:
            self._rest_after(error)
            self._telemetry.event("rag_chat_failed", task=consultation.task.value, code=error.code, reason=error.reason)
            return Fault(error.code)

    def _count(self, usage: ChatUsage) -> None:
        if self._account is not None:
            self._account.note(self._model.name, usage)
            return
        self._telemetry.count("rag_tokens_total", float(usage.input_tokens), kind="chat_input")
        self._telemetry.count("rag_tokens_total", float(usage.output_tokens), kind="chat_output")
        if self._price is not None:
            cost = self._price.of(usage.input_tokens, usage.output_tokens)
            self._telemetry.count("rag_provider_cost_usd_total", cost)

    def _rest_after(self, error: AgenticRagError) -> None:
        if error.code not in _PAUSING:
            return
        wished = error.retry_after_seconds if isinstance(error, Retryable) else None
        self._rest(min(LONGEST_PAUSE_SECONDS, max(PAUSE_SECONDS, wished or 0.0)))

    def _rest(self, seconds: float) -> None:
        self._rests.until = self._clock.monotonic() + seconds
