"""`rag source sync` in CI: nothing runs beside it, it ends when every document is done, and its exit code says how."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.programs import PYTHONPATH
from tests.rag_terminal import RagTerminal
from tests.stack import open_home

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture
def home() -> Iterator[Path]:
    folder = open_home("rag-sources-")
    yield folder
    shutil.rmtree(folder)


def test_a_source_is_synchronised_without_a_worker_and_the_exit_code_tells_how(
    home: Path, migrated_url: str, redis_url: str
) -> None:
    folder = home / "handbook"
    folder.mkdir()
    (folder / "pump.md").write_text("# Pump\n\nThe pump lifts 3 litres a minute.\n", encoding="utf-8")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AGENTIC_RAG_HOME": str(home / "state"),
        "DATABASE_URL": migrated_url,
        "REDIS_URL": redis_url,
        "RAG_EMBEDDER": "deterministic",
        "PYTHONPATH": PYTHONPATH,
    }

    with RagTerminal(home, environ) as terminal:
        terminal.rag("workspace", "create", "ci")
        terminal.rag("source", "add", "handbook", "directory", str(folder), "-w", "ci", "--every", "0")
        (first,) = json.loads(terminal.rag("source", "sync", "-w", "ci", "--json"))
        (folder / "broken.pdf").write_bytes(b"%PDF-1.4 no more than this")
        broken = terminal.run("source", "sync", "handbook", "-w", "ci", "--json")
        folder.rename(home / "away")
        away = terminal.run("source", "sync", "handbook", "-w", "ci")
        (home / "away").rename(folder)
        (folder / "broken.pdf").unlink()
        (back,) = json.loads(terminal.rag("source", "sync", "handbook", "-w", "ci", "--json"))

    assert (first["errorCode"], first["documentCounts"]["ready"]) == (None, 1)
    assert (broken.returncode, json.loads(broken.stdout)[0]["documentCounts"]["failed"]) == (3, 1)
    assert away.returncode == 3
    assert "SOURCE_NOT_FOUND" in away.stdout
    assert "1 ready" in away.stdout
    assert (back["errorCode"], back["documentCounts"]["ready"]) == (None, 1)
