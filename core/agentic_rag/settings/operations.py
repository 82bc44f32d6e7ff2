"""Settings of operators: scheduled work, logs and traces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from agentic_rag import __version__
from agentic_rag.settings.otel import parse_resource
from agentic_rag.settings.variable import Env, parse_pairs

_MISSING, _SNAPSHOTS = "missing_hours", "snapshots"
_CANARIES, _EVERY, _REST = "canaries_minutes", "snapshots_hours", "calibrate_minutes"


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


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often work is done that nobody asks for; 0 for never."""

    canaries_minutes: float = 0.0
    snapshots_hours: float = 0.0
    calibrate_minutes: float = 1.0
    """How long no document of a workspace has come in before it is calibrated."""


def parse_schedule(text: str) -> Schedule:
    """The values of `canaries_minutes=60,snapshots_hours=24,calibrate_minutes=1`. Errors: ValueError."""
    expected = f"expected {_CANARIES}, {_EVERY} and {_REST}, from 0"
    try:
        pairs = {name: float(value) for name, value in parse_pairs(text, (_CANARIES, _EVERY, _REST)).items()}
    except ValueError as error:
        raise ValueError(f"{expected}: {error}") from error
    if not all(0 <= value < math.inf for value in pairs.values()):
        raise ValueError(expected)
    return Schedule(**pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationsConfig:
    """Scheduled canaries and snapshots, and where telemetry goes."""

    scheduled: Annotated[str, Env("AGENTIC_RAG_SCHEDULE", check=parse_schedule)] = ""
    """What is done without being asked, and how often, as `canaries_minutes=60,snapshots_hours=24,calibrate_minutes=1`:
    a test of the isolation between organisations with a canary document in each, a snapshot of each changed workspace,
    and a calibration of each workspace whose documents stopped coming in so long ago. 0 is never; what is not named is
    never done, but for calibrations, which wait a minute.
    """
    retention: Annotated[str, Env("AGENTIC_RAG_RETENTION", check=parse_retention)] = "missing_hours=24,snapshots=7"
    """How long things are kept: hours that documents stay hidden which their source no longer has, before they are
    erased (0: at once), and scheduled snapshots of a workspace; requested ones stay until deleted.
    """
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Env("AGENTIC_RAG_LOG_LEVEL")] = "info"
    """Least level logged."""
    otlp_endpoint: Annotated[str, Env("OTEL_EXPORTER_OTLP_ENDPOINT", is_url=True)] = ""
    """Base URL of an OTLP collector of spans, metrics and logs; empty means that nothing is exported. Further `OTEL_*`
    variables: docs/observability.md.
    """
    resource: Annotated[str, Env("OTEL_RESOURCE_ATTRIBUTES", check=parse_resource)] = ""
    """What this process says of itself, as `service.name=rag,service.version=2026-11-27.1`. The version is the label of
    the deploy, by which the gate compares latencies; without one it is the version of the program. OTEL_SERVICE_NAME
    gives the name too, and goes first.
    """

    @property
    def service_name(self) -> str:
        """The name on spans."""
        return parse_resource(self.resource).get("service.name", "agentic-rag")

    @property
    def deploy(self) -> str:
        """The label of the deploy."""
        return parse_resource(self.resource).get("service.version", __version__)

    @property
    def schedule(self) -> Schedule:
        """AGENTIC_RAG_SCHEDULE, parsed."""
        return parse_schedule(self.scheduled)

    @property
    def retention_times(self) -> RetentionTimes:
        """AGENTIC_RAG_RETENTION, parsed."""
        return parse_retention(self.retention)
