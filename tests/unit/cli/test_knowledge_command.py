"""`rag knowledge sync`: every folder of the settings, its own outcome, and the codes for scripts."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.cli.product import Product, Terminal, nothing_to_sync

from agentic_rag.kernel.errors import InvalidInput


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
    assert list(shown) == ["workspace", "directories"]
    assert (shown["directories"][0]["path"], shown["directories"][0]["new"]) == ("a", 1)


def test_a_folder_that_fails_does_not_stop_the_others(project: Path) -> None:
    product = Product()

    async def sync(workspace: object, source: object, *_: object) -> object:
        if source.source_id == "knowledge:a":  # type: ignore[attr-defined]
            raise InvalidInput("It is gone.", code="SOURCE_NOT_FOUND")
        return nothing_to_sync()

    product.sync_source.run = sync  # type: ignore[attr-defined]
    told = Terminal(product).rag("knowledge", "sync", "--root", str(project), "-w", "handbook")

    assert told.exit_code == 3
    assert "failed    a  (knowledge)    [SOURCE_NOT_FOUND] It is gone." in told.stdout
    assert "done      b" in told.stdout


def test_broken_settings_stop_before_anything(project: Path) -> None:
    (project / "settings.yaml").write_text("knowledge:\n  directories:\n    - domain: x\n")
    product = Product()
    told = Terminal(product).rag("knowledge", "sync", "--root", str(project))

    assert told.exit_code == 2
    assert "line 3" in told.stderr
    assert product.dry_runs == []
