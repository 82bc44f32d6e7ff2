"""Runs and their stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agentic_rag.answering.run import Run
from agentic_rag.kernel.deadline import Deadline
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.models.chat.request import LlmError, LlmResult
from agentic_rag.tenancy.principals import WorkspaceRef


class RunStore(Protocol):
    """Opens its own transactions: runs are stored behind the response."""

    async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
        """Store runs; `durable` waits for the disk (an idempotency key was given). A document that was erased while a
        run was under way leaves no words in it.

        Errors: `IdempotencyConflict` when a key was used before with another input.
        """
        ...

    async def get(self, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        """The run, or None."""
        ...

    async def by_idempotency_key(self, workspace: WorkspaceRef, key: str) -> Run | None:
        """The run that was stored under the key, or None."""
        ...

    async def page(self, workspace: WorkspaceRef, request: PageRequest, subject: str | None = None) -> Page[Run]:
        """Runs, newest first; only those of one subject when one is named."""
        ...


class AnswerCache(Protocol):
    """Values are opaque bytes. A cache that is down behaves as empty and reports itself through `available`."""

    async def get(self, workspace: WorkspaceRef, key: str) -> bytes | None:
        """The value, or None when absent, expired or unreachable."""
        ...

    async def put(self, workspace: WorkspaceRef, key: str, value: bytes, ttl_seconds: int) -> None:
        """Store for at most `ttl_seconds`."""
        ...

    async def forget(self, workspace: WorkspaceRef) -> int:
        """Drop every entry of the workspace; how many went. Errors: `DependencyUnavailable` (an erasure must know)."""
        ...

    async def holding(self, workspace: WorkspaceRef, words: bytes) -> int:
        """How many entries of the workspace have `words` in their value. Errors: `DependencyUnavailable`."""
        ...

    @property
    def available(self) -> bool:
        """False after a failed call, until one succeeds again."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


class HypotheticalPassages(Protocol):
    """Never raises for lack of a model, a worker or time: that is a `Fault`."""

    async def write(self, workspace: WorkspaceRef, question: str, deadline: Deadline) -> LlmResult[str] | LlmError:
        """A passage for `question`, within its task's share of the time left."""
        ...


@dataclass(frozen=True, slots=True)
class PassageRequest:
    """A question whose answer waits for a passage, and for how long it still does."""

    question: str
    seconds_left: float


class PassageExchange(Protocol):
    """A key names one exchange. Errors: `DependencyUnavailable`."""

    async def ask(self, key: str, question: str, seconds: float) -> None:
        """Leave a question; it is gone after `seconds`."""
        ...

    async def pending_request(self, key: str) -> PassageRequest | None:
        """The question, or None when nobody waits any more."""
        ...

    async def give(self, key: str, passage: LlmResult[str] | LlmError, seconds: float) -> None:
        """Hand over what came of it; it is gone after `seconds`, taken or not."""
        ...

    async def wait(self, key: str) -> LlmResult[str] | LlmError:
        """What came of it, once, as soon as it is there. The caller ends the wait."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
