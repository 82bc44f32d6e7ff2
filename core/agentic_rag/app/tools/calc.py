"""The `calc` tool: exact arithmetic on an expression that the plan took from the question."""

from __future__ import annotations

from agentic_rag.domain.calc import calculate, shown


def calc(expression: str) -> str:
    """`expression = value`, exact where a short decimal is. Errors: `CalcError`."""
    value = shown(calculate(expression))
    return f"{expression} ≈ {value[2:]}" if value.startswith("≈ ") else f"{expression} = {value}"
