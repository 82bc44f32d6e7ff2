"""Every error code that the product can say has a line in docs/errors.md, and the page names no code that is gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from agentic_rag_server.graphql.http.errors import USER_ERRORS, ErrorCode

# It parses every file of the product.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")
CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|INTERNAL|TRANSIENT|PERMANENT|FORBIDDEN|UNAUTHENTICATED|MISCONFIGURED")

NAMES_A_CODE = re.compile(r"\bcode\b[^=\n]*=")
"""Parsing takes a second and a half for all files."""


NEVER_IN_A_PAYLOAD = {
    # Queries, which show the code as it is in `extensions`.
    *("CURSOR_INVALID", "PAGE_SIZE", "EVALUATION_NOT_FOUND", "RUN_SPACE_GONE", "RUN_VERSION_GONE"),
    *("NAME_LENGTH", "PROOF_TOO_LARGE"),
    *("TEXT_NOT_PUBLISHED", "TOO_MANY_CHUNKS"),
    # REST alone, which shows it too.
    *("CITATION_NOT_FOUND", "PAGE_NOT_SHOWN"),
    # Outcomes of tools inside an answer.
    *("ADDRESS_REFUSED", "FETCH_ENCODING", "FETCH_TOO_LARGE", "FETCH_TYPE", "CALC_DIVISION_BY_ZERO", "CALC_SYNTAX"),
    *("CALC_TOO_DEEP", "CALC_TOO_LARGE", "CALC_TOO_LONG", "CALC_UNSUPPORTED"),
    # Of pages of the web: the answer tells them in `outside.refusals`.
    *("PAGE_NOINDEX", "ROBOTS_REFUSED", "SOURCE_PATH_TAKEN"),
    # Commands, workers and their files.
    *("BLOB_KEY_INVALID", "JOB_MESSAGE_INVALID", "MODEL_UNKNOWN", "NOTHING_TO_ASK", "ERASURE_NOT_FOUND"),
    *("SNAPSHOT_AMBIGUOUS", "SOURCE_NOT_FOUND", "SETTINGS_FILE_INVALID", "PROJECT_AMBIGUOUS", "SOURCE_UNREADABLE"),
    *("SOURCE_TOO_LARGE", "SOURCE_CREDENTIAL_REFUSED", "SOURCE_READERS_INVALID", "SOURCE_SITEMAP_INVALID"),
    *("BACKUP_NOT_FOUND", "BACKUP_TARGET_NOT_EMPTY", "RESTORE_TARGET_NOT_EMPTY", "ERASURES_UNREADABLE"),
    # A class whose every error has a code of its own.
    "CONTENT_REFUSED",
}
"""Codes of faults that a caller can put right, which no `userErrors` hold."""


@cache
def trees() -> dict[Path, ast.Module]:
    """The files that name a code."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    return {path: ast.parse(source) for path, source in sources.items() if NAMES_A_CODE.search(source)}


def codes_said() -> Iterator[str]:
    """Texts given as `code=…`, as a class's `code`, or in upper case as an argument of an error's constructor."""
    for tree in trees().values():
        for node in ast.walk(tree):
            yield from _codes_of(node)


def codes_of_callers_faults() -> set[str]:
    """Codes that core and GraphQL give to errors which `userErrors` show."""
    classes = {one.__name__ for one in USER_ERRORS}
    while (
        grown := {
            node.name
            for tree in trees().values()
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and {ast.unparse(base) for base in node.bases} & classes
        }
        - classes
    ):
        classes |= grown
    said: set[str] = set()
    for path, tree in trees().items():
        if path.is_relative_to(ROOT / "core") or path.is_relative_to(ROOT / "server/agentic_rag_server/graphql"):
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in classes:
                    said.update(code for keyword in node.keywords for code in _codes_of(keyword))
                elif isinstance(node, ast.ClassDef) and node.name in classes:
                    said.update(code for statement in node.body for code in _codes_of(statement))
    return said


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


def test_every_fault_that_a_caller_can_put_right_keeps_its_code_over_graphql() -> None:
    said, shown = codes_of_callers_faults(), set(ErrorCode.__members__)

    assert len(said) > 50
    assert said - shown == NEVER_IN_A_PAYLOAD
    assert shown & NEVER_IN_A_PAYLOAD == set()


def test_the_page_names_no_code_that_nothing_says() -> None:
    sources = "\n".join(
        path.read_text(encoding="utf-8") for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    )

    assert {code for code in documented() if f'"{code}"' not in sources} == set()
