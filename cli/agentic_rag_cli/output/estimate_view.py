"""Estimates of costs for the terminal."""

from __future__ import annotations

from typing import Any

FREE = "Nothing: every step is done on the server."
CACHED = "Nothing: the answer is in the cache."
UNPRICED = "price unknown"


def estimate_text(found: dict[str, Any]) -> str:
    """A line for each stage of an answer that would call a provider, and their sum."""
    if not found["usage"]:
        return CACHED if found["cached"] else FREE
    lines = [f"{one['stage']:<12}{one['tokens']:>8,} tokens  {usd(one['costUsd'])}" for one in found["usage"]]
    return "\n".join((*lines, f"{'about':<12}{found['tokens']:>8,} tokens  {usd(found['costUsd'])}"))


def usd(amount: float | None) -> str:
    """An amount of US dollars that may be unknown."""
    return UNPRICED if amount is None else f"{amount:.6f} USD"
