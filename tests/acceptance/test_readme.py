"""The README's commands run as printed, in dash and in bash, against a product that starts from nothing.

Dash runs them; bash then runs the same blocks and is told the replies that were recorded (`recorded_commands`). By
night bash runs them, too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas
from tests.acceptance.recorded_commands import calls, forget, install, replaying
from tests.stack import open_home
from tests.waiting import wait_until

from agentic_rag.embedded.loopback import free_port

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")
SAMPLE = ROOT / "simulated_ingestion"

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def blocks(heading: str) -> list[str]:
    """The console blocks below a heading, without prompts."""
    text = (ROOT / "README.md").read_text("utf-8")
    section = re.split(r"^## ", text, flags=re.M)
    (body,) = [part for part in section if part.startswith(heading)]
    found = re.findall(r"^```console\n(.*?)^```", body, re.M | re.S)
    return [re.sub(r"^\$ ", "", block, flags=re.M) for block in found]


RUN = ("From nothing to an answer", "Your own questions", "With your own servers")
TARGETS_ONLY = ("Development",)
"""Sections whose commands are the suites themselves: a test of their names is enough."""


def test_every_block_of_commands_is_run_here() -> None:
    sections = re.split(r"^## ", (ROOT / "README.md").read_text("utf-8"), flags=re.M)
    with_commands = [part.partition("\n")[0] for part in sections if "```console" in part]

    assert with_commands == [*RUN, *TARGETS_ONLY]
    assert [len(blocks(one)) for one in RUN] == [1, 3, 1]


def test_every_target_of_make_that_is_named_is_there() -> None:
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))

    named = re.findall(
        r"^make ([a-z-]+)", "".join(block for one in (*RUN, *TARGETS_ONLY) for block in blocks(one)), re.M
    )

    assert set(named) <= made
    assert "test" in named


def write_contract(path: Path) -> None:
    page = Canvas(str(path))
    page.drawString(72, 720, "It was agreed that Harbour Lifting lends the crane until 30 June 2026.")
    page.drawString(72, 700, "The hirer pays for the crane 4,200 euros a week.")
    page.save()


@pytest.fixture(scope="module")
def terminal() -> Iterator[dict[str, str]]:
    """A user's home with `~/reports` and a contract, and the environment of their terminals."""
    home = open_home("agentic-rag-readme-")
    (home / "reports").mkdir()
    for name in ("company-overview.md", "spares-and-suppliers.md"):
        shutil.copy(SAMPLE / name, home / "reports" / name)
    write_contract(home / "crane-contract.pdf")
    commands = home / "bin"
    commands.mkdir()
    (home / ".venv" / "bin").mkdir(parents=True)
    (home / ".venv" / "bin" / "activate").write_text(f'PATH="{commands}:$PATH"\nexport PATH\n', "utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AGENTIC_RAG_HOME": str(home / "state"),
        "AGENTIC_RAG_PORT": str(free_port()),
        "AGENTIC_RAG_WORKER_METRICS_PORT": "0",
        "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
    }
    real = {"rag": [sys.executable, "-m", "agentic_rag_cli"], "docker": ["true"]}
    real |= {name: [str(shutil.which(name))] for name in ("make", "curl")}
    yield install(home / "recorded", commands, real, environment)
    shutil.rmtree(home)


@pytest.fixture(scope="module")
def running(terminal: dict[str, str]) -> Iterator[None]:
    """The first block in a terminal of its own."""
    first, *_ = blocks("Your own questions")
    forget(terminal)
    process = subprocess.Popen(
        ["dash", "-euc", first],
        cwd=terminal["HOME"],
        env=terminal,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert any("Ctrl-C stops everything" in line for line in process.stdout)
        starts_the_same_in_bash(first, terminal)
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)


def run(shell: str, block: str, terminal: dict[str, str]) -> str:
    script = ". .venv/bin/activate\n" + block.replace(":8080", f":{terminal['AGENTIC_RAG_PORT']}")
    done = subprocess.run(
        [shell, "-euc", script], cwd=terminal["HOME"], env=terminal, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def starts_the_same_in_bash(block: str, terminal: dict[str, str]) -> str:
    """What bash prints that is told the replies which the shell before it was given."""
    replayed = replaying(terminal)
    shown = run("bash", block, replayed)
    assert calls(replayed) == calls(terminal)
    return shown


def run_in_both(shell: str, block: str, terminal: dict[str, str]) -> str:
    """What `shell` prints, and bash too."""
    forget(terminal)
    shown = run(shell, block, terminal)
    assert starts_the_same_in_bash(block, terminal) == shown
    return shown


in_each_shell = pytest.mark.parametrize("shell", ["dash", pytest.param("bash", marks=pytest.mark.nightly)])


@in_each_shell
def test_the_demonstration_runs_three_times(shell: str, terminal: dict[str, str]) -> None:
    """In a folder with the files that `make demo` needs, whose environment is complete: nothing is installed."""
    (block,) = blocks("From nothing to an answer")
    home = Path(terminal["HOME"])
    for name in ("Makefile", "pyproject.toml", "requirements", SAMPLE.name):
        if not (home / name).exists():
            (home / name).symlink_to(ROOT / name)
    shutil.copy(home / "bin" / "rag", home / ".venv" / "bin" / "rag")
    (home / ".venv" / ".runtime").touch()
    own = {"AGENTIC_RAG_HOME": str(home / "demo"), "RAG_EMBEDDER": "deterministic"}

    shown = run_in_both(shell, block, terminal | own)

    assert len(re.findall(r"^\s*\[1\]", shown, re.M)) == 3, shown


@in_each_shell
def test_given_servers_are_migrated_looked_at_and_used(
    shell: str, terminal: dict[str, str], fresh_database: str, fresh_redis: str
) -> None:
    """The servers are the session's, where the README starts them with docker."""
    (block,) = blocks("With your own servers")
    home = Path(terminal["HOME"])
    given = {"postgresql://postgres:dev@127.0.0.1:5432/agentic_rag": fresh_database}
    given["redis://127.0.0.1:6379/0"] = fresh_redis
    for printed, ours in given.items():
        assert printed in block
        block = block.replace(printed, ours)
    environ = terminal | {"AGENTIC_RAG_HOME": str(home / "given"), "AGENTIC_RAG_PORT": str(free_port())}
    forget(environ)
    looking = environ | {"DATABASE_URL": fresh_database, "REDIS_URL": fresh_redis}
    process = subprocess.Popen(
        [shell, "-euc", f". .venv/bin/activate\n{block}\nwait"],
        cwd=home,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        # A look of `rag doctor` takes the processor time that both need to start: it waits for the server.
        wait_until(lambda: process.poll() is not None or serves(environ), "a server", 120.0)
        wait_until(lambda: process.poll() is not None or is_complete(looking), "a server and a worker", 120.0)
        assert process.poll() is None
        printed = starts_the_same_in_bash(f"{block}\nwait", environ)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        shown, _ = process.communicate(timeout=60)
    [key] = re.findall(r"^rag_[\w-]{40,}$", shown, re.M)
    assert key in printed


def serves(terminal: dict[str, str]) -> bool:
    """Whether the server of these settings says that it is ready."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{terminal['AGENTIC_RAG_PORT']}/readyz", timeout=10):
            return True
    except OSError:
        return False


def is_complete(terminal: dict[str, str]) -> bool:
    """Whether `rag doctor` sees a worker that leads and the server of these settings."""
    shown = subprocess.run(
        [sys.executable, "-m", "agentic_rag_cli", "doctor", "--json"],
        cwd=terminal["HOME"],
        env=terminal,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    return "a worker leads" in shown and "an agentic-rag server is running" in shown


@in_each_shell
@pytest.mark.usefixtures("running")
def test_a_folder_and_a_file_are_read_and_questions_answered(shell: str, terminal: dict[str, str]) -> None:
    _, commands, request = blocks("Your own questions")

    shown = run_in_both(shell, commands, terminal)
    reply = json.loads(run_in_both(shell, request, terminal))["data"]["ragAnswer"]

    assert "crane" in shown
    assert (reply["outcome"], reply["userErrors"]) == ("GROUNDED", [])
    assert "Harbour Lifting" in reply["answer"]
    assert all(citation["verified"] for citation in reply["citations"])
