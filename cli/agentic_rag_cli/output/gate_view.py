"""Formats decisions of the gate, and reports of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag_cli.output.terminal import table

_GROUP = ("RUNS", "SHARE", "P50 MS", "P95 MS", "HIT RATE", "USD", "TOKENS", "RATINGS", "GOOD", "PRECISION")
_LEFT_OUT = "Older decisions of this time were left out."


def decision_json(found: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON form, with the field names of the GraphQL API; plans in small letters."""
    gate = found["gate"]
    crossed = [{**one, "plan": one["plan"].lower()} for one in gate["counterfactuals"]]
    plans = {name: gate[name].lower() for name in ("planType", "planned")}
    return {"runId": found["id"], "question": found["question"], **gate, **plans, "counterfactuals": crossed}


def decision_text(found: Mapping[str, Any]) -> str:
    """The plan, the signals that count, what lowered it, and what would change it."""
    gate = found["gate"]
    plan, planned = gate["planType"].lower(), gate["planned"].lower()
    said = plan if plan == planned else f"{plan} (asked for {planned})"
    parts = [
        f"Q: {found['question']}\nPlan: {said}, score {gate['score']:.3f}, mode {gate['mode']}, "
        f"weights {gate['weightsVersion']}"
    ]
    rows = [
        (one["name"], f"{one['value']:.3f}", f"{one['weight']:+g}", f"{one['contribution']:+.3f}")
        for one in sorted(gate["contributions"], key=lambda one: -abs(one["contribution"]))
        if one["contribution"]
    ]
    parts.append(table(("SIGNAL", "VALUE", "WEIGHT", "ADDS"), rows))
    if gate["downgrades"]:
        parts.append("\n".join(["Lowered:", *map(_downgrade, gate["downgrades"])]))
    if gate["counterfactuals"]:
        parts.append("\n".join(one["explanation"] for one in gate["counterfactuals"]))
    else:
        parts.append("The run was not judged after its answer.")
    return "\n\n".join(parts)


def status_text(found: Mapping[str, Any]) -> str:
    """A line for each thing, then what keeps runs from the web."""
    lines = ", ".join(f"{one['name']} from {one['value']:g}" for one in found["thresholds"])
    head = f"mode {found['mode']}, weights {found['weightsVersion']}\ncare {found['care']:g}: {lines}"
    lowered = list(map(_downgrade, found["downgrades"]))
    return "\n".join([head, "Lowered:", *lowered] if lowered else [head, "Nothing keeps runs from the web."])


def report_text(found: Mapping[str, Any]) -> str:
    """Decisions by plan and by intent, and what lowered them."""
    if found["total"] is None:
        return "No decision since then."
    parts = [_groups("PLAN", [*found["byPlan"], found["total"]]), _groups("INTENT", found["byIntent"])]
    if found["causes"]:
        parts.append(table(("LOWERED BY", "RUNS"), [(one["cause"], one["runs"]) for one in found["causes"]]))
    if not found["isComplete"]:
        parts.append(_LEFT_OUT)
    return "\n\n".join(parts)


def replay_json(found: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON form, with the field names of the GraphQL API; plans in small letters."""
    differences = [
        {**one, "planBefore": one["planBefore"].lower(), "planAfter": one["planAfter"].lower()}
        for one in found["differences"]
    ]
    return {**found, "differences": differences}


def replay_text(found: Mapping[str, Any]) -> str:
    """How many decisions were taken again, and a row for each that differs."""
    differences = found["differences"]
    count = "1 decision" if found["runs"] == 1 else f"{found['runs']} decisions"
    parts = [f"{count} taken again with {found['weightsVersion']}: {len(differences)} differ."]
    if found["unreadable"]:
        parts.append(f"{found['unreadable']} were stored with other signals and were left out.")
    if differences:
        rows = [
            (
                one["runId"],
                one["weightsVersion"],
                f"{one['scoreBefore']:.3f} → {one['scoreAfter']:.3f}",
                f"{one['planBefore'].lower()} → {one['planAfter'].lower()}",
            )
            for one in differences
        ]
        parts.append(table(("RUN", "WEIGHTS", "SCORE", "PLAN"), rows))
    if not found["isComplete"]:
        parts.append(_LEFT_OUT)
    return "\n\n".join(parts)


def _downgrade(one: Mapping[str, Any]) -> str:
    return f"  {one['before']} → {one['after']}: {one['reason']} ({one['cause']})"


def _groups(head: str, groups: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            one["name"],
            one["runs"],
            f"{100 * one['share']:.0f} %",
            f"{1000 * one['p50Seconds']:.0f}",
            f"{1000 * one['p95Seconds']:.0f}",
            f"{one['hitRate']:.2f}",
            f"{one['costUsd']:.4f}" + ("" if not one["unpricedRuns"] else f" + {one['unpricedRuns']} unpriced"),
            one["tokens"],
            one["ratings"],
            _share(one["satisfaction"]),
            _share(one["precision"]),
        )
        for one in groups
    ]
    return table((head, *_GROUP), rows)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"
