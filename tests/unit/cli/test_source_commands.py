"""`rag source`: what is followed, how it stands, and the codes for scripts; a credential is never printed."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.memory_store.telemetry import RecordingTelemetry
from tests.unit.cli.product import Product, Terminal

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.adapters.vault.envelope import EnvelopeVault
from agentic_rag.ingestion.sources.manage import ManageSources
from agentic_rag_cli.client import queries
from agentic_rag_cli.commands.ingestion import source
from agentic_rag_cli.commands.ingestion.source import synchronise

SECRET = "ghp-0123456789abcdef"


@pytest.fixture
def terminal() -> Terminal:
    product = Product()
    product.sources = ManageSources(  # type: ignore[attr-defined]
        product.database, EnvelopeVault({"m1": bytes(32)}), RandomIds(), SystemClock(), RecordingTelemetry()
    )
    return Terminal(product)


def test_a_source_is_added_listed_shown_and_removed(terminal: Terminal, tmp_path: Path) -> None:
    added = terminal.rag("source", "add", "handbook", "directory", str(tmp_path), "--every", "60", "--json")
    listed = terminal.rag("source", "list")
    status = terminal.rag("source", "status", "handbook")
    removed = terminal.rag("source", "remove", "handbook", "--keep-documents")

    assert added.exit_code == 0, added.stderr
    shown = json.loads(added.stdout)
    assert (shown["kind"], shown["prefix"], shown["internal"]) == ("DIRECTORY", "handbook/", True)
    assert "handbook  directory  new" in listed.stdout
    assert status.exit_code == 0
    assert "synchronised never" in status.stdout
    assert removed.exit_code == 0
    assert terminal.rag("source", "status", "handbook").exit_code == 1


def test_a_file_that_cannot_be_read_keeps_to_its_line(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.rag("source", "add", "handbook", "directory", str(tmp_path))
    found = source._source

    async def unreadable(*given: Any, **named: Any) -> dict[str, Any]:
        refused = {"path": "a\n  documents: 9 ready", "code": "SOURCE_PATH_INVALID", "message": "A name\nof two lines."}
        return {**await found(*given, **named), "unreadable": [refused]}

    monkeypatch.setattr(source, "_source", unreadable)
    lines = terminal.rag("source", "status", "handbook").stdout.splitlines()

    assert "  UNREADABLE a\\n  documents: 9 ready  [SOURCE_PATH_INVALID] A name\\nof two lines." in lines
    assert len([line for line in lines if line.startswith("  documents:")]) == 1


def test_what_is_stated_wrongly_is_a_usage_error(terminal: Terminal) -> None:
    told = terminal.rag("source", "add", "code", "git", "/srv/code.git")

    assert told.exit_code == 2
    assert "SOURCE_INVALID" in told.stderr


def test_a_name_is_taken_once(terminal: Terminal, tmp_path: Path) -> None:
    terminal.rag("source", "add", "handbook", "directory", str(tmp_path))

    assert "SOURCE_EXISTS" in terminal.rag("source", "add", "handbook", "directory", str(tmp_path)).stderr


def test_a_credential_is_read_from_standard_input_and_never_printed(terminal: Terminal) -> None:
    told = terminal.rag("source", "add", "site", "git", "https://git.example.com/a.git", "--credential", stdin=SECRET)
    shown = terminal.rag("source", "list", "--json")

    assert told.exit_code == 0, told.stderr
    assert json.loads(shown.stdout)[0]["hasCredential"] is True
    everything = told.stdout + told.stderr + shown.stdout
    assert SECRET not in everything
    assert base64.b64encode(SECRET.encode()).decode() not in everything


class EndingJob:
    """A server whose job ends, with a document that failed, right behind the first look at its source."""

    def __init__(self) -> None:
        self.has_ended = False

    async def fetch(self, query: str, **_: object) -> dict[str, object]:
        """What the server knows of the job or the source."""
        if query == queries.SYNC_SOURCE:
            return {"jobId": "J"}
        if query == queries.JOB_STATE:
            return {"state": "DONE" if self.has_ended else "RUNNING"}
        seen, self.has_ended = self.has_ended, True
        return {"name": "handbook", "documentCounts": {"ready": 1, "pending": 0, "failed": int(seen)}}


async def test_what_is_counted_has_all_that_the_job_brought() -> None:
    (found,) = await synchronise(
        EndingJob(),  # type: ignore[arg-type]
        [{"id": "S"}],
        lambda done, total, name: None,
        delete_missing=False,
        wait=True,
    )
    assert found["documentCounts"] == {"ready": 1, "pending": 0, "failed": 1}
