"""Whose key a call carries, against a provider on loopback: the organisation's own, the platform's, or none at all."""

import gc
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from uuid import UUID, uuid4
from weakref import ReferenceType, ref

import numpy as np
import pytest
from tests.memory_store.models.provider_keys import MemoryMasterKeyUsage
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry
from tests.memory_store.workspaces.organisations import MemoryOrganisations
from tests.provider_stub import ProviderStub, vector_for

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.openai.tenants import TenantClients
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.adapters.vault.envelope import EnvelopeVault
from agentic_rag.kernel.errors import BudgetExceeded, DependencyUnavailable, MissingProviderKey, Permanent
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.secret import Secret
from agentic_rag.models.billing.budget_alerts import BudgetAlerts
from agentic_rag.models.billing.enforce_budgets import EnforceBudgets
from agentic_rag.models.billing.limits import Expenditure, SpendingLimits, ceilings
from agentic_rag.models.billing.manage_budgets import ManageBudgets
from agentic_rag.models.billing.metered_models import UsageMeters
from agentic_rag.models.billing.prices import PriceTable, TokenPrice
from agentic_rag.models.billing.usage_ledger import UsageLedger
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.change_models import ChangeModels, ModelChanges
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.models.providers.llm_client import LlmClient
from agentic_rag.models.providers.manage_keys import ManageProviderKeys
from agentic_rag.models.providers.provider_keys import NewProviderKey, Provider
from agentic_rag.models.providers.tenant_models import FRESH_SECONDS, PlatformModels, TenantModels
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind

MASTERS = {"one": bytes(32)}
KEY = "sk-tenant-0123456789abcdef"


@dataclass
class MovedClock(SystemClock):
    """The system's clock, moved forward by hand."""

    ahead: float = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


@dataclass
class World:
    stub: ProviderStub
    clock: MovedClock = field(default_factory=MovedClock)
    store: MemoryStore = field(default_factory=lambda: MemoryStore(SystemClock()))
    prices: PriceTable = field(default_factory=PriceTable)

    def __post_init__(self) -> None:
        self.database = MemoryDatabase(self.store)
        self.telemetry = RecordingTelemetry()
        self.clients = TenantClients(
            {
                Provider.OPENAI: self.stub.base_url,
                Provider.GEMINI: self.stub.gemini_url,
                Provider.ANTHROPIC: self.stub.base_url,
            },
            seconds=5.0,
            temperature=None,
        )
        self.ledger = UsageLedger(self.database, self.telemetry)
        self.telling: list[BudgetAlerts] = []
        self.access = self.process()

    def process(self, masters: Mapping[str, bytes] = MASTERS) -> TenantModels:
        """What another process over the same stores has."""
        return TenantModels(
            self.database,
            EnvelopeVault(masters),
            self.clients,
            lambda: PlatformModels(only(DeterministicEmbedder()), None),
            lambda model, rest: LlmClient(model, self.clock, RandomIds(), self.telemetry, rest=rest),
            self.clock,
            UsageMeters(
                EnforceBudgets(self.database, self.ledger, self.clock, self.soft_limits()),
                self.ledger,
                self.clock,
                self.prices,
            ),
        )

    def soft_limits(self) -> BudgetAlerts:
        made = BudgetAlerts(self.database, self.telemetry)
        self.telling.append(made)
        return made

    async def told(self) -> list[str]:
        """The events of soft limits, once they are written."""
        for one in self.telling:
            await one.aclose()
        return [event.name for event in self.telemetry.events if event.name == "rag_budget_soft_limit"]

    async def organisation(self) -> WorkspaceRef:
        org_id = uuid4()
        await MemoryOrganisations(self.store).ensure_organisation(org_id, "ours")
        return WorkspaceRef(org_id, uuid4())

    async def workspace_of(self, org_id: UUID) -> WorkspaceRef:
        ref = WorkspaceRef(org_id, uuid4())
        async with self.database.transaction(org_id) as transaction:
            await transaction.workspaces.create(
                ref.workspace_id, str(ref.workspace_id), WorkspaceKind.GENERAL, None, WorkspaceSettings()
            )
        return ref

    async def limit(self, org_id: UUID, workspace_id: UUID | None, limits: SpendingLimits) -> None:
        budgets = EnforceBudgets(self.database, self.ledger, self.clock, self.soft_limits())
        await ManageBudgets(self.database, budgets, self.telemetry).set_limits(org_id, workspace_id, limits, "ada")
        self.access = self.process()

    async def decide(self, org_id: UUID, changes: ModelChanges) -> None:
        await ChangeModels(self.database, self.telemetry, on_change=self.access.forget).run(org_id, changes, "ada")

    @property
    def keys(self) -> ManageProviderKeys:
        return ManageProviderKeys(
            self.database,
            EnvelopeVault(MASTERS),
            MemoryMasterKeyUsage(self.store),
            self.clock,
            self.telemetry,
            allowed_urls=[self.stub.base_url],
            on_change=self.access.forget,
        )

    async def bring(
        self, org_id: UUID, provider: Provider = Provider.OPENAI, key: str = KEY, url: str | None = None
    ) -> None:
        await self.keys.set(org_id, NewProviderKey(provider, Secret(key), url), "ada")

    @property
    def authorisations(self) -> list[str]:
        return [request.headers["authorization"] for request in self.stub.received]


@asynccontextmanager
async def opened(stub: ProviderStub) -> AsyncIterator[World]:
    world = World(stub)
    try:
        yield world
    finally:
        await world.told()
        await world.ledger.aclose()
        await world.clients.aclose()


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub(dimensions=8, key=KEY) as running:
        yield running


async def test_an_organisation_without_a_key_works_with_the_platforms_models(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.organisation()

        embedders = await world.access.of(workspace)
        await embedders.default.embed(["a text"])

        assert embedders.default.space.provider == "deterministic"
        assert await world.access.client_for(workspace) is None
        assert stub.received == []


async def test_who_must_bring_a_key_and_has_none_is_refused_before_any_call(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.organisation()
        await world.decide(workspace.org_id, ModelChanges(must_bring_key=True))

        with pytest.raises(MissingProviderKey):
            await world.access.of(workspace)
        with pytest.raises(MissingProviderKey):
            await world.access.client_for(workspace)

        assert stub.received == []


async def test_calls_carry_the_organisations_own_key_and_nobody_elses(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        ours, theirs = await world.organisation(), await world.organisation()
        await world.bring(ours.org_id)
        await world.bring(theirs.org_id, key="sk-theirs-0123456789abcdef")

        space = EmbeddingSpace("openai", "text-embedding-3-small", 8)
        await (await world.access.of(ours)).for_space(space).embed(["ours"])
        with pytest.raises(Permanent) as refusal:
            await (await world.access.of(theirs)).for_space(space).embed(["theirs"])

        assert world.authorisations == [f"Bearer {KEY}", "Bearer sk-theirs-0123456789abcdef"]
        assert refusal.value.code == "PROVIDER_KEY_REJECTED"


async def test_gemini_is_reached_by_its_compatible_route_with_native_dimensions(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.organisation()
        await world.bring(workspace.org_id, Provider.GEMINI)

        embedder = (await world.access.of(workspace)).default
        vectors = await embedder.embed(["a text"])

        assert embedder.space == EmbeddingSpace("gemini", "gemini-embedding-001", 3072)
        assert vectors.shape == (1, 3072)
        assert stub.received[0].path == "/v1beta/openai/embeddings"


async def test_shortened_vectors_are_asked_for_and_brought_to_unit_length(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.organisation()
        await world.bring(workspace.org_id, Provider.GEMINI)

        embedders = await world.access.of(workspace)
        vectors = await embedders.for_space(replace(embedders.default.space, dimensions=768)).embed(["a text"])

        assert stub.received[0].body["dimensions"] == 768
        assert vectors.shape == (1, 768)
        assert np.linalg.norm(vectors[0]) == pytest.approx(1.0, abs=1e-5)


async def test_a_workspace_of_more_dimensions_than_the_model_has_gets_zeros_behind(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.organisation()
        await world.bring(workspace.org_id, Provider.COMPATIBLE, url=stub.base_url)
        await world.decide(workspace.org_id, ModelChanges(embedding="compatible:nomic-embed-text:8"))

        embedders = await world.access.of(workspace)
        embedder = embedders.for_space(replace(embedders.default.space, dimensions=16))
        [vector] = await embedder.embed(["a text"])

        assert embedder.space == EmbeddingSpace("compatible", "nomic-embed-text", 16)
        assert "dimensions" not in stub.received[0].body
        plain = np.array(vector_for("a text", 8))
        np.testing.assert_allclose(vector[:8], plain / np.linalg.norm(plain), rtol=1e-5)
        assert not vector[8:].any()


async def test_a_retired_model_names_its_successor_instead_of_being_called(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.organisation()
        await world.bring(workspace.org_id, Provider.GEMINI)

        with pytest.raises(Permanent, match="gemini-embedding-001") as refusal:
            (await world.access.of(workspace)).for_space(EmbeddingSpace("gemini", "text-embedding-004", 768))

        assert refusal.value.code == "MODEL_RETIRED"
        assert stub.received == []


async def test_a_space_of_a_provider_without_a_key_is_refused(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.organisation()
        await world.bring(workspace.org_id, Provider.GEMINI)
        await world.decide(workspace.org_id, ModelChanges(must_bring_key=True))

        with pytest.raises(MissingProviderKey, match="openai"):
            (await world.access.of(workspace)).for_space(EmbeddingSpace("openai", "text-embedding-3-small", 1536))


async def test_the_default_model_answers_with_the_organisations_key(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.organisation()
        await world.bring(workspace.org_id)
        await world.decide(workspace.org_id, ModelChanges(default_model="openai:gpt-4o-mini"))

        advisor = await world.access.client_for(workspace)

        assert advisor is not None
        assert advisor.model == "gpt-4o-mini"


async def test_a_new_key_is_used_at_once_here_and_soon_elsewhere(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.organisation()
        elsewhere = world.process()
        await world.bring(workspace.org_id, key="sk-old-0123456789abcdef")
        space = EmbeddingSpace("openai", "text-embedding-3-small", 8)
        await elsewhere.of(workspace)
        await world.bring(workspace.org_id)

        await (await world.access.of(workspace)).for_space(space).embed(["here"])
        world.clock.ahead += FRESH_SECONDS
        await (await elsewhere.of(workspace)).for_space(space).embed(["there"])

        assert world.authorisations == [f"Bearer {KEY}"] * 2


async def test_a_key_that_does_not_open_stops_nothing_that_needs_none(stub: ProviderStub) -> None:
    local, theirs = DeterministicEmbedder().space, EmbeddingSpace("openai", "text-embedding-3-small", 8)
    async with opened(stub) as world:
        workspace = await world.organisation()
        await world.bring(workspace.org_id)
        world.access = world.process({"one": bytes(31) + b"1"})

        embedders = await world.access.of(workspace)
        await embedders.for_space(local).embed(["a text"])
        refused = []
        for needed in (lambda: embedders.default, lambda: embedders.for_space(theirs)):
            with pytest.raises(Permanent) as refusal:
                needed()
            refused.append(refusal.value.code)

        assert await world.access.client_for(workspace) is None
        await world.decide(workspace.org_id, ModelChanges(default_model="openai:gpt-5"))
        with pytest.raises(Permanent) as refusal:
            await world.access.client_for(workspace)

    assert [*refused, refusal.value.code] == ["PROVIDER_KEY_UNREADABLE"] * 3
    assert stub.received == []


@pytest.mark.parametrize("has_key", [True, False])
async def test_requests_that_a_missing_or_broken_key_refuses_leave_nothing_in_memory(
    stub: ProviderStub, has_key: bool
) -> None:
    class Body:
        """What a request holds."""

    bodies = list[ReferenceType[Body]]()

    async def refuse(world: World, workspace: WorkspaceRef) -> None:
        body = Body()
        bodies.append(ref(body))
        with pytest.raises(Permanent if has_key else MissingProviderKey):
            await world.access.client_for(workspace)

    async with opened(stub) as world:
        workspace = await world.organisation()
        if has_key:
            await world.bring(workspace.org_id)
            world.access = world.process({"one": bytes(31) + b"1"})
        await world.decide(workspace.org_id, ModelChanges(default_model="openai:gpt-5", must_bring_key=True))
        for _ in range(3):
            await refuse(world, workspace)
        gc.collect()

        assert [body() for body in bodies] == [None] * 3


async def test_a_removed_key_is_used_no_more(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.organisation()
        await world.bring(workspace.org_id)
        await world.decide(workspace.org_id, ModelChanges(must_bring_key=True))
        await world.access.of(workspace)

        await world.keys.remove(workspace.org_id, Provider.OPENAI, "ada")

        with pytest.raises(MissingProviderKey):
            await world.access.of(workspace)


async def test_organisations_share_their_connections(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        for _ in range(5):
            workspace = await world.organisation()
            await world.bring(workspace.org_id)
            space = EmbeddingSpace("openai", "text-embedding-3-small", 8)
            await (await world.access.of(workspace)).for_space(space).embed(["a text"])

        assert len(stub.connections) == 1


SMALL = EmbeddingSpace("openai", "text-embedding-3-small", 8)


async def test_each_call_is_written_down_with_the_tokens_the_provider_states(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.workspace_of((await world.organisation()).org_id)
        await world.bring(workspace.org_id)
        embedder = (await world.access.of(workspace)).for_space(SMALL)

        await embedder.embed(["12345"])
        await embedder.embed(["123", "45"])
        await world.ledger.flush()

        async with world.database.transaction(workspace.org_id) as transaction:
            [line] = await transaction.usage.between(date.min, date.max)
        assert (line.key.workspace_id, line.key.kind, line.key.model) == (
            workspace.workspace_id,
            "embedding",
            "text-embedding-3-small",
        )
        assert (line.key.own_key, line.calls, line.input_tokens, line.unpriced_calls) == (True, 2, 10, 0)
        assert line.cost_usd == pytest.approx(10 * 0.02 / 1e6)
        tokens = ("rag_tokens_total", (("kind", "embedding"),))
        assert world.telemetry.counters[tokens] == 10


async def test_a_spent_budget_stops_the_next_call_before_it_is_made(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.workspace_of((await world.organisation()).org_id)
        await world.bring(workspace.org_id)
        await world.limit(workspace.org_id, None, SpendingLimits(day_usd=0.000_000_2, soft_share=0.5))
        embedder = (await world.access.of(workspace)).for_space(SMALL)
        await embedder.embed(["123456789"])

        with pytest.raises(BudgetExceeded) as refusal:
            await embedder.embed(["123456789"])
        with pytest.raises(BudgetExceeded):
            await embedder.embed(["1"] * 1000)

        assert len(stub.received) == 1
        assert refusal.value.limit_usd == 0.000_000_2
        assert refusal.value.spent_usd == pytest.approx(9 * 0.02 / 1e6)
        assert refusal.value.resets_at is not None
        assert len(await world.told()) == 1


async def test_a_soft_limit_is_told_once_over_all_processes_and_stands_in_the_audit_log(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.workspace_of((await world.organisation()).org_id)
        await world.bring(workspace.org_id)
        await world.limit(workspace.org_id, None, SpendingLimits(day_usd=1e-6, month_usd=9.0, soft_share=0.1))
        await world.limit(workspace.org_id, workspace.workspace_id, SpendingLimits(day_usd=1e-6, soft_share=0.1))

        for process in (world.access, world.process(), world.process()):
            for _ in range(2):
                await (await process.of(workspace)).for_space(SMALL).embed(["123456789"])

        assert len(await world.told()) == 2
        async with world.database.transaction(workspace.org_id) as transaction:
            records = (await transaction.audit.page(PageRequest())).items
        told = [record for record in records if record.action == "budget.soft_limit"]
        assert {(record.subject, record.workspace_id) for record in told} == {
            (str(workspace.org_id), None),
            (str(workspace.workspace_id), workspace.workspace_id),
        }
        assert [record.detail["period"] for record in told] == ["day", "day"]


class _Away(MemoryDatabase):
    """Fails while it is away."""

    away = True

    def transaction(self, org_id: UUID) -> Any:
        if self.away:
            raise DependencyUnavailable("The database does not answer.", dependency="postgres")
        return super().transaction(org_id)


async def test_a_soft_limit_that_could_not_be_written_is_told_with_a_later_call() -> None:
    store, telemetry, org_id = MemoryStore(SystemClock()), RecordingTelemetry(), uuid4()
    await MemoryOrganisations(store).ensure_organisation(org_id, "ours")
    database = _Away(store)
    limits = BudgetAlerts(database, telemetry)
    [ceiling] = ceilings("organisation", SpendingLimits(day_usd=1.0), Expenditure(0.9, 0.9), date(2026, 11, 22))
    limits.record_alert(WorkspaceRef(org_id, uuid4()), ceiling)
    await limits.aclose()
    database.away = False

    limits.record_alert(WorkspaceRef(org_id, uuid4()), ceiling)
    await limits.aclose()

    assert [event.name for event in telemetry.events] == ["rag_budget_soft_limit"]


@pytest.mark.tells("rag_budget_soft_limit")
async def test_a_workspaces_budget_leaves_its_neighbours_alone(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        org_id = (await world.organisation()).org_id
        poor, free = await world.workspace_of(org_id), await world.workspace_of(org_id)
        await world.bring(org_id)
        await world.limit(org_id, poor.workspace_id, SpendingLimits(month_usd=0.0))

        with pytest.raises(BudgetExceeded, match="workspace's budget"):
            await (await world.access.of(poor)).for_space(SMALL).embed(["text"])
        await (await world.access.of(free)).for_space(SMALL).embed(["text"])

        assert len(stub.received) == 1


async def test_what_costs_nothing_needs_no_budget(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        workspace = await world.workspace_of((await world.organisation()).org_id)
        await world.limit(workspace.org_id, None, SpendingLimits(day_usd=0.0))

        await world.access.admit(workspace)
        assert len(await (await world.access.of(workspace)).default.embed(["a text"])) == 1


async def test_a_served_model_without_a_price_to_pay_is_written_down_and_held_by_no_budget(stub: ProviderStub) -> None:
    async with opened(stub) as world:
        world.prices = PriceTable({SMALL.model: TokenPrice(0.0)})
        workspace = await world.workspace_of((await world.organisation()).org_id)
        await world.bring(workspace.org_id)
        await world.limit(workspace.org_id, None, SpendingLimits(day_usd=0.0))

        await (await world.access.of(workspace)).for_space(SMALL).embed(["12345"])
        await world.ledger.flush()

        async with world.database.transaction(workspace.org_id) as transaction:
            [line] = await transaction.usage.between(date.min, date.max)
        assert (line.calls, line.input_tokens, line.cost_usd, line.unpriced_calls) == (1, 5, 0.0, 0)
