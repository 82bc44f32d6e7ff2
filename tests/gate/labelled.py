"""The gate against always searching, on cases of which it is known where their answer is: each set is judged by weights
that never saw it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from agentic_rag.answering.gate.weights import IN_FORCE, GateWeights
from agentic_rag_eval import gate_cases, gate_learning
from agentic_rag_eval.gate_cases import CaseKind, GateCase, GateScore, judge_gate, load_cases
from agentic_rag_eval.gate_model import load_left_out
from tests.bench.reports import ROOT, Row

FAMILIES = (
    ("musique",),
    ("hotpotqa", "hotpotqa-dev100"),
    ("clapnq",),
    ("xquad-en",),
    ("pubmedqa",),
    ("scifact-2k",),
    ("fiqa-gold",),
    ("covidqa",),
)
"""The sets, with those together that are parts of one: what is fitted on a part has seen the other. Cranfield and CISI
are left out, because dozens of documents answer a request of theirs.
"""
SETS = tuple(name for family in FAMILIES for name in family)
KEPT = ROOT / "build" / "gate" / "cases"
MODELS = ROOT / "eval" / "rag_gate"
ANSWERED, CALLS = 98, 40
"""Percent of those of always searching."""


def answered(short: bool) -> Row:
    """What is lost by not searching always."""
    found = _judged(short).answered
    name = "gate against always searching, left out: answered questions"
    return Row(name, f"{100 * found:.1f} %", f"≥ {ANSWERED} %", 100 * found >= ANSWERED)


def calls(short: bool) -> Row:
    """What it costs."""
    found = _judged(short).calls
    return Row("the same: calls", f"{100 * found:.1f} %", f"≤ {CALLS} %", 100 * found <= CALLS)


def _judged(short: bool) -> GateScore:
    if short:
        return judge_gate(plain_cases(), gate_cases.searches_by(IN_FORCE))
    return judge_left_out(kept_cases())


def refused(short: bool) -> Row:
    """A model that takes every signal of the documents for its opposite."""
    verdict = gate_learning.compare_weights(_compared(short), _turned(IN_FORCE), IN_FORCE)
    return Row("a worse model", verdict.reason.partition(":")[0], "refused", not verdict.is_promoted)


def promoted(short: bool) -> Row:
    """The same the other way about."""
    verdict = gate_learning.compare_weights(_compared(short), IN_FORCE, _turned(IN_FORCE))
    return Row("a better model", verdict.reason.partition(":")[0], "promoted", verdict.is_promoted)


def _compared(short: bool) -> list[GateCase]:
    """Of two sets at least: each is judged by a scale that was made on the others."""
    if not short:
        return kept_cases()
    return [replace(one, set_name=name) for name in ("plain", "other") for one in plain_cases()]


def _turned(weights: GateWeights) -> GateWeights:
    turned = {name: -weights.weights[name] for name in gate_learning.LEARNED}
    return replace(weights, version="turned", weights={**weights.weights, **turned})


def judge_left_out(cases: Sequence[GateCase]) -> GateScore:
    """Each set by weights that never saw it or another part of it."""
    searches = {name: gate_cases.searches_by(weights_without(name)) for name in SETS}
    return judge_gate(cases, lambda case: searches[case.set_name](case))


def weights_without(name: str) -> GateWeights:
    """Weights in force, fitted without this set and other parts of it; those set by hand have seen none."""
    return _left_out(IN_FORCE.version).get(name, IN_FORCE)


@cache
def _left_out(version: str) -> Mapping[str, GateWeights]:
    return load_left_out(MODELS, version)


def kept_cases() -> list[GateCase]:
    """Of every set. Errors: `InvalidInput` for a set that was not asked."""
    return [case for name in SETS for case in load_cases(KEPT / f"{name}.jsonl")]


def by_set() -> list[Row]:
    """What the rows add up: each set by itself, without a verdict."""
    rows: list[Row] = []
    cases = kept_cases()
    for name in SETS:
        found = judge_left_out([one for one in cases if one.set_name == name])
        shown = f"{100 * found.answered:.1f} % / {100 * found.calls:.1f} % / {100 * found.f1:.1f}"
        rows.append(Row(f"{name}: answered / calls / F1 of {found.cases} cases", shown, "reported", ok=True))
    return rows


def bounds() -> list[Row]:
    """What any gate could reach on these cases, without a verdict: by the calls that keep `ANSWERED`."""
    cases = kept_cases()
    left_out = {name: weights_without(name) for name in SETS}
    ranks: Mapping[str, Callable[[GateCase], float]] = {
        "by the scores of the gate": lambda one: gate_cases.score_of(one, left_out[one.set_name]),
        "knowing whether the answer is right": lambda one: float(not one.answered),
        "knowing what a search finds": lambda one: float(one.needs_search),
    }
    shown = {name: 100 * gate_cases.calls_to_keep(cases, rank, ANSWERED / 100) for name, rank in ranks.items()}
    return [
        Row(f"calls that keep {ANSWERED} %, {name}", f"{one:.1f} %", "reported", ok=True) for name, one in shown.items()
    ]


def plain_cases() -> list[GateCase]:
    """Cases that are told apart by their signals alone."""
    silent = dict.fromkeys(IN_FORCE.weights, 0.0) | {"base": 1.0, "budget_left": 1.0, "intent_lookup": 0.5}
    found = {"hit_rate": 1.0, "margin": 0.3, "coverage": 0.9, "freshness": 1.0, "sufficiency": 0.9}
    found |= {"support": 0.9, "certainty": 0.9}
    probes: Mapping[CaseKind, Mapping[str, float]] = {
        CaseKind.INSIDE: found,
        CaseKind.IN_TIME: found,
        CaseKind.MISSING: {"freshness": 1.0, "coverage": 0.2, "support": 0.05, "certainty": 0.2},
        CaseKind.STALE: {**found, "freshness": 0.1, "sufficiency": 0.6},
    }
    return [
        GateCase(
            "plain",
            f"{kind.value}-{place}",
            kind,
            {**silent, **probe},
            answered=kind in (CaseKind.INSIDE, CaseKind.IN_TIME),
            answered_outside=True,
        )
        for kind, probe in probes.items()
        for place in range(10)
    ]
