"""Runs and their stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.answers import Answer, Run
from agentic_rag.domain.pages import Page, PageRequest
from agentic_rag.domain.tenancy import WorkspaceRef


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


class AnswerCodec(Protocol):
    """How an answer is kept: JSON in UTF-8, readable by any later version. Pure."""

    def encode(self, answer: Answer, /) -> bytes:
        """The answer as one JSON value."""
        ...

    def decode(self, stored: bytes, /) -> Answer:
        """The inverse. Errors: `ValueError` when this is no stored answer."""
        ...
