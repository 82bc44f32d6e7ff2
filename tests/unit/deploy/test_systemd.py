"""The units of systemd, and the command beside them, agree on settings, secrets and order."""

import os
import re
import subprocess
from pathlib import Path

import pytest

SYSTEMD = Path(__file__).resolve().parents[3] / "deploy" / "systemd"
SERVERS = ("agentic-rag-api.service", "agentic-rag-worker@.service")
SECRETS = "/etc/agentic-rag/secrets/"


def entries(unit: str, key: str) -> list[str]:
    lines = (SYSTEMD / unit).read_text("utf-8").splitlines()
    return [line.removeprefix(f"{key}=") for line in lines if line.startswith(f"{key}=")]


def printed(program: Path, own: dict[str, str]) -> dict[str, str]:
    """The environment that the program hands on."""
    environment = {"PATH": os.environ["PATH"], **own}
    shown = subprocess.run(["sh", str(program)], env=environment, capture_output=True, text=True, check=True)
    return dict(line.split("=", 1) for line in shown.stdout.splitlines())


@pytest.mark.parametrize("unit", SERVERS)
def test_a_migration_that_fails_or_runs_again_leaves_servers_and_workers_alone(unit: str) -> None:
    assert "agentic-rag-migrate.service" in " ".join(entries(unit, "Wants")), "nobody would migrate"
    assert "agentic-rag-migrate.service" in " ".join(entries(unit, "After")), "it would start before the migration"
    bound = [one for key in ("Requires", "BindsTo", "PartOf", "Requisite") for one in entries(unit, key)]
    assert bound == [], "a database that is away at boot would keep it down, and a migration would restart all at once"


def test_a_migration_is_tried_again_until_the_database_answers() -> None:
    assert entries("agentic-rag-migrate.service", "Restart") == ["on-failure"]


def test_the_command_has_the_settings_and_secrets_of_the_units(tmp_path: Path) -> None:
    program = tmp_path / "rag"
    credentials = {one.split(":")[1] for unit in SERVERS for one in entries(unit, "LoadCredential")}
    for path in credentials:
        tmp_path.joinpath(Path(path).name).write_text(f"secret of {Path(path).name}\n", "utf-8")
    (tmp_path / "settings").write_text("RAG_EMBEDDER=onnx:minilm\n", "utf-8")
    text = (SYSTEMD / "rag").read_text("utf-8").replace(SECRETS.rstrip("/"), str(tmp_path))
    text = text.replace("/etc/agentic-rag/settings", str(tmp_path / "settings"))
    assert "/opt/agentic-rag/bin/rag" in text
    assert "--reuid=agentic-rag" in text
    program.write_text(re.sub(r"exec setpriv .*", "exec env", text), "utf-8")

    shown = subprocess.run(
        ["sh", str(program)], env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True
    )
    found = dict(line.split("=", 1) for line in shown.stdout.splitlines())

    for unit in SERVERS:
        for name, value in (pair.split("=", 1) for line in entries(unit, "Environment") for pair in line.split()):
            if name.endswith("_FILE"):
                assert found[name.removesuffix("_FILE")] == f"secret of {Path(value).name}"
            elif name != "AGENTIC_RAG_WORKER_METRICS_PORT":
                assert found[name] == value.replace("%S", "/var/lib")
    assert found["RAG_EMBEDDER"] == "onnx:minilm"
    assert printed(program, {"DATABASE_URL": "another"})["DATABASE_URL"] == "another", (
        "no restore beside, no login for backups"
    )


def test_the_command_reads_settings_as_systemd_does(tmp_path: Path) -> None:
    given = {
        "AGENTIC_RAG_BLOB_STORE": "s3://documents?endpoint=https://s3.example.org&region=eu",
        "AGENTIC_RAG_NAMES": "one two; $HOME `id`",
        "AGENTIC_RAG_QUOTED": "with a # in it",
        "AGENTIC_RAG_LAST": "a=b=",
    }
    lines = ["# a remark", "; another", "", *(f"{name}={value}" for name, value in given.items())]
    text = "\n".join(lines).replace(given["AGENTIC_RAG_QUOTED"], f'"{given["AGENTIC_RAG_QUOTED"]}"')
    (tmp_path / "settings").write_text(text, "utf-8")
    for secret in ("database-url", "owner-database-url", "redis-url", "master-keys", "token"):
        (tmp_path / secret).write_text("secret", "utf-8")
    program = tmp_path / "rag"
    own = (SYSTEMD / "rag").read_text("utf-8").replace(SECRETS.rstrip("/"), str(tmp_path))
    own = own.replace("/etc/agentic-rag/settings", str(tmp_path / "settings"))
    program.write_text(re.sub(r"exec setpriv .*", "exec env", own), "utf-8")

    shown = printed(program, {})

    assert {name: shown.get(name) for name in given} == given
