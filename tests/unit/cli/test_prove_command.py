"""`rag run verify`, `rag prove` and `rag run diff`: what a person sees, and what lies in the file."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.cli.product import Product, Terminal, answered

from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.operations.proof import check_bundle

RUN_ID = encode(NodeKind.RUN, answered().workspace.workspace_id, answered().run_id)


def terminal() -> Terminal:
    return Terminal(Product(stored_run=answered()))


def test_a_quote_whose_source_is_not_there_ends_the_command_with_1() -> None:
    shown = terminal().rag("run", "verify", RUN_ID)

    assert shown.exit_code == 1
    assert "CHANGED" in shown.stdout
    assert "NOT every quote stands in its source." in shown.stdout


def test_a_proof_is_written_checked_and_told_how_to_check(tmp_path: Path) -> None:
    path = tmp_path / "proof.zip"

    shown = terminal().rag("prove", RUN_ID, "--out", str(path))
    found = json.loads(terminal().rag("prove", RUN_ID, "--out", str(path), "--json").stdout)

    assert check_bundle.check(path.read_bytes(), found["key"])[0] == f"Q: {answered().question}"
    assert f"python check_bundle.py {path} --key {found['key']}" in shown.stdout
    assert found["bytes"] == path.stat().st_size
    assert "content" not in found


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    shown = terminal().rag("prove", RUN_ID, "--out", str(tmp_path / "no" / "proof.zip"))

    assert shown.exit_code != 0
    assert "cannot be written: No such file or directory" in shown.stderr


def test_a_run_beside_itself_is_the_same() -> None:
    assert "The same as run" in terminal().rag("run", "diff", RUN_ID, RUN_ID).stdout
