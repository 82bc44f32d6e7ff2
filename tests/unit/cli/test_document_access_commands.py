"""`rag doc share` and the options of `rag upload` and `rag ingest` that name readers."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.cli.product import Product, Terminal, document


def test_a_document_is_shared_with_those_named_and_no_others() -> None:
    product = Product(held=[document("pay.md", 1)])

    shown = Terminal(product).rag("doc", "share", "pay.md", "--group", "people", "--user", "ada")

    assert (shown.exit_code, shown.stdout) == (0, "pay.md: group:people, user:ada\n")
    assert product.readers_of("pay.md") == ("group:people", "user:ada")


def test_everyone_takes_an_option_of_its_own() -> None:
    product = Product(held=[document("pay.md", 1)])
    terminal = Terminal(product)

    shared = terminal.rag("doc", "share", "pay.md", "--everyone", "--json")
    nobody, both = (
        terminal.rag("doc", "share", "pay.md"),
        terminal.rag("doc", "share", "pay.md", "--everyone", "--user", "a"),
    )

    assert json.loads(shared.stdout) == {"document": "pay.md", "readableBy": None}
    assert product.readers_of("pay.md") == ()
    assert (nobody.exit_code, both.exit_code) == (2, 2)


def test_a_document_is_shown_with_its_readers() -> None:
    terminal = Terminal(
        Product(held=[document("pay.md", 1), document("plan.md", 2)], shared=[("pay.md", ("user:ada",))])
    )

    assert json.loads(terminal.rag("doc", "show", "pay.md", "--json").stdout)["readableBy"] == ["user:ada"]
    assert "user:ada" in terminal.rag("doc", "show", "pay.md").stdout
    assert json.loads(terminal.rag("doc", "show", "plan.md", "--json").stdout)["readableBy"] is None
    assert "the whole workspace" in terminal.rag("doc", "show", "plan.md").stdout


def test_uploads_and_folders_name_their_readers(tmp_path: Path) -> None:
    product = Product(held=[document("a.md", 1)])
    (tmp_path / "a.md").write_text("Water flows.")
    terminal = Terminal(product)

    terminal.rag("upload", str(tmp_path / "a.md"), "--group", "night")
    terminal.rag("upload", str(tmp_path / "a.md"))
    terminal.rag("ingest", "--source", str(tmp_path), "--user", "ada", "--no-wait")

    assert product.readers == [("group:night",), None, ("user:ada",)]
