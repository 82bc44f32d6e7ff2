"""JSON form of the settings on models and spending, for organisations and workspaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.models.billing.limits import DEFAULT_SOFT_SHARE, SpendingLimits
from agentic_rag.models.providers.model_choice import EmbeddingChoice, ModelChoice, ModelSettings
from agentic_rag.models.providers.provider_keys import Provider


def models_to_json(settings: ModelSettings) -> dict[str, Any]:
    """The settings as JSON."""
    chat, embedding = settings.default_model, settings.embedding
    return {
        "default_model": chat and {"provider": chat.provider.value, "model": chat.model},
        "embedding": embedding
        and {
            "provider": embedding.provider.value,
            "model": embedding.model,
            "dimensions": embedding.dimensions,
        },
        "must_bring_key": settings.must_bring_key,
    }


def read_models(stored: Mapping[str, Any]) -> ModelSettings:
    """The inverse of `models_to_json`; empty JSON gives the defaults."""
    chat, embedding = stored.get("default_model"), stored.get("embedding")
    return ModelSettings(
        default_model=chat and ModelChoice(Provider(chat["provider"]), chat["model"]),
        embedding=embedding
        and EmbeddingChoice(Provider(embedding["provider"]), embedding["model"], embedding["dimensions"]),
        must_bring_key=stored.get("must_bring_key") is True,
    )


def limits_to_json(limits: SpendingLimits) -> dict[str, Any]:
    """The spending limits as JSON."""
    return {"day_usd": limits.day_usd, "month_usd": limits.month_usd, "soft_share": limits.soft_share}


def read_limits(stored: Mapping[str, Any]) -> SpendingLimits:
    """The inverse of `limits_to_json`; empty JSON gives no limit."""
    return SpendingLimits(stored.get("day_usd"), stored.get("month_usd"), stored.get("soft_share", DEFAULT_SOFT_SHARE))
