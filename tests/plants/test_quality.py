"""Every judge of `make quality` holds true observations and misses the lie that is planted for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.bench.reports import Row
from tests.plants.figures import rows_of
from tests.plants.quality import LIES, Lie
from tests.quality import rows

MODULES = Path(rows.__file__).parent
VERDICTS = {"at_least", "at_most", "not_below", "above"}
BY_ROWS_ALONE = {"__main__.measured", "__main__.ablations", "rules.rule_rows", "rules._follow_up_rows"}
"""What gathers values from the product, and leaves the verdict to `rows`."""


def judges() -> Iterator[str]:
    """The functions of tests/quality that give a verdict: by `rows`, or with a `Row` whose `ok` is no constant."""
    for path in sorted(MODULES.glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(_judges, ast.walk(function))):
                yield f"{path.stem}.{function.name}"


def _judges(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in VERDICTS and isinstance(node.ctx, ast.Load)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in ("Row", "replace"):
        return False
    given = [one.value for one in node.keywords if one.arg == "ok"]
    given += node.args[3:4] if node.func.id == "Row" else []
    return bool(given) and not isinstance(given[0], ast.Constant)


def test_every_judge_has_a_lie() -> None:
    assert set(judges()) - BY_ROWS_ALONE - {"rows.reported"} == LIES.keys()
    assert set(judges()) >= BY_ROWS_ALONE


def _lies() -> list[Any]:
    return [pytest.param(one, id=f"{judge}: {one.what}, {one.figure}") for judge, of in LIES.items() for one in of]


def missed(found: Sequence[Row], figure: str) -> list[Row]:
    return [row for row in rows_of(found, figure) if not row.ok]


@pytest.mark.parametrize("lie", _lies())
def test_a_judge_misses_its_lie(lie: Lie) -> None:
    assert missed(lie.true(), lie.figure) == []
    assert missed(lie.lying(), lie.figure) != []


@pytest.mark.parametrize("judge", [one for one in LIES if one.startswith("abstention.")])
def test_a_lie_about_abstention_moves_the_rows_of_its_judge_alone(judge: str) -> None:
    figures = {lie.figure for lie in LIES[judge]}

    moved = [row.name for lie in LIES[judge] for row in lie.lying() if not row.ok]

    assert [name for name in moved if not any(figure in name for figure in figures)] == []
