"""The self-attack: every organisation requests the canaries of the others through retrieval, cache and look-ups."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.ask import AnswerPorts, AnswerQuestion
from agentic_rag.answering.build import answer_question
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks
from agentic_rag.kernel.errors import AgenticRagError, InvalidInput, NotFound
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.operations import canary as canaries
from agentic_rag.tenancy.principals import Principal, Role, SubjectKind, WorkspaceRef
from agentic_rag.workspaces.ports import OrganisationRegister
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind

SUBJECT = "leak canary"
MOST_OTHERS = 20
"""Organisations that one organisation attacks in a round; the next round continues with the following ones."""
AT_ONCE = 8
"""Organisations that ask the same question concurrently."""
_UNCACHED = AnswerOptions(cache=CacheMode.BYPASS)


@dataclass(frozen=True, slots=True)
class Leak:
    """A canary word of one organisation that another one saw."""

    asking: UUID
    owner: UUID | None
    """None if the owner is no longer registered."""
    place: str


@dataclass(frozen=True, slots=True)
class CanaryReport:
    """One round. `checks` counts completed attacks."""

    organisations: int
    checks: int
    leaks: tuple[Leak, ...]
    blind: tuple[UUID, ...]
    """Organisations that do not find their own canary; their checks prove nothing."""
    failed: int
    """Attacks that ended in an error."""

    @property
    def is_clean(self) -> bool:
        """No leak, no blind organisation and no failed attack."""
        return not self.leaks and not self.blind and not self.failed


@dataclass(slots=True)
class _CanaryRound:
    """The results of a round so far."""

    owners: dict[str, UUID]
    checks: int = 0
    failed: int = 0
    leaks: list[Leak] = field(default_factory=list[Leak])
    blind: dict[UUID, None] = field(default_factory=dict[UUID, None])


class DiscardingRunStore:
    """An `answering.ports.RunStore` that stores nothing, so that users do not find these runs in their history."""

    async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
        """Discards them."""

    async def get(self, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        """Always None."""
        return None

    async def by_idempotency_key(self, workspace: WorkspaceRef, key: str) -> Run | None:
        """Always None."""
        return None

    async def page(self, workspace: WorkspaceRef, request: PageRequest, subject: str | None = None) -> Page[Run]:
        """An empty page."""
        return Page[Run]((), (), False)


class LeakCanaries:
    """Places a canary in each organisation, in a workspace that no list shows, and searches for it from all others."""

    def __init__(self, ports: AnswerPorts, ingest: IngestChunks, register: OrganisationRegister) -> None:
        self._ports = replace(ports, runs=DiscardingRunStore())
        self._ingest = ingest
        self._register = register
        self._rounds = 0

    async def run(self) -> CanaryReport:
        """Runs one round. Leaks are counted, logged and returned. Errors: `DependencyUnavailable` if the organisations
        cannot be listed.
        """
        organisations = [one.org_id for one in await self._register.all()]
        found = _CanaryRound({canaries.canary_word(org_id): org_id for org_id in organisations})
        recorder = RunRecorder(self._ports.database, self._ports.runs, self._ports.cache, self._ports.telemetry)
        answer = answer_question(self._ports, recorder, AnswerDefaults(support_threshold=0.0))
        try:
            placed = [org_id for org_id in organisations if await self._place_canary(org_id, found)]
            for _ in range(2):  # the first pass fills the caches that answer the second
                for start in range(0, len(placed), AT_ONCE):
                    group = placed[start : start + AT_ONCE]
                    await asyncio.gather(*(self._at_home(answer, org_id, found) for org_id in group))
                await recorder.drain()
            for asking in placed:
                for owner in self._others(placed, asking):
                    await self._abroad(answer, asking, owner, found)
        finally:
            await recorder.aclose()
        self._rounds += 1
        return CanaryReport(
            len(organisations), found.checks, tuple(found.leaks), tuple(found.blind), found.failed
        )  # fmt: skip

    def _others(self, placed: Sequence[UUID], asking: UUID) -> Iterator[UUID]:
        others = [org_id for org_id in placed if org_id != asking]
        first = self._rounds * MOST_OTHERS
        for place in range(min(MOST_OTHERS, len(others))):
            yield others[(first + place) % len(others)]

    async def _place_canary(self, org_id: UUID, found: _CanaryRound) -> bool:
        workspace = canaries.canary_workspace(org_id)
        document = ChunkedDocument(canaries.DOCUMENT_PATH, "Leak canary", (canaries.canary_text(org_id),))
        try:
            await self._ensure_workspace(workspace)
            await self._ingest.run(workspace, [document], _principal(workspace.org_id).subject_id)
        except AgenticRagError as error:
            self._record_failure(org_id, error, found)
            return False
        return True

    async def _ensure_workspace(self, workspace: WorkspaceRef) -> None:
        async with self._ports.database.transaction(workspace.org_id) as transaction:
            if await transaction.workspaces.get(workspace.workspace_id) is not None:
                return
        try:
            async with self._ports.database.transaction(workspace.org_id) as transaction:
                await transaction.workspaces.create(
                    workspace.workspace_id,
                    canaries.WORKSPACE_NAME,
                    WorkspaceKind.GENERAL,
                    None,
                    WorkspaceSettings(history_days=0),
                )
        except InvalidInput:
            return  # another process has just created it

    async def _at_home(self, answer: AnswerQuestion, org_id: UUID, found: _CanaryRound) -> None:
        """Asks the common question in the organisation's own workspace: the answer must show its own canary and
        no other.
        """
        try:
            run = await answer.ask(_principal(org_id), Question(canaries.canary_workspace(org_id), canaries.QUESTION))
        except AgenticRagError as error:
            self._record_failure(org_id, error, found)
            return
        shown = _visible_text(run.answer)
        if canaries.canary_word(org_id) not in shown:
            found.blind[org_id] = None
            self._ports.telemetry.count("rag_tenant_leak_checks_total", outcome="blind")
            self._ports.telemetry.event("rag_tenant_canary_not_found", level="error", organisation=str(org_id))
        self._judge(org_id, shown, "answer", found)

    async def _abroad(self, answer: AnswerQuestion, asking: UUID, owner: UUID, found: _CanaryRound) -> None:
        """Attacks the owner's canary by its word, its workspace and its document id."""
        word = canaries.canary_word(owner)
        home, theirs = canaries.canary_workspace(asking), canaries.canary_workspace(owner)
        there = WorkspaceRef(asking, theirs.workspace_id)
        try:
            named = await answer.ask(_principal(asking), Question(home, f"What is {word}?", options=_UNCACHED))
            reached = await self._can_reach(answer, asking, there)
            async with self._ports.database.transaction(owner) as transaction:
                ids = await resolve_ids(transaction.documents, theirs, [canaries.DOCUMENT_PATH])
            document_id = ids[canaries.DOCUMENT_PATH]
            async with self._ports.database.transaction(asking) as transaction:
                documents = [await transaction.documents.get(ref, document_id) for ref in (there, home)]
        except AgenticRagError as error:
            self._record_failure(asking, error, found)
            return
        if reached or any(documents):
            self._report_leak(Leak(asking, owner, "workspace" if reached else "document"), found)
        self._judge(asking, _visible_text(named.answer), "search", found)

    async def _can_reach(self, answer: AnswerQuestion, asking: UUID, there: WorkspaceRef) -> bool:
        try:
            await answer.ask(_principal(asking), Question(there, canaries.QUESTION))
        except NotFound:
            return False
        return True

    def _judge(self, asking: UUID, shown: str, place: str, found: _CanaryRound) -> None:
        found.checks += 1
        foreign = canaries.find_canary_words(shown) - {canaries.canary_word(asking)}
        for word in sorted(foreign):
            self._report_leak(Leak(asking, found.owners.get(word), place), found)
        self._ports.telemetry.count("rag_tenant_leak_checks_total", outcome="leaked" if foreign else "held")

    def _report_leak(self, leak: Leak, found: _CanaryRound) -> None:
        found.leaks.append(leak)
        self._ports.telemetry.count("rag_tenant_leaks_total")
        self._ports.telemetry.event(
            "rag_tenant_leak",
            level="error",
            place=f"canary: {leak.place}",
            asking_organisation=str(leak.asking),
            owning_organisation=str(leak.owner),
        )

    def _record_failure(self, org_id: UUID, error: AgenticRagError, found: _CanaryRound) -> None:
        found.failed += 1
        self._ports.telemetry.count("rag_tenant_leak_checks_total", outcome="failed")
        self._ports.telemetry.event(
            "rag_tenant_canary_failed", level="warning", organisation=str(org_id), code=error.code
        )


def _principal(org_id: UUID) -> Principal:
    return Principal(org_id, SUBJECT, Role.OPERATOR, kind=SubjectKind.SYSTEM)


def _visible_text(answer: Answer) -> str:
    """The text that an answer shows, without the question."""
    nearest = answer.abstention.nearest if answer.abstention else ()
    results = [call.result for call in answer.debug.tool_calls]
    return repr((answer.text, answer.citations, nearest, answer.debug.candidates, results)).casefold()
