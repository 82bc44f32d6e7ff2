"""Image, compose file, units and chart keep what docs/deployment.md promises, as far as their text shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from agentic_rag.settings import variables
from agentic_rag.settings.secret_files import file_names
from agentic_rag.web.engine_address import parse_engine

ROOT = Path(__file__).resolve().parents[3]
CHART = ROOT / "deploy" / "helm" / "agentic-rag"
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
OURS = ("migrate", "api", "worker")
NAMES = {one.name for one in variables()} | file_names(variables())


def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))


def faults_of_names(names: set[str]) -> set[str]:
    """Variables of ours that are no setting."""
    return {name for name in names if name.startswith(("AGENTIC_RAG_", "DATABASE_", "REDIS_", "NEO4J_"))} - NAMES


@pytest.mark.parametrize("name", OURS)
def test_a_container_of_ours_may_do_little(name: str) -> None:
    service = compose()["services"][name]

    assert service["read_only"] is True
    assert service["user"].split(":")[0] not in ("", "0", "root")
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]


def test_compose_hands_out_secrets_as_files_that_are_mounted() -> None:
    found = compose()
    for name in OURS:
        service = found["services"][name]
        environment = service["environment"]
        named = {value for key, value in environment.items() if key.endswith("_FILE") and value}
        mounted = {f"/run/secrets/{one}" for one in service["secrets"]}
        assert named <= mounted, name
        assert not faults_of_names(set(environment)), name
    assert {secret for one in found["services"].values() for secret in one.get("secrets", ())} <= found[
        "secrets"
    ].keys()


COMPOSE = jsonschema_rs.validator_for(json.loads(Path(__file__).with_name("compose-spec.json").read_text("utf-8")))


@pytest.mark.parametrize("name", ["docker-compose.yml", "docker-compose.dev.yml"])
def test_a_compose_file_fits_the_schema_of_compose(name: str) -> None:
    read = yaml.safe_load((ROOT / name).read_text("utf-8"))

    assert [f"{list(one.instance_path)}: {one.message}" for one in COMPOSE.iter_errors(read)] == []


def test_a_word_that_compose_does_not_know_is_found() -> None:
    read = compose()
    read["services"]["api"]["stop_grace_perod"] = "30s"

    assert not COMPOSE.is_valid(read)


def test_a_server_does_not_have_the_owners_login() -> None:
    assert "owner-database-url" not in compose()["services"]["api"]["secrets"]
    assert "owner-database-url" not in (CHART / "templates" / "api.yaml").read_text("utf-8")


def test_no_service_keeps_the_login_that_its_image_comes_with() -> None:
    services = compose()["services"]
    named = {"postgres": "POSTGRES_PASSWORD_FILE", "grafana": "GF_SECURITY_ADMIN_PASSWORD__FILE"}

    for name, variable in named.items():
        path = services[name]["environment"][variable]
        assert path.removeprefix("/run/secrets/") in services[name]["secrets"]


def test_compose_has_a_search_engine_that_answers_in_json_to_nobody_outside() -> None:
    both = [
        yaml.safe_load((ROOT / name).read_text("utf-8")) for name in ("docker-compose.yml", "docker-compose.dev.yml")
    ]
    ours, theirs = (one["services"]["searxng"] for one in both)
    stated = [yaml.safe_load(one["configs"]["searxng"]["content"])["search"]["formats"] for one in both]
    address = parse_engine("searxng://searxng:8080")

    assert (ours["profiles"], ours["image"], "ports" in ours) == (["search"], theirs["image"], False)
    assert all("json" in formats for formats in stated)
    assert all("AGENTIC_RAG_SEARCH" in both[0]["services"][name]["environment"] for name in ("api", "worker"))
    assert address is not None
    assert address.is_own


def test_every_secret_of_compose_is_drawn() -> None:
    drawn = set(re.findall(r"^put (\S+)", (ROOT / "deploy" / "make-secrets").read_text("utf-8"), re.M))

    assert compose()["secrets"].keys() == drawn


def test_the_image_runs_as_nobody_special_and_says_that_it_lives() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    last = text[text.rindex("\nFROM ") :]

    assert re.search(r"^USER 10001", last, re.M)
    assert "HEALTHCHECK" in last
    assert "--require-hashes" in text
    assert "requirements/dev" not in text


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_a_unit_reads_each_secret_as_a_credential(unit: Path) -> None:
    text = unit.read_text("utf-8")
    loaded = set(re.findall(r"^LoadCredential=([^:]+):", text, re.M))
    assigned = dict(re.findall(r"(\w+)=(%d/\S+|\S+)", "\n".join(re.findall(r"^Environment=(.*)$", text, re.M))))

    assert {value.removeprefix("%d/") for value in assigned.values() if value.startswith("%d/")} == loaded
    assert not faults_of_names(set(assigned))
    assert "NoNewPrivileges=yes" in text
    assert "ProtectSystem=strict" in text


def test_the_chart_names_settings_that_exist_and_its_schema_fits_its_values() -> None:
    templates = "".join(path.read_text("utf-8") for path in (CHART / "templates").iterdir())
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    helper = dict(re.findall(r'"([a-z-]+)" "([A-Z0-9_]+)"', templates))

    assert {f"{name}_FILE" for name in helper.values()} <= NAMES
    assert not faults_of_names(set(re.findall(r"name: ([A-Z][A-Z0-9_]+), value", templates)))
    assert values.keys() <= schema["properties"].keys()
    for name, value in values.items():
        inner = schema["properties"][name].get("properties")
        if inner is not None:
            assert value.keys() <= inner.keys(), name
    for used in set(re.findall(r"\.Values\.([a-z]\w*)", templates)):
        assert used in values, used


def test_pods_stop_later_than_the_product_drains() -> None:
    for name in ("api", "worker"):
        text = (CHART / "templates" / f"{name}.yaml").read_text("utf-8")
        assert "terminationGracePeriodSeconds: {{ add .Values.worker.drainSeconds 15 }}" in text
        assert "readOnlyRootFilesystem" in (CHART / "templates" / "_helpers.tpl").read_text("utf-8")
    drain = next(one.default for one in variables() if one.name == "AGENTIC_RAG_DRAIN_SECONDS")
    assert int(str(compose()["services"]["worker"]["stop_grace_period"]).removesuffix("s")) > float(str(drain))
