"""`rag snapshot` as an operator uses it: take one, lose the database, restore, ask the same questions."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.rag_terminal import RagTerminal
from tests.stack import POSTGRES, Stack, copy_statement, database_at, execute, open_home, redis_sources

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")
DOCUMENTS = ("incident-2024-031-skn03-pitch-bearing.md", "quarterly-report-2025-q1.pdf")
QUESTION = "On which date did SKN-03 return to service?"

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@dataclass(slots=True)
class Terminal:
    """`rag` with one home and a database that can be lost."""

    home: Path
    server: str
    template: str
    commands: RagTerminal
    database: str = ""

    def lose_database(self) -> None:
        """Go on with an empty one, migrated."""
        name = f"test_{secrets.token_hex(6)}"
        asyncio.run(execute(self.server, copy_statement(name, self.template)))
        if self.database:
            gone = urlsplit(self.database).path[1:]
            asyncio.run(execute(self.server, f'DROP DATABASE "{gone}" WITH (FORCE)'))
        self.database = database_at(self.server, name)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.commands.run(*arguments, DATABASE_URL=self.database)

    def rag(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def answer(self, workspace: str) -> tuple[str, str, list[str]]:
        found = json.loads(self.rag("ask", QUESTION, "--workspace", workspace, "--json"))
        return found["outcome"], found["answer"], [cited["snippet"] for cited in found["citations"]]


@pytest.fixture
def terminal(session_stack: Stack) -> Iterator[Terminal]:
    home = open_home("rag-snapshots-")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AGENTIC_RAG_HOME": str(home / "state"),
        "REDIS_URL": session_stack.redis_url(redis_sources()[0]),
        "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
    }
    with RagTerminal(home, environ) as commands:
        terminal = Terminal(home, session_stack.address(POSTGRES), session_stack.template(), commands)
        terminal.lose_database()
        (home / "source").mkdir()
        for name in DOCUMENTS:
            shutil.copy(ROOT / "simulated_ingestion" / name, home / "source" / name)
        terminal.rag("ingest", "--source", str(home / "source"), "--workspace", "w")
        yield terminal
    shutil.rmtree(home)


def test_a_lost_database_comes_back_from_a_snapshot_and_answers_the_same(terminal: Terminal) -> None:
    before = terminal.answer("w")

    taken = json.loads(terminal.rag("snapshot", "create", "--workspace", "w", "--json"))
    listed = json.loads(terminal.rag("snapshot", "list", "--json"))
    terminal.lose_database()
    [stored] = json.loads(terminal.rag("snapshot", "list", "--stored", "--json"))
    restored = json.loads(terminal.rag("snapshot", "restore", stored["id"], "--json"))
    again = json.loads(terminal.rag("snapshot", "restore", stored["id"], "--json"))
    beside = terminal.run("snapshot", "restore", stored["id"], "--into", "copy")

    assert (taken["state"], [one["id"] for one in listed]) == ("READY", [taken["id"]])
    assert stored["id"] == taken["id"]
    assert (restored["alreadyRestored"], again["alreadyRestored"]) == (False, True)
    assert beside.returncode == 0, beside.stderr
    assert before[0] != "ABSTAINED"
    assert terminal.answer("w") == before
    assert terminal.answer("copy") == before


def test_a_carried_folder_restores_and_a_damaged_one_is_told_apart(terminal: Terminal) -> None:
    taken = json.loads(terminal.rag("snapshot", "create", "-w", "w", "--json"))
    folder = terminal.home / "state" / "blobs" / Path(taken["manifest"]).parent
    whole, broken = terminal.home / "whole", terminal.home / "broken"
    shutil.copytree(folder, whole)
    shutil.copytree(folder, broken)
    next(broken.glob("*rag_revisions*")).unlink()
    terminal.rag("snapshot", "delete", taken["id"])
    terminal.lose_database()

    gone = terminal.run("snapshot", "restore", taken["id"])
    refused = terminal.run("snapshot", "restore", "--from", str(broken))
    known = json.loads(terminal.rag("workspace", "list", "--json"))
    terminal.rag("snapshot", "restore", "--from", str(whole))
    twice = terminal.run("snapshot", "restore", "--from", str(whole), "--into", "w")

    assert (gone.returncode, "[SNAPSHOT_NOT_FOUND]" in gone.stderr) == (1, True)
    assert (refused.returncode, "[SNAPSHOT_DAMAGED]" in refused.stderr) == (1, True)
    assert known == []
    assert "nothing to do" in twice.stdout
