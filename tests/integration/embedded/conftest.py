"""Homes for embedded servers, and processes that own them."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.stack import open_home

import agentic_rag
from agentic_rag.embedded.loopback import free_port
from agentic_rag.embedded.postgres import EmbeddedPostgres
from agentic_rag.embedded.state import ServerState

OWNER_SCRIPT = Path(__file__).with_name("owner.py")
CORE = Path(agentic_rag.__file__).parents[1]

Owner = subprocess.Popen[str]


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that does not exist yet, in one that servers may enter."""
    base = open_home("agentic-rag-embedded-")
    yield base / "home"
    while base.exists():
        # A server that is ending takes its own files away meanwhile.
        with suppress(FileNotFoundError):
            shutil.rmtree(base)


@pytest.fixture(scope="session")
def initialised() -> Iterator[Path]:
    """A home in which a Postgres ran and was stopped. A first start takes ten times as long as any other."""
    base = open_home("agentic-rag-initialised-")
    with EmbeddedPostgres(base / "home"):
        pass
    yield base / "home"
    shutil.rmtree(base)


@pytest.fixture
def used_home(home: Path, initialised: Path) -> Path:
    """Such a home of this test's own, for all that is not about the first start; its last port was another one."""
    subprocess.run(["cp", "-a", str(initialised), str(home)], check=True)
    state_file = home / "postgres/server.json"
    state = ServerState.load(state_file)
    assert state is not None
    replace(state, port=free_port()).save(state_file)
    return home


@pytest.fixture
def start_owner() -> Iterator[Callable[[Path], Owner]]:
    """Starts a process that holds a stack on the given home; ended at the end of the test."""
    owners: list[Owner] = []

    def start(home: Path) -> Owner:
        owner = subprocess.Popen(
            [sys.executable, str(OWNER_SCRIPT), str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(CORE), "PATH": "/usr/bin:/bin"},
        )
        owners.append(owner)
        return owner

    yield start
    for owner in owners:
        owner.communicate(timeout=30)
