"""Every secret may lie in a file, and nothing of it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentic_rag.settings import SettingsInvalid, load_settings, variables
from agentic_rag.settings.secret_files import file_names, without_files_of

SECRETS = {
    "DATABASE_URL": "postgresql://u:p@h/d",
    "AGENTIC_RAG_OWNER_DATABASE_URL": "postgresql://o:p@h/d",
    "REDIS_URL": "redis://:p@h:6379/0",
    "NEO4J_URI": "bolt://u:p@h:7687",
    "AGENTIC_RAG_BLOB_STORE": "s3://key:secret@bucket",
    "AGENTIC_RAG_MASTER_KEYS": "one:" + "A" * 43 + "=",
    "AGENTIC_RAG_JWT_SECRET": "s" * 40,
    "AGENTIC_RAG_JWKS_URL": "https://issuer.example/jwks",
    "AGENTIC_RAG_SEARCH": "brave://key@",
    "AGENTIC_RAG_TOKEN": "t" * 40,
}
"""A value that passes the checks, where any text would not."""
ISSUER = {"AGENTIC_RAG_JWT_ISSUER": "i", "AGENTIC_RAG_JWT_AUDIENCE": "a"}
"""What AGENTIC_RAG_JWKS_URL needs beside it."""


def _value(name: str) -> str:
    return SECRETS.get(name, "http://127.0.0.1:1/v1" if name.endswith("_URL") else "x" * 40)


NAMES = sorted(one.name for one in variables() if f"{one.name}_FILE" in file_names(variables()))


def test_all_secrets_and_addresses_may_lie_in_files() -> None:
    assert {one.name for one in variables() if one.env.is_secret} <= set(NAMES)
    assert {"DATABASE_URL", "REDIS_URL", "NEO4J_URI", "AGENTIC_RAG_BLOB_STORE"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_secret_is_read_from_its_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{_value(name)}\n")
    none = tmp_path / "none"
    from_file = load_settings({f"{name}_FILE": str(file), **ISSUER}, dotenv=none)
    direct = load_settings({name: _value(name), **ISSUER}, dotenv=none)

    assert from_file == direct
    assert from_file != load_settings(ISSUER, dotenv=none)


@pytest.mark.parametrize("name", ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"])
def test_the_credentials_for_a_collector_are_read_from_their_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "headers"
    file.write_text("authorization=Bearer%20hunter2\n")
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}

    settings = load_settings({**where, f"{name}_FILE": str(file)}, dotenv=tmp_path / "none")

    export, _ = settings.read_telemetry_export()
    assert export.traces is not None
    assert dict(export.traces.headers) == {"authorization": "Bearer hunter2"}
    assert settings.warnings == ()


def test_both_is_a_problem_and_neither_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("of the file")
    environ = {"AGENTIC_RAG_TOKEN": "of the variable", "AGENTIC_RAG_TOKEN_FILE": str(file)}
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(environ, dotenv=tmp_path / "none")

    assert refused.value.problems == ("AGENTIC_RAG_TOKEN_FILE: AGENTIC_RAG_TOKEN is set too; set one of them",)


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "No such file"), (b"", "empty"), (b"\xff\xfe", "no text"), (b"x" * 70_000, "too large")],
)
def test_a_file_that_is_no_secret_is_a_problem(tmp_path: Path, content: bytes | None, why: str) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsInvalid, match=why):
        load_settings({"REDIS_URL_FILE": str(file)}, dotenv=tmp_path / "none")


def test_a_setting_that_is_no_secret_has_no_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="unknown setting"):
        load_settings({"AGENTIC_RAG_LOG_LEVEL_FILE": "x"}, dotenv=tmp_path / "none")


def test_a_child_that_is_given_a_variable_is_not_given_its_file(tmp_path: Path) -> None:
    environ = {"DATABASE_URL_FILE": "/a", "REDIS_URL_FILE": "/b", "PATH": "/bin"}

    assert without_files_of(environ, ["DATABASE_URL"]) == {"REDIS_URL_FILE": "/b", "PATH": "/bin"}
    overridden = load_settings(
        environ | {"REDIS_URL_FILE": ""}, tmp_path / "none", {"DATABASE_URL": "postgresql://h/d"}
    )
    assert overridden.stores.database_url == "postgresql://h/d"
