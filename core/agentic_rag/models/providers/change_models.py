"""Sets the models of an organisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import MissingProviderKey
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.space import KNOWN_DIMENSIONS
from agentic_rag.models.providers.model_choice import ModelSettings, parse_embedding, parse_model
from agentic_rag.tenancy.audit import AuditAction, differences
from agentic_rag.tenancy.record_audit import audit


@dataclass(frozen=True, slots=True)
class ModelChanges:
    """Changes to the model settings. None keeps a value; an empty text resets it."""

    default_model: str | None = None
    """`PROVIDER:MODEL`."""
    embedding: str | None = None
    """`PROVIDER:MODEL[:DIMENSIONS]`."""
    must_bring_key: bool | None = None


class ChangeModels:
    """The use case behind `updateModelSettings`. `on_change` is called with each organisation whose models changed;
    `brings_key` says whether one about which nothing was decided must bring its key.
    """

    def __init__(
        self,
        database: Database,
        telemetry: Telemetry,
        *,
        on_change: Callable[[UUID], None] = lambda _: None,
        brings_key: Callable[[UUID], bool] = lambda _: False,
    ) -> None:
        self._database = database
        self._telemetry = telemetry
        self._on_change = on_change
        self._brings_key = brings_key

    async def current(self, org_id: UUID) -> ModelSettings:
        """The current settings. Errors: `NotFound` (organisation)."""
        async with self._database.transaction(org_id) as transaction:
            settings = (await transaction.organisations.current()).settings.models
        return settings.decide(by_default=self._brings_key(org_id))

    async def run(self, org_id: UUID, changes: ModelChanges, actor: str) -> ModelSettings:
        """Apply the changes. Errors: `InvalidInput` (codes include MODEL_RETIRED), `NotFound` (organisation)."""
        wished = _parse_changes(changes)
        async with self._database.transaction(org_id) as transaction:
            before = (await transaction.organisations.current()).settings.models
            changed = await transaction.organisations.change(
                lambda settings: replace(settings, models=replace(settings.models, **wished))
            )
            told = differences(before, changed.settings.models)
            await audit(transaction, self._telemetry, AuditAction.CHANGE_MODELS, None, org_id, actor, **told)
            if changes.must_bring_key is False:
                # Documents that failed for want of a key go on with the platform's.
                await transaction.jobs.repeat_failed(MissingProviderKey.code)
        self._on_change(org_id)
        return changed.settings.models.decide(by_default=self._brings_key(org_id))


def _parse_changes(changes: ModelChanges) -> dict[str, Any]:
    """The settings that change, by their names."""
    wished: dict[str, Any] = {}
    if changes.default_model is not None:
        wished["default_model"] = parse_model(changes.default_model) if changes.default_model else None
    if changes.embedding is not None:
        wished["embedding"] = parse_embedding(changes.embedding, KNOWN_DIMENSIONS) if changes.embedding else None
    if changes.must_bring_key is not None:
        wished["must_bring_key"] = changes.must_bring_key
    return wished
