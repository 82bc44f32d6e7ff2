"""Settings of operators: scheduled work, logs and traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from agentic_rag.settings.variable import Env, parse_pairs

_MISSING, _SNAPSHOTS = "missing_hours", "snapshots"


@dataclass(frozen=True, slots=True)
class RetentionTimes:
    """How long documents stay that their source no longer has, and how many scheduled snapshots of a workspace."""

    missing_hours: float = 24.0
    snapshots: int = 7


def parse_retention(text: str) -> RetentionTimes:
    """The values of `missing_hours=24,snapshots=7`. Errors: ValueError."""
    pairs = parse_pairs(text, (_MISSING, _SNAPSHOTS))
    standard = RetentionTimes()
    try:
        hours = float(pairs.get(_MISSING, standard.missing_hours))
        snapshots = int(pairs.get(_SNAPSHOTS, standard.snapshots))
    except ValueError:
        hours, snapshots = -1.0, 0
    if not (0 <= hours <= 24 * 365 and snapshots >= 1):
        raise ValueError(f"expected {_MISSING} from 0 to 8760, and {_SNAPSHOTS} from 1")
    return RetentionTimes(hours, snapshots)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationsConfig:
    """Scheduled canaries and snapshots, and where telemetry goes."""

    leak_canaries_minutes: Annotated[float, Env("AGENTIC_RAG_LEAK_CANARIES_MINUTES"), Meta(ge=0)] = 0.0
    """Test the isolation between organisations this often, with a canary document in each; 0 for never."""
    snapshot_every_hours: Annotated[float, Env("AGENTIC_RAG_SNAPSHOT_EVERY_HOURS"), Meta(ge=0)] = 0.0
    """Take a snapshot of each changed workspace this often; 0 for none."""
    retention: Annotated[str, Env("AGENTIC_RAG_RETENTION", check=parse_retention)] = "missing_hours=24,snapshots=7"
    """How long things are kept: hours that documents stay hidden which their source no longer has, before they are
    erased (0: at once), and scheduled snapshots of a workspace; requested ones stay until deleted.
    """
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Env("AGENTIC_RAG_LOG_LEVEL")] = "info"
    """Least level logged."""
    otlp_endpoint: Annotated[str, Env("OTEL_EXPORTER_OTLP_ENDPOINT", is_url=True)] = ""
    """OTLP/HTTP collector; empty means no exporter."""
    service_name: Annotated[str, Env("OTEL_SERVICE_NAME")] = "agentic-rag"
    """Service name on spans."""

    @property
    def retention_times(self) -> RetentionTimes:
        """AGENTIC_RAG_RETENTION, parsed."""
        return parse_retention(self.retention)
