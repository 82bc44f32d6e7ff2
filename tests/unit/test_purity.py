"""The committed list of pure files equals the files that are pure.

A file in a room of core is an effect when it has an `async def` outside a Protocol, imports one of `EFFECT_MODULES`, or
imports, when it runs, an effect from a room. Every other file is pure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
CORE = REPOSITORY / "core"
COMMITTED = REPOSITORY / "tests" / "house" / "pure_files.txt"
ROOMS = (
    "kernel", "language", "web", "tenancy", "models", "workspaces", "jobs", "documents", "retrieval", "answering",
    "erasure", "ingestion", "operations",
)  # fmt: skip
EFFECT_MODULES = frozenset({"asyncio", "os", "socket", "time", "random", "logging", "threading"})


@dataclass(frozen=True, slots=True)
class Source:
    """What decides whether a file is pure."""

    imports: frozenset[str]
    is_async: bool


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def is_protocol(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any(ast.unparse(base).startswith("Protocol") for base in node.bases)


def nodes_of(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of Protocols and of blocks for type checkers."""
    for child in ast.iter_child_nodes(node):
        if not is_type_checking(child) and not is_protocol(child):
            yield child
            yield from nodes_of(child)


def read_source(path: Path) -> Source:
    imports: set[str] = set()
    is_async = False
    for node in nodes_of(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imports.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports.add(node.module)
            imports.update(f"{node.module}.{alias.name}" for alias in node.names)
        is_async = is_async or isinstance(node, ast.AsyncFunctionDef)
    return Source(frozenset(imports), is_async)


def read_rooms() -> dict[str, Source]:
    """The files of all rooms by module name."""
    files = (path for room in ROOMS for path in (CORE / "agentic_rag" / room).rglob("*.py") if path.stat().st_size)
    return {".".join(path.relative_to(CORE).with_suffix("").parts): read_source(path) for path in files}


def pure_modules(sources: dict[str, Source]) -> set[str]:
    pure = {
        name
        for name, source in sources.items()
        if not source.is_async and EFFECT_MODULES.isdisjoint(one.split(".")[0] for one in source.imports)
    }
    while impure := {name for name in pure if sources[name].imports & (sources.keys() - pure)}:
        pure -= impure
    return pure


def find_pure_files() -> set[str]:
    return {f"core/{name.replace('.', '/')}.py" for name in pure_modules(read_rooms())}


@pytest.mark.slow
def test_the_committed_list_of_pure_files_is_the_recomputed_one() -> None:
    found, committed = find_pure_files(), set(COMMITTED.read_text(encoding="utf-8").split())

    remedy = "If that is meant, run `python -m tests.unit.test_purity` and commit the list."
    assert not committed - found, f"No longer pure, or gone: {sorted(committed - found)}. {remedy}"
    assert not found - committed, f"Pure and not listed: {sorted(found - committed)}. {remedy}"


def test_an_effect_spreads_to_the_files_that_import_it() -> None:
    sources = {
        "rooms.clock": Source(frozenset({"time"}), is_async=False),
        "rooms.user": Source(frozenset({"rooms.clock.now", "rooms.clock"}), is_async=False),
        "rooms.further": Source(frozenset({"rooms.user"}), is_async=False),
        "rooms.store": Source(frozenset(), is_async=True),
        "rooms.value": Source(frozenset({"dataclasses"}), is_async=False),
    }

    assert pure_modules(sources) == {"rooms.value"}


if __name__ == "__main__":
    COMMITTED.write_text("".join(f"{name}\n" for name in sorted(find_pure_files())), encoding="utf-8")
