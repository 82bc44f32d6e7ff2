"""Formats the report of a period."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agentic_rag_cli.output import gate_view
from agentic_rag_cli.output.terminal import table


def report_json(found: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON form, with the field names of the GraphQL API; of decisions taken again only their number."""
    replay = found["replay"]
    differences = {"differences": len(replay["differences"])}
    return {**found, "replay": replay | differences, "evaluation": gate_view.evaluation_json(found["evaluation"])}


def report_text(found: Mapping[str, Any]) -> str:
    """A chapter for each thing that is reviewed."""
    replay, usage, total = found["replay"], found["usage"], found["gate"]["total"]
    days = " to ".join(f"{datetime.fromisoformat(found[name]):%Y-%m-%d}" for name in ("since", "until"))
    parts = [f"# {days}", "## Decisions and what came of them", gate_view.report_text(found["gate"])]
    if total is not None and total["runs"]:
        parts.append(f"A run costs {total['costUsd'] / total['runs']:.6f} USD of chat models, on average.")
    parts += ["## Plans in rolling windows", gate_view.evaluation_text(found["evaluation"])]
    parts.append(
        f"## Weights\n\n{replay['weightsVersion']} are in force. Of {replay['runs']} decisions they take "
        f"{len(replay['differences'])} otherwise than they were taken."
    )
    priced = f"{usage['costUsd']:.6f} USD by the price table of {usage['pricedOn']}"
    unpriced = f"; the price of {usage['unpricedCalls']} calls is not known" if usage["unpricedCalls"] else ""
    parts.append(f"## Cost\n\n{priced}{unpriced}.")
    if found["budgets"]:
        rows = [
            (one["scope"], one["period"], one["kind"] or "all", f"{one['limitUsd']:.4f}", f"{one['spentUsd']:.6f}")
            for one in found["budgets"]
        ]
        parts.append(table(("SCOPE", "PERIOD", "OF", "LIMIT USD", "SPENT USD"), rows))
    calls = [(one["scope"], one["kind"], one["limit"], one["used"]) for one in found["webBudgets"]]
    parts.append(table(("SCOPE", "OF THE WEB TODAY", "LIMIT", "MADE"), calls))
    return "\n\n".join(parts)
