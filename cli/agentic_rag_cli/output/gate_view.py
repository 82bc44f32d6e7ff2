"""Formats decisions of the gate, and reports of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agentic_rag_cli.output.terminal import table

_GROUP = ("RUNS", "SHARE", "P50 MS", "P95 MS", "HIT RATE", "USD", "TOKENS", "RATINGS", "GOOD", "PRECISION")
_WINDOW = ("UNTIL", "RUNS", "FEEDBACK", "GOOD", "NEW", "CALLS", "USD", "P95 S", "PRECISION", "BAD")
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
    if len(found["byMode"]) > 1:
        parts.append(_groups("MODE", found["byMode"]))
    if len(found["byVersion"]) > 1:
        parts.append(_groups("WEIGHTS", found["byVersion"]))
    if found["causes"]:
        parts.append(table(("LOWERED BY", "RUNS"), [(one["cause"], one["runs"]) for one in found["causes"]]))
    if not found["isComplete"]:
        parts.append(_LEFT_OUT)
    return "\n\n".join(parts)


def evaluation_json(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The JSON form, with the field names of the GraphQL API; plans in small letters."""
    return [{**one, "plan": one["plan"].lower()} for one in found]


def evaluation_text(found: Sequence[Mapping[str, Any]]) -> str:
    """A row for each window and each deploy of a plan, and what rests."""
    windows = [(one["plan"].lower(), *_window(window)) for one in found for window in one["windows"]]
    deploys = [
        (one["plan"].lower(), deploy["deploy"], deploy["runs"], f"{deploy['p95Seconds']:.1f}", _slow(deploy))
        for one in found
        for deploy in one["deploys"]
    ]
    parts = [line for one in found if (line := _resting(one)) is not None]
    parts.append(table(("PLAN", *_WINDOW), windows) if windows else "No window is full yet.")
    if deploys:
        parts.append(table(("PLAN", "DEPLOY", "RUNS", "P95 S", ""), deploys))
    return "\n\n".join(parts)


def case_json(found: Mapping[str, Any], set_name: str) -> dict[str, Any]:
    """A labelled case as `rag gate learn` reads it."""
    needs_search = found["answeredOutside"] and not found["answered"]
    return {
        "set": set_name,
        "id": found["runId"],
        "kind": "missing" if needs_search else "inside",
        "signals": {one["name"]: one["value"] for one in found["signals"]},
        "answered": found["answered"],
        "answered_outside": found["answeredOutside"],
        "at": found["at"],
    }


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


def _window(one: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        f"{datetime.fromisoformat(one['last']):%Y-%m-%d %H:%M}",
        one["runs"],
        f"{one['feedback']:g}",
        _share(one["satisfaction"]),
        _share(one["freshnessGain"]),
        f"{one['externalCalls']:.1f}",
        f"{one['costUsd']:.4f}",
        f"{one['p95Seconds']:.1f}",
        _share(one["precision"]),
        one["fault"] or "",
    )


def _slow(one: Mapping[str, Any]) -> str:
    return "slow" if one["isSlow"] else ""


def _resting(one: Mapping[str, Any]) -> str | None:
    plan, rollback = one["plan"].lower(), one["rollback"]
    if rollback is not None:
        until = f"{datetime.fromisoformat(rollback['until']):%Y-%m-%d %H:%M} UTC"
        return f"{plan} rests until {until}, or another deploy: {rollback['reason']} ({rollback['cause']})"
    return f"{plan} is tried again: no window since then is full" if one["isOnTrial"] else None


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
