"""Embedding and chat models, the keys that organisations bring, and spending."""

from __future__ import annotations

from functools import cached_property
from uuid import UUID

from agentic_rag.adapters.deterministic.embedder import DETERMINISTIC_SPACE, DeterministicEmbedder
from agentic_rag.adapters.onnx.embedder import OnnxEmbedder
from agentic_rag.adapters.openai.embedder import OpenAIEmbedder, takes_dimensions
from agentic_rag.adapters.openai.tenants import TenantClients
from agentic_rag.adapters.postgres.models.provider_keys import PostgresMasterKeyUsage
from agentic_rag.adapters.vault.envelope import EnvelopeVault
from agentic_rag.bootstrap.programs import open_chat_model, open_platform_client
from agentic_rag.bootstrap.tenancy import TenancyParts
from agentic_rag.kernel.errors import SpaceMismatch
from agentic_rag.models.billing.budget_alerts import BudgetAlerts
from agentic_rag.models.billing.enforce_budgets import EnforceBudgets
from agentic_rag.models.billing.manage_budgets import ManageBudgets
from agentic_rag.models.billing.metered_models import UsageMeters
from agentic_rag.models.billing.prices import PLATFORM
from agentic_rag.models.billing.usage_ledger import UsageLedger
from agentic_rag.models.billing.web_envelope import WebEnvelope
from agentic_rag.models.chat.ports import ChatModel
from agentic_rag.models.embedding.local_models import find_local_model, is_installed
from agentic_rag.models.embedding.ports import Embedder, Embedders
from agentic_rag.models.embedding.space import HASHED_PROVIDER, MODEL_PROVIDER, EmbeddingSpace
from agentic_rag.models.providers.change_models import ChangeModels
from agentic_rag.models.providers.embedder_registry import EmbedderRegistry
from agentic_rag.models.providers.llm_client import CoolDown, LlmClient
from agentic_rag.models.providers.manage_keys import ManageProviderKeys
from agentic_rag.models.providers.ports import KeyVault
from agentic_rag.models.providers.provider_keys import parse_master_keys
from agentic_rag.models.providers.tenant_models import PlatformModels, TenantModels
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID


class ModelParts(TenancyParts):
    """The room `models`."""

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of RAG_EMBEDDER."""
        if self.settings.models.embedder == "deterministic":
            return DeterministicEmbedder(self._compute)
        if self.settings.models.is_local_model:
            return self._onnx_embedder
        return self._openai_embedder(*self.settings.models.embedding)

    @cached_property
    def embedders(self) -> TenantModels:
        """The models of each organisation: with the key it brought, else those of this process."""
        settings = self.settings.models
        clients = TenantClients(
            settings.provider_urls,
            seconds=settings.timeout_seconds,
            temperature=settings.temperature,
            proxies=self.settings.proxies,
        )
        return TenantModels(
            self._small_reads,
            self._vault,
            self._owned(clients),
            lambda: PlatformModels(self.platform_embedders, self.llm_client),
            self._make_llm_client,
            self.clock,
            UsageMeters(self.budgets, self.usage_ledger, self.clock, settings.prices),
            self.brings_key,
        )

    def brings_key(self, org_id: UUID) -> bool:
        """Whether an organisation about which nothing was decided must bring its own key."""
        return org_id != DEFAULT_ORG_ID and self.settings.models.tenants_need_keys

    @cached_property
    def platform_embedders(self) -> Embedders:
        """The embedder of RAG_EMBEDDER for new workspaces, and one for each space that a workspace was switched to."""
        keyless = {HASHED_PROVIDER: lambda: DETERMINISTIC_SPACE, MODEL_PROVIDER: lambda: self._onnx_embedder.space}
        return EmbedderRegistry(self.embedder, self._embedder_for, keyless)

    @cached_property
    def _onnx_embedder(self) -> Embedder:
        return OnnxEmbedder(self.settings.model_directory)

    def _embedder_for(self, space: EmbeddingSpace) -> Embedder:
        if space == DETERMINISTIC_SPACE:
            return DeterministicEmbedder(self._compute)
        if space.provider == MODEL_PROVIDER:
            return self._local_embedder(space)
        if space.provider != "openai" or not self.settings.models.openai_api_key:
            raise SpaceMismatch(
                f"This process cannot embed with {space.name}: set OPENAI_API_KEY and OPENAI_BASE_URL, or switch the "
                "workspace to a space that it can."
            )
        return self._openai_embedder(space.model, space.dimensions)

    def _local_embedder(self, space: EmbeddingSpace) -> Embedder:
        """The configured model, or another that `rag model get` installed. Errors: `SpaceMismatch`."""
        directory = self.settings.stores.models / space.model
        if space.model == self.settings.model_directory.name:
            embedder: Embedder = self._onnx_embedder
        elif find_local_model(space.model) is not None and is_installed(directory):
            embedder = OnnxEmbedder(directory)
        else:
            raise _no_such_model(space)
        if embedder.space != space:
            raise _no_such_model(space)
        return embedder

    def _openai_embedder(self, model: str, dimensions: int) -> Embedder:
        client = open_platform_client(self.settings)
        return self._owned(OpenAIEmbedder(client, model, dimensions, send_dimensions=takes_dimensions(model)))

    @cached_property
    def _platform_llm_client(self) -> LlmClient:
        return self._make_llm_client(self._owned(open_chat_model(self.settings)))

    @property
    def llm_client(self) -> LlmClient | None:
        """The client of the platform's chat model; None without one."""
        return self._platform_llm_client if self.settings.models.chat_model else None

    def _make_llm_client(self, model: ChatModel, rest: CoolDown | None = None) -> LlmClient:
        settings = self.settings.models
        return LlmClient(
            model,
            self.clock,
            self.ids,
            self.telemetry,
            timeout_seconds=settings.timeout_seconds,
            price=settings.prices.of(PLATFORM, settings.chat_model),
            rest=rest,
        )

    @cached_property
    def usage_ledger(self) -> UsageLedger:
        return self._owned(UsageLedger(self._small_reads, self.telemetry))

    @cached_property
    def web_envelope(self) -> WebEnvelope:
        """The day's calls of the web."""
        return WebEnvelope(self._small_reads, self.clock, self.telemetry)

    @cached_property
    def budgets(self) -> EnforceBudgets:
        alerts = self._owned(BudgetAlerts(self._small_reads, self.telemetry))
        return EnforceBudgets(self._small_reads, self.usage_ledger, self.clock, alerts, self.processes)

    @cached_property
    def spending(self) -> ManageBudgets:
        return ManageBudgets(self.database, self.budgets, self.telemetry)

    @cached_property
    def _vault(self) -> KeyVault:
        return EnvelopeVault(parse_master_keys(self.settings.models.master_keys))

    @cached_property
    def provider_keys(self) -> ManageProviderKeys:
        """Stores, shows, removes and rewraps the keys that organisations bring."""
        return ManageProviderKeys(
            self.database,
            self._vault,
            PostgresMasterKeyUsage(self._pool),
            self.clock,
            self.telemetry,
            allowed_urls=self.settings.models.tenant_urls,
            on_change=self.embedders.forget,
        )

    @cached_property
    def change_models(self) -> ChangeModels:
        return ChangeModels(self.database, self.telemetry, on_change=self.embedders.forget, brings_key=self.brings_key)


def _no_such_model(space: EmbeddingSpace) -> SpaceMismatch:
    known = find_local_model(space.model)
    remedy = "set AGENTIC_RAG_MODEL_DIR to its directory" if known is None else f"run `rag model get {known.alias}`"
    return SpaceMismatch(
        f"This process has no model for {space.name}: {remedy}, or switch the workspace to a space that it can embed "
        "in."
    )
