"""Writes the Grafana dashboards of `deploy/grafana/dashboards/`. Run from the repository root:
``python -m scripts.make_dashboards``; a test holds the files against it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "deploy" / "grafana" / "dashboards"
WIDTH, HEIGHT, COLUMNS = 12, 8, 24


@dataclass(frozen=True, slots=True)
class Panel:
    """A graph of some expressions, each with its legend; `unit` is one of Grafana's."""

    title: str
    unit: str
    targets: Sequence[tuple[str, str]]


def _rate(metric: str, by: str) -> tuple[str, str]:
    return f"sum by ({by}) (rate({metric}[$__rate_interval]))", f"{{{{{by}}}}}"


def _total(metric: str, legend: str) -> tuple[str, str]:
    return f"sum(rate({metric}[$__rate_interval]))", legend


def _grown(metric: str, by: str) -> tuple[str, str]:
    return f"sum by ({by}) (increase({metric}[1h]))", f"{{{{{by}}}}}"


def _quantiles(metric: str, by: str = "", only: str = "") -> list[tuple[str, str]]:
    labels, legend = (f"le, {by}", f" {{{{{by}}}}}") if by else ("le", "")
    rate = f"sum by ({labels}) (rate({metric}_bucket{only}[$__rate_interval]))"
    return [
        (f"histogram_quantile({share}, {rate})", f"{name}{legend}") for name, share in (("p50", 0.5), ("p95", 0.95))
    ]


DASHBOARDS: Mapping[str, tuple[str, Sequence[Panel]]] = {
    "answering": (
        "Answering",
        [
            Panel("Runs by outcome", "reqps", [_rate("rag_runs_total", "outcome")]),
            Panel("Time of GraphQL requests", "s", _quantiles("rag_http_request_seconds", only='{route="/graphql"}')),
            Panel("Requests by status", "reqps", [_rate("rag_http_request_seconds_count", "status")]),
            Panel("Time of stages, p95", "s", _quantiles("rag_stage_seconds", "stage")[1:]),
            Panel("Answers that lack a dependency", "reqps", [_rate("rag_degraded_total", "dependency")]),
            Panel("No answer, by reason", "reqps", [_rate("rag_abstentions_total", "reason")]),
            Panel("Answer cache", "reqps", [_rate("rag_cache_requests_total", "outcome")]),
            Panel("GraphQL errors by code", "reqps", [_rate('rag_graphql_fields_total{code!="OK"}', "code")]),
            Panel("Wait for a database connection", "s", _quantiles("rag_database_wait_seconds")),
            Panel(
                "Database connections, of the most there may be", "percentunit",
                [
                    (
                        'sum by (instance, pool) (rag_database_connections{state="used"})'
                        " / sum by (instance, pool) (rag_database_connections_max)",
                        "{{instance}} {{pool}}",
                    )
                ],
            ),
            Panel("Merging the arms", "s", _quantiles("rag_retrieval_fusion_seconds")),
            Panel("Contexts for prompts", "reqps", [_rate("rag_contexts_total", "outcome")]),
            Panel(
                "What callers say", "reqps",
                [
                    _rate("rag_feedback_total", "rating"),
                    _rate("rag_feedback_passages_total", "useful"),
                    _rate("rag_implicit_feedback_total", "kind"),
                ],
            ),
        ],
    ),
    "ingestion": (
        "Ingestion",
        [
            Panel("Unfinished jobs and dead letters", "short", [("sum by (state) (rag_jobs)", "{{state}}")]),
            Panel("Wait of the oldest due job", "s", [("max by (kind) (rag_job_oldest_seconds)", "{{kind}}")]),
            Panel("Workers", "short", [("max by (state) (rag_workers)", "{{state}}")]),
            Panel("Documents by status", "short", [("sum by (status) (rag_documents)", "{{status}}")]),
            Panel("Jobs that gave up, an hour", "short", [_grown("rag_dead_letters_total", "kind")]),
            Panel("Attempts that failed, an hour", "short", [_grown("rag_job_failures_total", "code")]),
            Panel("Time of an attempt, p95", "s", _quantiles("rag_job_seconds", "kind")[1:]),
            Panel("Chunks published", "wps", [_rate("rag_chunks_total", "paid")]),
            Panel("Versions that a store is behind", "short", [("max by (store) (rag_store_lag)", "{{store}}")]),
            Panel("Runs that were not stored", "reqps", [_rate("rag_runs_unrecorded_total", "reason")]),
            Panel("Memory", "bytes", [('process_resident_memory_bytes{job=~"agentic-rag-.*"}', "{{instance}}")]),
            Panel("Processor", "percentunit", [("rate(process_cpu_seconds_total[$__rate_interval])", "{{instance}}")]),
            Panel("Versions that run", "short", [("count by (version) (rag_build_info)", "{{version}}")]),
        ],
    ),
    "gate": (
        "Gate and web",
        [
            Panel("Decisions by plan", "reqps", [_rate("rag_gate_decisions_total", "plan_type")]),
            Panel("Plans put to rest", "ops", [_rate("rag_gate_rollbacks_total", "cause")]),
            Panel("Decisions by version of the weights", "reqps", [_rate("rag_gate_decisions_total", "model_version")]),
            Panel("Calls of the web", "reqps", [_rate("rag_web_calls_total", "outcome")]),
            Panel("Searches of the web", "reqps", [_rate("rag_search_requests_total", "outcome")]),
            Panel("Pages of crawls", "reqps", [_rate("rag_crawl_pages_total", "outcome")]),
            Panel("Pages of runs", "reqps", [_rate("rag_run_pages_total", "outcome")]),
            Panel("Time of a search of the web", "s", _quantiles("rag_search_seconds")),
        ],
    ),
    "cost": (
        "Cost",
        [
            Panel(
                "Dollars an hour", "currencyUSD",
                [
                    ("sum(increase(rag_provider_cost_usd_total[1h]))", "models"),
                    ("sum by (kind) (increase(rag_web_cost_usd_total[1h]))", "{{kind}}"),
                ],
            ),
            Panel(
                "Ceilings, share used of the one used most", "percentunit",
                [("max by (scope, ceiling) (rag_budget_share)", "{{scope}} {{ceiling}}")],
            ),
            Panel("Tokens by kind", "short", [_rate("rag_tokens_total", "kind")]),
            Panel("Calls of the chat model", "reqps", [_rate("rag_chat_requests_total", "task")]),
            Panel("Failed calls of it", "reqps", [_rate('rag_chat_requests_total{outcome!="ok"}', "outcome")]),
            Panel(
                "Dollars a thousand runs", "currencyUSD",
                [("1000 * sum(rate(rag_provider_cost_usd_total[1h])) / sum(rate(rag_runs_total[1h]))", "runs")],
            ),
        ],
    ),
    "freshness": (
        "Freshness",
        [
            Panel("Age of cited documents", "s", _quantiles("rag_document_age_seconds")),
            Panel("Versions that a store is behind", "short", [("max by (store) (rag_store_lag)", "{{store}}")]),
            Panel("Read replica", "reqps", [_rate("rag_replica_snapshots_total", "outcome")]),
            Panel("Syncs of sources and recrawls", "s", _quantiles("rag_job_seconds", "kind", '{kind=~"sync|crawl"}')),
            Panel("Wait of the oldest due job", "s", [("max by (kind) (rag_job_oldest_seconds)", "{{kind}}")]),
        ],
    ),
    "tenants": (
        "Tenants and access",
        [
            Panel("Leaks, an hour", "short", [("sum(increase(rag_tenant_leaks_total[1h]))", "leaks")]),
            Panel("Attacks of the canaries", "short", [_grown("rag_tenant_leak_checks_total", "outcome")]),
            Panel("Requests over a limit", "reqps", [_rate("rag_rate_limited_total", "traffic")]),
            Panel("Limits counted without Redis", "reqps", [_total("rag_rate_limit_fallbacks_total", "requests")]),
            Panel("Wrong credentials", "reqps", [_rate("rag_credentials_refused_total", "slowed")]),
            Panel("Connections refused", "reqps", [_rate("rag_connections_refused_total", "reason")]),
            Panel("Fetches of the issuer's keys", "reqps", [_rate("rag_jwks_fetches_total", "outcome")]),
        ],
    ),
}  # fmt: skip
"""By file name: the title and the panels, two in a row. No metric names a tenant: `rag usage` does."""


def render(name: str) -> str:
    """A dashboard as Grafana provisions it."""
    title, panels = DASHBOARDS[name]
    source = {"type": "prometheus", "uid": "prometheus"}
    drawn: list[Mapping[str, Any]] = [
        {
            "id": place + 1,
            "type": "timeseries",
            "title": panel.title,
            "datasource": source,
            "gridPos": {
                "x": place * WIDTH % COLUMNS, "y": place * WIDTH // COLUMNS * HEIGHT, "w": WIDTH, "h": HEIGHT,
            },
            "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
            "targets": [
                {"refId": chr(ord("A") + number), "datasource": source, "expr": expression, "legendFormat": legend}
                for number, (expression, legend) in enumerate(panel.targets)
            ],
        }
        for place, panel in enumerate(panels)
    ]  # fmt: skip
    dashboard = {
        "uid": f"agentic-rag-{name}",
        "title": f"agentic-rag: {title}",
        "tags": ["agentic-rag"],
        "schemaVersion": 39,
        "timezone": "utc",
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "panels": drawn,
    }
    return json.dumps(dashboard, indent=1) + "\n"


def main() -> None:
    """Write them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in DASHBOARDS:
        (FOLDER / f"{name}.json").write_text(render(name), encoding="utf-8")


if __name__ == "__main__":
    main()
