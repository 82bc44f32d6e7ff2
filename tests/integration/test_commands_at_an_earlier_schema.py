"""At an earlier schema a command says so and leaves it as it is: only `rag migrate up` changes it."""

from __future__ import annotations

from pathlib import Path

import asyncpg
import pytest
from tests.bench.product import Servers
from tests.operate.earlier import ROOT, run_commands

from agentic_rag_migrations import HEAD
from agentic_rag_migrations.upgrade import status, upgrade

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(120)]

EARLIER = "0050"
COMMANDS = (
    ("ask", "When does the lease end?"),
    ("search", "the lease"),
    ("doc", "list"),
    ("run", "list"),
    ("job", "list"),
    ("workspace", "list"),
    ("usage",),
    ("report", "weekly"),
    ("verify",),
    ("audit", "list"),
    ("snapshot", "list"),
)


async def test_what_reads_refuses_by_code_and_migrates_nothing(
    fresh_database: str, fresh_redis: str, tmp_path: Path
) -> None:
    await upgrade(fresh_database, EARLIER)
    here = Servers(fresh_database, fresh_redis, str(tmp_path))

    told = dict(zip(COMMANDS, run_commands(ROOT, here, 0, COMMANDS), strict=True))
    seen, doctor = run_commands(ROOT, here, 0, [("migrate", "status"), ("doctor",)])

    assert {words: one.code for words, one in told.items()} == dict.fromkeys(COMMANDS, 4)
    assert [words for words, one in told.items() if f"at schema {EARLIER}, this version needs" not in one.error] == []
    assert [words for words, one in told.items() if "[SCHEMA_TOO_OLD]" not in one.error] == []
    assert (await status(fresh_database)).current == EARLIER
    assert seen.out.split()[:2] == ["current:", EARLIER]
    assert "[SCHEMA_TOO_OLD] Run `rag migrate up`." in doctor.out


async def test_the_command_that_migrates_brings_it_to_the_newest(
    fresh_database: str, fresh_redis: str, tmp_path: Path
) -> None:
    await upgrade(fresh_database, EARLIER)
    here = Servers(fresh_database, fresh_redis, str(tmp_path))

    migrated, listed = run_commands(ROOT, here, 0, [("migrate", "up"), ("workspace", "list")])

    server = await asyncpg.connect(fresh_database)
    assert await server.fetchval("SELECT version_num FROM rag_schema_version") == HEAD
    await server.close()
    assert (migrated.code, listed.code) == (0, 0)
