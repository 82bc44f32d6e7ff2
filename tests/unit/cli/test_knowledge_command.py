"""`rag knowledge sync`: every folder of the settings, its own outcome, and the codes for scripts."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.cli.product import Product, Terminal, nothing_to_sync

from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.sources.knowledge import KnowledgeDirectory, ProjectIdentity
from agentic_rag.ingestion.sources.listing import HIDDEN
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.ingestion.sync import SyncOptions, SyncResult
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput
from agentic_rag_cli.commands.ingestion.knowledge import KnowledgeRun
from agentic_rag_cli.commands.ingestion.knowledge_folders import FolderState, LiveTable


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "settings.yaml").write_text("knowledge:\n  directories:\n    - path: a\n    - path: b\n")
    return tmp_path


def test_every_folder_has_a_line_and_the_json_has_stable_names(project: Path) -> None:
    product = Product(result=replace(nothing_to_sync(), new=("a/x.md",)))
    told = Terminal(product).rag("knowledge", "sync", "--root", str(project), "-w", "handbook")
    shown = json.loads(Terminal(product).rag("knowledge", "sync", "--root", str(project), "--json").stdout)

    assert told.exit_code == 0
    assert [line.split()[:2] for line in told.stdout.splitlines()] == [["done", "a"], ["done", "b"]]
    assert list(shown) == ["workspace", "project", "directories"]
    assert (shown["directories"][0]["path"], shown["directories"][0]["new"]) == ("a", 1)


def test_a_folder_that_fails_does_not_stop_the_others(project: Path) -> None:
    product = Product()

    async def sync(workspace: object, source: object, *_: object) -> object:
        if source.source_id.endswith("/a"):  # type: ignore[attr-defined]
            raise InvalidInput("It is gone.", code="SOURCE_NOT_FOUND")
        return nothing_to_sync()

    product.sync_source.run = sync  # type: ignore[attr-defined]
    told = Terminal(product).rag("knowledge", "sync", "--root", str(project), "-w", "handbook")

    assert told.exit_code == 3
    assert "failed    a  (knowledge)    [SOURCE_NOT_FOUND] It is gone." in told.stdout
    assert "done      b" in told.stdout


def test_a_file_that_was_not_taken_keeps_to_its_line(project: Path) -> None:
    refused = (UnreadableItem("a/x\ndone      b.md", "SOURCE_PATH_TAKEN", "It is another's."),)
    product = Product(result=replace(nothing_to_sync(), unreadable=refused))
    told = Terminal(product).rag("knowledge", "sync", "--root", str(project), "-w", "handbook").stdout

    assert "  a/x\\ndone      b.md  [SOURCE_PATH_TAKEN] It is another's." in told.splitlines()


def test_a_file_that_was_not_taken_is_named_with_the_reason(project: Path) -> None:
    refused = (UnreadableItem("a/x.md", "SOURCE_PATH_TAKEN", "It is another's."), UnreadableItem("a/.y", HIDDEN, "dot"))
    product = Product(result=replace(nothing_to_sync(), unreadable=refused))
    told = Terminal(product).rag("knowledge", "sync", "--root", str(project), "-w", "handbook")
    shown = json.loads(Terminal(product).rag("knowledge", "sync", "--root", str(project), "--json").stdout)

    assert told.exit_code == 3
    assert told.stdout.splitlines()[1] == "  a/x.md  [SOURCE_PATH_TAKEN] It is another's."
    assert shown["directories"][0]["unreadable"] == 1
    assert [one["path"] for one in shown["directories"][0]["unreadableFiles"]] == ["a/x.md"]


def test_broken_settings_stop_before_anything(project: Path) -> None:
    (project / "settings.yaml").write_text("knowledge:\n  directories:\n    - domain: x\n")
    product = Product()
    told = Terminal(product).rag("knowledge", "sync", "--root", str(project))

    assert told.exit_code == 2
    assert "line 3" in told.stderr
    assert product.dry_runs == []


class Outage:
    """Folders of a workspace whose stores are away when a round begins, and a second time while it is counted."""

    def __init__(self) -> None:
        self.rounds = 0
        self.counted = 0

    def read(self, folder: Path) -> DirectorySource:
        return DirectorySource(folder)

    async def synchronise(self, source: object, options: SyncOptions) -> SyncResult:
        self.rounds += 1
        if self.rounds == 1:
            raise DependencyUnavailable("Postgres does not answer.", dependency="postgres")
        return nothing_to_sync()

    async def documents(self, source_id: str) -> dict[DocumentStatus, int]:
        self.counted += 1
        if self.counted == 4:
            raise DependencyUnavailable("Postgres does not answer.", dependency="postgres")
        return dict.fromkeys(DocumentStatus, 0)


class Enough(Exception):
    pass


async def test_a_watch_goes_on_after_an_outage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").mkdir()
    told: list[str] = []
    into = Outage()

    def tell(folders: Sequence[FolderState]) -> None:
        told.append(folders[0].state)
        if told[-1] == "done":
            raise Enough

    run = KnowledgeRun(cast("Any", into), tmp_path, LiveTable(shown=False), tell, pause=0)
    with pytest.raises(Enough):
        await run.watch([FolderState(ProjectIdentity("p"), KnowledgeDirectory("a"), is_stated=True)])

    assert told == ["failed", "done"]
    assert into.rounds == 3
    assert "Postgres does not answer" in capsys.readouterr().err
