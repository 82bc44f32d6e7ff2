"""One process owns the servers, others share them, and nothing is left when the owner is gone."""

import asyncio
import os
import pwd
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from tests.integration.embedded.conftest import CORE, OWNER_SCRIPT, Owner
from tests.waiting import wait_until

from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.embedded.loopback import HOST, is_free
from agentic_rag.embedded.os_user import OsUser
from agentic_rag.embedded.postgres import EmbeddedPostgres
from agentic_rag.embedded.redis import EmbeddedRedis
from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag_cli.processes.supervisor import RestartPolicy, keep_server

pytestmark = pytest.mark.integration


def said_by(owner: Owner) -> tuple[str, str, str]:
    """Role, database URL and Redis URL, once the process has its stack."""
    assert owner.stdout is not None
    role, database_url, redis_url = owner.stdout.readline().split()
    return role, database_url, redis_url


def ports_of(*urls: str) -> list[int]:
    return [urlsplit(url).port or 0 for url in urls]


def test_a_second_stack_attaches_and_leaves_the_servers_running(used_home: Path) -> None:
    with EmbeddedStack(used_home) as first:
        with EmbeddedStack(used_home) as second:
            assert (second.database_url, second.redis_url) == (first.database_url, first.redis_url)
            assert not second.postgres.is_owner
            assert not second.redis.is_owner
            assert second.running

        assert first.running


def test_another_process_attaches_to_a_running_stack(used_home: Path, start_owner: Callable[[Path], Owner]) -> None:
    with EmbeddedStack(used_home) as ours:
        role, *urls = said_by(start_owner(used_home))

        assert role == "guest"
        assert urls == [ours.database_url, ours.redis_url]


async def test_a_command_that_runs_on_keeps_the_servers_of_one_that_ended(
    used_home: Path, start_owner: Callable[[Path], Owner]
) -> None:
    owner = start_owner(used_home)
    role, *urls = said_by(owner)
    said: list[str] = []
    with EmbeddedStack(used_home) as ours:
        assert (role, ours.postgres.is_owner) == ("owner", False)
        keeping = [
            asyncio.create_task(keep_server(server, lambda name, _: said.append(name), RestartPolicy()))
            for server in (ours.postgres, ours.redis)
        ]
        owner.communicate("")
        async with asyncio.timeout(30):
            while not (ours.postgres.is_owner and ours.redis.is_owner):
                await asyncio.wait(keeping, timeout=0.05)

        assert ours.running
        assert [ours.database_url, ours.redis_url] == urls
        assert sorted(said) == ["postgres", "redis"]
        assert said_by(start_owner(used_home)) == ("guest", *urls)
        for one in keeping:
            one.cancel()


def test_who_is_too_late_to_take_over_uses_the_server_of_the_faster_one(
    used_home: Path, start_owner: Callable[[Path], Owner]
) -> None:
    first = start_owner(used_home)
    said_by(first)
    late = EmbeddedPostgres(used_home)
    url = late.start()
    first.communicate("")
    faster = said_by(start_owner(used_home))

    late.take_over()

    assert (faster[0], late.is_owner) == ("owner", False)
    assert late.url == url == faster[1]


def test_a_port_that_was_taken_meanwhile_is_an_error_that_names_it(
    used_home: Path, start_owner: Callable[[Path], Owner]
) -> None:
    owner = start_owner(used_home)
    said_by(owner)
    guest = EmbeddedPostgres(used_home)
    port = urlsplit(guest.start()).port or 0
    owner.communicate("")
    with socket.create_server((HOST, port)), pytest.raises(EmbeddedServerError, match=f"Port {port} of") as refused:
        guest.take_over()

    assert refused.value.code == "PORT_IN_USE"
    guest.take_over()
    assert guest.is_owner
    guest.stop()


def test_of_processes_that_start_at_once_one_owns_and_all_share(
    home: Path, start_owner: Callable[[Path], Owner]
) -> None:
    answers = [said_by(owner) for owner in [start_owner(home) for _ in range(3)]]

    assert sorted(role for role, _, _ in answers) == ["guest", "guest", "owner"]
    assert len({(database, redis) for _, database, redis in answers}) == 1


def test_a_home_may_have_any_name(home: Path) -> None:
    awkward = home / 'Application Support "ü" \\ %s' / ("deep" * 30)
    home.mkdir(mode=0o711)

    for _ in range(2):
        with EmbeddedStack(awkward) as stack:
            assert stack.running

    assert any((awkward / "redis/data").glob("append*"))


@pytest.mark.parametrize("server", [EmbeddedPostgres, EmbeddedRedis])
def test_attach_never_starts_a_server(home: Path, server: type[EmbeddedPostgres] | type[EmbeddedRedis]) -> None:
    with pytest.raises(EmbeddedServerError, match="rag up") as caught:
        server(home).attach()
    assert caught.value.code == "EMBEDDED_NOT_RUNNING"
    assert not home.exists()

    with server(home) as owner:
        guest = server(home)
        assert guest.attach() == owner.url

    assert not guest.running
    with pytest.raises(EmbeddedServerError, match="rag up"):
        server(home).attach()


def test_kill_9_of_the_owner_leaves_no_server_behind(used_home: Path, start_owner: Callable[[Path], Owner]) -> None:
    owner = start_owner(used_home)
    _, *urls = said_by(owner)

    owner.kill()

    ports = ports_of(*urls)
    for port in ports:
        wait_until(lambda port=port: is_free(port), f"port {port} is free")
    assert [is_free(port) for port in ports] == [True] * len(urls)


async def test_after_kill_9_of_the_owner_the_next_one_finds_everything(
    used_home: Path, start_owner: Callable[[Path], Owner]
) -> None:
    owner = start_owner(used_home)
    _, database_url, _ = said_by(owner)
    connection = await asyncpg.connect(database_url)
    await connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")

    owner.kill()
    owner.wait()
    with EmbeddedStack(used_home) as successor:
        assert successor.postgres.is_owner
        assert successor.database_url == database_url
        again = await asyncpg.connect(successor.database_url)
        assert await again.fetchval("SELECT answer FROM kept") == 42
        await again.close()
    connection.terminate()


def test_kill_9_during_the_first_start_harms_nothing(home: Path, start_owner: Callable[[Path], Owner]) -> None:
    owner = start_owner(home)
    wait_until((home / "postgres/data.new/global").exists, "initdb is at work")
    owner.kill()
    owner.wait()

    with EmbeddedStack(home) as successor:
        assert successor.running


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the kernel's parent-death signal is Linux's")
def test_kill_9_of_the_keeper_ends_its_server(used_home: Path) -> None:
    server = EmbeddedPostgres(used_home)
    (port,) = ports_of(server.start())
    postmaster = int((used_home / "postgres/data/postmaster.pid").read_text().splitlines()[0])
    keeper = int(Path(f"/proc/{postmaster}/stat").read_text().rsplit(")", 1)[1].split()[1])

    os.kill(keeper, signal.SIGKILL)

    wait_until(lambda: is_free(port), "the server has gone")
    assert not server.running
    server.stop()


def test_ctrl_c_in_the_terminal_reaches_the_owner_and_not_the_servers(used_home: Path) -> None:
    with EmbeddedStack(used_home) as stack:
        postmaster = int((used_home / "postgres/data/postmaster.pid").read_text().splitlines()[0])

        assert os.getpgid(postmaster) != os.getpgid(0)
        assert stack.running


def test_when_one_server_cannot_start_the_other_is_stopped(used_home: Path) -> None:
    stack = EmbeddedStack(used_home, redis_program=Path("/bin/false"))

    with pytest.raises(EmbeddedServerError, match="redis did not start"):
        stack.start()

    with pytest.raises(EmbeddedServerError, match="EMBEDDED_NOT_RUNNING"):
        EmbeddedPostgres(used_home).attach()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes accounts")
def test_a_home_the_servers_may_not_enter_is_named_and_left_as_it_is(home: Path) -> None:
    home.parent.chmod(0o700)

    with pytest.raises(EmbeddedServerError, match="AGENTIC_RAG_HOME") as caught:
        EmbeddedStack(home).start()

    assert caught.value.code == "EMBEDDED_HOME_UNUSABLE"
    assert str(home.parent) in caught.value.message
    assert home.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes accounts")
def test_data_of_another_account_are_refused(used_home: Path) -> None:
    os.chown(used_home / "postgres/data", 65530, 65530)

    with pytest.raises(EmbeddedServerError, match="belongs to user id 65530") as caught:
        EmbeddedPostgres(used_home).start()

    assert caught.value.code == "EMBEDDED_HOME_UNUSABLE"


def test_a_home_that_is_a_file_is_an_error_that_says_so(home: Path) -> None:
    home.write_text("in the way")

    with pytest.raises(EmbeddedServerError, match=str(home)) as caught:
        EmbeddedStack(home).start()

    assert caught.value.code == "EMBEDDED_HOME_UNUSABLE"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes accounts")
def test_an_ordinary_user_runs_the_stack_as_themselves(home: Path) -> None:
    user = pwd.getpwnam("nobody")
    os.chown(home.parent, user.pw_uid, user.pw_gid)

    outcome = run_owner_as(user.pw_uid, home)

    assert outcome.stderr == ""
    assert outcome.stdout.startswith("owner postgresql://")
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "postgres/data").stat().st_uid == user.pw_uid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes accounts")
def test_a_user_without_a_name_is_told_that_postgres_needs_one(home: Path) -> None:
    os.chown(home.parent, 65531, 65531)

    outcome = run_owner_as(65531, home)

    assert "EMBEDDED_START_FAILED" in outcome.stderr
    assert "/etc/passwd has none for user id 65531" in outcome.stderr


def run_owner_as(uid: int, home: Path) -> subprocess.CompletedProcess[str]:
    """Run the owner script to its end as another user, by an interpreter that user may execute."""
    system_python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    wheels = Path(asyncpg.__file__).parents[1]
    user = OsUser(uid, uid)
    if system_python is None or user.barrier(CORE / "x") or user.barrier(wheels / "x"):
        pytest.skip("no interpreter, or no packages, that another account may read")
    assert system_python is not None
    return subprocess.run(
        [system_python, str(OWNER_SCRIPT), str(home)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{CORE}:{wheels}", "PATH": "/usr/bin:/bin"},
        cwd="/",
        user=uid,
        group=uid,
        extra_groups=[],
    )
