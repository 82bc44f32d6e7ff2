"""What an operator reads: `rag doctor` itself, on a system whose disk is full, whose embedded server was killed, or
whose program was rolled back to an older version than the data.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import redis
from tests.programs import PACKAGES, ROOT
from tests.waiting import wait_until

from agentic_rag.embedded.stack import EmbeddedStack

pytestmark = [pytest.mark.integration, pytest.mark.network]

UNAVAILABLE = 4


def doctor(home: Path, *before: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Its exit code and its checks by name; `before` stands before the command."""
    done = subprocess.run(
        [*before, sys.executable, "-m", "agentic_rag_cli", "doctor", "--json"],
        cwd=home.parent,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home.parent),
            "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
            "AGENTIC_RAG_HOME": str(home),
            "RAG_EMBEDDER": "deterministic",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)}


def failed(checks: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The codes of the checks that failed, each of which says what to do."""
    found = {name: check["code"] for name, check in checks.items() if check["status"] == "failed"}
    assert all(checks[name]["remedy"] for name in found)
    return found


def test_a_full_disk(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    full = f"mount -t tmpfs -o size=4m none {home} && head -c 8m /dev/zero > {home}/fill; exec " + '"$@"'
    inside: Sequence[str] = ("unshare", "--mount", "--map-root-user", "sh", "-c", full, "-")
    if shutil.which("unshare") is None or subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("no file system of its own can be mounted here")

    status, checks = doctor(home, *inside)

    assert status == UNAVAILABLE
    assert failed(checks)["home"] == "STORAGE_FULL"
    assert str(home) in checks["home"]["detail"]


def pid_of(stack: EmbeddedStack, server: str, home: Path) -> int:
    if server == "postgres":
        return int((home / "postgres/data/postmaster.pid").read_text().split()[0])
    with redis.Redis.from_url(stack.redis_url) as client:
        told: Any = client.info("server")
    return int(told["process_id"])


@pytest.mark.parametrize("server", ["postgres", pytest.param("redis", marks=pytest.mark.nightly)])
def test_a_killed_embedded_server(used_home: Path, server: str) -> None:
    with EmbeddedStack(used_home) as stack:
        os.kill(pid_of(stack, server, used_home), signal.SIGKILL)
        wait_until(lambda: not stack.running, f"{server} is gone", 20)

        status, checks = doctor(used_home)

    assert status == UNAVAILABLE
    assert server in failed(checks)
    assert failed(checks)[server].startswith("EMBEDDED_")


def test_a_rolled_back_version(used_home: Path) -> None:
    with EmbeddedStack(used_home) as stack:
        asyncio.run(_leave_a_newer_schema(stack.database_url))

    status, checks = doctor(used_home)

    assert status == UNAVAILABLE
    assert failed(checks) == {"migrations": "SCHEMA_TOO_NEW"}


NEWER = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE rag_schema_version (version_num text);
INSERT INTO rag_schema_version VALUES ('9999');
CREATE FUNCTION rag_serves_since() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '9999' $$;
"""
"""What an older version reads of a newer schema that does not serve it."""


async def _leave_a_newer_schema(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute(NEWER)
    await connection.close()
