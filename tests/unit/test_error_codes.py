"""Every error code that the product can say has a line in docs/errors.md, and the page names no code that is gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")
CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|INTERNAL|TRANSIENT|PERMANENT|FORBIDDEN|UNAUTHENTICATED|MISCONFIGURED")

NAMES_A_CODE = re.compile(r"\bcode\b[^=\n]*=")
"""Parsing takes a second and a half for all files."""


def codes_said() -> Iterator[str]:
    """Texts given as `code=…`, as a class's `code`, or in upper case as an argument of an error's constructor."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if NAMES_A_CODE.search(source):
                for node in ast.walk(ast.parse(source)):
                    yield from _codes_of(node)


def _codes_of(node: ast.AST) -> Iterator[str]:
    value: ast.expr | None = None
    if isinstance(node, ast.keyword):
        value = node.value if node.arg == "code" else None
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value if any(isinstance(one, ast.Name) and one.id == "code" for one in targets) else None
    if value is None:
        return
    for leaf in ast.walk(value):
        if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str) and CODE.fullmatch(leaf.value):
            yield leaf.value


def documented() -> set[str]:
    rows = [line for line in (ROOT / "docs" / "errors.md").read_text().splitlines() if line.startswith("| `")]
    return {code for row in rows for code in re.findall(r"`([A-Z_0-9]+)`", row.split("|")[1])}


def test_every_code_that_can_be_said_is_documented() -> None:
    said = set(codes_said())

    assert len(said) > 50
    assert said - documented() == set()


def test_the_page_names_no_code_that_nothing_says() -> None:
    sources = "\n".join(
        path.read_text(encoding="utf-8") for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    )

    assert {code for code in documented() if f'"{code}"' not in sources} == set()
