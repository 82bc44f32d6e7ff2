"""Writes what was learned for the gate: a folder for each version, to be read by people and by the measure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from agentic_rag.answering.gate.weights import GateWeights
from agentic_rag_eval.gate_learning import HeldOut, LearnedGate

SIDE, EDGE = 320, 40
"""Of the plot and of the room around it, in pixels."""


def write_model(folder: Path, found: LearnedGate) -> Path:
    """Write model.json, metrics.json and reliability.svg under `folder`/VERSION, and return that folder."""
    target = folder / found.weights.version
    target.mkdir(parents=True, exist_ok=True)
    model = {
        "weights": weights_json(found.weights),
        "left_out": {name: weights_json(one) for name, one in sorted(found.left_out.items())},
        "data_hash": found.data_hash,
    }
    (target / "model.json").write_text(_text(model), encoding="utf-8")
    (target / "metrics.json").write_text(_text(metrics_json(found)), encoding="utf-8")
    (target / "reliability.svg").write_text(reliability_svg(found.learned, found.in_force), encoding="utf-8")
    return target


def load_left_out(folder: Path, version: str) -> Mapping[str, GateWeights]:
    """The weights of a version as they were fitted without each set; none of weights that were learned from no sets."""
    model = folder / version / "model.json"
    if not model.is_file():
        return {}
    told = json.loads(model.read_text(encoding="utf-8"))["left_out"]
    return {name: GateWeights(**one) for name, one in told.items()}


def weights_json(weights: GateWeights) -> dict[str, object]:
    """The arguments of `GateWeights`."""
    return {
        "version": weights.version,
        "weights": dict(weights.weights),
        "search": weights.search,
        "full_loop": weights.full_loop,
        "care_span": weights.care_span,
    }


def metrics_json(found: LearnedGate) -> dict[str, object]:
    """What the weights are worth, beside those in force."""
    return {
        "version": found.weights.version,
        "cases": found.cases,
        "split": found.split,
        "data_hash": found.data_hash,
        "learned": _held_out(found.learned),
        "in_force": _held_out(found.in_force),
        "promoted": found.promotion.is_promoted,
        "reason": found.promotion.reason,
    }


def reliability_svg(learned: HeldOut, in_force: HeldOut) -> str:
    """Told chances against found ones: a point for each bin, as large as its share."""
    points = [
        f'<circle cx="{_x(one.told)}" cy="{_y(one.found)}" r="{3 + 12 * one.share:.1f}" fill="{colour}" '
        f'fill-opacity="0.6"><title>{name}: told {one.told:.2f}, found {one.found:.2f}, share {one.share:.2f}'
        "</title></circle>"
        for name, colour, of in (("in force", "#888888", in_force), ("learned", "#1f6fb2", learned))
        for one in of.bins
    ]
    size = SIDE + 2 * EDGE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect x="{EDGE}" y="{EDGE}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#444444"/>',
        f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="#444444" stroke-dasharray="4"/>',
        *points,
        f'<text x="{EDGE}" y="{size - 12}">chance told that a search is needed, 0 to 1</text>',
        f'<text x="{EDGE}" y="{EDGE - 14}">share found; blue: learned, grey: in force; held out cases</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _held_out(held: HeldOut) -> dict[str, object]:
    score = held.score
    return {
        "answered": round(score.answered, 4),
        "calls": round(score.calls, 4),
        "precision": round(score.precision, 4),
        "recall": round(score.recall, 4),
        "f1": round(score.f1, 4),
        "brier": round(held.brier, 4),
        "calibration_error": round(held.calibration_error, 4),
        "bins": [[round(one.share, 4), round(one.told, 4), round(one.found, 4)] for one in held.bins],
    }


def _x(value: float) -> str:
    return f"{EDGE + SIDE * value:.1f}"


def _y(value: float) -> str:
    return f"{EDGE + SIDE * (1 - value):.1f}"


def _text(told: dict[str, object]) -> str:
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"
