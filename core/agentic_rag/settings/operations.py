"""Settings of operators: scheduled work, logs and traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from agentic_rag.settings.variable import Env


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationsConfig:
    """Scheduled canaries and snapshots, and where telemetry goes."""

    leak_canaries_minutes: Annotated[float, Env("AGENTIC_RAG_LEAK_CANARIES_MINUTES"), Meta(ge=0)] = 0.0
    """Test the isolation between organisations this often, with a canary document in each; 0 for never."""
    snapshot_every_hours: Annotated[float, Env("AGENTIC_RAG_SNAPSHOT_EVERY_HOURS"), Meta(ge=0)] = 0.0
    """Take a snapshot of each changed workspace this often; 0 for none."""
    snapshot_keep: Annotated[int, Env("AGENTIC_RAG_SNAPSHOT_KEEP"), Meta(ge=1)] = 7
    """How many scheduled snapshots of a workspace are kept; requested ones stay until deleted."""
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Env("AGENTIC_RAG_LOG_LEVEL")] = "info"
    """Least level logged."""
    otlp_endpoint: Annotated[str, Env("OTEL_EXPORTER_OTLP_ENDPOINT", is_url=True)] = ""
    """OTLP/HTTP collector; empty means no exporter."""
    service_name: Annotated[str, Env("OTEL_SERVICE_NAME")] = "agentic-rag"
    """Service name on spans."""
