"""Dashboards and rules name only metrics and labels that the product exports, and every rule has its runbook."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from scripts.make_dashboards import DASHBOARDS, FOLDER, render

from agentic_rag.adapters.postgres.session.errors import translate
from agentic_rag.adapters.telemetry.metrics import METRICS, MetricKind
from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured

ROOT = Path(__file__).resolve().parents[3]
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
TESTS = ROOT / "deploy" / "prometheus" / "rules.test.yml"
SCALING = ROOT / "deploy" / "helm" / "agentic-rag" / "templates" / "scaling.yaml"

BASE = "{{ with $externalLabels.docs }}{{ . }}/{{ end }}"
"""Before the path of a runbook: where the operator says that it can be read."""
NAME = re.compile(r"\b(?:rag|process)_[a-z_]+(?:\{[^}]*\})?")
LABEL = re.compile(r"(\w+)\s*(?:=~|!=|!~|=)")
OF_SCRAPES = {"job", "instance", "le"}
OF_PROCESSES = {
    *("process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds", "process_start_time_seconds"),
}

OPERATORS_FAULT = re.compile(r"\b(Misconfigured|DependencyUnavailable)\(")
NO_FIELD_ENDS_WITH = {
    # A server does not start with them.
    *("HOST_UNKNOWN", "PORT_FORBIDDEN", "PORT_IN_USE", "TOKEN_TOO_SHORT", "PERSISTED_OPERATIONS_INVALID"),
    *("GATE_WEIGHTS_INVALID", "PROFILE_INVALID", "READ_REPLICA_NOT_STANDBY", "READ_REPLICA_OF_ANOTHER"),
    # Commands and jobs.
    *("BACKUP_RIGHTS_MISSING", "GIT_MISSING", "SOURCE_UNAVAILABLE"),
    # Answers go on without the graph or the web, and `RagDegraded` or `RagSearchErrors` tells.
    *("GRAPH_BEHIND", "GRAPH_LOGIN_REFUSED", "SEARCH_REFUSED"),
}
"""Codes of faults of an operator that `RagErrors` need not know."""


def codes_of_operators_faults() -> set[str]:
    """What core and server say of a setting or a server that must be mended, and what the database's errors become."""
    found = {"INTERNAL", Misconfigured.code, DependencyUnavailable.code, translate(Exception()).code}
    for path in (one for package in ("core", "server") for one in (ROOT / package).rglob("*.py")):
        source = path.read_text("utf-8")
        if OPERATORS_FAULT.search(source):
            found.update(_codes_of(ast.parse(source)))
    return found


def _codes_of(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and OPERATORS_FAULT.fullmatch(f"{ast.unparse(node.func)}("):
            for one in node.keywords:
                if one.arg == "code" and isinstance(one.value, ast.Constant):
                    yield str(one.value.value)


def exported() -> dict[str, set[str]]:
    """The labels of every series."""
    found: dict[str, set[str]] = {name: set() for name in OF_PROCESSES}
    for one in METRICS:
        names = [one.name]
        if one.kind is MetricKind.HISTOGRAM:
            names = [f"{one.name}_{part}" for part in ("bucket", "sum", "count")]
        found.update({name: set(one.labels) for name in names})
    return found


EXPORTED = exported()


def faults_of(expression: str) -> list[str]:
    """Names and labels of an expression that nothing exports."""
    faults: list[str] = []
    for series in NAME.findall(expression):
        name, _, selector = series.partition("{")
        labels = set(LABEL.findall(selector)) - OF_SCRAPES
        if name not in EXPORTED:
            faults.append(name)
        elif not labels <= EXPORTED[name]:
            faults.append(series)
    return faults


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions_of(dashboard: dict[str, Any]) -> Iterator[str]:
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def test_what_nothing_exports_is_found() -> None:
    assert faults_of("sum(rate(rag_moon_total[5m]))") == ["rag_moon_total"]
    assert faults_of('rag_jobs{colour="red"}') == ['rag_jobs{colour="red"}']
    assert faults_of("rag_stage_seconds") == ["rag_stage_seconds"]


@pytest.mark.parametrize("name", sorted(DASHBOARDS))
def test_a_dashboard_shows_what_the_product_exports(name: str) -> None:
    committed = (FOLDER / f"{name}.json").read_text("utf-8")

    assert committed == render(name), "run `python -m scripts.make_dashboards` and commit the files"
    assert [fault for one in expressions_of(json.loads(committed)) for fault in faults_of(one)] == []


def test_no_dashboard_is_left_of_another_time() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == DASHBOARDS.keys()


@pytest.mark.parametrize("alert", alerts(), ids=lambda one: one["alert"])
def test_an_alert_reads_what_the_product_exports_and_has_a_runbook(alert: dict[str, Any]) -> None:
    page, _, anchor = alert["annotations"]["runbook_url"].removeprefix(BASE).partition("#")
    heads = re.findall(r"^## (.+)$", (ROOT / page).read_text("utf-8"), re.M)

    assert faults_of(alert["expr"]) == []
    assert alert["labels"]["severity"] in {"critical", "warning"}
    assert anchor in {head.lower() for head in heads}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("promtool") is None, reason="component: promtool")
@pytest.mark.parametrize("command", [("check", RULES), ("test", TESTS)], ids=lambda one: one[0])
def test_prometheus_takes_the_rules_and_fires_them_as_their_tests_say(command: tuple[str, Path]) -> None:
    what, file = command

    # Four seconds of the processor, which took 50 s on a busy machine.
    told = subprocess.run(["promtool", what, "rules", str(file)], capture_output=True, text=True, timeout=150)

    assert told.returncode == 0, told.stdout + told.stderr
    assert "SUCCESS" in told.stdout


def test_the_chart_scales_by_what_the_product_exports_compared_as_it_is() -> None:
    triggers = SCALING.read_text("utf-8").split("- type: prometheus")[1:]
    queries = [query for one in triggers for query in re.findall(r"^ +query: (.+)$", one, re.M)]
    tests = yaml.safe_load(TESTS.read_text("utf-8"))["tests"]

    assert [fault for one in queries for fault in faults_of(one)] == []
    assert set(queries) == {one["expr"] for test in tests for one in test.get("promql_expr_test", ())}
    assert all("metricType: Value" in one for one in triggers)
    assert len(queries) == len(triggers) == 2


def test_a_test_of_the_rules_fires_every_alert() -> None:
    fired = {
        one["alertname"]
        for test in yaml.safe_load(TESTS.read_text("utf-8"))["tests"]
        for one in test.get("alert_rule_test", ())
        if one["exp_alerts"]
    }

    assert fired == {one["alert"] for one in alerts()}


@pytest.mark.slow
def test_errors_of_the_server_are_those_that_an_operator_mends() -> None:
    [expression] = [one["expr"] for one in alerts() if one["alert"] == "RagErrors"]
    [known] = re.findall(r'code=~"([^"]+)"', expression)
    said = codes_of_operators_faults()

    assert {"DATABASE_LOGIN_REFUSED", "BLOBS_NOT_THERE", "DATABASE_ERROR"} <= said
    assert {one for one in said if not re.fullmatch(known, one)} == NO_FIELD_ENDS_WITH
