"""All metrics of the product in one table: base units, `_total` on counters, no label that names a tenant.

Conventions: Prometheus, "Metric and label naming". docs/observability.md explains each metric to operators.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class MetricKind(enum.Enum):
    """The type of a metric."""

    COUNTER = "counter"
    HISTOGRAM = "histogram"
    GAUGE = "gauge"


FAST = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds; from half a millisecond (a cached answer) to the longest answer deadline."""

JOB = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Seconds; from one small file to the largest file within the parser's time limit."""

AGE = (3600.0, 86_400.0, 604_800.0, 2_592_000.0, 7_776_000.0, 31_536_000.0, 94_608_000.0)
"""Seconds; one hour, day, week, month, quarter, year, three years."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its label names, and bucket bounds when it is a histogram."""

    name: str
    kind: MetricKind
    description: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    is_summed: bool = False
    """A gauge of which processes that export together show the sum, not the greatest value."""


METRICS: tuple[Metric, ...] = (
    Metric(
        "rag_http_request_seconds",
        MetricKind.HISTOGRAM,
        "Time to answer an HTTP request, by route pattern and status.",
        ("route", "status"),
        FAST,
    ),
    Metric(
        "rag_stage_seconds",
        MetricKind.HISTOGRAM,
        "Time spent in a stage of a run, or of a document's ingestion.",
        ("stage",),
        FAST,
    ),
    Metric("rag_runs_total", MetricKind.COUNTER, "Runs, by how they ended.", ("outcome",)),
    Metric("rag_abstentions_total", MetricKind.COUNTER, "Runs that did not answer, by reason.", ("reason",)),
    Metric("rag_degraded_total", MetricKind.COUNTER, "Answers that lack a dependency, by which.", ("dependency",)),
    Metric(
        "rag_graphql_fields_total",
        MetricKind.COUNTER,
        "Root fields of GraphQL, by how they ended (`OK`, or the code of an error).",
        ("field", "code"),
    ),
    Metric(
        "rag_contexts_total",
        MetricKind.COUNTER,
        "Contexts for prompts, by template and by what they were made of, or the code of what failed.",
        ("template", "outcome"),
    ),
    Metric("rag_cache_requests_total", MetricKind.COUNTER, "Answer cache look-ups.", ("outcome",)),
    Metric("rag_retrieval_fusion_seconds", MetricKind.HISTOGRAM, "Time to merge the arms' results.", (), FAST),
    Metric(
        "rag_gate_decisions_total",
        MetricKind.COUNTER,
        "Gate decisions, by plan and version of the weights.",
        ("plan_type", "model_version"),
    ),
    Metric(
        "rag_gate_rollbacks_total",
        MetricKind.COUNTER,
        "Plans that the gate put to rest, by plan and by what was bad of their runs.",
        ("plan_type", "cause"),
    ),
    Metric("rag_runs_unrecorded_total", MetricKind.COUNTER, "Runs answered but not stored.", ("reason",)),
    Metric(
        "rag_chunks_total",
        MetricKind.COUNTER,
        "Chunks published, by whether an embedding was paid for.",
        ("paid",),
    ),
    Metric("rag_document_age_seconds", MetricKind.HISTOGRAM, "Age of cited documents.", (), AGE),
    Metric("rag_jobs", MetricKind.GAUGE, "Jobs in the outbox.", ("state", "kind")),
    Metric("rag_job_oldest_seconds", MetricKind.GAUGE, "How long the oldest due job has waited.", ("kind",)),
    Metric("rag_workers", MetricKind.GAUGE, "Workers that run, and that died within the last hour.", ("state",)),
    Metric("rag_documents", MetricKind.GAUGE, "Documents, by status.", ("status",)),
    Metric(
        "rag_store_lag",
        MetricKind.GAUGE,
        "Corpus versions that a store outside Postgres is behind, of the workspace furthest behind.",
        ("store",),
    ),
    Metric(
        "rag_budget_share",
        MetricKind.GAUGE,
        "Share used of the ceiling that is used most, of all organisations or workspaces.",
        ("scope", "ceiling"),
    ),
    Metric(
        "rag_replica_snapshots_total",
        MetricKind.COUNTER,
        "Snapshots that a read replica was asked for, by whether it was used, behind or away.",
        ("outcome",),
    ),
    Metric("rag_database_wait_seconds", MetricKind.HISTOGRAM, "Time until a database connection was had.", (), FAST),
    Metric(
        "rag_database_connections",
        MetricKind.GAUGE,
        "Open connections to the database, by pool and whether they are used or idle.",
        ("pool", "state"),
        is_summed=True,
    ),
    Metric(
        "rag_database_connections_max",
        MetricKind.GAUGE,
        "The most connections to the database that a pool may open.",
        ("pool",),
        is_summed=True,
    ),
    Metric(
        "rag_build_info",
        MetricKind.GAUGE,
        "1, with the version of the program and the newest schema that it knows.",
        ("version", "schema"),
    ),
    Metric("rag_job_seconds", MetricKind.HISTOGRAM, "Time one attempt of a job took.", ("kind",), JOB),
    Metric("rag_job_failures_total", MetricKind.COUNTER, "Attempts of jobs that failed.", ("kind", "code")),
    Metric("rag_dead_letters_total", MetricKind.COUNTER, "Jobs that gave up.", ("kind",)),
    Metric(
        "rag_chat_requests_total",
        MetricKind.COUNTER,
        "Calls of the chat model, by what for and how they ended (`ok` or an error code).",
        ("task", "outcome"),
    ),
    Metric("rag_tokens_total", MetricKind.COUNTER, "Tokens sent to and received from models.", ("kind",)),
    Metric("rag_provider_cost_usd_total", MetricKind.COUNTER, "Money spent on models, in US dollars."),
    Metric("rag_feedback_total", MetricKind.COUNTER, "What callers said of runs, by rating.", ("rating",)),
    Metric(
        "rag_implicit_feedback_total",
        MetricKind.COUNTER,
        "What callers did that tells of a run: asked the same again, opened a citation, asked on.",
        ("kind",),
    ),
    Metric(
        "rag_feedback_passages_total",
        MetricKind.COUNTER,
        "Surfaced passages of runs whose useful ones a caller named, by whether they were of use.",
        ("useful",),
    ),
    Metric(
        "rag_web_calls_total",
        MetricKind.COUNTER,
        "Searches and pages of the web, by whether the day's envelope had room for them.",
        ("kind", "outcome"),
    ),
    Metric(
        "rag_web_cost_usd_total",
        MetricKind.COUNTER,
        "Money spent on calls of the web, in US dollars, by the price that AGENTIC_RAG_SEARCH states.",
        ("kind",),
    ),
    Metric(
        "rag_search_requests_total",
        MetricKind.COUNTER,
        "Searches of the web, by how they ended (`ok` or an error code).",
        ("outcome",),
    ),
    Metric(
        "rag_crawl_pages_total",
        MetricKind.COUNTER,
        "Pages of crawls, by how they ended (`kept`, `duplicate` … or an error code).",
        ("outcome",),
    ),
    Metric(
        "rag_run_pages_total",
        MetricKind.COUNTER,
        "Pages of the web that runs wanted, by how they ended (`kept`, `late` … or an error code).",
        ("outcome",),
    ),
    Metric("rag_search_seconds", MetricKind.HISTOGRAM, "Time one search of the web took.", (), FAST),
    Metric(
        "rag_jwks_fetches_total",
        MetricKind.COUNTER,
        "Fetches of the token issuer's keys, by how they ended.",
        ("outcome",),
    ),
    Metric(
        "rag_rate_limited_total",
        MetricKind.COUNTER,
        "Requests refused because their organisation or caller had sent too many, by kind.",
        ("traffic",),
    ),
    Metric(
        "rag_rate_limit_fallbacks_total",
        MetricKind.COUNTER,
        "Requests counted by this process alone, while Redis was away.",
    ),
    Metric(
        "rag_connections_refused_total",
        MetricKind.COUNTER,
        "Connections closed before they had a request, or in its body, by reason.",
        ("reason",),
    ),
    Metric(
        "rag_credentials_refused_total",
        MetricKind.COUNTER,
        "Wrong credentials, by whether the refusal was kept back.",
        ("slowed",),
    ),
    Metric("rag_tenant_leaks_total", MetricKind.COUNTER, "What one tenant saw, or nearly saw, of another."),
    Metric(
        "rag_tenant_leak_checks_total",
        MetricKind.COUNTER,
        "Attacks of the leak canaries, by how they ended.",
        ("outcome",),
    ),
)
