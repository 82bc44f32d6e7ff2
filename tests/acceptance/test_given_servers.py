"""DATABASE_URL and REDIS_URL switch to other servers with no other change: migrate, ingest through the queue, ask.

The servers are the session's own, and, where a Docker engine runs, containers of the images in docker-compose.dev.yml.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest
from docker.errors import DockerException
from testcontainers.community.postgres import PostgresContainer
from testcontainers.community.redis import RedisContainer
from tests.rag_terminal import RagTerminal
from tests.stack import POSTGRES, Stack, open_home, redis_sources

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("incident-2024-031-skn03-pitch-bearing.md", "quarterly-report-2025-q1.pdf", "staff-handbook.docx")
QUESTION = "On which date did SKN-03 return to service?"
DOCKER_SOCKET = Path("/var/run/docker.sock")
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@dataclass(frozen=True, slots=True)
class Given:
    """Two servers that somebody else runs."""

    database_url: str
    redis_url: str


@pytest.fixture(params=["session", "docker"])
def given(request: pytest.FixtureRequest, session_stack: Stack) -> Iterator[Given]:
    if request.param == "session":
        yield Given(session_stack.address(POSTGRES), session_stack.redis_url(redis_sources()[0]))
        return
    if not docker_runs():
        pytest.skip("docker: no engine answers here")
    with PostgresContainer(image_of("postgres"), driver=None) as postgres, RedisContainer(image_of("redis")) as redis:
        yield Given(
            postgres.get_connection_url(),
            f"redis://{redis.get_container_host_ip()}:{redis.get_exposed_port(6379)}/0",
        )


def docker_runs() -> bool:
    if not DOCKER_SOCKET.exists():
        return False
    try:
        client = docker.from_env()
    except DockerException:
        return False
    try:
        return bool(client.ping())
    except DockerException:
        return False
    finally:
        client.close()


def image_of(service: str) -> str:
    """The image of a service of the development compose file."""
    section = (ROOT / "docker-compose.dev.yml").read_text().split(f"\n  {service}:\n")[1]
    return section.split("image:")[1].split()[0]


@pytest.fixture
def home() -> Iterator[Path]:
    folder = open_home("rag-given-")
    yield folder
    shutil.rmtree(folder)


def test_the_same_commands_work_on_given_servers(given: Given, home: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AGENTIC_RAG_HOME": str(home / "state"),
        "DATABASE_URL": given.database_url,
        "REDIS_URL": given.redis_url,
        "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
    }
    source = home / "source"
    source.mkdir()
    for name in DOCUMENTS:
        shutil.copy(ROOT / "simulated_ingestion" / name, source / name)

    with RagTerminal(home, environ) as terminal:
        terminal.rag("migrate", "up")
        ingested = json.loads(terminal.rag("ingest", "--source", str(source), "--workspace", "w", "--json"))
        answer = json.loads(
            terminal.rag("ask", "On which date did SKN-03 return to service?", "--workspace", "w", "--json")
        )

        terminal.rag("tenant", "create", "acme")
        terminal.rag("--tenant", "acme", "workspace", "create", "w")
        theirs = json.loads(terminal.rag("--tenant", "acme", "doc", "list", "--workspace", "w", "--json"))
        ours = json.loads(terminal.rag("doc", "list", "--workspace", "w", "--json"))

    assert (len(theirs), len(ours)) == (0, len(DOCUMENTS))
    assert ingested["failed"] == 0
    assert answer["outcome"] != "ABSTAINED"
    assert answer["citations"]
    assert not (home / "state" / "postgres").exists(), "an embedded server was started beside the given one"
