"""The self-attack of the organisations on each other, over memory adapters."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.answering.runs import MemoryRunStore
from tests.memory_store.compute import InlineCompute
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.ask import AnswerPorts
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ingest_chunks import IngestChunks
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.operations.canary import canary_text, canary_word, canary_workspace, find_canary_words
from agentic_rag.operations.leak_canaries import MOST_OTHERS, Leak, LeakCanaries
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.organisation import Organisation

LEAKS = ("rag_tenant_leaks_total", ())


class Register:
    """A list of organisations."""

    def __init__(self, organisations: Sequence[UUID]) -> None:
        self.organisations = organisations

    async def create(self, org_id: UUID, name: str, external_ref: str | None) -> Organisation:
        raise AssertionError("the self-attack makes no organisation")

    async def all(self) -> list[Organisation]:
        return [Organisation(one, f"org {one}", None, datetime(2026, 1, 1, tzinfo=UTC)) for one in self.organisations]


class Leaking:
    """A database that reads the passages of one organisation for everybody."""

    def __init__(self, database: MemoryDatabase, victim: UUID) -> None:
        self.database = database
        self.victim = canary_workspace(victim)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.database, name)

    @asynccontextmanager
    async def snapshot(self, workspace: WorkspaceRef, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        async with self.database.snapshot(self.victim, *arguments, **options) as snapshot:
            yield snapshot


class Failing:
    """Ingestion while the database is away."""

    async def run(self, *_: object) -> None:
        raise DependencyUnavailable("Postgres does not answer.", dependency="postgres")


class World:
    """Organisations over one store."""

    def __init__(self, count: int, victim: int | None = None) -> None:
        self.organisations = [UUID(int=number + 1) for number in range(count)]
        store = MemoryStore(SystemClock())
        self.cache = MemoryAnswerCache(store.clock)
        self.database = MemoryDatabase(store, self.cache)
        self.runs, self.telemetry = MemoryRunStore(store), RecordingTelemetry()
        embedders = only(DeterministicEmbedder())
        read: Any = self.database if victim is None else Leaking(self.database, self.organisations[victim])
        ports = AnswerPorts(read, self.cache, self.runs, embedders, self.telemetry, SystemClock(), RandomIds())
        ingest = IngestChunks(self.database, embedders, TextAnalysis(estimate_tokens, InlineCompute()))
        self.attacks = LeakCanaries(ports, ingest, Register(self.organisations))

    def counted(self, metric: str) -> float:
        return sum(amount for (name, _), amount in self.telemetry.counters.items() if name == metric)


async def test_walls_that_hold_are_reported_with_the_number_of_checks() -> None:
    world = World(3)

    report = await world.attacks.run()

    # Each organisation twice at home, and once at each of the two others.
    assert (report.organisations, report.checks, report.leaks, report.blind, report.failed) == (3, 12, (), (), 0)
    assert report.is_clean
    assert world.counted("rag_tenant_leak_checks_total") == 12
    assert world.counted("rag_tenant_leaks_total") == 0


async def test_a_second_round_changes_nothing_and_no_list_shows_the_canary() -> None:
    world = World(2)
    await world.attacks.run()
    await world.attacks.run()

    for org_id in world.organisations:
        workspace = canary_workspace(org_id)
        async with world.database.transaction(org_id) as transaction:
            assert await transaction.workspaces.all() == []
            found = await transaction.workspaces.get(workspace.workspace_id)
        assert found is not None
        assert found.corpus_version == 1
        assert not (await world.runs.page(workspace, PageRequest(10))).items


@pytest.mark.tells("rag_tenant_canary_not_found")
async def test_an_organisation_that_reads_another_is_counted_and_named() -> None:
    world = World(2, victim=0)
    first, second = world.organisations

    report = await world.attacks.run()

    assert not report.is_clean
    assert Leak(second, first, "answer") in report.leaks
    assert report.blind == (second,)
    assert world.counted("rag_tenant_leaks_total") == len(report.leaks) > 0


@pytest.mark.tells("rag_tenant_canary_failed")
async def test_an_attack_that_fails_is_told_and_counted_and_proves_nothing() -> None:
    world = World(2)
    world.attacks._ingest = Failing()  # type: ignore[assignment]

    report = await world.attacks.run()

    assert report.failed == 2
    assert not report.is_clean


async def test_of_many_organisations_each_round_attacks_others() -> None:
    world = World(3)
    attacks = world.attacks
    placed = [UUID(int=number) for number in range(50)]
    seen: set[UUID] = set()
    for attacks._rounds in range(3):
        others = list(attacks._others(placed, placed[0]))
        assert len(others) == MOST_OTHERS
        seen.update(others)

    assert seen == set(placed[1:])


def test_a_word_stands_in_the_canary_of_its_organisation_only() -> None:
    one, two = UUID(int=1), UUID(int=2)

    assert find_canary_words(canary_text(one).upper()) == {canary_word(one)}
    assert canary_word(one) != canary_word(two)
    assert canary_workspace(one) != canary_workspace(two)
