"""The models of each organisation, created with its own key on first use and dropped when the key changes.

A process reloads the stored settings after `FRESH_SECONDS`; the process that changes a key drops its models at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError, NotFound
from agentic_rag.kernel.ttl_cache import TtlCache
from agentic_rag.models.billing.metered_models import ChatMeter, MeteredEmbedders, UsageMeters
from agentic_rag.models.billing.prices import FREE, PLATFORM
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.models.chat.ports import ChatModel
from agentic_rag.models.embedding.ports import CountingEmbedder, Embedder, Embedders
from agentic_rag.models.embedding.space import KNOWN_DIMENSIONS, EmbeddingSpace, SpaceChoice
from agentic_rag.models.providers.llm_client import CoolDown, LlmClient
from agentic_rag.models.providers.model_choice import (
    ModelSettings,
    ResolvedModels,
    missing_key,
    require_current,
    resolve_models,
)
from agentic_rag.models.providers.ports import Credentials, KeyVault, ModelMaker
from agentic_rag.models.providers.provider_keys import Provider, ProviderKey
from agentic_rag.tenancy.principals import WorkspaceRef

Opened = Mapping[Provider, Credentials | AgenticRagError]
"""What keys opened to, by provider. The error of one that does not open is raised where the key is needed: nothing else
of its organisation waits for it, and no other key takes its place.
"""

FRESH_SECONDS = 5.0
"""Seconds for which another process may still use a key that was replaced or removed."""

MAX_ORGANISATIONS = 256
"""Organisations whose decrypted keys a process caches at a time."""


@dataclass(frozen=True, slots=True)
class PlatformModels:
    """The models of organisations without their own key; `advisor` is None without a chat model."""

    embedders: Embedders
    llm_client: LlmClient | None


@dataclass(slots=True)
class _TenantState:
    """The stored settings of an organisation as last loaded, and the clients created from them."""

    settings: ModelSettings
    keys: tuple[tuple[Provider, bytes, str | None], ...]
    resolution: ResolvedModels | AgenticRagError
    credentials: Opened
    embedders: Embedders | None = None
    llm_client: LlmClient | None = None

    def require_resolution(self) -> ResolvedModels:
        """The resolved models. Errors: the error of the resolution."""
        if isinstance(self.resolution, AgenticRagError):
            raise self.resolution.anew()
        return self.resolution


class TenantModels:
    """Implements `models.embedding.ports.EmbedderSource` and `models.providers.llm_client.LlmClients` for organisations
    with and without keys.

    Errors of every method: `MissingProviderKey`, `InvalidInput` code EMBEDDING_MODEL_UNKNOWN, `Misconfigured` code
    MASTER_KEY_MISSING, `Permanent` code PROVIDER_KEY_UNREADABLE.
    """

    def __init__(
        self,
        database: Database,
        vault: KeyVault,
        maker: ModelMaker,
        platform: Callable[[], PlatformModels],
        advisor: Callable[[ChatModel, CoolDown], LlmClient],
        clock: Clock,
        meters: UsageMeters,
        brings_key: Callable[[UUID], bool] = lambda _: False,
    ) -> None:
        """`brings_key` says whether an organisation about which nothing was decided must bring its key."""
        self._database = database
        self._vault = vault
        self._maker = maker
        self._platform = platform
        self._advisor = advisor
        self._meters = meters
        self._brings_key = brings_key
        self._known = TtlCache(self._look, clock, seconds=FRESH_SECONDS, most=MAX_ORGANISATIONS)

    async def of(self, workspace: WorkspaceRef) -> Embedders:
        """The embedders of a workspace."""
        known = await self._known.get(workspace.org_id)
        resolution = known.require_resolution()
        if known.embedders is None:
            known.embedders = TenantEmbedders(
                self._platform().embedders, self._maker, known.settings, resolution, known.credentials
            )
        own_keys = frozenset(provider.value for provider in known.credentials)
        return MeteredEmbedders(self._meters, workspace, known.embedders, own_keys)

    async def admit(self, workspace: WorkspaceRef) -> None:
        """Admit work that needs embeddings. Errors: `BudgetExceeded`, unless embeddings are free."""
        if await self.is_billed(workspace):
            await self._meters.budgets.admit(workspace, 0.0, UsageKind.EMBEDDING)

    async def is_billed(self, workspace: WorkspaceRef) -> bool:
        """Whether the price of the workspace's embedder is another than 0, or unknown."""
        return self._meters.prices.of_space((await self.of(workspace)).default.space) != FREE

    async def client_for(self, workspace: WorkspaceRef) -> LlmClient | None:
        """The chat client of a workspace; None when rules do all tasks."""
        known = await self._known.get(workspace.org_id)
        resolution = known.require_resolution()
        if resolution.chat is None:
            platform = None if known.settings.must_bring_key else self._platform().llm_client
            if platform is None:
                return None
            return platform.with_account(ChatMeter(self._meters, workspace, PLATFORM, own_key=False))
        if known.llm_client is None:
            opened = _require_key(known.credentials[resolution.chat.provider])
            model = self._maker.chat(opened, resolution.chat.model)
            known.llm_client = self._advisor(model, CoolDown())
        return known.llm_client.with_account(
            ChatMeter(self._meters, workspace, resolution.chat.provider.value, own_key=True)
        )

    async def check(self, org_id: UUID) -> None:
        """Check that the organisation's documents can be embedded. Errors: those of every method."""
        (await self._known.get(org_id)).require_resolution()

    async def settings(self, org_id: UUID) -> ModelSettings:
        """The organisation's own model settings."""
        return (await self._known.get(org_id)).settings

    def forget(self, org_id: UUID) -> None:
        """Drop the cached models, so that the next use reloads the settings."""
        self._known.forget(org_id)

    async def _look(self, org_id: UUID, known: _TenantState | None) -> _TenantState:
        settings, keys = await self._load_settings(org_id)
        identity = tuple((key.provider, key.sealed.ciphertext, key.base_url) for key in keys)
        if known is not None and (known.settings, known.keys) == (settings, identity):
            return known
        return _TenantState(settings, identity, _resolution(settings, keys), self._decrypt_keys(org_id, keys))

    async def _load_settings(self, org_id: UUID) -> tuple[ModelSettings, list[ProviderKey]]:
        async with self._database.transaction(org_id) as transaction:
            try:
                organisation = await transaction.organisations.current()
            except NotFound:
                return ModelSettings(), []
            settings = organisation.settings.models.decide(by_default=self._brings_key(org_id))
            return settings, await transaction.providers.keys()

    def _decrypt_keys(self, org_id: UUID, keys: list[ProviderKey]) -> Opened:
        return {key.provider: self._decrypt(org_id, key) for key in keys}

    def _decrypt(self, org_id: UUID, key: ProviderKey) -> Credentials | AgenticRagError:
        try:
            opened = self._vault.open(org_id, key.provider.value, key.sealed)
        except AgenticRagError as error:
            return error
        return Credentials(key.provider, opened, key.base_url)


class TenantEmbedders:
    """Implements `models.embedding.ports.Embedders` for one organisation."""

    def __init__(
        self,
        platform: Embedders,
        maker: ModelMaker,
        settings: ModelSettings,
        resolution: ResolvedModels,
        credentials: Opened,
    ) -> None:
        self._platform = platform
        self._maker = maker
        self._settings = settings
        self._resolution = resolution
        self._credentials = credentials
        self._made: dict[EmbeddingSpace, Embedder] = {}

    @property
    def default(self) -> Embedder:
        """The embedder of a workspace without vectors."""
        chosen = self._resolution.embedding
        if chosen is None:
            return self._platform.default
        return self.for_space(EmbeddingSpace(chosen.provider.value, chosen.model, chosen.dimensions))

    def for_space(self, space: EmbeddingSpace) -> Embedder:
        """The embedder of a space. Errors: `MissingProviderKey`, `Permanent` code MODEL_RETIRED, `SpaceMismatch`, and
        that of a key that does not open.
        """
        if space.is_local:
            return self._platform.for_space(space)
        require_current(space.model)
        provider = Provider(space.provider)
        if provider not in self._credentials:
            if self._settings.must_bring_key or provider is not Provider.OPENAI:
                raise missing_key(provider)
            return self._platform.for_space(space)
        made = self._made.get(space)
        if made is None:
            made = self._made[space] = self._make(space, _require_key(self._credentials[provider]))
        return made

    def resolve_space(self, choice: SpaceChoice) -> EmbeddingSpace:
        """The space that a user named."""
        return self._platform.resolve_space(choice)

    def _make(self, space: EmbeddingSpace, credentials: Credentials) -> Embedder:
        native = self._native(space)
        if native is None or native >= space.dimensions:
            return self._maker.embedder(credentials, space)
        return PaddedEmbedder(self._maker.embedder(credentials, replace(space, dimensions=native)), space.dimensions)

    def _native(self, space: EmbeddingSpace) -> int | None:
        chosen = self._resolution.embedding
        if chosen is not None and (chosen.provider.value, chosen.model) == (space.provider, space.model):
            return KNOWN_DIMENSIONS.get(space.model, chosen.dimensions)
        return KNOWN_DIMENSIONS.get(space.model)


def _require_key(found: Credentials | AgenticRagError) -> Credentials:
    """Errors: that of a key that does not open."""
    if isinstance(found, AgenticRagError):
        raise found.anew()
    return found


def _resolution(settings: ModelSettings, keys: list[ProviderKey]) -> ResolvedModels | AgenticRagError:
    try:
        return resolve_models(settings, frozenset(key.provider for key in keys))
    except AgenticRagError as error:
        return error


def pad_vectors(vectors: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    """Pad the rows with zeros to `dimensions`, which is not smaller than their length."""
    return np.pad(vectors, ((0, 0), (0, dimensions - vectors.shape[1])))


class PaddedEmbedder:
    """Implements `models.embedding.ports.Embedder` over `inner`; the two spaces differ in dimensions only."""

    def __init__(self, inner: Embedder, dimensions: int) -> None:
        self._inner = inner
        self._space = replace(inner.space, dimensions=dimensions)

    @property
    def space(self) -> EmbeddingSpace:
        """The space of all vectors of this embedder."""
        return self._space

    @property
    def batch_size(self) -> int:
        """The largest batch worth sending in one call."""
        return self._inner.batch_size

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length vectors, shape (len(texts), dimensions), in the order of `texts`."""
        return pad_vectors(await self._inner.embed(texts), self._space.dimensions)

    async def embed_with_usage(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int | None]:
        """As `embed`, with the tokens that the provider charges for."""
        if not isinstance(self._inner, CountingEmbedder):
            return await self.embed(texts), None
        vectors, tokens = await self._inner.embed_with_usage(texts)
        return pad_vectors(vectors, self._space.dimensions), tokens

    async def aclose(self) -> None:
        """Release connections."""
        await self._inner.aclose()
