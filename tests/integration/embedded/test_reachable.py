"""What a command does to an embedded database that it starts only for itself."""

import asyncio
from pathlib import Path

import pytest

from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.settings import load_settings
from agentic_rag_cli.processes.servers import reachable
from agentic_rag_migrations import HEAD
from agentic_rag_migrations.upgrade import status, upgrade

pytestmark = pytest.mark.integration


def test_an_empty_database_gets_its_schema_and_an_older_one_is_left_as_it_is(home: Path) -> None:
    settings = load_settings({"AGENTIC_RAG_HOME": str(home)}, dotenv=home / "none")
    with EmbeddedStack(home) as stack:
        asyncio.run(upgrade(stack.database_url, "0017"))
    with reachable(settings) as ready:
        older = asyncio.run(status(ready.stores.database_url)).current

    with reachable(settings.change(stores={"home": home / "new"}), makes_schema=False) as ready:
        looked_at = asyncio.run(status(ready.stores.database_url)).current
    with reachable(settings.change(stores={"home": home / "new"})) as ready:
        new = asyncio.run(status(ready.stores.database_url)).current

    assert (older, looked_at, new) == ("0017", None, HEAD)


def test_a_home_is_a_folder_of_the_working_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    settings = load_settings({"AGENTIC_RAG_HOME": "state"}, dotenv=tmp_path / "none")

    assert settings.stores.state_home == tmp_path / "state"
