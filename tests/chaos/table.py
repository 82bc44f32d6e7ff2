"""The rows of `make chaos`, by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from tests.bench.reports import Row
from tests.chaos.ground import Servers
from tests.chaos.rows import (
    deletes,
    files,
    graphs,
    kills,
    leases,
    mixed_files,
    outages,
    overload,
    random_faults,
    runs_at_once,
    throughput,
    verifying,
)

Measure = Callable[[Servers, bool], Awaitable[list[Row]]]
"""Measures rows of the table; the second argument asks for the short form."""

TABLE: Mapping[str, Measure] = {
    "random-kills": kills.random_kills,
    "random-kills-neo4j": kills.random_kills_neo4j,
    "random-faults": random_faults.random_faults,
    "graph-kills-neo4j": graphs.killed_graph_writers,
    "sigstop-neo4j": graphs.stopped_graph_writers,
    "neo4j-down": graphs.neo4j_down,
    "neo4j-slow": graphs.neo4j_slow,
    "step-kills": kills.step_kills,
    "crash-to-rerun": leases.crash_to_rerun,
    "sigstop": leases.stopped_workers,
    "poison": leases.poison,
    "hung": leases.hung_job,
    "sigterm": leases.sigterms,
    "redis": outages.redis_stopped,
    "handover": outages.handovers,
    "postgres": outages.postgres_restarted,
    "postgres-away": outages.postgres_away,
    "fairness": outages.fairness,
    "crowd": outages.crowd,
    "overload": overload.questions_at_once,
    "runs-at-once": runs_at_once.runs_at_once,
    "verify": verifying.verify_agrees,
    "deletes": deletes.deletes_in_mid_ingest,
    "files": files.hostile_files,
    "mixed-files-neo4j": mixed_files.disturbed_files,
    "throughput": throughput.ingest_throughput,
}
