"""Stores of runs and cached answers, the reader of units, and the exchange of hypothetical passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from agentic_rag.answering.extraction.reading import PlacedUnit, Reading
from agentic_rag.answering.feedback.feedback import Feedback
from agentic_rag.answering.gate.rollback import Rollback
from agentic_rag.answering.gate.stored_decision import StoredDecision
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.run_filter import ALL_RUNS, RunFilter
from agentic_rag.answering.saved.saved_question import Replayed, SavedQuestion
from agentic_rag.answering.threads.thread import Thread
from agentic_rag.kernel.clock import Deadline
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.models.chat.request import LlmError, LlmResult
from agentic_rag.tenancy.principals import Principal, WorkspaceRef


class RunStore(Protocol):
    """Opens its own transactions: runs are stored behind the response."""

    async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
        """Store runs; `durable` waits for the disk (for runs with an idempotency key). Text of documents erased
        meanwhile is redacted. A run whose thread begins with it begins the thread; one of a thread that was deleted is
        not stored.

        Errors: `IdempotencyConflict` when a key was used before with another input.
        """
        ...

    async def get(self, workspace: WorkspaceRef, run_id: UUID, subject: str | None = None) -> Run | None:
        """The run, or None; with `subject` also None for somebody else's, which takes the same time."""
        ...

    async def by_idempotency_key(self, workspace: WorkspaceRef, key: str) -> Run | None:
        """The run that was stored under the key, or None."""
        ...

    async def page(self, workspace: WorkspaceRef, request: PageRequest, wanted: RunFilter = ALL_RUNS) -> Page[Run]:
        """Runs that the filter admits, newest first."""
        ...

    async def count(self, workspace: WorkspaceRef, wanted: RunFilter = ALL_RUNS) -> int:
        """How many runs the filter admits."""
        ...


class ThreadStore(Protocol):
    """Inside a transaction of one organisation. Every call names the subject that the thread belongs to: somebody
    else's is none. `RunStore.record` begins threads and adds to them.
    """

    async def page(self, workspace: WorkspaceRef, subject: str, request: PageRequest) -> Page[Thread]:
        """The threads that still hold a run, the one asked in last first."""
        ...

    async def get(self, workspace: WorkspaceRef, thread_id: UUID, subject: str) -> Thread | None:
        """The thread, or None: also for one that holds no run any more."""
        ...

    async def rename(self, workspace: WorkspaceRef, thread_id: UUID, subject: str, title: str) -> None:
        """Name it; nothing where it is none."""
        ...

    async def delete(self, workspace: WorkspaceRef, thread_id: UUID, subject: str) -> int | None:
        """Delete it with its runs and all that goes with them; the number of runs, or None where it is none. A run that
        is recorded later with this thread is not stored.
        """
        ...

    async def delete_run(self, workspace: WorkspaceRef, run_id: UUID, subject: str) -> bool:
        """Delete one run, in a thread or not, with its stages and what was said of it; False where it is none."""
        ...


class SavedStore(Protocol):
    """Inside a transaction of one organisation. Whoever reads the questions of a workspace keeps others from saving one
    until the transaction ends.
    """

    async def every(self, workspace: WorkspaceRef) -> Sequence[SavedQuestion]:
        """All of the workspace, oldest first."""
        ...

    async def put(self, saved: SavedQuestion) -> None:
        """Store it, in place of the one of its id."""
        ...

    async def note_rights(self, workspace: WorkspaceRef, principal: Principal, now: datetime) -> None:
        """Store the rights with which a subject came, with all its questions."""
        ...

    async def note(self, saved: SavedQuestion, found: Replayed, checked_at: datetime | None) -> None:
        """Store what asking again told; the run of a SAME answer is compared with from now on. Nothing where the
        question was removed meanwhile, or is compared with another run.
        """
        ...

    async def remove(self, workspace: WorkspaceRef, saved_id: UUID, subject: str) -> bool:
        """Delete it; False where the subject has no such."""
        ...


MOST_LOOKED_THROUGH = 20_000
"""Decisions of a workspace among which those of one plan are looked for."""


class GateLog(Protocol):
    """Decisions of the gate, what callers say of the runs, and plans that were put to rest. The first two go with their
    runs.
    """

    async def decisions(
        self,
        workspace: WorkspaceRef,
        since: datetime,
        subject: str | None,
        most: int,
        *,
        mode: str | None = None,
    ) -> Sequence[StoredDecision]:
        """Decisions taken since then, newest first; only those of one subject's runs when one is named, and of one
        mode.
        """
        ...

    async def decisions_of_plan(
        self, workspace: WorkspaceRef, since: datetime, plan: str, most: int, *, but_deploy: str | None = None
    ) -> Sequence[StoredDecision]:
        """Those of runs that took a plan, among the newest `MOST_LOOKED_THROUGH` of all plans; of other deploys than
        `but_deploy`.
        """
        ...

    async def rollbacks(self, workspace: WorkspaceRef, since: datetime) -> Sequence[Rollback]:
        """Those that began since then, newest first. They stay when runs go."""
        ...

    async def add_rollback(self, workspace: WorkspaceRef, rollback: Rollback) -> None:
        """Store it, unless one of the same plan and deploy holds then."""
        ...

    async def add_feedback(self, workspace: WorkspaceRef, feedback: Feedback) -> bool:
        """Store it in place of what its subject said of the run before; False where the run is not stored. Of each
        other kind than SAID the first one is kept, and False is told for a later one.
        """
        ...

    async def feedback_of(self, workspace: WorkspaceRef, run_id: UUID, subject: str | None) -> Sequence[Feedback]:
        """What was said of a run in so many words, oldest first; only by one subject when one is named."""
        ...

    async def feedback_on(self, workspace: WorkspaceRef, run_ids: Sequence[UUID]) -> Sequence[Feedback]:
        """Feedback of every kind on these runs, newest first."""
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
        """Delete all entries of the workspace; returns their number. Errors: `DependencyUnavailable`."""
        ...

    async def holding(self, workspace: WorkspaceRef, words: bytes) -> int:
        """The number of entries of the workspace with `words` in their value. Errors: `DependencyUnavailable`."""
        ...

    @property
    def available(self) -> bool:
        """False after a failed call, until one succeeds again."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


class UnitReader(Protocol):
    """A model on this machine that tells how well units of text answer a question."""

    async def read(self, question: str, units: Sequence[PlacedUnit]) -> Reading:
        """What it finds; a unit's score does not depend on the units beside it."""
        ...

    async def judge(self, question: str, units: Sequence[PlacedUnit]) -> Sequence[float]:
        """For each unit the odds that it answers, as a logarithm; dearer than reading, and surer."""
        ...


class HypotheticalPassages(Protocol):
    """A missing model, worker or time is an `LlmError`, never an exception."""

    async def write(self, workspace: WorkspaceRef, question: str, deadline: Deadline) -> LlmResult[str] | LlmError:
        """A passage for `question`, within its task's share of the time left."""
        ...


@dataclass(frozen=True, slots=True)
class PassageRequest:
    """A question that waits for a passage, with the remaining seconds."""

    question: str
    seconds_left: float


class PassageExchange(Protocol):
    """A key names one exchange. Errors: `DependencyUnavailable`."""

    async def ask(self, key: str, question: str, seconds: float) -> None:
        """Offer a question; it expires after `seconds`."""
        ...

    async def pending_request(self, key: str) -> PassageRequest | None:
        """The question, or None once it has expired."""
        ...

    async def give(self, key: str, passage: LlmResult[str] | LlmError, seconds: float) -> None:
        """Publish the result; it expires after `seconds`."""
        ...

    async def wait(self, key: str) -> LlmResult[str] | LlmError:
        """Wait for the result and take it; the caller bounds the wait."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
