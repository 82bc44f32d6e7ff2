"""The README's commands run as printed, in dash and in bash, against a product that starts from nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas
from tests.stack import open_home

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
    (commands / "rag").write_text(f'#!/bin/sh\nexec {sys.executable} -m agentic_rag_cli "$@"\n', "utf-8")
    (commands / "rag").chmod(0o755)
    (home / ".venv" / "bin").mkdir(parents=True)
    (home / ".venv" / "bin" / "activate").write_text(f'PATH="{commands}:$PATH"\nexport PATH\n', "utf-8")
    yield {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AGENTIC_RAG_HOME": str(home / "state"),
        "AGENTIC_RAG_PORT": str(free_port()),
        "AGENTIC_RAG_WORKER_METRICS_PORT": "0",
        "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
    }
    shutil.rmtree(home)


@pytest.fixture(scope="module")
def running(terminal: dict[str, str]) -> Iterator[None]:
    """The first block in a terminal of its own."""
    first, *_ = blocks("Your own questions")
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
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)


def run(shell: str, block: str, terminal: dict[str, str]) -> str:
    script = ". .venv/bin/activate\n" + block.replace(":8080", f":{terminal['AGENTIC_RAG_PORT']}")
    done = subprocess.run(
        [shell, "-euc", script], cwd=terminal["HOME"], env=terminal, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


# What dash understands, bash does; the night asks it too.
@pytest.mark.parametrize("shell", ["dash", pytest.param("bash", marks=pytest.mark.nightly)])
@pytest.mark.usefixtures("running")
def test_a_folder_and_a_file_are_read_and_questions_answered(shell: str, terminal: dict[str, str]) -> None:
    _, commands, request = blocks("Your own questions")

    shown = run(shell, commands, terminal)
    reply = json.loads(run(shell, request, terminal))["data"]["ragAnswer"]

    assert "crane" in shown
    assert (reply["outcome"], reply["userErrors"]) == ("GROUNDED", [])
    assert "Harbour Lifting" in reply["answer"]
    assert all(citation["verified"] for citation in reply["citations"])
