"""The rows of `make operate`, by name: those of each part that is measured by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tests.bench.capacity import Foretold
from tests.bench.reports import Row, at_least, at_most, exactly
from tests.operate.drill import Drill
from tests.operate.earlier import Meetings
from tests.operate.replica import Lagging
from tests.operate.rolling import CLIENTS, Rolling
from tests.operate.telemetry import TelemetryCost
from tests.operate.upgrades import Upgrades

RESTORE_SECONDS = 60.0
"""For 20,000 chunks."""
STOP_SECONDS = 5.0
WAIT_SECONDS = 0.2
TELEMETRY_PERCENT = 5.0
"""Of an answer's processor time without an exporter."""
REPLICA_PERCENT = 10.0
"""Of the snapshots, those that the lagging replica must serve: else the answers say nothing of it."""

CAPACITY_PERCENT = 25.0
"""That a point which the capacity model was not fitted to may be off."""

CAPACITY: Mapping[str, Callable[[Sequence[Foretold]], Row]] = {
    "capacity": lambda told: at_most(
        f"most that the capacity model is off at {len(told)} points held back, recomputed from the measured ones",
        max(100.0 * abs(one.error) for one in told), CAPACITY_PERCENT, " %", timed=False,
    ),
}  # fmt: skip

DRILL: Mapping[str, Callable[[Drill], Row]] = {
    "seconds": lambda one: at_most(
        f"backup and restore of {one.chunks:,} chunks ({one.rows:,} rows), every file checked", one.seconds,
        RESTORE_SECONDS, " s",
    ),
    "answers": lambda one: exactly(f"of {one.questions} answers, bytes that changed by it", one.answers_changed, 0),
    "erased": lambda one: exactly("documents erased since that came back", one.documents_back, 0),
    "verified": lambda one: exactly("errors that rag verify --full finds after it", one.findings, 0),
    "originals": lambda one: exactly("originals that it lost or changed", one.originals_changed, 0),
}  # fmt: skip

EARLIER: Mapping[str, Callable[[Meetings], Row]] = {
    "old answers": lambda one: exactly(
        f"of {one.answers} answers of {len(one.met)} programs of earlier schemas ({one.schemas}), those that the "
        "migration changed, or refusals without SCHEMA_TOO_NEW",
        one.total(lambda met: met.changed), 0,
    ),
    "new answers": lambda one: exactly(
        "answers from what they wrote, before and after it, that the current program lacks",
        one.total(lambda met: met.lost), 0,
    ),
    "silent": lambda one: exactly(
        "questions to the current program that migrated, or were not refused with SCHEMA_TOO_OLD",
        one.total(lambda met: int(met.is_silent)), 0,
    ),
}  # fmt: skip

REPLICA: Mapping[str, Callable[[Lagging], Row]] = {
    "stale": lambda one: exactly(
        f"of {one.answers:,} answers beside a replica that lags at random ({one.told:,} tell the number asked for, "
        f"{one.used:,} were read there), stale",
        one.stale, 0,
    ),
    "read": lambda one: at_least(
        f"of {one.snapshots:,} snapshots, those that it served", 100.0 * one.share, REPLICA_PERCENT, " %"
    ),
    "failed": lambda one: exactly("questions that failed or were degraded by its lags", one.failed, 0),
}  # fmt: skip

ROLLING: Mapping[str, Callable[[Rolling], Row]] = {
    "rolling": lambda one: exactly(
        f"of {one.requests:,} requests of {CLIENTS} clients during {one.restarts} restarts and a migration, failed",
        one.failures.total(), 0,
    ),
    "stop": lambda one: at_most(
        "slowest stop of a server whose collector does not answer", one.slowest_stop, STOP_SECONDS, " s"
    ),
}  # fmt: skip

TELEMETRY: Mapping[str, Callable[[TelemetryCost], Row]] = {
    "telemetry": lambda one: at_most(
        f"processor time that telemetry adds to an answer ({one.answers} answers of {one.milliseconds:.0f} ms, paired)",
        100.0 * one.share, TELEMETRY_PERCENT, " %",
    ),
    "exported": lambda one: exactly(
        f"exports that lack runs, metrics or logs ({one.spans:,} spans, {one.records:,} log records)",
        int(not one.is_whole), 0,
    ),
}  # fmt: skip

UPGRADES: Mapping[str, Callable[[Upgrades], Row]] = {
    "kept": lambda one: exactly(
        f"tables whose rows changed when {one.schemas} earlier schemas were upgraded", one.tables_changed, 0
    ),
    "upgraded": lambda one: exactly(
        f"of {one.questions} answers after each upgrade ({one.chunks:,} chunks), bytes that changed",
        one.answers_changed, 0,
    ),
    "waits": lambda one: at_most(
        "longest that a statement took while a schema was upgraded", one.longest_wait, WAIT_SECONDS, " s"
    ),
}  # fmt: skip
